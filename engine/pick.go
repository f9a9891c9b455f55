package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"chela/engine/callmode"
	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/window"
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
	ladder    *callmode.Ladder   // how it is asked for calls
	markup    callmode.Markup    // the notation for calls in text that its family knows
	thinkless bool               // it refused to think
	warned    bool               // it was said that its server cuts prompts
	noted     bool               // it was remembered as the last used
	unload    context.CancelFunc // ends bringing it into memory; nil: that was not begun
}

// mode is how the next request asks for calls.
func (p *pick) mode() callmode.Mode {
	if p.ladder == nil {
		return callmode.Native
	}
	return p.ladder.Mode()
}

// knows reports whether a model's details are those in use.
func (p *pick) knows(m ollama.Model) bool {
	old := p.model
	return old.Digest == m.Digest && old.Parameters == m.Parameters && old.ContextLength == m.ContextLength && old.Family == m.Family &&
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
	known, err := s.engine.recall(ctx, m)
	if err != nil {
		return err
	}
	basis := s.engine.basis(ctx)
	host := servers.Place(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveHost()
	s.rec.Model, s.pick = name, pick{host: host}
	s.take(m, known, basis)
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

// take takes a model's details as the truth, and what was learnt about it
// before. The caller holds mu.
func (s *Session) take(m ollama.Model, known learnt, basis basis) {
	s.pick.model, s.learnt, s.chain = m, known, window.Chain{}
	s.pick.ladder = s.engine.ladder(m, known)
	s.pick.markup = callmode.MarkupFor(callmode.Facts{Name: m.Name, Family: m.Family, Template: m.Template, Parser: m.Parser})
	s.pick.thinkless = known.Calls.RefusesThinking
	s.pick.window = s.engine.window(m, known)
	s.reroute(basis)
}

// ladder begins with the way of asking for calls that worked last, or the one
// that models.modes of the settings states.
func (e *Engine) ladder(m ollama.Model, known learnt) *callmode.Ladder {
	l := callmode.Start(known.Calls, len(m.Capabilities) > 0 && !m.Has("tools"))
	for _, name := range []string{m.Name, strings.TrimSuffix(m.Name, ":latest")} {
		if mode, ok := e.Settings().Models.Modes[name]; ok {
			l.Set(mode)
			break
		}
	}
	return l
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
	known, err := s.engine.recall(ctx, m)
	if err != nil {
		return // nothing of it is needed to go on
	}
	basis := s.engine.basis(ctx)
	s.mu.Lock()
	current := s.rec.Model == name // no other one was picked meanwhile
	if current {
		s.take(m, known, basis)
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
