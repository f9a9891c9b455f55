package engine

import (
	"context"
	"errors"
	"slices"

	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/store"
	"chela/tiers"
)

// pick is the model in use and what follows from it. The session's mu guards
// it; the model's name, as it was picked, is in the session's record.
type pick struct {
	host      *fleet.Host  // where it runs; nil: none is picked yet
	model     ollama.Model // its details, as far as its server told them
	window    int          // num_ctx, in tokens
	decision  tiers.Decision
	selection tiers.Selection
	toolless  bool               // it takes no tools: its details say so, or it refused them
	thinkless bool               // it refused to think
	noted     bool               // it was remembered as the last used
	unload    context.CancelFunc // ends bringing it into memory; nil: that was not begun
}

// knows reports whether a model's details are those in use.
func (p *pick) knows(m ollama.Model) bool {
	old := p.model
	return old.Parameters == m.Parameters && old.ContextLength == m.ContextLength && old.Family == m.Family &&
		slices.Equal(old.Capabilities, m.Capabilities)
}

// SetModel changes the model, from the next request to a model on: a turn that
// runs is continued by the new one. The choice is remembered for the next
// start.
func (s *Session) SetModel(ctx context.Context, name string) error {
	if err := s.useModel(ctx, name); err != nil {
		return err
	}
	err := errors.Join(s.changed(ctx), s.noteModel(ctx))
	s.preload()
	return err
}

// useModel takes a model into use. A server that does not answer is no error
// here: the turn reports it, with what to do.
func (s *Session) useModel(ctx context.Context, name string) error {
	servers, err := s.engine.fleet(name)
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
	unavailable := s.engine.unavailable(ctx)
	host := servers.Place(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveHost()
	s.rec.Model, s.pick = name, pick{host: host}
	s.take(m, unavailable)
	return nil
}

// leaveHost gives the session's place on a server up. The caller holds mu.
func (s *Session) leaveHost() {
	if s.pick.host != nil {
		s.pick.host.Leave()
	}
}

// moveHost goes to another server that has the model, because this one does
// not answer; false: there is none, or the model was changed meanwhile.
func (s *Session) moveHost(model string, from *fleet.Host, tried []*fleet.Host, fault error) (*fleet.Host, bool) {
	servers, err := s.engine.fleet(model)
	if err != nil || !servers.Failed(from, model, fault) {
		return nil, false
	}
	to := servers.Place(model, tried...)
	if to == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rec.Model != model || s.pick.host != from {
		to.Leave()
		return nil, false
	}
	s.leaveHost()
	s.pick.host = to
	return to, true
}

// take takes a model's details as the truth. The caller holds mu.
func (s *Session) take(m ollama.Model, unavailable map[string]string) {
	s.pick.model = m
	s.pick.toolless = len(m.Capabilities) > 0 && !m.Has("tools")
	s.pick.window = s.engine.window(m)
	s.reroute(unavailable)
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
	same := s.pick.knows(m)
	s.mu.Unlock()
	if same {
		return
	}
	unavailable := s.engine.unavailable(ctx)
	s.mu.Lock()
	current := s.rec.Model == name // no other one was picked meanwhile
	if current {
		s.take(m, unavailable)
	}
	s.mu.Unlock()
	if current {
		s.announce()
	}
}

// noteModel remembers the model as the last used, once. A demonstration is no
// preference.
func (s *Session) noteModel(ctx context.Context) error {
	s.mu.Lock()
	name, noted := s.rec.Model, s.pick.noted
	s.pick.noted = true
	s.mu.Unlock()
	if noted || name == PocketModel {
		return nil
	}
	return s.engine.cfg.Store.Remember(context.WithoutCancel(ctx), store.LastModel, name)
}

// modelName is the name of the model in use, as it was picked.
func (s *Session) modelName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Model
}
