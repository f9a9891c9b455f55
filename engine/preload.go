package engine

import (
	"context"
	"errors"

	"chela/engine/event"
)

// preload brings the picked model into memory while the person still writes, so
// that the first prompt does not wait for it. A model that is picked meanwhile
// takes its place. What fails here is only told: the prompt that follows
// reports it with the remedy.
func (s *Session) preload() {
	if !s.engine.cfg.Preload {
		return
	}
	s.mu.Lock()
	if s.pick.unload != nil {
		s.pick.unload()
	}
	host, name, window := s.pick.host, s.rec.Model, s.pick.window
	if host == nil || s.life.closing() || s.pick.model.Remote {
		s.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(s.life.ctx)
	s.pick.unload = cancel
	s.mu.Unlock()
	s.engine.goRun("loading "+name, func(context.Context) {
		defer cancel()
		state := event.ModelState{Model: name, State: event.ModelLoading, Host: host.Client().Host()}
		s.publish(0, state)
		err := host.Load(ctx, name, window)
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			state.State, state.Error = event.ModelFailed, err.Error()
		default:
			state.State = event.ModelReady
			s.loaded(ctx, name)
		}
		s.publish(0, state)
	})
}

// loaded looks at what the server made of a model that is now in memory: how
// much of it the GPU holds, and the window in force.
func (s *Session) loaded(ctx context.Context, name string) {
	s.mu.Lock()
	host := s.pick.host
	s.mu.Unlock()
	if host == nil {
		return
	}
	m, err := host.Client().Model(ctx, name)
	if err != nil {
		return // it is only shown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rec.Model == name {
		s.pick.model.Loaded, s.pick.model.Window, s.pick.model.OnGPU = m.Loaded, m.Window, m.OnGPU
	}
}
