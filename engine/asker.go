package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/store"
	"chela/toolkit"
)

// asker asks local models for tools: [toolkit.Asker].
type asker struct {
	engine *Engine
	s      *Session // nil: it only answers which models there are
}

// askWindow is the window of such a question, in tokens: that of the session,
// so that the model is not loaded again, and at least this where another model
// is asked.
const askWindow = 8192

// Ask asks the session's model, or one that can see, in a context of its own.
func (a asker) Ask(ctx context.Context, q toolkit.Question) (string, error) {
	a.s.mu.Lock()
	name, host, window := a.s.rec.Model, a.s.pick.host, a.s.pick.window
	sees := a.s.pick.model.Has("vision")
	a.s.mu.Unlock()
	if len(q.Images) > 0 && !sees {
		var err error
		if name, err = a.Sees(ctx); err != nil {
			return "", err
		}
		servers, err := a.engine.fleet(name)
		if err != nil {
			return "", err
		}
		host, window = servers.Place(name), askWindow
		defer host.Leave()
	}
	if host == nil {
		return "", errors.New("no model is picked")
	}
	return ask(ctx, host, name, window, q)
}

func ask(ctx context.Context, host *fleet.Host, name string, window int, q toolkit.Question) (string, error) {
	m := api.Message{Role: store.RoleUser, Content: q.Prompt}
	for _, img := range q.Images {
		m.Images = append(m.Images, img)
	}
	tokens := q.Tokens
	if tokens <= 0 {
		tokens = 512
	}
	reply, err := host.Chat(ctx, ollama.Request{
		Model: name, Window: window, Think: &api.ThinkValue{Value: false},
		Messages: []api.Message{{Role: "system", Content: q.System}, m},
		Options:  map[string]any{"num_predict": tokens, "temperature": toolTemperature},
	}, ollama.Sink{}, nil)
	if err != nil {
		return "", fmt.Errorf("asking %s: %w", name, err)
	}
	text := strings.TrimSpace(reply.Text)
	if text == "" {
		return "", fmt.Errorf("%s gave an empty answer: try again, or ask something smaller", name)
	}
	return text, nil
}

// Loaded names the models that are in memory on any server.
func (a asker) Loaded(ctx context.Context) ([]string, error) {
	if a.s == nil { // nothing is waited for before a tool runs
		return nil, nil
	}
	var out []string
	for _, st := range a.engine.servers.Survey(ctx) {
		for _, m := range st.Models {
			if m.Loaded {
				out = append(out, fmt.Sprintf("%s (%.0f%% GPU, window %d)", m.Name, 100*m.OnGPU, m.Window))
			}
		}
	}
	return out, nil
}

// Sees returns the model that looks at images: the session's, or the newest
// installed one that can.
func (a asker) Sees(ctx context.Context) (string, error) {
	if a.s != nil {
		a.s.mu.Lock()
		name, sees := a.s.rec.Model, a.s.pick.model.Has("vision")
		a.s.mu.Unlock()
		if sees {
			return name, nil
		}
	}
	a.engine.mu.Lock()
	defer a.engine.mu.Unlock()
	var found ollama.Model
	for _, m := range a.engine.models {
		if m.Has("vision") && !m.BuiltIn && (found.Name == "" || m.Modified.After(found.Modified)) {
			found = m
		}
	}
	if found.Name == "" {
		return "", errors.New("no installed model can see images: pull one, such as qwen2.5vl:7b")
	}
	return found.Name, nil
}
