package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func diffed(t *testing.T, r toolkit.Result) Diffed {
	t.Helper()
	d, ok := r.Data.(Diffed)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

func TestDiff(t *testing.T) {
	p := committed(t, "a.txt", "one\ntwo\n", "gone.txt", "x\n", "old name.txt", "moved\nmoved\nmoved\n", "bin", "a\x00b", "sub/d.txt", "d\n")
	p.put("a.txt", "one\nTWO\nthree\n")
	p.put("bin", "a\x00c")
	p.put("sub/d.txt", "e\n")
	if err := os.Remove(filepath.Join(p.dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	d := diffed(t, p.does(DiffTool(), nil))
	want := []FileDiff{
		{Path: "a.txt", Kind: "modified", Additions: 2, Deletions: 1},
		{Path: "bin", Kind: "modified", Binary: true},
		{Path: "gone.txt", Kind: "deleted", Deletions: 1},
		{Path: "sub/d.txt", Kind: "modified", Additions: 1, Deletions: 1},
	}
	if diff := cmp.Diff(want, d.Files); diff != "" || d.Additions != 3 || d.Deletions != 3 || d.Truncated {
		t.Errorf("%+v\n%s", d, diff)
	}
	for _, line := range []string{"4 files, +3 -3\n", "modified: bin, binary\n", "\n-two\n+TWO\n+three\n", "Binary files a/bin and b/bin differ"} {
		if !strings.Contains(d.Output, line) {
			t.Errorf("%q is not in\n%s", line, d.Output)
		}
	}
	if d := diffed(t, p.does(DiffTool(), map[string]any{"file": "a.txt"})); len(d.Files) != 1 || d.Files[0].Path != "a.txt" {
		t.Errorf("one file: %+v", d.Files)
	}
	if d := diffed(t, p.does(DiffTool(), map[string]any{"file": "gone.txt"})); len(d.Files) != 1 {
		t.Errorf("a deleted file: %+v", d.Files)
	}
	for _, args := range []map[string]any{{"path": "sub"}, {"path": "sub", "file": "d.txt"}, {"path": "sub", "file": "sub/d.txt"}} {
		if d := diffed(t, p.does(DiffTool(), args)); len(d.Files) != 1 || d.Files[0].Path != "d.txt" {
			t.Errorf("%v: %+v", args, d.Files)
		}
	}
	if d := diffed(t, p.does(DiffTool(), map[string]any{"staged": true})); len(d.Files) != 0 || d.Output != "no changes\n" {
		t.Errorf("nothing is staged: %+v", d)
	}
	p.git("mv", "old name.txt", "new name.txt")
	d = diffed(t, p.does(DiffTool(), map[string]any{"staged": true}))
	if diff := cmp.Diff([]FileDiff{{Path: "new name.txt", Kind: "renamed", From: "old name.txt"}}, d.Files); diff != "" {
		t.Error(diff)
	}
}

func TestDiffWithCommits(t *testing.T) {
	p := committed(t, "a.txt", "one\n")
	p.git("checkout", "-q", "-b", "topic")
	p.put("b.txt", "b\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "second")
	p.git("checkout", "-q", "main")
	p.put("c.txt", "c\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "third")
	p.put("a.txt", "two\n")
	for ref, want := range map[string]string{
		"HEAD": "a.txt", "HEAD~1": "a.txt c.txt", "main..topic": "b.txt c.txt", "main...topic": "b.txt", "HEAD~1..": "c.txt", "..topic": "b.txt c.txt", "topic": "a.txt b.txt c.txt",
	} {
		var got []string
		for _, f := range diffed(t, p.does(DiffTool(), map[string]any{"commit": ref})).Files {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", ref, got, want)
		}
	}
	for _, ref := range []string{"nowhere", "HEAD:a.txt", "^HEAD", "main..nowhere", "main..-p", "HEAD...--output=x"} {
		_, err := p.use(DiffTool(), map[string]any{"commit": ref})
		var e *toolkit.Error
		if !errors.As(err, &e) || e.Code != toolkit.CodeInvalid {
			t.Errorf("%q: %v", ref, err)
		}
	}
	p.refuses(DiffTool(), map[string]any{"commit": "--output=../out"}, toolkit.CodeInvalid)
	if _, err := p.use(DiffTool(), map[string]any{"commit": "main..topic", "staged": true}); err == nil {
		t.Error("staged goes with a range")
	}
}

func TestDiffHidesFilesOfSecrets(t *testing.T) {
	p := committed(t, ".env", "K=first\n", "conf/x.pem", "first\n", "a.txt", "first\n")
	p.put(".env", "K=second\n")
	p.put("conf/x.pem", "second\n")
	p.put("a.txt", "changed\n")
	d := diffed(t, p.does(DiffTool(), nil))
	if strings.Contains(d.Output, "second") || strings.Contains(d.Output, "first\n+K") || !strings.Contains(d.Output, "+changed") || !strings.Contains(d.Output, ".env, not shown") {
		t.Errorf("output:\n%s", d.Output)
	}
	_, err := p.planned(DiffTool(), map[string]any{"file": ".env"})
	if _, denied := guard.AsDenied(err); !denied {
		t.Errorf("by its name: %v", err)
	}
}

func TestALongDiffIsBounded(t *testing.T) {
	p := committed(t, "a.txt", "")
	p.put("a.txt", strings.Repeat("a line of text\n", 5000))
	p.w.Budget = 2000
	r := p.does(DiffTool(), nil)
	d := diffed(t, r)
	if !d.Truncated || r.Cut == nil || len(r.Text) > 2500 || !strings.Contains(r.Text, "left out") || d.Additions != 5000 {
		t.Errorf("%d characters, cut %v, %d lines", len(r.Text), r.Cut, d.Additions)
	}
}

func TestDiffOfAConflictAndBeforeTheFirstCommit(t *testing.T) {
	p := conflicted(t)
	d := diffed(t, p.does(DiffTool(), nil))
	if len(d.Files) != 1 || d.Files[0].Kind != "conflict" || !strings.Contains(d.Output, "<<<<<<<") {
		t.Errorf("%+v\n%s", d.Files, d.Output)
	}
	q := newProject(t)
	q.git("init", "-q", "-b", "main")
	q.put("a.txt", "a\n")
	q.git("add", "a.txt")
	if d := diffed(t, q.does(DiffTool(), map[string]any{"staged": true})); len(d.Files) != 1 || d.Files[0].Kind != "added" {
		t.Errorf("%+v", d)
	}
}

// conflicted is a repository whose merge has a conflict in a.txt.
func conflicted(t testing.TB) *project {
	p := committed(t, "a.txt", "a\n")
	p.git("checkout", "-q", "-b", "other")
	p.put("a.txt", "other\n")
	p.git("commit", "-qam", "other")
	p.git("checkout", "-q", "main")
	p.put("a.txt", "main\n")
	p.git("commit", "-qam", "main")
	func() {
		defer func() { _ = recover() }()
		q := &project{t: failing{p.t}, dir: p.dir, w: p.w}
		q.git("merge", "other")
	}()
	return p
}

func FuzzParseDiffList(f *testing.F) {
	f.Add(":100644 100644 a b M\x00a\x001\t2\ta\x00")
	f.Add(":100644 100644 a b R100\x00a\x00b\x000\t0\t\x00a\x00b\x00")
	f.Add(":000000 100644 a b A\x00bin\x00-\t-\tbin\x00")
	f.Add(":100644 100644 a b R100\x00a")
	f.Add("1\t2")
	f.Fuzz(func(t *testing.T, out string) {
		files, err := parseDiffList(out)
		if err != nil {
			return
		}
		for _, x := range files {
			if x.Path == "" || x.Kind == "" {
				t.Fatalf("%+v of %q", x, out)
			}
		}
	})
}

func TestLog(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "sub/b.txt", "b\n")
	p.env = []string{"GIT_COMMITTER_DATE=2001-02-03T04:05:06+00:00"}
	p.put("a.txt", "b\n")
	p.git("commit", "-qam", "change a\n\nwhy it is so", "--author=Grace <g@x>", "--date=2001-02-03T04:05:06+00:00")
	logged := func(a map[string]any) Logged {
		t.Helper()
		d, ok := p.does(LogTool(), a).Data.(Logged)
		if !ok {
			t.Fatal("no data")
		}
		return d
	}
	all := logged(nil)
	if len(all.Commits) != 2 || all.Commits[0].Subject != "change a" || all.Commits[0].Author != "Grace" || all.Commits[0].Date != "2001-02-03T04:05:06Z" && all.Commits[0].Date != "2001-02-03T04:05:06+00:00" || len(all.Commits[0].Hash) < 40 {
		t.Fatalf("%+v", all.Commits)
	}
	if want := all.Commits[0].Hash[:9] + " 2001-02-03 change a (Grace)\n"; !strings.HasPrefix(all.Output, want) {
		t.Errorf("output %q, want %q first", all.Output, want)
	}
	for name, c := range map[string]struct {
		args map[string]any
		want int
	}{
		"count":               {map[string]any{"count": 1}, 1},
		"author":              {map[string]any{"author": "grace"}, 1},
		"author as an option": {map[string]any{"author": "--all"}, 0},
		"since":               {map[string]any{"since": "2001-01-01"}, 2},
		"since, later":        {map[string]any{"since": `"2002-01-01"`}, 0},
		"file":                {map[string]any{"file": "sub/b.txt"}, 1},
		"folder":              {map[string]any{"path": "sub"}, 1},
	} {
		if got := logged(c.args); len(got.Commits) != c.want {
			t.Errorf("%s: %d commits, want %d: %+v", name, len(got.Commits), c.want, got.Commits)
		}
	}
	if long := logged(map[string]any{"oneline": false, "count": 1}); !strings.Contains(long.Output, "why it is so") {
		t.Errorf("the whole message is not in %q", long.Output)
	}
	p.refuses(LogTool(), map[string]any{"since": "a\nb"}, toolkit.CodeInvalid)
	q := newProject(t)
	q.git("init", "-q")
	if r := q.does(LogTool(), nil); r.Text != "no commits yet\n" {
		t.Errorf("text %q", r.Text)
	}
}

func FuzzParseLog(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add(id + "\x1fn\x1fd\x1fs\x1fb\x00" + id + "\x1fn\x1fd\x1fs\x1f\x00")
	f.Add("x\x1fn")
	f.Fuzz(func(t *testing.T, out string) {
		list, err := parseLog(out)
		if err != nil {
			return
		}
		for _, c := range list {
			if !objectID(c.Hash) || c.text(true) == "" || c.text(false) == "" {
				t.Fatalf("%+v of %q", c, out)
			}
		}
	})
}
