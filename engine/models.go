package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/store"
	"chela/tiers"
)

// client returns the server that a model runs on.
func (e *Engine) client(model string) (*ollama.Client, error) {
	if model != PocketModel {
		return e.cfg.Server, nil
	}
	if e.cfg.Pocket == nil {
		return nil, errors.New("the built-in pocket model is not part of this program")
	}
	return e.cfg.Pocket, nil
}

// Models lists the server's models and the built-in one, which comes last:
// it is offered beside real models, never before them. When the server does
// not answer, the error says so and the list still holds the built-in model.
func (e *Engine) Models(ctx context.Context) ([]ollama.Model, error) {
	models, err := e.cfg.Server.Models(ctx)
	if e.cfg.Pocket != nil {
		if m, perr := e.cfg.Pocket.Model(ctx, PocketModel); perr == nil {
			m.BuiltIn = true
			models = append(models, m)
		}
	}
	e.mu.Lock()
	for _, m := range models {
		e.models[m.Name] = m
	}
	e.mu.Unlock()
	return models, err
}

// model returns a model's details, asking its server when they are not known.
func (e *Engine) model(ctx context.Context, name string) (ollama.Model, error) {
	e.mu.Lock()
	m, ok := e.models[name]
	e.mu.Unlock()
	if ok {
		return m, nil
	}
	c, err := e.client(name)
	if err != nil {
		return ollama.Model{}, err
	}
	if m, err = c.Model(ctx, name); err != nil {
		return ollama.Model{}, err
	}
	m.BuiltIn = name == PocketModel
	e.mu.Lock()
	e.models[name] = m
	e.mu.Unlock()
	return m, nil
}

// Choice is the model to start with.
type Choice struct {
	Model  string // empty: none can be used
	Reason string
	Server error // why the Ollama server cannot be used; nil: it can
	Empty  bool  // the server runs and has no model
}

// Choose picks the model to start with: the wanted one, the last used if it is
// still installed, the default of settings, the newest installed one that can
// call tools, any installed one. The built-in model is chosen only when asked
// for by name or when no server can be used.
func (e *Engine) Choose(ctx context.Context, wanted string) (Choice, error) {
	if wanted == PocketModel {
		return Choice{Model: PocketModel, Reason: "asked for"}, nil
	}
	models, err := e.Models(ctx)
	installed := func(name string) (string, bool) {
		for _, m := range models {
			if !m.BuiltIn && (m.Name == name || m.Name == name+":latest") {
				return m.Name, true
			}
		}
		return "", false
	}
	if wanted != "" {
		if name, ok := installed(wanted); ok {
			return Choice{Model: name, Reason: "asked for"}, nil
		}
		if err != nil {
			return Choice{Server: err}, err
		}
		_, err := e.cfg.Server.Model(ctx, wanted)
		if err == nil {
			return Choice{Model: wanted, Reason: "asked for"}, nil
		}
		return Choice{}, err
	}
	if err != nil {
		if e.cfg.Pocket == nil {
			return Choice{Server: err}, err
		}
		return Choice{Model: PocketModel, Reason: "no Ollama server answers, so the built-in demonstration model is used", Server: err}, nil
	}
	last, serr := e.cfg.Store.Recall(ctx, store.LastModel)
	if serr != nil {
		return Choice{}, serr
	}
	for _, c := range []struct{ name, reason string }{{last, "the last used"}, {e.cfg.Settings.Models.Default, "models.default in settings.yml"}} {
		if c.name == "" {
			continue
		}
		if name, ok := installed(c.name); ok {
			return Choice{Model: name, Reason: c.reason}, nil
		}
	}
	for _, able := range []bool{true, false} {
		for _, m := range models {
			if !m.BuiltIn && (!able || m.Has("tools")) && !m.Has("embedding") {
				return Choice{Model: m.Name, Reason: "the newest installed one"}, nil
			}
		}
	}
	return Choice{Model: PocketModel, Reason: "the Ollama server has no model yet", Empty: true}, nil
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

// defaultWindow is num_ctx when settings do not say: large enough for an
// agent's work, small enough for an 8 GB card with a 7B model.
const defaultWindow = 16384

// window chooses num_ctx: the setting, or the default, but never more than the
// model was trained for. It depends on nothing that changes in a session,
// since a new value makes the server load the model again.
func (e *Engine) window(m ollama.Model) int {
	w := e.cfg.Settings.Models.Window
	if w == 0 {
		w = defaultWindow
	}
	if m.ContextLength > 0 {
		w = min(w, m.ContextLength)
	}
	return w
}

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
	if _, running := e.pulls[name]; running {
		return nil
	}
	ctx, cancel := context.WithCancel(e.ctx)
	e.pulls[name] = cancel
	e.goRun("pulling "+name, func(context.Context) {
		defer cancel()
		last := event.PullProgress{Model: name}
		err := e.cfg.Server.Pull(ctx, name, func(status string, completed, total int64) {
			last = event.PullProgress{Model: name, Status: status, Completed: completed, Total: total}
			e.stream.Publish("", 0, last)
		})
		e.mu.Lock()
		delete(e.pulls, name)
		delete(e.models, name)
		e.mu.Unlock()
		last.Done = true
		if err != nil {
			last.Error = err.Error()
		}
		e.stream.Publish("", 0, last)
	})
	return nil
}

// CancelPull stops a download. What was loaded stays on the server's disk.
func (e *Engine) CancelPull(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	cancel, ok := e.pulls[name]
	if ok {
		cancel()
	}
	return ok
}

// Server is the client of the Ollama server, for what needs no session.
func (e *Engine) Server() *ollama.Client { return e.cfg.Server }

// Remember keeps a value of last use, such as the theme. See store.LastTheme.
func (e *Engine) Remember(ctx context.Context, key, value string) error {
	return e.cfg.Store.Remember(ctx, key, value)
}

// RevokeRule ends a rule.
func (e *Engine) RevokeRule(ctx context.Context, id string) error {
	return e.cfg.Store.RevokeRule(ctx, id, time.Now())
}
