package guard

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a directory with a workspace "ws" and, beside it, "out" and "ws2",
// which nothing may reach.
type world struct {
	t   testing.TB
	dir string
	fs  *FS
}

const outsideSecret = "OUTSIDE BYTES"

func newWorld(t testing.TB, opts ...FSOptions) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	w.put("out/secret", outsideSecret)
	w.put("ws2/x", outsideSecret)
	w.put("wsx", outsideSecret)
	w.put("ws/a.txt", "alpha")
	w.put("ws/sub/b.txt", "beta")
	opt := FSOptions{Home: filepath.Join(dir, "home")}
	if len(opts) > 0 {
		opt = opts[0]
	}
	w.fs, err = OpenFS(filepath.Join(dir, "ws"), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.fs.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// put writes a file below the world's directory, behind the guard's back.
func (w *world) put(rel, content string) {
	w.t.Helper()
	p := filepath.Join(w.dir, rel)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, rel string) {
	w.t.Helper()
	p := filepath.Join(w.dir, rel)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(target, p); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) missing(rel string) {
	w.t.Helper()
	if _, err := os.Lstat(filepath.Join(w.dir, rel)); !os.IsNotExist(err) {
		w.t.Errorf("%s exists (err %v), want nothing there", rel, err)
	}
}

func wantDenied(t *testing.T, err error, rule Rule) {
	t.Helper()
	d, ok := AsDenied(err)
	if !ok {
		t.Fatalf("error = %v, want a refusal by %s", err, rule)
	}
	if d.Rule != rule {
		t.Fatalf("refused by %s (%v), want %s", d.Rule, err, rule)
	}
}
