package pocket

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

const (
	// defaultKeepAlive is Ollama's own default.
	defaultKeepAlive = 5 * time.Minute
	// maxQueue is the number of requests that may wait, Ollama's default.
	maxQueue = 512
)

// errBusy has the words of Ollama's scheduler.
var errBusy = &statusError{http.StatusServiceUnavailable, errors.New("server busy, please try again.  maximum pending requests exceeded")}

// errClosed answers requests after Close.
var errClosed = &statusError{http.StatusServiceUnavailable, errors.New("the built-in model was shut down: start it again to use it")}

// residence owns the loaded network: one user at a time, loaded when first
// needed, forgotten when nobody asked for it for the keep-alive time.
type residence struct {
	turn  chan struct{} // holds a token while the network is in use
	state *state        // guarded by turn; nil when not loaded

	mu      sync.Mutex // guards what follows; never held while computing
	closed  bool
	waiting int
	status  residenceStatus
	expiry  *time.Timer
}

// residenceStatus is what /api/ps reports.
type residenceStatus struct {
	loaded  bool
	window  int
	bytes   int64
	expires time.Time
}

func newResidence() *residence {
	return &residence{turn: make(chan struct{}, 1)}
}

// acquire waits for the network and loads it if need be; load is the time that
// loading took. The caller must call release.
func (r *residence) acquire(ctx context.Context, window int, keepAlive time.Duration) (s *state, load time.Duration, err error) {
	if err := r.enqueue(); err != nil {
		return nil, 0, err
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	r.mu.Lock()
	r.waiting--
	r.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	if r.state == nil {
		start := time.Now()
		f, err := openFile()
		if err != nil {
			<-r.turn
			return nil, 0, err
		}
		w, err := loadWeights(f, ggufBytes)
		if err != nil {
			<-r.turn
			return nil, 0, err
		}
		r.state, load = newState(w), time.Since(start)
	}
	r.report(window, keepAlive)
	return r.state, load, nil
}

func (r *residence) enqueue() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	if r.waiting >= maxQueue {
		return errBusy
	}
	r.waiting++
	return nil
}

// report brings the status up to date; the caller holds the turn.
func (r *residence) report(window int, keepAlive time.Duration) {
	s := r.state
	held := len(s.embd) + len(s.out) + len(s.outNorm)
	for l, b := range s.blocks {
		held += len(b.attnNorm) + len(b.q) + len(b.k) + len(b.v) + len(b.attnOut) + len(b.ffnNorm) + len(b.gate) + len(b.up) + len(b.down)
		held += cap(s.keys[l]) + cap(s.values[l])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expiry != nil {
		r.expiry.Stop()
		r.expiry = nil
	}
	r.status = residenceStatus{loaded: true, window: window, bytes: 4 * int64(held), expires: time.Now().Add(keepAlive)}
}

// release passes the network on. It is unloaded after keepAlive, at once if
// that is zero.
func (r *residence) release(window int, keepAlive time.Duration) {
	if keepAlive <= 0 {
		r.forget()
		<-r.turn
		return
	}
	r.report(window, keepAlive)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		r.forget()
		<-r.turn
		return
	}
	r.expiry = time.AfterFunc(keepAlive, r.expire)
	r.mu.Unlock()
	<-r.turn
}

// expire is run by the timer. A request that is using the network, or got in
// between, will set the next one.
func (r *residence) expire() {
	select {
	case r.turn <- struct{}{}:
	default:
		return
	}
	r.mu.Lock()
	due := !time.Now().Before(r.status.expires)
	r.mu.Unlock()
	if due {
		r.forget()
	}
	<-r.turn
}

// unload waits for the turn and forgets the network.
func (r *residence) unload(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.forget()
	<-r.turn
	return nil
}

// forget drops the network; the caller holds the turn.
func (r *residence) forget() {
	r.state = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = residenceStatus{}
	if r.expiry != nil {
		r.expiry.Stop()
		r.expiry = nil
	}
}

// close refuses new users, waits for the present one and forgets the network.
func (r *residence) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.turn <- struct{}{}
	r.forget()
	<-r.turn
}

func (r *residence) now() residenceStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// keepAliveOf returns how long a request wants the network kept; Ollama maps
// negative values to the longest duration when it decodes them.
func keepAliveOf(d *api.Duration) time.Duration {
	if d == nil {
		return defaultKeepAlive
	}
	return d.Duration
}
