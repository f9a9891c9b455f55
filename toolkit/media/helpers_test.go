package media

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a workspace, with a folder of programs that is the whole search path.
func bench(t *testing.T) (w *toolkit.Workspace, programs string) {
	t.Helper()
	dir, programs := t.TempDir(), t.TempDir()
	if err := os.Chmod(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	fs, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := guard.NewRunner(fs, guard.RunnerOptions{Path: []string{programs}})
	t.Cleanup(func() {
		_ = r.Close()
		_ = fs.Close()
	})
	return &toolkit.Workspace{Root: dir, Session: "s", Files: fs, Proc: r, Config: &toolkit.Config{}}, programs
}

// program puts a fake program in place. It notes its arguments and its input
// beside itself, one file each, and then runs a script.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	text := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%[1]s/%[2]s.args'\n/bin/cat > '%[1]s/%[2]s.in'\n%[3]s\n", dir, name, script)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	img.Set(w/2, h/2, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func put(t *testing.T, w *toolkit.Workspace, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Root, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, tool toolkit.Tool, w *toolkit.Workspace, args any) (toolkit.Plan, toolkit.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tool.Plan(t.Context(), w, raw)
	if err != nil {
		return p, toolkit.Result{}, err
	}
	r, err := tool.Run(t.Context(), w, p, nil)
	return p, r, err
}

type a = map[string]any

type anyName struct{}

func (anyName) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

func online(t *testing.T, w *toolkit.Workspace, h http.HandlerFunc) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	n, err := guard.NewNet(guard.NetOptions{Resolver: anyName{}, TestDial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, srv.Listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Net = n
}
