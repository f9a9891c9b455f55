package pocket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
)

func chatRequest(t *testing.T, ctx context.Context, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://pocket.invalid/api/chat", body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

const hello = `{"model":"pocket","messages":[{"role":"user","content":"hello"}]}`

func TestClosingTheBodyEndsTheGeneration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	res, err := s.Transport().RoundTrip(chatRequest(t, t.Context(), strings.NewReader(hello)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	// The prompt, and the tokens of the chunk that was being read: the handler
	// cannot have been further than the next one.
	if n := evaluated(s); n < 7 || n > 9 {
		t.Errorf("%d tokens computed, want 7 to 9", n)
	}
	if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read after close: %v", err)
	}
}

func TestCancellingEndsTheGeneration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	chunks := 0
	_ = s.Client().Chat(ctx, ask("hello"), func(api.ChatResponse) error {
		chunks++
		cancel()
		return nil
	})
	if n := evaluated(s); chunks > 2 || n > 10 {
		t.Errorf("%d chunks and %d tokens after the cancellation", chunks, n)
	}
	// The server is as good as new.
	if _, text, _ := talk(t, s.Client(), ask("hello")); text != help {
		t.Errorf("%q", text)
	}
}

func TestAnErrorOfTheCallbackEndsTheGeneration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	enough := errors.New("enough")
	if err := s.Client().Chat(t.Context(), ask("hello"), func(api.ChatResponse) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	if n := evaluated(s); n > 10 {
		t.Errorf("%d tokens computed", n)
	}
}

func TestALongPromptCanBeCancelled(t *testing.T) {
	t.Parallel()
	s := loaded(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.eval(ctx, make([]int, 100)); !errors.Is(err, context.Canceled) || s.evaluated != 0 {
		t.Errorf("%v after %d tokens", err, s.evaluated)
	}
}

// stuckBody is a request body whose end never comes.
type stuckBody struct{ closed chan struct{} }

func (b stuckBody) Read([]byte) (int, error) { <-b.closed; return 0, errors.New("closed") }
func (b stuckBody) Close() error {
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	return nil
}

func TestACancelledRequestDoesNotWaitForItsBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	b := stuckBody{make(chan struct{})}
	cancel()
	res, err := s.Transport().RoundTrip(chatRequest(t, ctx, b))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", res, err)
	}
	<-b.closed
}

func TestHeadHasNoBody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://pocket.invalid/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil || len(b) != 0 || res.StatusCode != http.StatusOK {
		t.Errorf("%d %q %v", res.StatusCode, b, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPanicIsAnErrorOfTheRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.mux.HandleFunc("POST /panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	req := chatRequest(t, t.Context(), nil)
	req.URL.Path = "/panic"
	res, err := s.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil || !strings.Contains(err.Error(), "boom") || res.StatusCode != http.StatusInternalServerError {
		t.Errorf("%d, %v", res.StatusCode, err)
	}
}
