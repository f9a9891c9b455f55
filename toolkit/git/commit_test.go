package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func committedData(t *testing.T, r toolkit.Result) Committed {
	t.Helper()
	d, ok := r.Data.(Committed)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

// last are the files of the last commit.
func (p *project) last() []string {
	return strings.Fields(p.git("show", "--format=", "--name-only", "HEAD"))
}

func TestCommitNamedFiles(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n", "gone.txt", "x\n", "sub/c.txt", "c\n")
	p.put("a.txt", "A\n")
	p.put("b.txt", "B\n")
	p.put("sub/new.txt", "new\nlines")
	p.put("sub/c.txt", "C\n")
	if err := os.Remove(filepath.Join(p.dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"message": "change some\n\n# why", "files": []string{"a.txt", "sub", "gone.txt"}}
	plan, err := p.planned(CommitTool(), args)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Level != toolkit.Moderate || !slices.ContainsFunc(plan.Preview.Notes, func(n string) bool { return strings.Contains(n, "hooks") }) {
		t.Errorf("level %v, notes %q", plan.Level, plan.Preview.Notes)
	}
	for _, part := range []string{"commit on main, as Ada <ada@example.com>", "# why", "-a\n+A\n", "+new\n+lines\n\\ No newline", "deleted: gone.txt"} {
		if !strings.Contains(plan.Preview.Text, part) {
			t.Errorf("%q is not in the preview:\n%s", part, plan.Preview.Text)
		}
	}
	if strings.Contains(plan.Preview.Text, "b.txt") {
		t.Errorf("the preview has b.txt:\n%s", plan.Preview.Text)
	}
	r, err := CommitTool().Run(t.Context(), p.w, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := committedData(t, r)
	want := []string{"a.txt", "gone.txt", "sub/c.txt", "sub/new.txt"}
	if diff := cmp.Diff(want, p.last()); diff != "" || !slices.Equal(d.Files, want) || d.Branch != "main" || d.Hash != strings.TrimSpace(p.git("rev-parse", "HEAD")) {
		t.Errorf("%+v\n%s", d, diff)
	}
	if got := p.git("log", "-1", "--format=%an %ae %cn|%B"); got != "Ada ada@example.com Ada|change some\n\n# why\n\n" {
		t.Errorf("commit %q", got)
	}
	if got := p.git("status", "--short"); got != " M b.txt\n" {
		t.Errorf("left over: %q", got)
	}
	p.stale(CommitTool(), plan) // once is enough
}

func TestCommitAllAndWhatIsStaged(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n")
	p.put("a.txt", "A\n")
	p.put("b.txt", "B\n")
	p.put("new.txt", "n\n")
	p.git("add", "a.txt")
	p.put("a.txt", "AA\n") // further than what is staged
	p.does(CommitTool(), map[string]any{"message": "staged"})
	if got := p.git("show", "HEAD:a.txt"); got != "A\n" || len(p.last()) != 1 {
		t.Errorf("a.txt is %q, files %q", got, p.last())
	}
	p.does(CommitTool(), map[string]any{"message": "all", "all": true})
	if diff := cmp.Diff([]string{"a.txt", "b.txt"}, p.last()); diff != "" {
		t.Error(diff)
	}
	if text := p.refuses(CommitTool(), map[string]any{"message": "again", "all": true}, CodeNothing); !strings.Contains(text, "Name new files") {
		t.Error(text)
	}
	if text := p.refuses(CommitTool(), map[string]any{"message": "again"}, CodeNothing); !strings.Contains(text, "files") {
		t.Error(text)
	}
	// A staged file and a named one go together.
	p.put("b.txt", "BB\n")
	p.git("add", "b.txt")
	p.does(CommitTool(), map[string]any{"message": "both", "files": []string{"new.txt"}})
	if diff := cmp.Diff([]string{"b.txt", "new.txt"}, p.last()); diff != "" {
		t.Error(diff)
	}
}

func TestTheFirstCommitAndPathsOfAFolder(t *testing.T) {
	p := newProject(t)
	p.git("init", "-q", "-b", "main", "repo")
	p.put("repo/sub/a.txt", "a\n")
	p.put("repo/b.txt", "b\n")
	for i, args := range []map[string]any{
		{"message": "one", "path": "repo/sub", "files": []string{"a.txt"}},
		{"message": "two", "path": "repo", "files": []string{"repo/b.txt"}},
	} {
		d := committedData(t, p.does(CommitTool(), args))
		if len(d.Files) != 1 || !strings.HasSuffix(d.Files[0], ".txt") {
			t.Errorf("%d: %+v", i, d)
		}
	}
	if got := p.git("-C", "repo", "log", "--format=%s"); got != "two\none\n" {
		t.Errorf("log %q", got)
	}
}

func TestCommitRefusesSecrets(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("aB3dE5fG7h", 9) + "-AA"
	p := committed(t, "a.txt", "a\n", "kept.txt", "token = "+key+"\n", "x.pem", "old\n")
	p.put(".env", "K=v\n")
	p.put("new.txt", "token = "+key+"\n")
	p.put("a.txt", "token = "+key+"\n")
	p.put("x.pem", "new\n")
	if guard.NewRedactor(nil, nil).Text(key) == key {
		t.Fatal("the redactor does not know this key, so the test proves nothing")
	}
	for name, args := range map[string]map[string]any{
		".env":      {"message": "m", "files": []string{"a.txt", ".env"}},
		"new.txt":   {"message": "m", "files": []string{"new.txt"}},
		"a.txt":     {"message": "m", "files": []string{"a.txt"}},
		"x.pem":     {"message": "m", "all": true},
		"sub/k.key": {"message": "m", "files": []string{"sub"}},
	} {
		if strings.HasPrefix(name, "sub/") {
			p.put(name, "x")
		}
		_, err := p.planned(CommitTool(), args)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.git("add", "-f", ".env")
	if text := p.refuses(CommitTool(), map[string]any{"message": "staged by hand"}, CodeSecrets); !strings.Contains(text, ".env") {
		t.Error(text)
	}
	p.git("rm", "-q", "--cached", ".env", "x.pem")
	p.put("kept.txt", "token = "+key+"\nmore\n") // the key was there before
	p.does(CommitTool(), map[string]any{"message": "takes x.pem out", "files": []string{"kept.txt"}})
}

func TestAmend(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.put("a.txt", "b\n")
	p.git("commit", "-qam", "second")
	p.put("a.txt", "c\n")
	plan, err := p.planned(CommitTool(), map[string]any{"message": "second, better", "all": true, "amend": true})
	if err != nil || !slices.ContainsFunc(plan.Preview.Notes, func(n string) bool { return strings.HasSuffix(n, ": second") }) {
		t.Fatalf("notes %q, %v", plan.Preview.Notes, err)
	}
	if _, err := CommitTool().Run(t.Context(), p.w, plan, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.git("log", "--format=%s"); got != "second, better\nfirst\n" {
		t.Errorf("log %q", got)
	}
	p.does(CommitTool(), map[string]any{"message": "only the message", "amend": true})
	p.git("update-ref", "refs/remotes/origin/main", "HEAD")
	if text := p.refuses(CommitTool(), map[string]any{"message": "x", "amend": true}, toolkit.CodeInvalid); !strings.Contains(text, "origin/main") {
		t.Error(text)
	}
}

func TestCommitSaysWhatIsWrong(t *testing.T) {
	p := committed(t, "a.txt", "a\n", ".gitignore", "*.log\n")
	p.put("a.txt", "b\n")
	p.put("x.log", "")
	for want, c := range map[string]struct {
		args map[string]any
		code toolkit.Code
	}{
		"message is empty":      {map[string]any{"message": " ", "all": true}, toolkit.CodeInvalid},
		"two ways":              {map[string]any{"message": "m", "all": true, "files": []string{"a.txt"}}, toolkit.CodeInvalid},
		"ignored by":            {map[string]any{"message": "m", "files": []string{"x.log"}}, toolkit.CodeInvalid},
		"no changed file":       {map[string]any{"message": "m", "files": []string{"nowhere"}}, toolkit.CodeInvalid},
		`".gitignore" has no c`: {map[string]any{"message": "m", "files": []string{".gitignore"}}, CodeNothing},
	} {
		if text := p.refuses(CommitTool(), c.args, c.code); !strings.Contains(text, want) {
			t.Errorf("%v: %s", c.args, text)
		}
	}
	if err := os.Remove(filepath.Join(p.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	p.refuses(CommitTool(), map[string]any{"message": "m", "all": true}, CodeIdentity)
	p.git("config", "user.name", "R")
	p.git("config", "user.email", "r@x")
	p.does(CommitTool(), map[string]any{"message": "m", "all": true})
}

func TestCommitRefusesWhatChangedSinceThePlan(t *testing.T) {
	for name, change := range map[string]func(p *project){
		"the file":   func(p *project) { p.put("a.txt", "other\n") },
		"a new file": func(p *project) { p.put("new.txt", "other\n") },
		"the index":  func(p *project) { p.put("b.txt", "B\n"); p.git("add", "b.txt") },
		"the head":   func(p *project) { p.git("commit", "-q", "--allow-empty", "-m", "x") },
		"the branch": func(p *project) { p.git("checkout", "-q", "-b", "other") },
		"settings":   func(p *project) { p.git("config", "core.fsmonitor", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			p := committed(t, "a.txt", "a\n", "b.txt", "b\n")
			p.put("a.txt", "A\n")
			p.put("new.txt", "n\n")
			plan, err := p.planned(CommitTool(), map[string]any{"message": "m", "files": []string{"a.txt", "new.txt"}})
			if err != nil {
				t.Fatal(err)
			}
			before := p.git("rev-list", "--all")
			change(p)
			if name != "the head" {
				defer func() {
					if after := p.git("rev-list", "--all"); after != before {
						t.Error("something was committed")
					}
				}()
			}
			p.stale(CommitTool(), plan)
		})
	}
}

func TestCommitConcludesAMerge(t *testing.T) {
	p := conflicted(t)
	p.refuses(CommitTool(), map[string]any{"message": "m"}, CodeConflict)
	p.put("a.txt", "both\n")
	p.does(CommitTool(), map[string]any{"message": "merged", "files": []string{"a.txt"}})
	if got := strings.Fields(p.git("log", "-1", "--format=%P")); len(got) != 2 {
		t.Errorf("parents %q", got)
	}
}

func TestACommitTakesNothingFromOutsideTheProject(t *testing.T) {
	outer := committed(t, "out.txt", "o\n", "ws/in.txt", "i\n")
	outer.put("out.txt", "changed\n")
	outer.put("ws/in.txt", "changed\n")
	p := newProject(t, filepath.Join(outer.dir, "ws"))
	p.does(CommitTool(), map[string]any{"message": "m", "all": true})
	if diff := cmp.Diff([]string{"ws/in.txt"}, outer.last()); diff != "" {
		t.Error(diff)
	}
	outer.git("add", "out.txt")
	p.put("in.txt", "again\n")
	if text := p.refuses(CommitTool(), map[string]any{"message": "m", "all": true}, toolkit.CodeInvalid); !strings.Contains(text, "out.txt") {
		t.Error(text)
	}
}

func TestSandboxedGitWritesNothing(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.put("a.txt", "b\n")
	p.w.Proc = p.w.Proc.InSandbox()
	p.refuses(CommitTool(), map[string]any{"message": "m", "all": true}, CodeSandbox)
}
