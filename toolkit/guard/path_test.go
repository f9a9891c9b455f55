package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOpenFSRefusesBadRoots(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		root string
		opts FSOptions
		want string
	}{
		"missing":          {root: filepath.Join(w.dir, "nothing"), want: "existing directory"},
		"file":             {root: filepath.Join(w.dir, "ws/a.txt"), want: "is a file"},
		"empty":            {root: "", want: "not a path"},
		"nul":              {root: "a\x00b", want: "not a path"},
		"proc":             {root: "/proc/self", want: "system's own files"},
		"sys":              {root: "/sys", want: "system's own files"},
		"dev":              {root: "/dev", want: "system's own files"},
		"inside own state": {root: filepath.Join(w.dir, "ws"), opts: FSOptions{Protected: []string{w.dir}}, want: "own state"},
		"relative own":     {root: filepath.Join(w.dir, "ws"), opts: FSOptions{Protected: []string{"x"}}, want: "not absolute"},
		"bad glob":         {root: filepath.Join(w.dir, "ws"), opts: FSOptions{ExtraSecrets: []string{"a[b"}}, want: "not a valid glob"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := OpenFS(c.root, c.opts)
			if err == nil {
				_ = f.Close()
				t.Fatalf("OpenFS(%q) succeeded", c.root)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestReadStaysInside(t *testing.T) {
	w := newWorld(t)
	w.link("../out/secret", "ws/l1")
	w.link("/etc/passwd", "ws/l2")
	w.link("c2", "ws/c1")
	w.link("c3", "ws/c2")
	w.link("../out/secret", "ws/c3")
	w.link("../out", "ws/linkdir")
	w.link("/proc/self/environ", "ws/env")
	w.link("/proc/self/fd/0", "ws/fd")
	w.link(filepath.Join(w.dir, "out"), "ws/absdir")
	w.link("sub/../../out/secret", "ws/zigzag")
	for _, p := range []string{
		"../out/secret", "../ws2/x", "../wsx", "sub/../../out/secret", "./.././out/secret", "..", "/etc/passwd", "/etc/shadow",
		"~/x", "~", "/proc/self/environ", "/", w.dir + "/ws2/x", w.dir + "/ws/../ws2/x", w.dir + "/wsx", w.dir,
		"l1", "l2", "c1", "linkdir/secret", "linkdir", "env", "fd", "absdir/secret", "zigzag",
		"l1/", "l1/.", "linkdir//secret", "linkdir/../secret/../linkdir/secret",
	} {
		t.Run(p, func(t *testing.T) {
			data, _, _, err := w.fs.ReadFile(p, 100)
			wantDenied(t, err, RuleOutside)
			if len(data) > 0 {
				t.Errorf("read %q", data)
			}
			_, _, err = w.fs.ReadDir(p, 10)
			wantDenied(t, err, RuleOutside)
			if _, err := w.fs.Stat(p); err == nil {
				t.Error("Stat succeeded")
			}
		})
	}
}

func TestReadFindsTheFileUnderAnyInsideName(t *testing.T) {
	w := newWorld(t, FSOptions{Home: ""})
	w.link("sub/b.txt", "ws/good")
	w.link(filepath.Join(w.dir, "ws/sub"), "ws/abs")
	w.link(filepath.Join(w.dir, "ws"), "alias")
	alias, err := OpenFS(filepath.Join(w.dir, "alias"), FSOptions{Home: filepath.Join(w.dir, "alias/sub")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alias.Close() }()
	for _, p := range []string{
		"sub/b.txt", "./sub//b.txt", "sub/../sub/b.txt", "good", "abs/b.txt", "~/b.txt",
		w.dir + "/ws/sub/b.txt", w.dir + "//ws/./sub/b.txt", w.dir + "/alias/sub/b.txt",
	} {
		data, info, _, err := alias.ReadFile(p, 100)
		if err != nil || string(data) != "beta" || info.Path != "sub/b.txt" {
			t.Errorf("ReadFile(%q) = %q, %q, %v", p, data, info.Path, err)
		}
	}
}

func TestInvalidPathsAreErrorsNotRefusals(t *testing.T) {
	w := newWorld(t)
	w.link("loop2", "ws/loop1")
	w.link("loop1", "ws/loop2")
	for _, p := range []string{"", "a\x00b", strings.Repeat("x/", 3000), "loop1", "nothing", "a.txt/below"} {
		_, err := w.fs.Open(p)
		if _, denied := AsDenied(err); err == nil || denied {
			t.Errorf("Open(%.20q) error = %v, want a plain error", p, err)
		}
	}
	if _, err := w.fs.Open("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v is not ErrNotExist", err)
	}
}

// TestSwappedLinksNeverLeak swaps a directory with a link to the outside while
// it is read: a reader may fail but must never get outside bytes.
func TestSwappedLinksNeverLeak(t *testing.T) {
	w := newWorld(t)
	w.put("ws/d/secret", "inside")
	w.put("ws/.git/secret", outsideSecret)
	for name, target := range map[string]string{"outside": "../out", "git": ".git"} {
		t.Run(name, func(t *testing.T) {
			d, other, aside := filepath.Join(w.dir, "ws/d"), filepath.Join(w.dir, "ws/link"), filepath.Join(w.dir, "ws/aside")
			if err := os.Symlink(target, other); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.Remove(other) }()
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					for _, mv := range [][2]string{{d, aside}, {other, d}, {d, other}, {aside, d}} {
						err := os.Rename(mv[0], mv[1])
						for tries := 0; err != nil && tries < 1000; tries++ {
							// The writer created a directory in the gap between two renames.
							_ = os.RemoveAll(mv[1])
							err = os.Rename(mv[0], mv[1])
						}
						if err != nil {
							t.Errorf("swap: %v", err)
							return
						}
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			}()
			good, began := 0, time.Now()
			long := os.Getenv("CHELA_TEST_LONG") == "1" // two seconds, and as many reads as fit
			for i := 0; i < 4000 || long && time.Since(began) < 2*time.Second; i++ {
				data, _, _, err := w.fs.ReadFile("d/secret", 100)
				if err == nil && string(data) != "inside" {
					t.Fatalf("read %q through a swapped link", data)
				}
				if err == nil {
					good++
				}
				if i%40 == 0 {
					_, _ = w.fs.Write("d/new", []byte("x"))
				}
			}
			close(stop)
			<-done
			if good == 0 {
				t.Error("no read ever succeeded: the test proves nothing")
			}
			w.missing("out/new")
			w.missing("ws/.git/new")
		})
	}
}

// TestSwapBetweenOpenAndCheckIsSeen makes the race certain: the path is swapped
// in the moment between the open and the verification.
func TestSwapBetweenOpenAndCheckIsSeen(t *testing.T) {
	w := newWorld(t)
	w.fs.opened = func(string) {
		p := filepath.Join(w.dir, "ws/a.txt")
		if err := os.Rename(p, p+".old"); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(p, []byte("other"), 0o600); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.fs.Open("a.txt"); !errors.Is(err, ErrRaced) {
		t.Errorf("Open = %v, want ErrRaced", err)
	}
}

func checkPathStaysInside(t interface {
	Fatalf(string, ...any)
}, w *world, p string,
) {
	data, _, _, err := w.fs.ReadFile(p, 1000)
	if strings.Contains(string(data), outsideSecret) {
		t.Fatalf("ReadFile(%q) returned outside bytes", p)
	}
	if rel, rerr := w.fs.Rel(p); rerr == nil && !filepath.IsLocal(filepath.FromSlash(rel)) {
		t.Fatalf("Rel(%q) = %q leaves the workspace", p, rel)
	}
	if err == nil && string(data) != "alpha" && string(data) != "beta" {
		t.Fatalf("ReadFile(%q) = %q, which is no file of the workspace", p, data)
	}
}

func hostileWorld(t testing.TB) *world {
	w := newWorld(t)
	w.link("../out", "ws/up")
	w.link("../ws2/x", "ws/x")
	w.link("..", "ws/dots")
	w.link(".", "ws/self")
	w.put("ws/.git/config", outsideSecret)
	w.put("ws/.env", outsideSecret)
	w.link(".git", "ws/g")
	w.link(".env", "ws/e")
	return w
}

func TestNoPathOpensAnythingOutside(t *testing.T) {
	w := hostileWorld(t)
	parts := rapid.SampledFrom([]string{
		"..", ".", "", "up", "x", "dots", "self", "sub", "a.txt", "b.txt", "out", "secret", "ws", "ws2", ".git", ".GIT", "g", "e",
		"config", ".env", ".env ", "~", w.dir, "/", "\\", ".\u200cgit", "…", "%2e%2e",
	})
	rapid.Check(t, func(rt *rapid.T) {
		p := strings.Join(rapid.SliceOfN(parts, 1, 8).Draw(rt, "parts"), rapid.SampledFrom([]string{"/", "//", "/./", "\\"}).Draw(rt, "sep"))
		checkPathStaysInside(rt, w, p)
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a.txt", "../out/secret", "up/secret", "/etc/passwd", "~/x", "l/.", ".git/config", "g/config", "dots/ws2/x", "self/self/up/secret"} {
		f.Add(s)
	}
	w := hostileWorld(f)
	f.Fuzz(func(t *testing.T, p string) {
		checkPathStaysInside(t, w, p)
	})
}
