package pane

import (
	"os"
	"testing"
	"time"

	"chela/store"
	"chela/toolkit"
	"chela/ui/calls"
	"chela/ui/screentest"
)

// TestMain fixes the time zone, since panes show local times.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// someCalls are calls in every state.
func someCalls() []store.Call {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	call := func(id, tool, what string, state store.CallState, begin time.Time, took time.Duration) store.Call {
		c := store.Call{ID: id, Tool: tool, Summary: what, State: state, Decision: "allow", EmittedAt: begin, ValidatedAt: begin, JudgedAt: begin}
		if took > 0 {
			c.RunAt, c.ReturnedAt = begin, begin.Add(took)
		}
		return c
	}
	failed := call("3", "test_run", "./engine", store.CallFailed, screentest.At(5), ms(2100))
	failed.Error = []byte(`{"code":"EXECUTION_ERROR","message":"1 failed: TestBackoff:48\nmore"}`)
	denied := call("4", "exec", "rm -rf build", store.CallDenied, screentest.At(7), 0)
	denied.DecidedBy, denied.Reasons = "floor", []string{"outside the workspace"}
	running := call("5", "exec", "go test ./...", store.CallRunning, screentest.At(20), 0)
	running.RunAt, running.Decision, running.DecidedBy = screentest.At(30), "ask", "person"
	waiting := call("6", "edit_file", "engine/retry.go", store.CallWaiting, screentest.At(31), 0)
	waiting.Decision = "ask"
	return []store.Call{
		call("1", "read_file", "engine/retry_test.go", store.CallDone, screentest.At(2), ms(4)),
		call("2", "grep", `"time.Sleep"`, store.CallDone, screentest.At(3), ms(11)),
		failed, denied, running, waiting,
		call("7", "search_available_tools", "browser", store.CallEmitted, screentest.At(31), 0),
	}
}

func loaded(stored []store.Call) *calls.Calls {
	c := calls.New()
	c.Load(stored)
	return c
}

func editPlan(id string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "edit_file", Args: []byte(`{"path":"engine/retry.go"}`), Level: toolkit.Moderate, Summary: "engine/retry.go", Hash: "hash-" + id,
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: "engine/retry.go"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewDiff, Path: "engine/retry.go", Old: "a\nb\nc\n", New: "a\nB\nC\nD\nc\n"},
	}
}

func execPlan(id, command string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "exec", Args: []byte(`{}`), Level: toolkit.Dangerous, Summary: command, Hash: "hash-" + id,
		Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: "/usr/bin/go"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewCommand, Command: command, Program: "/usr/bin/go", Dir: "."},
	}
}

// everySize draws at sizes from 20 by 1 to 140 by 40: every width in three
// heights, and every height in four widths.
func everySize(t *testing.T, draw func(w, h int) []string) {
	t.Helper()
	for w := 20; w <= 140; w++ {
		for _, h := range []int{2, 6, 16} {
			screentest.PlainFrame(t, draw(w, h), w, h)
		}
	}
	for _, w := range []int{20, 37, 60, 140} {
		for h := 1; h <= 40; h++ {
			screentest.PlainFrame(t, draw(w, h), w, h)
		}
	}
}
