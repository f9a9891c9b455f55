package engine

import (
	"context"
	"fmt"
	"time"

	"chela/engine/ollama"
	"chela/store"
)

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
	if err := e.servers.Greet(greet); err != nil && ctx.Err() == nil {
		if greet.Err() != nil {
			err = &ollama.Error{Kind: ollama.Unreachable, Op: "asking for the version", Host: e.cfg.Server.Host(), Err: err}
		}
		return nil, err
	}
	return e.Models(ctx)
}

// Choose picks the model to start with: the wanted one, the last used if it is
// still installed, the default of settings, the newest installed one that can
// call tools, the newest installed one that can chat. The built-in model is
// chosen only when it is asked for by name, when the server cannot be used, or
// when the server has no model that can chat; the Choice says which.
//
// The error says why a wanted model cannot be used, why the server cannot when
// there is no built-in model either, or what the store could not read.
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
	for _, c := range []struct{ name, reason string }{{last, "the last used"}, {e.Settings().Models.Default, "models.default in settings.yml"}} {
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
		if m, err = e.model(ctx, wanted); err != nil {
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
