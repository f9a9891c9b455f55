package engine

import (
	"context"
	"fmt"
	"strings"

	"chela/engine/event"
)

// Pull starts a download and returns at once; PullProgress events tell how it
// goes, the last one with Done set. A pull of the same model that is running
// already goes on.
func (e *Engine) Pull(name string) error {
	name = strings.TrimSpace(name)
	if name == "" || strings.ContainsAny(name, " \t\n") {
		return fmt.Errorf("model name %q is not valid: write NAME or NAME:TAG", name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrEngineClosed
	}
	key := tagged(name)
	if _, running := e.pulls[key]; running {
		return nil
	}
	ctx, cancel := context.WithCancel(e.ctx)
	e.pulls[key] = cancel
	e.goRun("pulling "+name, func(context.Context) {
		defer cancel()
		last := event.PullProgress{Model: name, Error: "the download failed inside"}
		defer func() { // also after a panic, or the name could never be pulled again
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.pulls, key)
			delete(e.models, key)
			last.Done = true
			e.stream.Publish("", 0, last) // before another pull of the name can begin
		}()
		var status string
		var completed, total int64
		server, err := e.client(name)
		if err != nil {
			last = event.PullProgress{Model: name, Error: err.Error()}
			return
		}
		err = server.Pull(ctx, name, func(st string, c, t int64) {
			status, completed, total = st, c, t
			e.stream.Publish("", 0, event.PullProgress{Model: name, Status: st, Completed: c, Total: t})
		})
		last = event.PullProgress{Model: name, Status: status, Completed: completed, Total: total}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			last.Error = "cancelled: what was loaded is kept, pulling again goes on from there"
		default:
			last.Error = err.Error()
		}
	})
	return nil
}

// CancelPull stops a download. What was loaded stays on the server's disk.
func (e *Engine) CancelPull(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	cancel, ok := e.pulls[tagged(strings.TrimSpace(name))]
	if ok {
		cancel()
	}
	return ok
}
