// Package fleet places work on Ollama servers: which one a session runs on, who
// waits for whom, and where a request goes when a server is gone.
//
// Guarantees:
//
//   - A server is asked for as many answers at once as it has slots, in the
//     order in which they were asked for; what waits is told how many are
//     ahead, and gives its place up when its context ends.
//   - A session stays on its server while that answers, since the server keeps
//     the session's prompt computed. It moves only before the first token of an
//     answer, so that nothing is said twice.
//   - A server that did not answer is not picked again for [Rest], unless no
//     other one has the model.
//
// A Fleet and its hosts are safe for concurrent use.
package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"chela/engine/ollama"
)

// Rest is how long a server that did not answer is passed over. It is short:
// a person who starts it again expects to be served.
const Rest = 15 * time.Second

// Fleet is the servers there are, the preferred one first.
type Fleet struct {
	hosts []*Host
	now   func() time.Time
}

// New makes a fleet of servers, of which each answers slots requests at once
// (OLLAMA_NUM_PARALLEL; less than 1 counts as 1). The first one is preferred
// where nothing else decides.
func New(slots int, clients ...*ollama.Client) *Fleet {
	f := &Fleet{now: time.Now}
	for _, c := range clients {
		f.hosts = append(f.hosts, newHost(c, slots))
	}
	return f
}

// Hosts are the servers, the preferred one first.
func (f *Fleet) Hosts() []*Host { return f.hosts }

// State is what is known of one server.
type State struct {
	Host    string         `json:"host"`
	Models  []ollama.Model `json:"models"`
	Error   error          `json:"-"`       // why it cannot be used; nil: it can
	Busy    int            `json:"busy"`    // requests it works on
	Waiting int            `json:"waiting"` // requests in the queue
}

// Survey asks all servers at once what they have. It takes as long as the
// slowest.
func (f *Fleet) Survey(ctx context.Context) []State {
	states := make([]State, len(f.hosts))
	var wg sync.WaitGroup
	for i, h := range f.hosts {
		wg.Go(func() {
			models, err := h.client.Models(ctx)
			h.learn(models, err, f.now())
			states[i] = State{Host: h.client.Host(), Models: models, Error: err}
			states[i].Busy, states[i].Waiting = h.load()
		})
	}
	wg.Wait()
	return states
}

// Models lists what the servers have, the most recently changed first. A model
// that several have is listed once, as the preferred of them tells it, with the
// names of all. The error is the first server's, and only when none answers.
func (f *Fleet) Models(ctx context.Context) ([]ollama.Model, error) {
	states := f.Survey(ctx)
	var out []ollama.Model
	answered := false
	for _, s := range states {
		if s.Error != nil {
			continue
		}
		answered = true
		for _, m := range s.Models {
			i := slices.IndexFunc(out, func(o ollama.Model) bool { return o.Name == m.Name })
			if i < 0 {
				i = len(out)
				out = append(out, m)
			}
			if len(f.hosts) > 1 {
				out[i].Hosts = append(out[i].Hosts, s.Host)
			}
			out[i].Loaded = out[i].Loaded || m.Loaded
		}
	}
	if !answered {
		return nil, states[0].Error
	}
	slices.SortStableFunc(out, func(a, b ollama.Model) int { return b.Modified.Compare(a.Modified) })
	return out, nil
}

// Place picks the server for a model: one that has it, and of these one that
// answers, has it in memory, and has the fewest sessions and requests on it.
// When none is known to have it, the preferred server is asked, which then says
// that it is missing. Servers in except are left out; nil: none is left.
//
// The caller holds the place until it calls [Host.Leave].
func (f *Fleet) Place(model string, except ...*Host) *Host {
	now := f.now()
	var best *Host
	var bestCost int
	for i, h := range f.hosts {
		if slices.Contains(except, h) {
			continue
		}
		if cost := h.cost(model, now, i); best == nil || cost < bestCost {
			best, bestCost = h, cost
		}
	}
	if best != nil {
		best.enter()
	}
	return best
}

// Failed notes that a server did not answer. It reports whether another one may
// be asked for the model instead: the request never reached a model.
func (f *Fleet) Failed(h *Host, model string, err error) bool {
	var oe *ollama.Error
	if !errors.As(err, &oe) {
		return false
	}
	switch oe.Kind {
	case ollama.Unreachable, ollama.NotOllama, ollama.Lost, ollama.Idle:
		h.fail(err, f.now())
	case ollama.ModelMissing:
		h.forget(model)
	case ollama.NoMemory: // the others may have room
	default:
		return false
	}
	return slices.ContainsFunc(f.hosts, func(o *Host) bool { return o != h && o.has(model) })
}

// Greet asks all servers at once whether they are there. It returns when the
// first one answers, or with the first server's error when none does.
func (f *Fleet) Greet(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(f.hosts))
	answers := make(chan int, len(f.hosts))
	for i, h := range f.hosts {
		go func() { // ends with ctx, at the latest when this returns
			_, errs[i] = h.client.Version(ctx)
			answers <- i
		}()
	}
	for range f.hosts {
		if i := <-answers; errs[i] == nil {
			return nil
		} else if ctx.Err() == nil {
			f.hosts[i].fail(errs[i], f.now())
		}
	}
	return errs[0]
}
