package engine

import (
	"context"
	"errors"
	"slices"

	"chela/engine/ollama"
	"chela/store"
)

// SetModel changes the model, from the next request to a model on: a turn that
// runs is continued by the new one. The choice is remembered for the next
// start.
func (s *Session) SetModel(ctx context.Context, name string) error {
	if err := s.useModel(ctx, name); err != nil {
		return err
	}
	return errors.Join(s.changed(ctx), s.noteModel(ctx))
}

// useModel takes a model into use. A server that does not answer is no error
// here: the turn reports it, with what to do.
func (s *Session) useModel(ctx context.Context, name string) error {
	client, err := s.engine.client(name)
	if err != nil {
		return err
	}
	m, err := s.engine.model(ctx, name)
	if err != nil {
		var oe *ollama.Error
		if !errors.As(err, &oe) {
			return err
		}
		m = ollama.Model{Name: name}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.rec.Model = client, name
	s.noted, s.thinkless = false, false
	s.take(ctx, m)
	return nil
}

// take takes a model's details as the truth. The caller holds mu.
func (s *Session) take(ctx context.Context, m ollama.Model) {
	s.model = m
	s.toolless = len(m.Capabilities) > 0 && !m.Has("tools")
	s.window = s.engine.window(m)
	s.reroute(ctx)
}

// refresh looks at the model again before a turn: it may have been pulled anew
// since, or its server was not up when the session was opened. Nothing is
// asked of the server while what is known is current, and nothing changes in
// the request unless the model did.
func (s *Session) refresh(ctx context.Context) {
	name := s.modelName()
	m, err := s.engine.model(ctx, name)
	if err != nil {
		return // the request that follows says it, with the remedy
	}
	s.mu.Lock()
	old := s.model
	same := old.Parameters == m.Parameters && old.ContextLength == m.ContextLength && old.Family == m.Family &&
		slices.Equal(old.Capabilities, m.Capabilities)
	if s.rec.Model != name || same {
		s.mu.Unlock()
		return
	}
	s.take(ctx, m)
	s.mu.Unlock()
	s.announce()
}

// noteModel remembers the model as the last used, once. A demonstration is no
// preference.
func (s *Session) noteModel(ctx context.Context) error {
	s.mu.Lock()
	name, noted := s.rec.Model, s.noted
	s.noted = true
	s.mu.Unlock()
	if noted || name == PocketModel {
		return nil
	}
	return s.engine.cfg.Store.Remember(context.WithoutCancel(ctx), store.LastModel, name)
}
