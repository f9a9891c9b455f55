package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
)

func TestStatus(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n", "c.txt", "c\n", "old name.txt", "moved\n", "sub/d.txt", "d\n")
	p.put("a.txt", "changed\n")
	p.put("b.txt", "staged\n")
	p.put("n\new.txt", "odd\n")
	p.put("fresh/x", "")
	p.put("added.txt", "x\n")
	p.git("add", "b.txt", "added.txt")
	p.git("mv", "old name.txt", "sub/new name.txt")
	p.git("rm", "-q", "c.txt")
	s, err := Status(t.Context(), p.w.Proc, "")
	if err != nil {
		t.Fatal(err)
	}
	want := &State{
		Branch: "main",
		Staged: []File{
			{Path: "added.txt", Kind: "added"},
			{Path: "b.txt", Kind: "modified"},
			{Path: "c.txt", Kind: "deleted"},
			{Path: "sub/new name.txt", Kind: "renamed", From: "old name.txt"},
		},
		Unstaged:  []File{{Path: "a.txt", Kind: "modified"}},
		Untracked: []string{"fresh/", "n\new.txt"},
		Conflicts: []string{},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	marks := map[string]string{
		"added.txt": "A", "b.txt": "M", "c.txt": "D", "sub/new name.txt": "R", "a.txt": "M", "fresh": "?", "n\new.txt": "?",
	}
	if diff := cmp.Diff(marks, s.Marks()); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	below, err := Status(t.Context(), p.w.Proc, "sub")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"new name.txt": "A"}, below.Marks()); diff != "" {
		t.Errorf("marks below sub (-want +got):\n%s", diff)
	}
}

func TestStatusOfAConflict(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.git("checkout", "-q", "-b", "other")
	p.put("a.txt", "other\n")
	p.git("commit", "-qam", "other")
	p.git("checkout", "-q", "main")
	p.put("a.txt", "main\n")
	p.git("commit", "-qam", "main")
	if err := func() (err error) {
		defer func() { _ = recover() }()
		q := &project{t: failing{p.t}, dir: p.dir, w: p.w}
		q.git("merge", "other")
		return errors.New("the merge has no conflict")
	}(); err != nil {
		t.Fatal(err)
	}
	s, err := Status(t.Context(), p.w.Proc, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt"}, s.Conflicts); diff != "" || s.Marks()["a.txt"] != "U" {
		t.Errorf("conflicts %v, mark %q", s.Conflicts, s.Marks()["a.txt"])
	}
}

// failing turns a fatal failure of a helper into a panic that a test can catch.
type failing struct{ testing.TB }

