package engine

import (
	"context"
	"errors"
	"strings"

	"chela/engine/ollama"
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
