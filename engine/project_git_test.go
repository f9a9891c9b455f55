package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"chela/engine"
	"chela/engine/event"
)

// A repository that names programs is not handed to git at start-up; the
// person is told once.
func TestTheMarksOfAHostileRepositoryRunNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := newRig(t, nil)
	outside := t.TempDir()
	mark, evil := filepath.Join(outside, "ran"), filepath.Join(outside, "evil.sh")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho ran >>'"+mark+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.fsmonitor", evil}, {"config", "filter.x.clean", evil}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	r.file("a.txt", "a\n")
	r.file(".gitattributes", "* filter=x\n")
	for range 2 {
		p, err := r.eng.Project(t.Context())
		if err != nil || p.Branch != "" || len(p.Marks) > 0 {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the repository ran its program")
	}
	r.open(engine.OpenOptions{}) // its event ends what is waited for
	_, all := await[event.SessionChanged](r)
	if n := bodies[event.Notice](all); len(n) != 1 || n[0].Level != "warn" {
		t.Errorf("notices: %+v", n)
	}
}
