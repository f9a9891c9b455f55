package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"chela/engine"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/tiers"
	"chela/toolkit"
)

func TestSettingsChangedAtOnceAreAllKept(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen}, {Name: "llama3.2:3b"}})
	s := r.open(engine.OpenOptions{})
	full := tiers.Full
	for range 20 {
		changes := []func(context.Context) error{
			func(ctx context.Context) error { return s.SetModel(ctx, "llama3.2:3b") },
			func(ctx context.Context) error { return s.SetTier(ctx, &full) },
			func(ctx context.Context) error { return s.Promote(ctx, "shout", true) },
			func(ctx context.Context) error { return s.SetMode(ctx, pipeline.Standard) },
			func(ctx context.Context) error { return s.Rename(ctx, "renamed") },
		}
		var wg sync.WaitGroup
		for _, change := range changes {
			wg.Go(func() {
				if err := change(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		rec, err := r.st.Session(t.Context(), s.ID())
		if err != nil {
			t.Fatal(err)
		}
		st := s.State()
		equal(t, "stored", []string{"llama3.2:3b", "full", "shout", "standard", "renamed"}, append([]string{rec.Model, rec.Tier}, append(rec.Promoted, rec.Mode, rec.Title)...))
		equal(t, "in force", []string{"llama3.2:3b", "full", "standard", "renamed"}, []string{st.Model.Name, st.Tier.String(), st.Mode.String(), st.Title})
		if t.Failed() {
			return
		}
		if err := s.SetModel(t.Context(), qwen); err != nil {
			t.Fatal(err)
		}
		if err := s.SetTier(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Promote(t.Context(), "shout", false); err != nil {
			t.Fatal(err)
		}
		if err := s.SetMode(t.Context(), pipeline.Ask); err != nil {
			t.Fatal(err)
		}
		if err := s.Rename(t.Context(), "before"); err != nil {
			t.Fatal(err)
		}
	}
}

// A tool may look for programs or services to say whether it can work. The
// screen asks for the state meanwhile and must not wait.
func TestASlowToolDoesNotHoldUpTheSession(t *testing.T) {
	looking, open := make(chan struct{}), make(chan struct{})
	var armed atomic.Bool
	slow := toolkit.Define(toolkit.Spec{Name: "slow", Summary: "Look for a program.", Category: "test", Level: toolkit.Safe, Tier: 2, ReadOnly: true}, nil,
		func(context.Context, *toolkit.Workspace, shoutArgs, toolkit.Plan, func(toolkit.Progress)) (toolkit.Result, error) {
			return toolkit.Result{Text: "found"}, nil
		},
		toolkit.AvailableIf(func(ctx context.Context, _ *toolkit.Workspace) error {
			if armed.CompareAndSwap(true, false) {
				close(looking)
				select {
				case <-open:
				case <-ctx.Done():
				}
			}
			return nil
		}))
	r := newRig(t, nil, func(c *engine.Config) {
		reg, err := toolkit.NewRegistry(append(c.Tools.All(), slow)...)
		if err != nil {
			t.Fatal(err)
		}
		c.Tools = reg
	})
	s := r.open(engine.OpenOptions{})
	armed.Store(true)
	promoted := make(chan error, 1)
	go func() { promoted <- s.Promote(t.Context(), "shout", true) }()
	wait(t, "the look for a program", looking)
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		standard := tiers.Standard
		if err := s.SetTier(t.Context(), &standard); err != nil {
			t.Error(err)
		}
		equal(t, "tier meanwhile", tiers.Standard, s.State().Tier)
	}()
	wait(t, "another change meanwhile", changed)
	close(open)
	if err := <-promoted; err != nil {
		t.Fatal(err)
	}
	st := s.State()
	equal(t, "tier", tiers.Standard, st.Tier)
	equal(t, "promoted", 1, st.Selection.Promoted(st.Tier))
}
