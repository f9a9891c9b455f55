package fleet

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"chela/engine/ollama"
)

// Host is one server with the queue in front of it.
type Host struct {
	client *ollama.Client
	slots  *semaphore.Weighted // first come, first served

	mu      sync.Mutex
	busy    int
	waiting int
	placed  int // sessions on it
	err     error
	until   time.Time               // passed over until then
	models  map[string]ollama.Model // by name, as last told; nil: it was never asked
}

func newHost(c *ollama.Client, slots int) *Host {
	return &Host{client: c, slots: semaphore.NewWeighted(int64(max(slots, 1)))}
}

// Client talks to the server past the queue, for what no model computes.
func (h *Host) Client() *ollama.Client { return h.client }

// Chat waits for a slot and asks. waiting is called once if others are ahead,
// with their number; it may be nil. See [ollama.Client.Chat].
func (h *Host) Chat(ctx context.Context, r ollama.Request, sink ollama.Sink, waiting func(ahead int)) (ollama.Reply, error) {
	leave, err := h.slot(ctx, waiting)
	if err != nil {
		return ollama.Reply{}, err
	}
	defer leave()
	return h.client.Chat(ctx, r, sink)
}

// Load brings a model into memory, in the same queue as answers.
func (h *Host) Load(ctx context.Context, model string, window int) error {
	leave, err := h.slot(ctx, nil)
	if err != nil {
		return err
	}
	defer leave()
	return h.client.Load(ctx, model, window)
}

// slot waits for the right to use the server.
func (h *Host) slot(ctx context.Context, waiting func(ahead int)) (leave func(), err error) {
	h.mu.Lock()
	if ahead := h.busy + h.waiting; !h.slots.TryAcquire(1) {
		h.waiting++
		h.mu.Unlock()
		if waiting != nil {
			waiting(max(ahead, 1))
		}
		err = h.slots.Acquire(ctx, 1)
		h.mu.Lock()
		h.waiting--
	}
	defer h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	h.busy++
	return func() {
		h.mu.Lock()
		h.busy--
		h.mu.Unlock()
		h.slots.Release(1)
	}, nil
}

func (h *Host) load() (busy, waiting int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.busy, h.waiting
}

// Leave gives a session's place up.
func (h *Host) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.placed--
}

func (h *Host) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.placed++
}

// learn keeps what a server told of itself.
func (h *Host) learn(models []ollama.Model, err error, now time.Time) {
	if err != nil {
		h.fail(err, now)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.until, h.models = nil, time.Time{}, make(map[string]ollama.Model, len(models))
	for _, m := range models {
		h.models[m.Name] = m
	}
}

func (h *Host) fail(err error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.until = err, now.Add(Rest)
}

func (h *Host) forget(model string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.models, tagged(model))
}

func (h *Host) has(model string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.models[tagged(model)]
	return ok
}

// cost orders servers for a model: the lowest is picked. What counts more
// outweighs all that counts less.
func (h *Host) cost(model string, now time.Time, order int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, has := h.models[tagged(model)]
	cost := order + 10*(h.placed+h.busy+h.waiting)
	if !m.Loaded {
		cost += 1_000 // up to a hundred sessions queue up before it is loaded twice
	}
	if now.Before(h.until) {
		cost += 1_000_000
	}
	if !has {
		cost += 10_000_000
	}
	return cost
}

// tagged returns a model's name with its tag, as servers list it.
func tagged(name string) string {
	if strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name
	}
	return name + ":latest"
}
