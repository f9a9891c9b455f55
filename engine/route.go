package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chela/engine/ollama"
	"chela/engine/settings"
	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Selection says which tools a model of this tier gets, and why. window is in
// tokens; 0 sets no limit to what their schemas may cost.
func (e *Engine) Selection(ctx context.Context, tier tiers.Tier, window int, promoted []string) tiers.Selection {
	return e.selection(e.basis(ctx), tier, window, promoted, nil)
}

// basis is what a selection of tools rests on beside model and session.
type basis struct {
	unavailable map[string]string // of each tool that cannot work here, why not
	lists       settings.Tools
	notes       string // of the project, for the model
}

// basis asks the tools whether they can work here. They look for programs and
// services, so no lock is held meanwhile.
func (e *Engine) basis(ctx context.Context) basis {
	w := e.newWorkspace("")
	w.Shelf, w.Notes, w.Ask, w.Jobs = shelf{}, notebook{}, asker{engine: e}, &guard.Jobs{} // any session has them
	w.Library, w.Terminal = e.Library(), e.terminal("")
	why := map[string]string{}
	for _, t := range e.cfg.Tools.All() {
		if err := t.Available(ctx, w); err != nil {
			why[t.Spec().Name] = err.Error()
		}
	}
	e.mu.Lock()
	notes := e.notes
	e.mu.Unlock()
	return basis{why, e.lists(), notes}
}

func (e *Engine) selection(b basis, tier tiers.Tier, window int, promoted, loaded []string) tiers.Selection {
	return tiers.Select(e.cfg.Tools.Catalogue(b.unavailable), tiers.Request{
		Tier: tier, Promote: b.lists.Promote, Demote: b.lists.Demote, Session: promoted, Loaded: loaded, Budget: window * b.lists.Budget / 100,
	})
}

// Route says which tier and tools a model would get. It works without a
// server: then only the name is known, and the reason says so.
func (e *Engine) Route(ctx context.Context, name string) (tiers.Decision, tiers.Selection) {
	facts := tiers.Model{Name: name}
	window := e.window(ollama.Model{}, learnt{})
	if m, err := e.model(ctx, name); err == nil {
		known, err := e.recall(ctx, m)
		if err != nil {
			known = learnt{} // only the window depends on it
		}
		facts, window = m.Tier(), e.window(m, known)
	}
	d := tiers.Classify(facts, tiers.Overrides{Models: e.Settings().Tiers.Models})
	return d, e.Selection(ctx, d.Tier, window, nil)
}

// SetTier sets the session's own tier; nil goes back to detection.
func (s *Session) SetTier(ctx context.Context, t *tiers.Tier) error {
	basis := s.engine.basis(ctx)
	s.mu.Lock()
	if s.rec.Tier = ""; t != nil {
		s.rec.Tier = t.String()
	}
	s.reroute(basis)
	s.mu.Unlock()
	return s.changed(ctx)
}

// Promote gives the model a tool above its tier for this session, or takes it
// away again.
func (s *Session) Promote(ctx context.Context, tool string, on bool) error {
	if _, ok := s.engine.cfg.Tools.Get(tool); !ok {
		return fmt.Errorf("there is no tool %q; the nearest are %s", tool, strings.Join(s.engine.cfg.Tools.Nearest(tool, 3), ", "))
	}
	basis := s.engine.basis(ctx)
	s.mu.Lock()
	drop := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == tool })
	}
	s.rec.Promoted, s.rec.Loaded = drop(s.rec.Promoted), drop(s.rec.Loaded)
	if on {
		s.rec.Promoted = append(s.rec.Promoted, tool)
	}
	s.reroute(basis)
	s.mu.Unlock()
	return s.changed(ctx)
}

// reroute decides tier and tools anew, from what basis found out before.
// It only computes, so that it is done in one go with the change that calls for
// it. The caller holds mu.
func (s *Session) reroute(basis basis) {
	s.notes = basis.notes
	var own *tiers.Tier
	if t, err := tiers.Parse(s.rec.Tier); err == nil && s.rec.Tier != "" {
		own = &t
	}
	facts := s.pick.model.Tier()
	facts.Name = s.rec.Model
	s.pick.decision = tiers.Classify(facts, tiers.Overrides{Session: own, Models: s.engine.Settings().Tiers.Models})
	s.pick.selection = s.engine.selection(basis, s.pick.decision.Tier, s.pick.window, s.rec.Promoted, s.rec.Loaded)
}

// given answers the pipeline whether the model was given a tool, and why or
// why not.
func (s *Session) given(name string) (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entry(name)
	if !ok {
		return false, "unknown"
	}
	return e.Given, e.Reason
}

// offered are the tools that the model is sent, in catalogue order. The caller
// holds mu.
func (s *Session) offered() []*toolkit.Spec {
	var specs []*toolkit.Spec
	for _, name := range s.pick.selection.Given() {
		if t, ok := s.engine.cfg.Tools.Get(name); ok {
			specs = append(specs, t.Spec())
		}
	}
	return specs
}
