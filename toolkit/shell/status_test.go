package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

// begin starts a command in the background and returns its id.
func begin(t *testing.T, w *toolkit.Workspace, command string) string {
	t.Helper()
	r, err := call(t, w, args{"command": command, "background": true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Data.(*Executed).SessionID
}

func status(t *testing.T, w *toolkit.Workspace, a args) (string, *Status) {
	t.Helper()
	r, err := use(t.Context(), t, ExecStatus(), w, a)
	if err != nil {
		t.Fatal(err)
	}
	return r.Text, r.Data.(*Status)
}

// ended waits for the end of a job.
func ended(t *testing.T, w *toolkit.Workspace, id string) guard.Exit {
	t.Helper()
	j, ok := w.Jobs.Get(id)
	if !ok {
		t.Fatalf("there is no job %s", id)
	}
	select {
	case <-j.Done():
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	exit, _ := j.Exit()
	return exit
}

// hold makes a pipe at a name of the workspace on which a command can wait.
func hold(t *testing.T, w *toolkit.Workspace, name string) (release func()) {
	t.Helper()
	full := filepath.Join(w.Root, name)
	return func() {
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Error(err)
		}
	}
}

const untilReleased = "while ! test -e %s; do sleep 0.01; done; "

func TestStatusShowsWhatIsNew(t *testing.T) {
	w := session(t)
	release := hold(t, w, "go")
	id := begin(t, w, "echo one; echo two; "+fmt.Sprintf(untilReleased, "go")+"echo three; echo four; exit 3")
	text, d := status(t, w, args{"session_id": id, "wait": 60})
	for d.NextOffset < int64(len("one\ntwo\n")) { // the first line may have come alone
		text, d = status(t, w, args{"session_id": id, "wait": 60})
	}
	if s := d.Sessions[0]; s.Status != guard.JobRunning || s.ExitCode != -1 || s.SessionID != id || !strings.HasPrefix(text, id+": running for ") || d.NextOffset != 8 {
		t.Errorf("while it runs: %q, %+v", text, d)
	}
	if _, d := status(t, w, args{"session_id": id}); d.Output != "one\ntwo\n[nothing new since the last look]\n" {
		t.Errorf("nothing new: %q", d.Output)
	}
	release()
	exit := ended(t, w, id)
	text, d = status(t, w, args{"session_id": id})
	if diff := cmp.Diff("one\ntwo\n[new:]\nthree\nfour\n", d.Output); diff != "" || exit.Code != 3 {
		t.Errorf("%s exit %d", diff, exit.Code)
	}
	if s := d.Sessions[0]; s.Status != guard.JobFailed || s.ExitCode != 3 || !strings.Contains(text, "failed with exit code 3") {
		t.Errorf("afterwards: %q, %+v", text, d)
	}
}

func TestStatusBoundsTheTail(t *testing.T) {
	w := session(t)
	id := begin(t, w, "seq 1 100")
	ended(t, w, id)
	r, err := use(t.Context(), t, ExecStatus(), w, args{"session_id": id, "tail": 3})
	d := r.Data.(*Status)
	if err != nil || d.Output != "[new: the last 3 of 100 lines]\n98\n99\n100\n" || r.Cut == nil || r.Cut.Total != 100 {
		t.Errorf("%q, %+v, %v", d.Output, r.Cut, err)
	}
	id = begin(t, w, "yes abcdefghi | head -c 2000000")
	ended(t, w, id)
	text, d := status(t, w, args{"session_id": id, "tail": 500})
	if len(text) > toolkit.MaxBudget || !strings.Contains(text, "were not kept") || d.NextOffset != 2000000 {
		t.Errorf("%d bytes at offset %d: %.200q", len(text), d.NextOffset, text)
	}
}

func TestALineIsShownOnceItIsComplete(t *testing.T) {
	w := session(t)
	release := hold(t, w, "go")
	id := begin(t, w, "printf 'whole\\nhalf'; "+fmt.Sprintf(untilReleased, "go")+"echo ' more'")
	_, d := status(t, w, args{"session_id": id, "wait": 60})
	if d.Output != "whole\n" {
		t.Errorf("at first %q", d.Output)
	}
	release()
	ended(t, w, id)
	if _, d := status(t, w, args{"session_id": id}); d.Output != "whole\n[new:]\nhalf more\n" {
		t.Errorf("then %q", d.Output)
	}
}

func TestStatusListsOnlyTheSessionsOwn(t *testing.T) {
	w := session(t)
	if text, d := status(t, w, nil); len(d.Sessions) > 0 || !strings.HasPrefix(text, "No background") {
		t.Errorf("%q", text)
	}
	one, two := begin(t, w, "echo API=ghp_0123456789abcdefghijABCDEFGHIJ0123456789"), begin(t, w, "sleep 1000")
	ended(t, w, one)
	text, d := status(t, w, args{"wait": 0})
	if len(d.Sessions) != 2 || d.Sessions[0].SessionID != one || d.Sessions[1].SessionID != two || d.Sessions[0].Status != guard.JobCompleted {
		t.Errorf("%+v", d)
	}
	if strings.Contains(text, "ghp_0123456789") {
		t.Errorf("a secret is shown: %q", text)
	}
	other := *w
	other.Jobs = guard.NewJobs(nil, nil)
	t.Cleanup(other.Jobs.Close)
	if _, d := status(t, &other, nil); len(d.Sessions) > 0 {
		t.Errorf("another session sees %+v", d)
	}
	for _, tool := range []toolkit.Tool{ExecStatus(), ExecKill()} {
		_, err := use(t.Context(), t, tool, &other, args{"session_id": two})
		tooltest.Fails(t, err, CodeNoSession)
		if err := tool.Available(t.Context(), workspace(t)); err == nil {
			t.Errorf("%s claims to work outside of a session", tool.Spec().Name)
		}
	}
	if _, err := use(t.Context(), t, ExecKill(), w, args{"session_id": "nosuch"}); !strings.Contains(err.Error(), one) {
		t.Errorf("the error does not list what there is: %v", err)
	}
}

func TestWaitEndsWithTheFirstThatEnds(t *testing.T) {
	w := session(t)
	begin(t, w, "sleep 1000")
	release := hold(t, w, "go")
	id := begin(t, w, fmt.Sprintf(untilReleased, "go"))
	release()
	_, d := status(t, w, args{"wait": 60})
	if got := d.Sessions[1]; got.SessionID != id || got.Status != guard.JobCompleted {
		t.Errorf("%+v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := use(ctx, t, ExecStatus(), w, args{"wait": 60}); err != nil {
		t.Error(err)
	}
}

func TestACommandThatMovedIsInTheTable(t *testing.T) {
	w := session(t)
	old := moveAfter
	moveAfter = time.Millisecond
	t.Cleanup(func() { moveAfter = old })
	r, err := call(t, w, args{"command": "echo up; sleep 1000"}, nil)
	if err != nil || !strings.Contains(r.Text, "exec_status") {
		t.Fatalf("%q, %v", r.Text, err)
	}
	id := r.Data.(*Executed).SessionID
	if _, d := status(t, w, nil); len(d.Sessions) != 1 || d.Sessions[0].SessionID != id || d.Sessions[0].Command != "echo up; sleep 1000" {
		t.Errorf("%+v", d)
	}
	w.Jobs.Close()
	if exit := ended(t, w, id); exit.Reason != guard.Killed {
		t.Errorf("after the session closed: %+v", exit)
	}
	_, err = call(t, w, args{"command": "sleep 1000", "background": true}, nil)
	tooltest.Fails(t, err, CodeSpawn)
}

func TestKill(t *testing.T) {
	old := interruptWait
	interruptWait = 50 * time.Millisecond
	t.Cleanup(func() { interruptWait = old })
	for _, c := range []struct {
		name, command, signal string
		stops                 bool
		code                  int
	}{
		{"TERM ends the tree", "sleep 1000 & sleep 1001", "TERM", true, -1},
		{"TERM is followed by KILL", "trap '' TERM; echo ready; while :; do sleep 0.01; done", "TERM", true, -1},
		{"KILL does not ask", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done", "KILL", true, -1},
		{"INT may be handled", "trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done", "INT", true, 9},
		{"INT may be ignored", "trap '' INT; echo ready; while :; do sleep 0.01; done", "INT", false, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := session(t)
			id := begin(t, w, c.command)
			if strings.Contains(c.command, "ready") {
				status(t, w, args{"session_id": id, "wait": 60})
			}
			if c.stops && c.signal == "INT" {
				interruptWait = time.Minute
				t.Cleanup(func() { interruptWait = 50 * time.Millisecond })
			}
			r, err := use(t.Context(), t, ExecKill(), w, args{"session_id": id, "signal": c.signal})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Stopped{id, c.signal, c.code}, r.Data); diff != "" {
				t.Error(diff)
			}
			j, _ := w.Jobs.Get(id)
			if j.Running() == c.stops {
				t.Errorf("it runs: %v; %s", j.Running(), r.Text)
			}
			if c.stops {
				again, err := use(t.Context(), t, ExecKill(), w, args{"session_id": id})
				if err != nil || !strings.HasPrefix(again.Text, "It had ended before") {
					t.Errorf("again: %q, %v", again.Text, err)
				}
			}
		})
	}
}