func (f failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestStatusKnowsItsUpstream(t *testing.T) {
	origin := committed(t, "a.txt", "a\n")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.git("clone", "-q", origin.dir, dir)
	p := newProject(t, dir)
	p.put("b.txt", "b\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "ahead")
	origin.put("c.txt", "c\n")
	origin.git("add", "-A")
	origin.git("commit", "-qm", "behind")
	p.git("fetch", "-q")
	r, err := p.call(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "on branch main, upstream origin/main, 1 ahead and 1 behind\nnothing changed\n"; r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
}

func TestGitStatusTool(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n")
	p.put("a.txt", "x\n")
	p.put("b.txt", "x\n")
	p.git("add", "b.txt")
	p.put("b.txt", "y\n")
	p.put("new.txt", "")
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"in words", nil, `on branch main, no upstream
staged (1):
  modified: b.txt
changed, not staged (2):
  modified: a.txt
  modified: b.txt
new, untracked (1):
  new.txt
`},
		{"short", map[string]any{"short": true}, "## on branch main, no upstream\nMM b.txt\n M a.txt\n?? new.txt\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := p.call(c.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutsideARepository(t *testing.T) {
	p := newProject(t)
	_, err := Status(t.Context(), p.w.Proc, "")
	var none *NoRepository
	if !errors.As(err, &none) {
		t.Fatalf("error = %v, want *NoRepository", err)
	}
	_, err = p.call(nil)
	var e *toolkit.Error
	if !errors.As(err, &e) || e.Code != CodeNoRepository {
		t.Fatalf("error = %v, want %s", err, CodeNoRepository)
	}
}

// A repository that names programs in every place that git would run them from.
func TestAHostileRepositoryRunsNothing(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "sub/b.txt", "b\n")
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+marker+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A submodule with the same settings of its own.
	module := committed(t, "m.txt", "m\n")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.dir, "module")
	p.git("commit", "-qam", "module")
	inside := &project{t: p.t, dir: filepath.Join(p.dir, "module"), w: p.w}
	for _, q := range []*project{p, inside} {
		for _, kv := range [][2]string{
			{"core.fsmonitor", evil},
			{"core.sshCommand", evil},
			{"core.pager", evil},
			{"core.editor", evil},
			{"core.askPass", evil},
			{"core.alternateRefsCommand", evil},
			{"diff.external", evil},
			{"diff.evil.command", evil},
			{"diff.evil.textconv", evil},
			{"filter.evil.clean", evil},
			{"filter.evil.smudge", evil},
			{"filter.evil.required", "true"},
			{"filter.two.process", evil},
			{"merge.evil.driver", evil},
			{"gpg.program", evil},
			{"credential.helper", evil},
			{"alias.status", "!" + evil},
			{"pager.status", evil},
			{"status.submoduleSummary", "true"},
			{"interactive.diffFilter", evil},
			{"core.hooksPath", "evilhooks"},
		} {
			q.git("config", kv[0], kv[1])
		}
		q.put(".gitattributes", "*.txt filter=evil diff=evil merge=evil\nsub/* filter=two\n")
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"} {
		for _, dir := range []string{"evilhooks", ".git/hooks"} {
			p.put(filepath.Join(dir, hook), "#!/bin/sh\necho hook >>'"+marker+"'\n")
			if err := os.Chmod(filepath.Join(p.dir, dir, hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Same size, other time: git must compare the content, through the filters.
	for rel, content := range map[string]string{"a.txt": "A\n", "sub/b.txt": "B\n", "module/m.txt": "M\n"} {
		p.put(rel, content)
		when := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(p.dir, rel), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(marker); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	r, err := p.call(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Text, "modified: a.txt") || !strings.Contains(r.Text, "modified: sub/b.txt") {
		t.Errorf("text = %q, want both files", r.Text)
	}
	if ran, err := os.ReadFile(marker); err == nil {
		t.Fatalf("the repository ran:\n%s", ran)
	}
	// The trap works: git without our settings falls into it.
	func() {
		defer func() { _ = recover() }()
		q := &project{t: failing{p.t}, dir: p.dir, w: p.w}
		q.git("status")
	}()
	if _, err := os.ReadFile(marker); err != nil {
		t.Errorf("git by itself ran nothing either, so this test proves nothing: %v", err)
	}
}

func TestAFilterThatCannotBeSwitchedOffIsRefused(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.git("config", "--file", ".git/config", "filter.a=b.clean", "touch ran")
	_, err := Status(t.Context(), p.w.Proc, "")
	var unsafe *Unsafe
	if !errors.As(err, &unsafe) {
		t.Fatalf("error = %v, want *Unsafe", err)
	}
}

func TestAWorkTreeElsewhereIsRefused(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "private.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.git("config", "core.worktree", elsewhere)
	s, err := Status(t.Context(), p.w.Proc, "")
	if err == nil {
		t.Fatalf("state = %+v, want a refusal", s)
	}
}

func TestAPartOfALargerRepositoryListsOnlyItself(t *testing.T) {
	outer := committed(t, "out.txt", "o\n", "ws/in.txt", "i\n")
	outer.put("out.txt", "changed\n")
	outer.put("ws/in.txt", "changed\n")
	outer.put("private/new.txt", "")
	p := newProject(t, filepath.Join(outer.dir, "ws"))
	s, err := Status(t.Context(), p.w.Proc, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"in.txt": "M"}, s.Marks()); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("# branch.oid abc\x00# branch.head main\x00# branch.ab +1 -2\x001 .M N... 100644 100644 100644 a b file\x00", "")
	f.Add("2 R. N... 1 1 1 a b R100 new\x00old\x00? x y\x00u UU N... 1 1 1 1 a b c p q\x00", "sub/")
	f.Add("2 R. N... 1 1 1 a b R100 new", "")
	f.Add("1 \x00!\x00", "x")
	f.Fuzz(func(t *testing.T, out, prefix string) {
		s, err := parseStatus(out, prefix)
		if err != nil {
			return
		}
		s.Marks()
		_, _ = s.long(), s.short()
		for _, f := range append(s.Staged, s.Unstaged...) {
			if f.Path == "" || f.Kind == "" {
				t.Fatalf("file %+v of %q", f, out)
			}
		}
	})
}
