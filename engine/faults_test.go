package engine_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
)

func TestAPanicInATurnEndsOnlyThatTurn(t *testing.T) {
	var armed atomic.Bool
	r := newRig(t, nil, func(c *engine.Config) {
		c.Now = func() time.Time {
			if armed.CompareAndSwap(true, false) {
				panic("the clock broke")
			}
			return time.Now()
		}
	})
	s := r.open(engine.OpenOptions{})
	armed.Store(true)
	end, all := r.turn(s, "hello")
	if end.Reason != event.EndedError || len(bodies[event.TurnEnded](all)) != 1 {
		t.Errorf("ended %+v", end)
	}
	says(t, "end", end.Error, "the clock broke", "faults_test.go")
	r.srv.Reply().Text("ok")
	if end, _ := r.turn(s, "again"); end.Reason != event.EndedDone {
		t.Errorf("the next turn: %+v", end)
	}
}

func TestADatabaseThatFailsEndsTheTurnAndSaysSo(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	gate := ollamatest.NewGate()
	r.srv.Reply().Gate(gate).Text("never stored").Call("directory_tree", `{}`)
	if err := s.Submit("hello"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the request", gate.Reached())
	if err := r.st.Close(); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	end, all := await[event.TurnEnded](r)
	if end.Reason != event.EndedError || end.Error == "" || len(bodies[event.MessageDone](all)) != 0 || len(bodies[event.CallEmitted](all)) != 0 {
		t.Errorf("ended %+v after %s", end, types(all))
	}
	wait(t, "idle", s.Idle())
}

func TestAnotherModelMayTakeATurnOver(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen}, {Name: "llama3.2:3b"}})
	s := r.open(engine.OpenOptions{})
	gate := ollamatest.NewGate()
	r.srv.Reply().Gate(gate).Call("directory_tree", `{}`)
	r.srv.Reply().Text("taken over")
	if err := s.Submit("hello"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the request", gate.Reached())
	if err := s.SetModel(t.Context(), "llama3.2:3b"); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	await[event.TurnEnded](r)
	messages, err := r.st.Messages(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, m := range messages {
		if m.Role == "assistant" {
			by = append(by, m.Model)
		}
	}
	equal(t, "models", []string{qwen, "llama3.2:3b"}, by)
	wellFormed(t, r.last())
}

func TestAClosedSessionStoresNothingMore(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	s.Close()
	for what, err := range map[string]error{
		"mode":    s.SetMode(t.Context(), pipeline.Unlimited),
		"title":   s.Rename(t.Context(), "x"),
		"promote": s.Promote(t.Context(), "shout", true),
	} {
		if !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	rec, err := r.st.Session(t.Context(), s.ID())
	if err != nil || rec.Mode != "ask" || rec.Title != "" || len(rec.Promoted) != 0 {
		t.Errorf("stored: %+v, %v", rec, err)
	}
	if s.Cancel() {
		t.Error("something was cancelled")
	}
}

func TestWhatCannotBePromotedNamesTheNearest(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	err := s.Promote(t.Context(), "shuot", true)
	if err == nil {
		t.Fatal("it was promoted")
	}
	says(t, "error", err.Error(), "shuot", "shout")
	for _, on := range []bool{true, true, false} { // twice is once
		if err := s.Promote(t.Context(), "shout", on); err != nil {
			t.Fatal(err)
		}
		want := 0
		if on {
			want = 1
		}
		if st := s.State(); st.Selection.Promoted(st.Tier) != want {
			t.Errorf("promoted %d, want %d", st.Selection.Promoted(st.Tier), want)
		}
	}
}
