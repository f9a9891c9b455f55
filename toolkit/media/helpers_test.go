package media

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
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
