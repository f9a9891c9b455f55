//go:build unix

package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/toolkit/guard"
)

// jobsUntil waits for a list of jobs as the test wants it.
func jobsUntil(r *rig, what string, want func([]guard.JobState) bool) []guard.JobState {
	r.t.Helper()
	events := r.until(what, func(e event.Event) bool {
		b, ok := e.Body.(engine.JobsChanged)
		return ok && want(b.Jobs)
	})
	return events[len(events)-1].Body.(engine.JobsChanged).Jobs
}

func TestBackgroundProcessesBelongToTheirSession(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	m := pipeline.Unlimited
	one, two := r.open(engine.OpenOptions{Mode: &m}), r.open(engine.OpenOptions{Mode: &m})
	call := func(s *engine.Session, tool, args string) pipeline.Outcome {
		t.Helper()
		out, err := s.Call(t.Context(), tool, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := call(one, "exec", `{"command":"echo up; sleep 1000","background":true}`); !out.OK {
		t.Fatal(out.Text)
	}
	jobs := jobsUntil(r, "a job", func(l []guard.JobState) bool { return len(l) == 1 })
	id := jobs[0].ID
	if jobs[0].State != guard.JobRunning || jobs[0].Kind != guard.JobCommand || len(two.Jobs()) > 0 {
		t.Errorf("%+v; the other session has %+v", jobs, two.Jobs())
	}
	if out := call(one, "exec_status", `{"session_id":"`+id+`","wait":60}`); !out.OK || !strings.Contains(out.Text, "up") {
		t.Errorf("%q", out.Text)
	}
	for _, tool := range []string{"exec_status", "exec_kill"} {
		if out := call(two, tool, `{"session_id":"`+id+`"}`); out.OK {
			t.Errorf("%s of another session: %q", tool, out.Text)
		}
	}
	if two.KillJob(id) || !one.KillJob(id) {
		t.Error("a job is ended by its own session only")
	}
	jobsUntil(r, "its end", func(l []guard.JobState) bool { return len(l) == 1 && l[0].State == guard.JobKilled })
	if out := call(one, "exec", `{"command":"sleep 1000","background":true}`); !out.OK {
		t.Fatal(out.Text)
	}
	one.Close()
	if l := one.Jobs(); len(l) != 2 || l[1].State != guard.JobKilled {
		t.Errorf("after the session closed: %+v", l)
	}
}

func TestAnInterpreterIsNotTakenIntoTheSandbox(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	if s := r.eng.Sandbox(t.Context()); !s.Works() {
		t.Skip(s.Reason)
	}
	m := pipeline.Unlimited
	s := r.open(engine.OpenOptions{Mode: &m})
	run := func(code string) pipeline.Outcome {
		t.Helper()
		out, err := s.Call(t.Context(), "repl_execute", json.RawMessage(`{"language":"node","code":`+code+`}`))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := run(`"var x = 41"`)
	if !out.OK {
		t.Skip(out.Text) // no node here
	}
	if err := s.SetMode(t.Context(), pipeline.Sandbox); err != nil {
		t.Fatal(err)
	}
	if out := run(`"typeof x"`); !out.OK || out.Result.Text != "'undefined'" {
		t.Errorf("in the sandbox: %q", out.Text)
	}
	if out := run(`"var y = 1; y + 1"`); !out.OK || out.Result.Text != "2" {
		t.Errorf("in the sandbox: %q", out.Text)
	}
	if err := s.SetMode(t.Context(), pipeline.Unlimited); err != nil {
		t.Fatal(err)
	}
	if out := run(`"x + (typeof y)"`); !out.OK || out.Result.Text != "'41undefined'" {
		t.Errorf("out of it again: %q", out.Text)
	}
}
