package ollama_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"chela/engine/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const qwen = "qwen3:8b"

// serve starts a server with one handler for everything.
func serve(t *testing.T, f http.HandlerFunc) *ollama.Client {
	t.Helper()
	srv := httptest.NewServer(f)
	c, err := ollama.New(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.CloseIdle()
		srv.Close()
	})
	return c
}

// closed is a client of an address where nothing listens.
func closed(t *testing.T) *ollama.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := ollama.New(addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(ctx context.Context, c *ollama.Client, sink ollama.Sink) (ollama.Reply, error) {
	return c.Chat(ctx, ollama.Request{
		Model: qwen, Window: 8192, Think: &api.ThinkValue{Value: false}, Messages: []api.Message{{Role: "user", Content: "hello"}},
	}, sink)
}

func says(t *testing.T, what string, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	for _, w := range wants {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s does not say %q: %v", what, w, err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
