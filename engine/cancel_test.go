//go:build unix

package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/store"
)

// moment is a point of a turn at which it can be stopped. reach scripts the
// server, sends a prompt, and returns when the turn is there.
type moment struct {
	name    string
	mode    pipeline.Mode
	partial string // text that is kept
	call    store.CallState
	reach   func(*rig, *engine.Session)
}

func submit(r *rig, s *engine.Session) {
	r.t.Helper()
	if err := s.Submit("do it"); err != nil {
		r.t.Fatal(err)
	}
}

var moments = []moment{
	{name: "before the first token", reach: func(r *rig, s *engine.Session) {
		gate := ollamatest.NewGate()
		r.srv.Reply().Gate(gate)
		submit(r, s)
		wait(r.t, "the request", gate.Reached())
	}},
	{name: "mid text", partial: "Half an ans", reach: func(r *rig, s *engine.Session) {
		r.srv.Reply().Text("Half an ans").Gate(ollamatest.NewGate())
		submit(r, s)
		await[event.TextDelta](r)
	}},
	{name: "while a tool runs", mode: pipeline.Unlimited, call: store.CallCancelled, reach: func(r *rig, s *engine.Session) {
		r.srv.Reply().Call("exec", `{"command":"echo $$ > pid; echo up; exec sleep 600"}`)
		submit(r, s)
		await[event.CallProgress](r)
	}},
	{name: "while an approval waits", mode: pipeline.Ask, call: store.CallCancelled, reach: func(r *rig, s *engine.Session) {
		r.srv.Reply().Call("exec", `{"command":"echo never"}`)
		submit(r, s)
		await[event.ApprovalAsked](r)
	}},
	{name: "between steps", mode: pipeline.Unlimited, call: store.CallDone, reach: func(r *rig, s *engine.Session) {
		gate := ollamatest.NewGate()
		r.srv.Reply().Call("directory_tree", `{}`)
		r.srv.Reply().Gate(gate)
		submit(r, s)
		wait(r.t, "the second request", gate.Reached())
	}},
}

// check looks at what a stopped turn left behind.
func (m moment) check(r *rig, s *engine.Session) {
	t := r.t
	t.Helper()
	messages, err := r.st.Messages(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if last := messages[len(messages)-1]; m.partial != "" && (last.Content != m.partial || !last.Partial) {
		t.Errorf("kept: %+v", last)
	}
	calls, err := r.st.Calls(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if m.call != "" && (len(calls) != 1 || calls[0].State != m.call) {
		t.Errorf("calls: %+v", calls)
	}
	approvals, err := r.st.Approvals(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range approvals {
		if a.State != store.ApprovalCancelled {
			t.Errorf("approval: %+v", a)
		}
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "pid")); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the command still runs: %v", err)
		}
	}
}

func TestATurnCanBeCancelledAtEveryPoint(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			r := newRig(t, nil, mode(m.mode))
			s := r.open(engine.OpenOptions{})
			m.reach(r, s)
			if !s.Cancel() {
				t.Error("nothing was cancelled")
			}
			end, all := await[event.TurnEnded](r)
			if end.Reason != event.EndedCancelled {
				t.Errorf("ended %+v after %s", end, types(all))
			}
			if s.Cancel() || s.State().Running || len(s.Pending()) != 0 {
				t.Error("it is still running")
			}
			m.check(r, s)
			r.srv.Reply().Text("Here again.")
			if end, _ := r.turn(s, "again"); end.Reason != event.EndedDone {
				t.Errorf("the next turn: %+v", end)
			}
			wellFormed(t, r.last())
		})
	}
}

func TestClosingTheEngineStopsEverythingAtEveryPoint(t *testing.T) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			r := newRig(t, nil, mode(m.mode))
			s := r.open(engine.OpenOptions{})
			m.reach(r, s)
			if err := s.Submit("and then this"); err != nil {
				t.Fatal(err)
			}
			if err := r.eng.Close(); err != nil {
				t.Fatal(err)
			}
			m.check(r, s)
			var ends []event.TurnEnded
			for {
				batch, err := r.sub.Next(t.Context())
				if errors.Is(err, event.ErrClosed) {
					break
				}
				ends = append(ends, bodies[event.TurnEnded](batch)...)
			}
			if len(ends) != 1 || ends[0].Reason != event.EndedCancelled {
				t.Errorf("ends: %+v", ends)
			}
			if err := s.Submit("too late"); !errors.Is(err, engine.ErrClosed) {
				t.Errorf("a prompt after the end: %v", err)
			}
			if _, err := s.Call(t.Context(), "directory_tree", nil); !errors.Is(err, engine.ErrClosed) {
				t.Errorf("a call after the end: %v", err)
			}
			if _, err := r.eng.Open(t.Context(), engine.OpenOptions{Model: qwen}); !errors.Is(err, engine.ErrEngineClosed) {
				t.Errorf("a session after the end: %v", err)
			}
			if err := r.eng.Pull("x"); !errors.Is(err, engine.ErrEngineClosed) {
				t.Errorf("a pull after the end: %v", err)
			}
		})
	}
}

func TestClosingASessionCancelsThePersonsOwnCall(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	s := r.open(engine.OpenOptions{})
	result := make(chan pipeline.Outcome, 1)
	go func() {
		out, err := s.Call(t.Context(), "exec", []byte(`{"command":"echo up; sleep 600"}`))
		if err != nil {
			t.Error(err)
		}
		result <- out
	}()
	await[event.CallProgress](r)
	s.Close()
	if out := <-result; out.OK || out.Error == nil || out.Error.Code != "CANCELLED" {
		t.Errorf("outcome: %+v", out.Error)
	}
	s.Close() // again is harmless
	calls, err := r.st.Calls(t.Context(), s.ID())
	if err != nil || len(calls) != 1 || calls[0].State != store.CallCancelled {
		t.Errorf("calls: %+v, %v", calls, err)
	}
}
