package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chela/engine/ollama"
	"chela/tiers"
	"chela/toolkit"
)

// Selection says which tools a model of this tier gets, and why. window is in
// tokens; 0 sets no limit to what their schemas may cost.
func (e *Engine) Selection(ctx context.Context, tier tiers.Tier, window int, promoted []string) tiers.Selection {
	return e.selection(e.unavailable(ctx), tier, window, promoted, nil)
}

// unavailable says of each tool that cannot work here why not. It asks the
// tools, which look for programs and services: no lock is held meanwhile.
func (e *Engine) unavailable(ctx context.Context) map[string]string {
	w := e.newWorkspace("")
	w.Shelf = shelf{} // any session has one
	why := map[string]string{}
	for _, t := range e.cfg.Tools.All() {
		if err := t.Available(ctx, w); err != nil {
			why[t.Spec().Name] = err.Error()
		}
	}
	return why
}

func (e *Engine) selection(unavailable map[string]string, tier tiers.Tier, window int, promoted, loaded []string) tiers.Selection {
	own := e.cfg.Settings.Tools
	return tiers.Select(e.cfg.Tools.Catalogue(unavailable), tiers.Request{
		Tier: tier, Promote: own.Promote, Demote: own.Demote, Session: promoted, Loaded: loaded, Budget: window * own.Budget / 100,
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
	d := tiers.Classify(facts, tiers.Overrides{Models: e.cfg.Settings.Tiers.Models})
	return d, e.Selection(ctx, d.Tier, window, nil)
}

// SetTier sets the session's own tier; nil goes back to detection.
func (s *Session) SetTier(ctx context.Context, t *tiers.Tier) error {
	unavailable := s.engine.unavailable(ctx)
	s.mu.Lock()
	if s.rec.Tier = ""; t != nil {
		s.rec.Tier = t.String()
	}
	s.reroute(unavailable)
	s.mu.Unlock()
	return s.changed(ctx)
}

// Promote gives the model a tool above its tier for this session, or takes it
// away again.
func (s *Session) Promote(ctx context.Context, tool string, on bool) error {
	if _, ok := s.engine.cfg.Tools.Get(tool); !ok {
		return fmt.Errorf("there is no tool %q; the nearest are %s", tool, strings.Join(s.engine.cfg.Tools.Nearest(tool, 3), ", "))
	}
	unavailable := s.engine.unavailable(ctx)
	s.mu.Lock()
	drop := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == tool })
	}
	s.rec.Promoted, s.rec.Loaded = drop(s.rec.Promoted), drop(s.rec.Loaded)
	if on {
		s.rec.Promoted = append(s.rec.Promoted, tool)
	}
	s.reroute(unavailable)
	s.mu.Unlock()
	return s.changed(ctx)
}

// reroute decides tier and tools anew, from what unavailable found out before.
// It only computes, so that it is done in one go with the change that calls for
// it. The caller holds mu.
func (s *Session) reroute(unavailable map[string]string) {
	var own *tiers.Tier
	if t, err := tiers.Parse(s.rec.Tier); err == nil && s.rec.Tier != "" {
		own = &t
	}
	facts := s.pick.model.Tier()
	facts.Name = s.rec.Model
	s.pick.decision = tiers.Classify(facts, tiers.Overrides{Session: own, Models: s.engine.cfg.Settings.Tiers.Models})
	s.pick.selection = s.engine.selection(unavailable, s.pick.decision.Tier, s.pick.window, s.rec.Promoted, s.rec.Loaded)
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
