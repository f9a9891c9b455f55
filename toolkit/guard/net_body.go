package guard

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits on decompression: deflate can reach 1032:1, text rarely passes 20:1.
// Small bodies may have any ratio.
const (
	maxRatio      = 200
	ratioFreeFrom = 1 << 20
)

// ErrBomb: a compressed body grows more than any honest one does.
var ErrBomb = errors.New("compressed body expands too much")

// Body reads a response: decompressed, bounded, and never silent for longer than
// the idle limit. It is not safe for concurrent use.
type Body struct {
	raw       io.ReadCloser
	reader    io.Reader
	wire      atomic.Int64 // compressed bytes read
	gzip      bool
	read      int64
	limit     int64
	truncated bool
	ctx       context.Context
	cancel    context.CancelFunc
	idle      *time.Timer
	idleAfter time.Duration
	silent    atomic.Bool
}

// newResponse wraps an answer; start makes its body readable.
func newResponse(resp *http.Response, t Target, hops []Target) (*Response, error) {
	b := &Body{raw: resp.Body}
	switch enc := resp.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		b.gzip = true
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	default:
		_ = resp.Body.Close()
		return nil, fmt.Errorf("fetch %s: the server used the encoding %q, which was not asked for", t.URL, enc)
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, URL: t.URL, Hops: hops, Body: b}, nil
}

func (b *Body) start(ctx context.Context, cancel context.CancelFunc, limit int64, idle time.Duration) {
	b.ctx, b.cancel, b.limit, b.idleAfter = ctx, cancel, limit, idle
	b.idle = time.AfterFunc(idle, func() {
		b.silent.Store(true)
		cancel()
	})
	b.idle.Stop() // it runs during reads only: a slow consumer is no silence
	b.reader = wireReader{b}
}

// wireReader counts the bytes that arrive and restarts the idle timer.
type wireReader struct{ b *Body }

func (w wireReader) Read(p []byte) (int, error) {
	w.b.idle.Reset(w.b.idleAfter)
	n, err := w.b.raw.Read(p)
	w.b.idle.Stop()
	w.b.wire.Add(int64(n))
	return n, err
}

// Read implements io.Reader. It ends with io.EOF at the limit; Truncated then
// says that there was more.
func (b *Body) Read(p []byte) (int, error) {
	if b.truncated || len(p) == 0 {
		return 0, io.EOF
	}
	if z, ok := b.reader.(wireReader); ok && b.gzip && b.read == 0 {
		zr, err := gzip.NewReader(z)
		if errors.Is(err, io.EOF) {
			return 0, io.EOF // an empty body, as HEAD has
		}
		if err != nil {
			return 0, b.explain(fmt.Errorf("the body is not the gzip that it claims to be: %w", err))
		}
		b.reader = zr
	}
	// One byte beyond the limit tells a body that ends there from a longer one.
	room := b.limit - b.read
	buf := p[:min(int64(len(p)), room+1)]
	n, err := b.reader.Read(buf)
	if int64(n) > room {
		b.truncated = true
		b.read += room
		return int(room), io.EOF
	}
	b.read += int64(n)
	if b.gzip && b.read > ratioFreeFrom && b.read > maxRatio*b.wire.Load() {
		return 0, fmt.Errorf("%w: more than %d times", ErrBomb, maxRatio)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.explain(err)
	}
	return n, err
}

// explain replaces the transport's words for a timeout with ours.
func (b *Body) explain(err error) error {
	if b.silent.Load() {
		return fmt.Errorf("the server sent nothing for %v: %w", b.idleAfter, context.DeadlineExceeded)
	}
	if cause := context.Cause(b.ctx); errors.Is(cause, context.Canceled) {
		return cause
	} else if cause != nil {
		return fmt.Errorf("%w (%w)", cause, context.DeadlineExceeded)
	}
	return err
}

// Truncated reports whether the body had more bytes than the limit.
func (b *Body) Truncated() bool { return b.truncated }

// Close ends the request. It may be called at any time, more than once.
func (b *Body) Close() error {
	b.idle.Stop()
	b.cancel()
	return b.raw.Close()
}
