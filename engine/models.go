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
	defer e.mu.Unlock()
	if err == nil {
		clear(e.models) // what was removed or changed on the server is not known any more
	}
	for _, m := range models {
		e.know(m)
	}
	return models, err
}

// know keeps a model's details. Those of a model whose server did not tell
// them are not worth keeping. The caller holds mu.
func (e *Engine) know(m ollama.Model) {
	if len(m.Capabilities) > 0 || m.ContextLength > 0 {
		e.models[tagged(m.Name)] = m
	}
}

// tagged returns a model's name with its tag, as servers list it.
func tagged(name string) string {
	if name == PocketModel || strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name
	}
	return name + ":latest"
}

// model returns a model's details, asking its server when they are not known.
func (e *Engine) model(ctx context.Context, name string) (ollama.Model, error) {
	e.mu.Lock()
	m, ok := e.models[tagged(name)]
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
	defer e.mu.Unlock()
	e.know(m)
	return m, nil
}

// Choice is the model to start with.
type Choice struct {
	Model  string // empty: none can be used
	Reason string
	Server error // why the Ollama server cannot be used; nil: it can
	Empty  bool  // the server runs and has no model that can chat
}

// greetTimeout is how long a server may take to say its version before the
// program starts without it. A server that is up says it at once.
var greetTimeout = 3 * time.Second

// modelsSoon is Models, but gives up early on a server that takes connections
// and says nothing: the first screen waits for it.
func (e *Engine) modelsSoon(ctx context.Context) ([]ollama.Model, error) {
	greet, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	if _, err := e.cfg.Server.Version(greet); err != nil && ctx.Err() == nil {
		if greet.Err() != nil {
			err = &ollama.Error{Kind: ollama.Unreachable, Op: "asking for the version", Host: e.cfg.Server.Host(), Err: err}
		}
		return nil, err
	}
	return e.Models(ctx)
}

// Choose picks the model to start with: the wanted one, the last used if it is
// still installed, the default of settings, the newest installed one that can
// call tools, any installed one. The built-in model is chosen only when asked
// for by name or when no server can be used.
func (e *Engine) Choose(ctx context.Context, wanted string) (Choice, error) {
	if wanted == PocketModel {
		return Choice{Model: PocketModel, Reason: "asked for"}, nil
	}
	models, err := e.modelsSoon(ctx)
	if wanted != "" {
		return e.chooseWanted(ctx, wanted, models, err)
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
		if m, ok := installed(models, c.name); ok && !m.OnlyEmbeds() {
			return Choice{Model: m.Name, Reason: c.reason}, nil
		}
	}
	for _, able := range []bool{true, false} {
		for _, m := range models {
			if !m.BuiltIn && (!able || m.Has("tools")) && !m.OnlyEmbeds() {
				return Choice{Model: m.Name, Reason: "the newest installed one"}, nil
			}
		}
	}
	c := Choice{Reason: "the Ollama server has no model that can chat yet", Empty: true}
	if e.cfg.Pocket != nil {
		c.Model = PocketModel
	}
	return c, nil
}

// chooseWanted finds the model that was asked for by name.
func (e *Engine) chooseWanted(ctx context.Context, wanted string, models []ollama.Model, listErr error) (Choice, error) {
	m, ok := installed(models, wanted)
	if !ok {
		if listErr != nil {
			return Choice{Server: listErr}, listErr
		}
		var err error
		if m, err = e.cfg.Server.Model(ctx, wanted); err != nil {
			return Choice{}, err // a model that is not listed may still be a cloud one
		}
	}
	if m.OnlyEmbeds() {
		return Choice{}, fmt.Errorf("%s makes embeddings and cannot chat: pick another model", wanted)
	}
	return Choice{Model: m.Name, Reason: "asked for"}, nil
}

// installed finds one of the server's models by name, with or without tag.
func installed(models []ollama.Model, name string) (ollama.Model, bool) {
	for _, m := range models {
		if !m.BuiltIn && m.Name == tagged(name) {
			return m, true
		}
	}
	return ollama.Model{}, false
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
		err := e.cfg.Server.Pull(ctx, name, func(st string, c, t int64) {
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

// Server is the client of the Ollama server, for what needs no session.
func (e *Engine) Server() *ollama.Client { return e.cfg.Server }

// Remember keeps a value of last use, such as the theme. See store.LastTheme.
func (e *Engine) Remember(ctx context.Context, key, value string) error {
	return e.cfg.Store.Remember(ctx, key, value)
}

// RevokeRule ends a rule.
func (e *Engine) RevokeRule(ctx context.Context, id string) error {
	return e.cfg.Store.RevokeRule(ctx, id, e.cfg.Now())
}
