package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/window"
)

// fleet returns the servers that a model may run on.
func (e *Engine) fleet(model string) (*fleet.Fleet, error) {
	if model != PocketModel {
		return e.servers, nil
	}
	if e.pocket == nil {
		return nil, errors.New("the built-in pocket model is not part of this program")
	}
	return e.pocket, nil
}

// hosts are all servers, the built-in one included.
func (e *Engine) hosts() []*fleet.Host {
	if e.pocket == nil {
		return e.servers.Hosts()
	}
	return slices.Concat(e.servers.Hosts(), e.pocket.Hosts())
}

// client returns the server to ask about a model.
func (e *Engine) client(model string) (*ollama.Client, error) {
	f, err := e.fleet(model)
	if err != nil {
		return nil, err
	}
	h := f.Place(model)
	h.Leave()
	return h.Client(), nil
}

// Models lists the server's models and the built-in one, which comes last:
// it is offered beside real models, never before them. When the server does
// not answer, the error says so and the list still holds the built-in model.
func (e *Engine) Models(ctx context.Context) ([]ollama.Model, error) {
	models, err := e.servers.Models(ctx)
	if e.pocket != nil {
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

// window chooses num_ctx; see [window.Choose]. It is asked once, when a model
// is taken into use, since a new value makes the server load the model again.
func (e *Engine) window(m ollama.Model, known learnt) int {
	return window.Choose(window.Facts{
		Setting: e.Settings().Models.Window, Trained: m.ContextLength, Cache: m.Cache, ModelBytes: m.Size,
		Loaded: window.Loaded{Window: m.Window, Size: m.InMemory, SizeVRAM: m.InVRAM}, Failed: known.Failed, Remote: m.Remote,
	}).Tokens
}
