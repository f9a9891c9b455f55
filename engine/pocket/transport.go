package pocket

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport returns a transport that hands requests to s in the process: no
// socket, nothing written to disk. The host of the URL does not matter. Answers
// stream: a line is written when it is read. Closing the body, or cancelling
// the request's context, ends the generation, and Close returns when the
// handler has returned. Every goroutine ends with its body or context.
func (s *Server) Transport() http.RoundTripper { return &transport{s} }

type transport struct{ server *Server }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if t.server.base.Err() != nil {
		_ = in.Body.Close()
		return nil, context.Cause(t.server.base)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	in = in.WithContext(ctx)
	pr, pw := io.Pipe()
	// A reader or a writer that waits on the pipe must notice the end, too.
	unwatch := context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })
	unwatchBase := context.AfterFunc(t.server.base, func() { cancel(context.Cause(t.server.base)) })

	w := &pipeWriter{header: http.Header{}, pipe: pw, silent: req.Method == http.MethodHead, begun: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer unwatchBase()
		defer unwatch()
		defer in.Body.Close()
		defer func() {
			var err error
			if p := recover(); p != nil { // as net/http does for a handler: the program goes on
				err = fmt.Errorf("the built-in model failed: %v", p)
			}
			w.end(err)
		}()
		t.server.mux.ServeHTTP(w, in) // what ServeHTTP adds was done above
	}()
	select {
	case <-w.begun:
	case <-ctx.Done():
	}
	if t.server.base.Err() != nil {
		// An answer that began because of Close could be cut off before it is
		// read, and api.Client would take that for success.
		cancel(context.Cause(t.server.base))
	}
	if ctx.Err() != nil {
		_ = in.Body.Close() // the handler may be reading it
		<-ended
		return nil, context.Cause(ctx)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &body{PipeReader: pr, cancel: cancel, ended: ended},
		ContentLength: -1, Request: req,
	}, nil
}

// body ends the handler when it is closed.
type body struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
	ended  <-chan struct{}
}

func (b *body) Close() error {
	b.cancel(context.Canceled)
	err := b.PipeReader.Close()
	<-b.ended
	return err
}

// pipeWriter is the handler's side of the answer.
type pipeWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	silent bool // the answer to HEAD has no body

	once   sync.Once
	begun  chan struct{} // closed when status and sent are set
	status int
	sent   http.Header // the header as it was when the answer began
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.silent {
		return len(b), nil
	}
	return w.pipe.Write(b)
}

// Flush implements [http.Flusher]: there is no buffer, so it only begins the
// answer.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) end(err error) {
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
	w.WriteHeader(http.StatusOK)
	w.pipe.CloseWithError(err) // nil is io.EOF
}
