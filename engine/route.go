package engine

import (
	"context"

	"chela/engine/ollama"
	"chela/tiers"
)

// Selection says which tools a model of this tier gets, and why.
func (e *Engine) Selection(ctx context.Context, tier tiers.Tier, window int, promoted []string) tiers.Selection {
	w := e.newWorkspace("")
	missing := map[string]string{}
	for _, t := range e.cfg.Tools.All() {
		if err := t.Available(ctx, w); err != nil {
			missing[t.Spec().Name] = err.Error()
		}
	}
	return tiers.Select(e.cfg.Tools.Catalogue(missing), tiers.Request{
		Tier: tier, Promote: e.cfg.Settings.Tools.Promote, Demote: e.cfg.Settings.Tools.Demote, Session: promoted,
		Budget: window * e.cfg.Settings.Tools.Budget / 100,
	})
}

// Route says which tier and tools a model would get. It works without a
// server: then only the name is known, and the reason says so.
func (e *Engine) Route(ctx context.Context, name string) (tiers.Decision, tiers.Selection) {
	facts := tiers.Model{Name: name}
	window := e.window(ollama.Model{})
	if m, err := e.model(ctx, name); err == nil {
		facts, window = m.Tier(), e.window(m)
	}
	d := tiers.Classify(facts, tiers.Overrides{Models: e.cfg.Settings.Tiers.Models})
	return d, e.Selection(ctx, d.Tier, window, nil)
}
