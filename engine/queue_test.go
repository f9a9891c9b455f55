package engine_test

import (
	"errors"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
)

// queued returns the texts that wait.
func queued(s *engine.Session) []string {
	var out []string
	for _, q := range s.State().Queued {
		out = append(out, q.Text)
	}
	return out
}

func started(events []event.Event) []string {
	var out []string
	for _, b := range bodies[event.TurnStarted](events) {
		out = append(out, b.Prompt)
	}
	return out
}

// busy opens a session with a turn that runs until the gate is opened, and
// queues the prompts behind it.
func busy(r *rig, prompts ...string) (*engine.Session, *ollamatest.Gate) {
	r.t.Helper()
	s := r.open(engine.OpenOptions{})
	gate := ollamatest.NewGate()
	r.srv.Reply().Gate(gate).Text("one")
	for _, p := range append([]string{"first"}, prompts...) {
		if err := s.Submit(p); err != nil {
			r.t.Fatal(err)
		}
	}
	wait(r.t, "the request", gate.Reached())
	return s, gate
}

func TestPromptsWaitForTheTurnAndCanBeEditedAndDropped(t *testing.T) {
	r := newRig(t, nil)
	s, gate := busy(r, "second", "third", "fourth")
	q := s.State().Queued
	if err := s.EditQueued(q[0].ID, "second, better"); err != nil {
		t.Fatal(err)
	}
	if err := s.EditQueued(q[1].ID, " "); err != nil {
		t.Fatal(err)
	}
	if err := s.EditQueued("none", "x"); err == nil {
		t.Error("a prompt that does not wait was edited")
	}
	equal(t, "queue", []string{"second, better", "fourth"}, queued(s))
	r.srv.Reply().Text("two")
	r.srv.Reply().Text("four")
	gate.Open()
	ends := 0
	all := r.until("three turns", func(e event.Event) bool {
		if _, ok := e.Body.(event.TurnEnded); ok {
			ends++
		}
		return ends == 3
	})
	equal(t, "turns", []string{"first", "second, better", "fourth"}, started(all))
	wait(t, "idle", s.Idle())
	news := bodies[event.QueueChanged](all)
	if last := news[len(news)-1]; len(last.Prompts) != 0 {
		t.Errorf("the last news of the queue: %+v", last)
	}
}

func TestAfterACancelQueuedPromptsAreHeld(t *testing.T) {
	r := newRig(t, nil)
	s, _ := busy(r, "second", "third")
	s.Cancel()
	if end, _ := await[event.TurnEnded](r); end.Reason != event.EndedCancelled {
		t.Errorf("ended %+v", end)
	}
	wait(t, "idle", s.Idle())
	equal(t, "held", []string{"second", "third"}, queued(s))
	if err := s.EditQueued(s.State().Queued[1].ID, ""); err != nil { // dropping starts nothing
		t.Fatal(err)
	}
	equal(t, "held", []string{"second"}, queued(s))
	wait(t, "idle", s.Idle())

	r.srv.Reply().Text("ok")
	r.srv.Reply().Text("two")
	if err := s.Submit("no, this first"); err != nil {
		t.Fatal(err)
	}
	ends := 0
	all := r.until("two turns", func(e event.Event) bool {
		if _, ok := e.Body.(event.TurnEnded); ok {
			ends++
		}
		return ends == 2
	})
	equal(t, "turns", []string{"no, this first", "second"}, started(all))
}

func TestEditingAHeldPromptSendsIt(t *testing.T) {
	r := newRig(t, nil)
	s, _ := busy(r, "second", "third")
	s.Cancel()
	await[event.TurnEnded](r)
	r.srv.Reply().Text("three")
	r.srv.Reply().Text("two")
	if err := s.EditQueued(s.State().Queued[1].ID, "third, better"); err != nil {
		t.Fatal(err)
	}
	ends := 0
	all := r.until("two turns", func(e event.Event) bool {
		if _, ok := e.Body.(event.TurnEnded); ok {
			ends++
		}
		return ends == 2
	})
	equal(t, "turns", []string{"third, better", "second"}, started(all))
}

func TestAPromptSentWhileATurnIsBeingCancelledGoesNext(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Ask))
	s, _ := busy(r, "second")
	s.Cancel()
	r.srv.Reply().Text("ok") // taken by whichever comes next
	r.srv.Reply().Text("two")
	if err := s.Submit("this instead"); err != nil { // the turn may be over by now, or not
		t.Fatal(err)
	}
	ends := 0
	all := r.until("three ends", func(e event.Event) bool {
		if _, ok := e.Body.(event.TurnEnded); ok {
			ends++
		}
		return ends == 3
	})
	equal(t, "turns", []string{"first", "this instead", "second"}, started(all))
}

func TestAfterAnErrorQueuedPromptsAreHeld(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	gate := ollamatest.NewGate()
	r.srv.Reply().Text("Half").Gate(gate).Cut()
	r.srv.Reply().Text("Half").Cut()
	for _, p := range []string{"first", "second"} {
		if err := s.Submit(p); err != nil {
			t.Fatal(err)
		}
	}
	gate.Open()
	if end, _ := await[event.TurnEnded](r); end.Reason != event.EndedError {
		t.Errorf("ended %+v", end)
	}
	equal(t, "held", []string{"second"}, queued(s))
}

func TestBadPromptsAreRefused(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	if err := s.Submit(" \n"); !errors.Is(err, engine.ErrEmpty) {
		t.Errorf("empty: %v", err)
	}
	none, err := r.eng.Open(t.Context(), engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Submit("hello"); !errors.Is(err, engine.ErrNoModel) {
		t.Errorf("no model: %v", err)
	}
}
