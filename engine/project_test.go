package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
)

func TestAFolderWithoutRepositoryOrGitIsAnEmptyProject(t *testing.T) {
	r := newRig(t, nil)
	if p, err := r.eng.Project(t.Context()); err != nil || p.Branch != "" || len(p.Marks) != 0 {
		t.Errorf("no repository: %+v, %v", p, err)
	}
	t.Setenv("PATH", t.TempDir())
	bare := newRig(t, nil)
	if p, err := bare.eng.Project(t.Context()); err != nil || p.Branch != "" {
		t.Errorf("no git: %+v, %v", p, err)
	}
}

func TestTheProjectHasItsBranchAndMarks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := newRig(t, nil)
	cmd := exec.Command("git", "init", "-q", "-b", "trunk", r.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.file("new.txt", "x\n")
	p, err := r.eng.Project(t.Context())
	if err != nil || p.Branch != "trunk" || p.Changed != 1 || p.Marks["new.txt"] == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	entries, more, err := r.eng.Folder(t.Context(), "", p)
	if err != nil || more || len(entries) != 1 || entries[0].Path != "new.txt" || entries[0].Mark != p.Marks["new.txt"] {
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestTheScreenSeesTheWorkspaceThroughTheGuards(t *testing.T) {
	r := newRig(t, nil)
	r.file("b.txt", "bee\n")
	r.file("A.txt", "ay\n")
	r.file(".gitignore", "*.log\n")
	r.file("x.log", "noise\n")
	r.file("data.bin", "a\x00b")
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.file("sub/c.txt", "sea\n")
	entries, _, err := r.eng.Folder(t.Context(), "", engine.Project{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Path)
		if e.Ignored != (e.Path == "x.log") {
			t.Errorf("%s: ignored is %v", e.Path, e.Ignored)
		}
	}
	equal(t, "folder", []string{"sub", ".gitignore", "A.txt", "b.txt", "data.bin", "x.log"}, names)
	paths, err := r.eng.Paths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(paths, " "); !strings.Contains(all, "sub/c.txt") || strings.Contains(all, "x.log") {
		t.Errorf("paths: %s", all)
	}
	if text, binary, more, err := r.eng.ReadText("b.txt"); text != "bee\n" || binary || more || err != nil {
		t.Errorf("%q, %v, %v, %v", text, binary, more, err)
	}
	if _, binary, _, err := r.eng.ReadText("data.bin"); !binary || err != nil {
		t.Errorf("binary %v, %v", binary, err)
	}
	if _, _, _, err := r.eng.ReadText("../outside"); err == nil {
		t.Error("a file outside was read")
	}
}
