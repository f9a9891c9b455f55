//go:build unix

package guard

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSpecialFilesNeverBlock would hang, not fail, if an open waited.
func TestSpecialFilesNeverBlock(t *testing.T) {
	w := newWorld(t)
	at := func(name string) string { return filepath.Join(w.dir, "ws", name) }
	if err := unix.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.link("fifo", "ws/tofifo")
	names := []string{"fifo", "tofifo", "sub"}
	if l, err := net.Listen("unix", at("sock")); err == nil {
		defer func() { _ = l.Close() }()
		names = append(names, "sock")
	} else {
		t.Logf("no socket: %v", err)
	}
	if err := unix.Mknod(at("zero"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))); err == nil {
		names = append(names, "zero")
	} else {
		t.Logf("no device: %v", err)
	}
	for _, n := range names {
		if _, err := w.fs.Open(n); !errors.Is(err, ErrNotRegular) {
			t.Errorf("Open(%s) = %v, want ErrNotRegular", n, err)
		}
		if _, err := w.fs.Write(n, []byte("x")); err == nil {
			t.Errorf("Write(%s) succeeded", n)
		}
	}
	seen := 0
	_, err := w.fs.Walk(context.Background(), WalkOptions{}, func(e *Entry) error {
		if e.Type.IsRegular() {
			return nil
		}
		seen++
		if _, err := e.Open(); err == nil {
			t.Errorf("Entry.Open(%s) succeeded", e.Path)
		}
		if _, _, err := e.ReadInto(nil, 10); err == nil {
			t.Errorf("Entry.ReadInto(%s) succeeded", e.Path)
		}
		return nil
	})
	if err != nil || seen < len(names) {
		t.Errorf("walk saw %d special files, %v", seen, err)
	}
}

func TestReadsAreCappedByBytesRead(t *testing.T) {
	w := newWorld(t)
	p := filepath.Join(w.dir, "ws/sparse")
	if err := os.WriteFile(p, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	data, info, more, err := w.fs.ReadFile("sparse", 1000)
	if err != nil || len(data) != 1000 || !more || info.Size != 1<<40 || !IsBinary(data) {
		t.Errorf("ReadFile = %d bytes, more %v, size %d, %v", len(data), more, info.Size, err)
	}
	if _, _, err := w.fs.ReadAll("sparse", 1000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ReadAll = %v, want ErrTooLarge", err)
	}
	for _, limit := range []int64{-1, 0, 4, 5, 6} {
		data, _, more, err := w.fs.ReadFile("a.txt", limit)
		want := min(max(limit, 0), 5)
		if err != nil || int64(len(data)) != want || more != (want < 5) {
			t.Errorf("limit %d: %q, %v, %v", limit, data, more, err)
		}
	}
}
