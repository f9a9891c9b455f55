// Package ollamatest is a scripted Ollama server for tests and for the
// evaluation: it answers each chat request with the next reply of a script, and
// can do what a real server does only on bad days.
//
//	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
//	srv.Reply().Thinking("hm").Text("I will look.").Call("read_file", `{"path":"go.mod"}`)
//	srv.Reply().Text("Half an ans").Cut()
//	client, err := ollama.New(srv.Host())
//
// Guarantees:
//
//   - It listens on a loopback address only, and nothing in it waits on time:
//     a [Gate] holds a reply until the test opens it.
//   - Replies are used in the order in which they were scripted. A chat that
//     finds none fails the test.
//   - When the test ends, open replies are cut, and no goroutine is left.
//
// Scripting and reading requests are safe while the server runs.
package ollamatest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"
)

// Version is the Ollama release that the server claims to be.
const Version = "0.17.4"

// T is what a server needs of its test: a testing.TB, or what stands for one
// where no test runs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Server is the running server.
type Server struct {
	t    T
	http *httptest.Server
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	models   []Model
	replies  []*Reply
	model    func(api.ChatRequest) *Reply // answers what no reply is scripted for; may be nil
	pulls    map[string]*Pull
	requests []Request
	broken   map[string]status // path to what it answers
}

type status struct {
	code int
	text string
}

// Request is one request as it arrived.
type Request struct {
	Path string
	Body json.RawMessage
}

// Chat decodes the body of a chat request.
func (r Request) Chat() (api.ChatRequest, error) {
	var c api.ChatRequest
	err := json.Unmarshal(r.Body, &c)
	return c, err
}

// New starts a server that has these models. It is stopped when the test ends.
func New(t T, models ...Model) *Server {
	t.Helper()
	s := &Server{t: t, done: make(chan struct{}), models: models, pulls: map[string]*Pull{}, broken: map[string]status{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"version": Version}) })
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("GET /api/ps", s.ps)
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/chat", s.chat)
	mux.HandleFunc("POST /api/pull", s.pull)
	s.http = httptest.NewServer(s.record(mux))
	t.Cleanup(func() {
		close(s.done) // cuts what is open, or Close would wait for it
		s.http.Close()
	})
	return s
}

// Host is the address, as OLLAMA_HOST takes it.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Break makes a path answer with an error status from now on; code 0 makes it
// work again.
func (s *Server) Break(path string, code int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if code == 0 {
		delete(s.broken, path)
		return
	}
	s.broken[path] = status{code, text}
}

// Requests returns what arrived at a path, in order; an empty path means all.
func (s *Server) Requests(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if path == "" || r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// Chats returns the chat requests that arrived, in order. One that cannot be
// decoded fails the test.
func (s *Server) Chats() []api.ChatRequest {
	s.t.Helper()
	var out []api.ChatRequest
	for _, r := range s.Requests("/api/chat") {
		c, err := r.Chat()
		if err != nil {
			s.t.Errorf("ollamatest: a chat request that is no JSON: %v", err)
			continue
		}
		out = append(out, c)
	}
	return out
}

// Unused is how many scripted replies were not asked for.
func (s *Server) Unused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.replies)
}

// Answer sets the model that answers what no reply is scripted for. It makes a
// reply with [NewReply]; nil fails the test, as without a model. It may be
// called from several goroutines.
func (s *Server) Answer(model func(api.ChatRequest) *Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = model
}

// maxBody bounds a request, so that a mistake in a test cannot fill memory.
const maxBody = 64 << 20

// record keeps each request and then hands it on.
func (s *Server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			return // the client went away
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.mu.Lock()
		s.requests = append(s.requests, Request{r.URL.Path, body})
		b, broken := s.broken[r.URL.Path]
		s.mu.Unlock()
		if broken {
			fail(w, b.code, b.text)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// find returns the model that a request names, with or without its tag.
func (s *Server) find(name string) (Model, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.models, func(m Model) bool { return m.Name == name || m.Name == name+":latest" })
	if i < 0 {
		return Model{}, false
	}
	return s.models[i], true
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that went away is no fault
}

func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}
