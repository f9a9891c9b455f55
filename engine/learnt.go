package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/window"
	"chela/store"
)

// learnt is what using a model taught about it. It is kept by the model's
// digest, so that it outlives the session and a renaming, and not an update of
// the model.
type learnt struct {
	Calls   callmode.Profile `json:"calls"`
	Meter   window.Meter     `json:"meter"`
	Prefill window.Prefill   `json:"prefill"`
	Failed  int              `json:"failed_window,omitempty"` // the smallest window at which it could not be loaded
	Speed   float64          `json:"tokens_per_second,omitempty"`
}

// recall reads what was learnt about a model. What is kept in a form that this
// version cannot read counts as nothing: it is learnt again.
func (e *Engine) recall(ctx context.Context, m ollama.Model) (learnt, error) {
	var l learnt
	if m.Digest == "" || e.cfg.Store == nil { // commands that only compute have no store
		return l, nil
	}
	p, err := e.cfg.Store.Profile(ctx, m.Digest)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return l, nil
	case err != nil:
		return l, err
	}
	if err := json.Unmarshal(p.Learnt, &l); err != nil {
		return learnt{}, nil
	}
	return l, nil
}

// keepLearnt stores what was learnt about the model in use.
func (s *Session) keepLearnt(ctx context.Context) error {
	s.mu.Lock()
	m, l := s.pick.model, s.learnt
	if s.pick.ladder != nil {
		l.Calls = s.pick.ladder.Profile()
	}
	s.mu.Unlock()
	return s.engine.keepLearnt(ctx, m, l)
}

func (e *Engine) keepLearnt(ctx context.Context, m ollama.Model, l learnt) error {
	if m.Digest == "" {
		return nil
	}
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("keeping what was learnt about %s: %w", m.Name, err)
	}
	return e.cfg.Store.PutProfile(context.WithoutCancel(ctx), store.Profile{Digest: m.Digest, Name: m.Name, Learnt: b, Updated: e.cfg.Now()})
}

// Profile is what using a model taught about it; the zero profile: nothing yet.
func (e *Engine) Profile(ctx context.Context, name string) (callmode.Profile, error) {
	m, err := e.model(ctx, name)
	if err != nil {
		return callmode.Profile{}, err
	}
	l, err := e.recall(ctx, m)
	return l.Calls, err
}

// learn takes the numbers of an answer into account: what its prompt cost, how
// fast it was read, and whether the server had its beginning in the cache.
func (s *Session) learn(turn int, o outgoing, st *event.Stats) {
	if st.PromptTokens <= 0 {
		return
	}
	s.mu.Lock()
	l := &s.learnt
	estimate := l.Meter.Estimate(o.sent)
	// The built-in model reads only what it was trained on: the last messages.
	cut := o.req.Model != PocketModel && l.Meter.Truncated(estimate, st.PromptTokens)
	if kept, known := window.CacheHit(st.PromptTokens, st.Prefill, l.Prefill); known {
		st.CacheHit = &kept
	}
	l.Meter.Observe(o.sent, st.PromptTokens)
	l.Prefill.Observe(st.PromptTokens, st.Tokens, st.Prefill, st.Load.Seconds() > 1)
	if v := st.TokensPerSecond(); v > 0 && st.Tokens >= 16 {
		l.Speed = v
	}
	warned := s.pick.warned
	s.pick.warned = warned || cut
	s.mu.Unlock()
	if cut && !warned {
		s.publish(turn, event.Notice{
			Level: "warn", Text: fmt.Sprintf("%s counted %d tokens of a prompt of about %d: the server seems to have cut it.", o.req.Model, st.PromptTokens, estimate),
			Hint: "Lower models.window in settings.yml to what the server allows (OLLAMA_CONTEXT_LENGTH).",
		})
	}
}
