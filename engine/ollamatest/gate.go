package ollamatest

import (
	"context"
	"sync"
)

// Gate holds replies and downloads at a point of their script until the test
// opens it. It stays open.
type Gate struct {
	once    sync.Once
	open    chan struct{}
	first   sync.Once
	reached chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{}), reached: make(chan struct{})} }

// Open lets through what waits and what comes. It may be called more than once.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Reached is closed when something waits at the gate, or went through it: what
// comes before it in the script has been sent.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// wait blocks until the gate is open; false if the request or the test ended.
func (g *Gate) wait(ctx context.Context, done <-chan struct{}) bool {
	g.first.Do(func() { close(g.reached) })
	select {
	case <-g.open:
		return true
	case <-ctx.Done():
	case <-done:
	}
	return false
}
