package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func walked(t *testing.T, w *world, opts WalkOptions) ([]string, WalkStats) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	stats, err := w.fs.Walk(context.Background(), opts, func(e *Entry) error {
		mu.Lock()
		defer mu.Unlock()
		p := e.Path
		if e.Type.IsDir() {
			p += "/"
		}
		if e.Rule != "" {
			p += "!"
		}
		got = append(got, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

func walkWorld(t *testing.T) *world {
	w := newWorld(t)
	w.put("ws/.gitignore", "*.log\n/build/\n!keep.log\n")
	w.put("ws/.git/info/exclude", "excluded\n")
	w.put("ws/.git/config", "")
	w.put("ws/x.log", "")
	w.put("ws/keep.log", "")
	w.put("ws/build/o", "")
	w.put("ws/excluded", "")
	w.put("ws/sub/.gitignore", "b.txt\n!x.log\n")
	w.put("ws/sub/x.log", "")
	w.put("ws/sub/build/o", "")
	w.put("ws/node_modules/m/i.js", "")
	w.put("ws/.env", "")
	w.put("ws/.ssh/k", "")
	w.put("ws/bare/HEAD", "")
	w.put("ws/bare/objects/o", "")
	w.put("ws/bare/refs/o", "")
	w.link("../out", "ws/out")
	w.link(".", "ws/loop")
	return w
}

func TestWalk(t *testing.T) {
	w := walkWorld(t)
	all := []string{
		".env!", ".gitignore", ".ssh/!", "a.txt", "bare/", "build/", "build/o", "excluded", "keep.log", "loop", "node_modules/",
		"node_modules/m/", "node_modules/m/i.js", "out", "sub/", "sub/.gitignore", "sub/b.txt", "sub/build/", "sub/build/o", "sub/x.log", "x.log",
	}
	unignored := []string{
		".env!", ".gitignore", ".ssh/!", "a.txt", "bare/", "keep.log", "loop", "node_modules/", "node_modules/m/", "node_modules/m/i.js", "out",
		"sub/", "sub/.gitignore", "sub/build/", "sub/build/o", "sub/x.log",
	}
	for name, c := range map[string]struct {
		opts WalkOptions
		want []string
	}{
		"everything":    {WalkOptions{}, all},
		"gitignore":     {WalkOptions{Gitignore: true}, unignored},
		"below sub":     {WalkOptions{Gitignore: true, Root: "sub"}, []string{"sub/.gitignore", "sub/build/", "sub/build/o", "sub/x.log"}},
		"tidy":          {WalkOptions{Gitignore: true, SkipHidden: true, SkipDeps: true}, []string{"a.txt", "bare/", "keep.log", "loop", "out", "sub/", "sub/x.log"}},
		"one level":     {WalkOptions{MaxDepth: 1, SkipHidden: true}, []string{"a.txt", "bare/", "build/", "excluded", "keep.log", "loop", "node_modules/", "out", "sub/", "x.log"}},
		"not entered":   {WalkOptions{SkipHidden: true, Gitignore: true, Enter: func(rel string) bool { return rel != "sub" && rel != "node_modules" }}, []string{"a.txt", "bare/", "keep.log", "loop", "node_modules/", "out", "sub/"}},
		"single worker": {WalkOptions{Workers: 1}, all},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := walked(t, w, c.opts)
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unordered walk (-want +got):\n%s", diff)
			}
			c.opts.Sorted = true
			got, _ = walked(t, w, c.opts)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ordered walk (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWalkOpensWithoutLeavingTheDirectory(t *testing.T) {
	w := walkWorld(t)
	read := map[string]string{}
	var buf []byte
	_, err := w.fs.Walk(context.Background(), WalkOptions{Sorted: true}, func(e *Entry) error {
		data, _, err := e.ReadInto(buf, 100)
		buf = data
		if e.Type.IsRegular() && e.Rule == "" {
			if err != nil {
				t.Errorf("ReadInto(%s): %v", e.Path, err)
			}
			read[e.Path] = string(data)
			f, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			info, err := e.Info()
			if err != nil || info.Size != f.Info().Size || info.Size != int64(len(data)) {
				t.Errorf("Info(%s) = %+v, %v", e.Path, info, err)
			}
			return f.Close()
		}
		if err == nil {
			t.Errorf("ReadInto(%s) gave %q", e.Path, data)
		}
		if f, err := e.Open(); err == nil {
			_ = f.Close()
			t.Errorf("Open(%s) succeeded", e.Path)
		}
		return nil
	})
	if err != nil || read["a.txt"] != "alpha" || read["sub/b.txt"] != "beta" {
		t.Errorf("read %v, %v", read, err)
	}
}

func TestWalkBounds(t *testing.T) {
	w := newWorld(t)
	for i := range 500 {
		w.put(fmt.Sprintf("ws/flat/%03d", i), "")
	}
	for _, sorted := range []bool{false, true} {
		got, stats := walked(t, w, WalkOptions{MaxEntries: 100, Sorted: sorted})
		if len(got) != 100 || !stats.Full || stats.Visited != 100 {
			t.Errorf("sorted %v: %d visits, %+v", sorted, len(got), stats)
		}
		if got, stats = walked(t, w, WalkOptions{Sorted: sorted}); len(got) != 504 || stats.Full {
			t.Errorf("sorted %v: %d visits, %+v", sorted, len(got), stats)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_, err := w.fs.Walk(ctx, WalkOptions{Sorted: sorted}, func(*Entry) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("sorted %v: cancelled walk = %v", sorted, err)
		}
		boom := errors.New("boom")
		if _, err = w.fs.Walk(context.Background(), WalkOptions{Sorted: sorted}, func(*Entry) error { return boom }); !errors.Is(err, boom) {
			t.Errorf("sorted %v: visit's error = %v", sorted, err)
		}
		if _, err = w.fs.Walk(context.Background(), WalkOptions{Sorted: sorted}, func(*Entry) error { return ErrStopWalk }); err != nil {
			t.Errorf("sorted %v: stopped walk = %v", sorted, err)
		}
	}
	for _, bad := range []string{"a.txt", "nothing", "../out"} {
		if _, err := w.fs.Walk(context.Background(), WalkOptions{Root: bad}, func(*Entry) error { return nil }); err == nil {
			t.Errorf("walk of %s succeeded", bad)
		}
	}
}

func TestWalkOfAVeryDeepTreeEnds(t *testing.T) {
	w := newWorld(t)
	root, err := os.OpenRoot(filepath.Join(w.dir, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(strings.Repeat("d/", 700)+"d", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, sorted := range []bool{false, true} {
		got, stats := walked(t, w, WalkOptions{MaxDepth: 9999, Sorted: sorted})
		if len(got) != maxWalkDepth+3 || stats.TooDeep != 1 || stats.Failed != 0 {
			t.Errorf("sorted %v: %d visits, %+v", sorted, len(got), stats)
		}
	}
}

func TestUnreadableDirectoryIsCounted(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("running as root, which can read every directory")
	}
	w := newWorld(t)
	sub := filepath.Join(w.dir, "ws/sub")
	if err := os.Chmod(sub, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(sub, 0o755) }()
	_, stats := walked(t, w, WalkOptions{})
	if stats.Failed != 1 || len(stats.Failures) != 1 {
		t.Errorf("stats = %+v", stats)
	}
}

func BenchmarkWalk(b *testing.B) {
	dir := b.TempDir()
	for d := range 100 {
		sub := filepath.Join(dir, fmt.Sprintf("d%d", d))
		if err := os.Mkdir(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.go", i)), []byte("package x\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.log\nnode_modules\n/x/**/y\n*.min.js\nfoo*bar\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := OpenFS(dir, FSOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Walk(context.Background(), WalkOptions{Gitignore: true}, func(*Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
