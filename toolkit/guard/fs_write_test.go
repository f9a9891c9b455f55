package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteNeverLeavesTheWorkspace(t *testing.T) {
	w := newWorld(t)
	w.link("../out", "ws/linkdir")
	w.link("../out/new", "ws/dangling")
	w.link("../out/secret", "ws/l")
	for _, p := range []string{"linkdir/new", "dangling", "l", "../out/new", "/tmp/chela-guard-test", "linkdir/deep/new", "linkdir"} {
		_, err := w.fs.Write(p, []byte("x"))
		wantDenied(t, err, RuleOutside)
		_, err = w.fs.Append(p, []byte("x"), 100, Expect{})
		wantDenied(t, err, RuleOutside)
		wantDenied(t, w.fs.MkdirAll(p), RuleOutside)
	}
	wantDenied(t, w.fs.Rename("a.txt", "linkdir/new"), RuleOutside)
	wantDenied(t, w.fs.Rename("linkdir/secret", "new"), RuleOutside)
	wantDenied(t, w.fs.Remove("linkdir/secret"), RuleOutside)
	w.missing("out/new")
	if got := w.get("out/secret"); got != outsideSecret {
		t.Errorf("outside file is now %q", got)
	}
	if err := w.fs.Remove("l"); err != nil {
		t.Errorf("removing the link itself: %v", err)
	}
}

func TestWriteKeepsOtherHardLinksUnchanged(t *testing.T) {
	w := newWorld(t)
	if err := os.Link(filepath.Join(w.dir, "out/secret"), filepath.Join(w.dir, "ws/h")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if info, err := w.fs.Stat("h"); err != nil || info.Nlink != 2 {
		t.Errorf("Stat = %+v, %v; want 2 links", info, err)
	}
	if _, err := w.fs.Write("h", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if got := w.get("out/secret"); got != outsideSecret {
		t.Errorf("outside file is now %q", got)
	}
	if got := w.get("ws/h"); got != "mine" {
		t.Errorf("h is %q", got)
	}
}

func TestWriteThroughAnInsideLinkKeepsTheLink(t *testing.T) {
	w := newWorld(t)
	w.link("sub/b.txt", "ws/l")
	got, err := w.fs.Write("l", []byte("new"))
	if err != nil || got.Path != "sub/b.txt" || got.Created {
		t.Fatalf("Write = %+v, %v", got, err)
	}
	if target, err := os.Readlink(filepath.Join(w.dir, "ws/l")); err != nil || target != "sub/b.txt" {
		t.Errorf("link = %q, %v", target, err)
	}
	if w.get("ws/sub/b.txt") != "new" {
		t.Error("the target was not written")
	}
}

func TestWriteKeepsModeAndCreatesParents(t *testing.T) {
	w := newWorld(t)
	p := filepath.Join(w.dir, "ws/a.txt")
	if err := os.Chmod(p, 0o751); err != nil {
		t.Fatal(err)
	}
	got, err := w.fs.Write("a.txt", []byte("x"))
	if err != nil || got.Created || got.SHA256 != Hash([]byte("x")) {
		t.Fatalf("Write = %+v, %v", got, err)
	}
	if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
	if got, err := w.fs.Write("x/y/z.txt", []byte("deep")); err != nil || !got.Created || w.get("ws/x/y/z.txt") != "deep" {
		t.Errorf("Write = %+v, %v", got, err)
	}
}

func TestWriteIfRefusesWhatThePlanDidNotSee(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		path   string
		expect Expect
		ok     bool
	}{
		"same content":    {"a.txt", Expect{SHA256: Hash([]byte("alpha"))}, true},
		"other content":   {"sub/b.txt", Expect{SHA256: Hash([]byte("alpha"))}, false},
		"gone":            {"gone", Expect{SHA256: Hash([]byte("alpha"))}, false},
		"absent":          {"fresh", Expect{Absent: true}, true},
		"absent but here": {"sub/b.txt", Expect{Absent: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.fs.WriteIf(c.path, []byte("new"), c.expect)
			var changed *Changed
			if c.ok != (err == nil) || (!c.ok && !errors.As(err, &changed)) {
				t.Fatalf("WriteIf = %v", err)
			}
		})
	}
	if got := w.get("ws/sub/b.txt"); got != "beta" {
		t.Errorf("b.txt is %q", got)
	}
	w.missing("ws/gone")
	w.noTemps()
}

// noTemps fails if a temporary file was left in the workspace.
func (w *world) noTemps() {
	w.t.Helper()
	err := filepath.WalkDir(filepath.Join(w.dir, "ws"), func(p string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(p), ".chela-") {
			w.t.Errorf("temporary file %s is left", p)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	w := newWorld(t)
	w.fs.faultWrite = func() error { return syscall.ENOSPC }
	_, err := w.fs.Write("a.txt", []byte("new"))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "intact") {
		t.Errorf("error = %v", err)
	}
	if got := w.get("ws/a.txt"); got != "alpha" {
		t.Errorf("a.txt is %q", got)
	}
	w.noTemps()
	w.fs.faultWrite = nil
	if err := os.Chmod(filepath.Join(w.dir, "ws/a.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fs.Write("a.txt", []byte("new")); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("writing a read-only file: %v", err)
	}
	for _, p := range []string{".", "sub"} {
		if _, err := w.fs.Write(p, []byte("x")); err == nil {
			t.Errorf("wrote over the directory %s", p)
		}
	}
	if os.Geteuid() == 0 {
		t.Log("running as root: a read-only directory stops nobody, not tested")
		return
	}
	if err := os.Chmod(filepath.Join(w.dir, "ws/sub"), 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fs.Write("sub/b.txt", []byte("x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v", err)
	}
	if err := os.Chmod(filepath.Join(w.dir, "ws/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	w := newWorld(t)
	if _, err := w.fs.Append("a.txt", []byte("+1"), 100, Expect{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fs.Append("new.txt", []byte("first"), 100, Expect{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fs.Append("a.txt", []byte("toolong"), 8, Expect{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
	if got := w.get("ws/a.txt") + w.get("ws/new.txt"); got != "alpha+1first" {
		t.Errorf("content = %q", got)
	}
}

func TestRenameAndRemove(t *testing.T) {
	w := newWorld(t)
	if err := w.fs.Rename("a.txt", "new/c.txt"); err != nil {
		t.Fatal(err)
	}
	if err := w.fs.Rename("new/c.txt", "sub/b.txt"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("rename over a file: %v", err)
	}
	if err := w.fs.Remove("new"); err == nil {
		t.Error("removed a full directory")
	}
	for _, p := range []string{"new/c.txt", "new"} {
		if err := w.fs.Remove(p); err != nil {
			t.Error(err)
		}
	}
	if err := w.fs.Remove("."); err == nil {
		t.Error("removed the workspace")
	}
	w.missing("ws/new")
}
