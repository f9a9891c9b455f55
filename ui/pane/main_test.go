package pane

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"chela/store"
	"chela/themes"
	"chela/toolkit"
	"chela/ui/calls"
)

// TestMain fixes the time zone, since panes show local times.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var morning = time.Date(2026, 3, 2, 9, 41, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return morning.Add(time.Duration(seconds * float64(time.Second)))
}

func testStyles() *themes.Styles {
	st := themes.NewStyles(themes.Pick("dark", true))
	return &st
}

// hostile is text as no well-meaning model writes it.
const hostile = "a\x1b]52;c;aGk=\x07b\u202e\u200bc\r\nd\te\x9b31m\xff日本語 \u0301\u0301\u0301"

// plainFrame checks that lines fit and hold nothing but text and styles, and
// returns them without the styles.
func plainFrame(t *testing.T, lines []string, w, h int) string {
	t.Helper()
	if len(lines) > h {
		t.Fatalf("%d lines in %d", len(lines), h)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Fatalf("line %d has %d cells, more than %d: %q", i, n, w, l)
		}
		out[i] = strings.TrimRight(withoutStyles(l), " ")
		for _, r := range out[i] {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
				t.Fatalf("line %d holds %U: %q", i, r, l)
			}
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// withoutStyles takes away what sets colours and attributes, and nothing else,
// so that any other sequence is found.
func withoutStyles(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		rest := strings.TrimLeft(s[i+2:], "0123456789;:")
		if !strings.HasPrefix(rest, "m") {
			return b.String() + s[i:]
		}
		s = rest[1:]
	}
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
	failed := call("3", "test_run", "./engine", store.CallFailed, at(5), ms(2100))
	failed.Error = []byte(`{"code":"EXECUTION_ERROR","message":"1 failed: TestBackoff:48\nmore"}`)
	denied := call("4", "exec", "rm -rf build", store.CallDenied, at(7), 0)
	denied.DecidedBy, denied.Reasons = "floor", []string{"outside the workspace"}
	running := call("5", "exec", "go test ./...", store.CallRunning, at(20), 0)
	running.RunAt, running.Decision, running.DecidedBy = at(30), "ask", "person"
	waiting := call("6", "edit_file", "engine/retry.go", store.CallWaiting, at(31), 0)
	waiting.Decision = "ask"
	return []store.Call{
		call("1", "read_file", "engine/retry_test.go", store.CallDone, at(2), ms(4)),
		call("2", "grep", `"time.Sleep"`, store.CallDone, at(3), ms(11)),
		failed, denied, running, waiting,
		call("7", "search_available_tools", "browser", store.CallEmitted, at(31), 0),
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
			plainFrame(t, draw(w, h), w, h)
		}
	}
	for _, w := range []int{20, 37, 60, 140} {
		for h := 1; h <= 40; h++ {
			plainFrame(t, draw(w, h), w, h)
		}
	}
}
