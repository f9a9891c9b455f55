package pocket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// ModelName is the name of the built-in model, the only one that a Server has.
// Requests may also write it with the tag latest and in any case, as for a
// model of Ollama's library.
const ModelName = "pocket"

// APIVersion is the release of Ollama whose API and results the server follows;
// it is what /api/version answers.
const APIVersion = "0.17.4"

// Server answers Ollama's HTTP API for the built-in model. It implements
// [http.Handler] and may be used by any number of goroutines. It checks neither
// origin nor credentials: serve it on a loopback address only.
type Server struct {
	mux       *http.ServeMux
	residence *residence
	base      context.Context
	stop      context.CancelCauseFunc
}

// New returns a server. It does no work and holds no resources until the first
// request that needs the model.
func New() *Server {
	s := &Server{mux: http.NewServeMux(), residence: newResidence()}
	s.base, s.stop = context.WithCancelCause(context.Background())
	for pattern, h := range map[string]func(*reply, *http.Request) error{
		"GET /{$}":           s.running,
		"GET /api/version":   s.version,
		"GET /api/tags":      s.tags,
		"GET /api/ps":        s.ps,
		"POST /api/show":     s.show,
		"POST /api/chat":     s.chat,
		"POST /api/generate": s.generate,
		"POST /api/embed":    s.embed,
		"POST /api/pull":     s.pull,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			out := &reply{w: w}
			if err := h(out, r); err != nil {
				out.fail(err)
			}
		})
	}
	return s
}

// ServeHTTP answers one request. It returns when the answer is complete, the
// request's context is cancelled or the server is closed.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.base, func() { cancel(context.Cause(s.base)) })()
	s.mux.ServeHTTP(w, r.WithContext(ctx))
}

// Close ends the running generation before its next token, fails waiting and
// later requests for the model (over a socket with status 503), and gives its
// memory back. It returns when that is done and may be called more than once.
// Where an http.Server serves s, close that first: a connection whose client
// does not read can hold a generation up.
func (s *Server) Close() {
	s.stop(errClosed)
	s.residence.close()
}

// Client returns a client that talks to s in the process, as if it were an
// Ollama server.
func (s *Server) Client() *api.Client {
	// The host is never looked up: the transport calls s. It is a name that
	// cannot exist (RFC 2606), in case it shows up in an error.
	return api.NewClient(&url.URL{Scheme: "http", Host: "pocket.invalid"}, &http.Client{Transport: s.Transport()})
}

func (s *Server) running(out *reply, _ *http.Request) error {
	out.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	out.started = true
	_, err := out.w.Write([]byte("Ollama is running"))
	return err
}

// known returns whether name is the built-in model, and whether it is a name at
// all.
func known(name string) (valid, found bool) {
	n, own := model.ParseName(name), model.ParseName(ModelName)
	return n.IsValid(), strings.EqualFold(n.String(), own.String())
}

func errUnknownModel(name string) error {
	return &statusError{http.StatusNotFound, fmt.Errorf("model '%s' not found", name)}
}

// refuse answers what a request asks and the model cannot do.
func refuse(name, what string) error {
	return badRequest("%q does not support %s", name, what)
}

// prepared is what every inference request needs first.
type prepared struct {
	file *modelFile
	mf   *modelfile
	opts api.Options
}

func prepare(options map[string]any) (prepared, error) {
	f, err := openFile()
	if err != nil {
		return prepared{}, err
	}
	mf, err := openModelfile()
	if err != nil {
		return prepared{}, err
	}
	opts, err := mf.options(options, f.hyper.context)
	return prepared{f, mf, opts}, err
}

// complete runs c as soon as the network is free.
func (s *Server) complete(ctx context.Context, p prepared, c completion, keepAlive *api.Duration, emit func(piece) error) (outcome, error) {
	keep := keepAliveOf(keepAlive)
	st, load, err := s.residence.acquire(ctx, p.opts.NumCtx, keep)
	if err != nil {
		return outcome{}, err
	}
	defer s.residence.release(p.opts.NumCtx, keep)
	out, err := st.generate(ctx, p.file.tok, c, emit)
	out.LoadDuration = load
	if errors.Is(err, errTooLong) || errors.Is(err, errNoInput) {
		err = &statusError{http.StatusBadRequest, err}
	}
	return out, err
}

// load loads the network without using it.
func (s *Server) load(ctx context.Context, p prepared, keepAlive *api.Duration) error {
	keep := keepAliveOf(keepAlive)
	if _, _, err := s.residence.acquire(ctx, p.opts.NumCtx, keep); err != nil {
		return err
	}
	s.residence.release(p.opts.NumCtx, keep)
	return nil
}
