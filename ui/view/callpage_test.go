package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/pane"
)

// failedCall is a call that a person allowed and that then failed.
func failedCall() *calls.Call {
	return &calls.Call{
		ID: "c", Tool: "exec", Origin: "native", State: store.CallFailed, Emitted: `{"cmd":"go test ./engine"}`, Args: `{"command":"go test ./engine"}`,
		Repairs: []string{"cmd is called command"}, Summary: "go test ./engine", Level: "dangerous", Decision: "ask", By: "you",
		Reasons: []string{"dangerous calls ask in ask mode"}, Rule: "r4", Reason: "run it once", Plan: execPlan("go test ./engine"),
		Output: "--- FAIL: TestBackoff\nFAIL chela/engine", Full: strings.Repeat("=== RUN\n", 3) + "--- FAIL: TestBackoff\nFAIL chela/engine",
		Error:     &toolkit.Error{Code: toolkit.CodeExecution, Message: "exit code 1", Hint: "Read the output above.", Retryable: true},
		Changed:   []toolkit.Change{{Path: "coverage.out", Kind: "created", Added: 12}},
		EmittedAt: at(10.114), ValidatedAt: at(10.115), JudgedAt: at(10.12), RunAt: at(22), ReturnedAt: at(25.2),
	}
}

func TestCallPageShowsEachTab(t *testing.T) {
	for _, w := range []int{40, 60, 116} {
		p := NewCallPage(testStyles(), failedCall())
		for _, tab := range callNames {
			t.Run(fmt.Sprintf("%s/%d", tab, w), func(t *testing.T) {
				frame := p.Title() + "   " + p.Note() + "\n" + plainFrame(t, p.Lines(w, 34), w, 34)
				golden.RequireEqual(t, []byte(frame))
			})
			p.Handle(intent.NextTab)
		}
	}
}

func TestCallPageFitsEverySizeWhateverTheCall(t *testing.T) {
	for _, kind := range kinds {
		c := &calls.Call{
			ID: "c", Tool: hostile, Origin: hostile, State: store.CallFailed, Emitted: hostile, Args: `{"a":"` + hostile + `"}`, Repairs: []string{hostile},
			Summary: hostile, Level: hostile, Decision: hostile, By: hostile, Reasons: []string{hostile, hostile}, Rule: hostile, Reason: hostile,
			Plan: hostilePlan(kind), Output: hostile + strings.Repeat("w", 300), Full: hostile + hostile,
			Error:     &toolkit.Error{Code: hostile, Message: hostile, Hint: hostile},
			Changed:   []toolkit.Change{{Path: hostile, Kind: hostile}},
			EmittedAt: at(1),
		}
		p := NewCallPage(testStyles(), c)
		for range callTabs {
			everySize(t, p.Lines)
			p.Handle(intent.NextTab)
		}
	}
}

// running is a call that runs, with its record.
func running(t *testing.T) (*calls.Calls, *CallPage) {
	t.Helper()
	shared := calls.New()
	shared.Apply(event.Event{At: at(0), Body: event.CallEmitted{Call: "c", Tool: "exec", Args: []byte(`{"command":"make"}`)}})
	shared.Apply(event.Event{At: at(1), Body: event.CallRunning{Call: "c"}})
	p := NewCallPage(testStyles(), shared.Get("c"))
	p.SetNow(at(4))
	return shared, p
}

func progress(shared *calls.Calls, from, to int) {
	for i := from; i < to; i++ {
		shared.Apply(event.Event{At: at(2), Body: event.CallProgress{Call: "c", Text: fmt.Sprintf("line %d\n", i)}})
	}
}

func TestOutputIsFollowedWhileItComes(t *testing.T) {
	shared, p := running(t)
	if frame := plainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "No output yet") {
		t.Errorf("before any output:\n%s", frame)
	}
	progress(shared, 0, 50)
	if frame := plainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "line 49") {
		t.Errorf("the end is not followed:\n%s", frame)
	}
	p.Scroll(-20)
	before := plainFrame(t, p.Lines(60, 10), 60, 10)
	progress(shared, 50, 60)
	if got := plainFrame(t, p.Lines(60, 10), 60, 10); got != before {
		t.Errorf("what is read moves:\n%s", cmp.Diff(before, got))
	}
	p.Handle(intent.End)
	progress(shared, 60, 70)
	if frame := plainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "line 69") {
		t.Errorf("going to the end does not follow it again:\n%s", frame)
	}
	if got := p.Note(); !strings.HasPrefix(got, "3.0s") {
		t.Errorf("the note is %q", got)
	}
}

func TestAFinishedCallIsReadFromTheStart(t *testing.T) {
	c := failedCall()
	c.Full = strings.Repeat("line\n", 100)
	if frame := plainFrame(t, NewCallPage(testStyles(), c).Lines(60, 10), 60, 10); !strings.Contains(frame, "exit code 1") {
		t.Errorf("the start is not shown:\n%s", frame)
	}
}

func TestCallPageFollowsTheRecord(t *testing.T) {
	shared, p := running(t)
	p.tab = tabSteps
	if frame := plainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "runs for 3.0s") || !strings.Contains(frame, "○ returned") {
		t.Errorf("while it runs:\n%s", frame)
	}
	p.SetNow(at(9))
	if frame := plainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "runs for 8.0s") {
		t.Errorf("five seconds later:\n%s", frame)
	}
	shared.Apply(event.Event{At: at(11), Body: event.CallReturned{Call: "c", OK: true, Output: "done"}})
	if frame := plainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "ran 10.0s") || !strings.Contains(frame, "✓ returned") {
		t.Errorf("after it returned:\n%s", frame)
	}
}

func TestCallPageGoesToOtherCalls(t *testing.T) {
	p := NewCallPage(testStyles(), failedCall())
	for i, step := range map[intent.Intent]int{intent.NextItem: 1, intent.PrevItem: -1} {
		act, ok := p.Handle(i)
		if diff := cmp.Diff(pane.Action(OtherCall{"c", step}), act); diff != "" || !ok {
			t.Error(diff)
		}
	}
}

func TestCallPageCopiesAllOfTheOutput(t *testing.T) {
	c := failedCall()
	c.Full = strings.Repeat("0123456789\n", maxShown/10)
	p := NewCallPage(testStyles(), c)
	frame := plainFrame(t, p.Lines(80, 20), 80, 20)
	if !strings.Contains(frame, "copying gives all") {
		t.Errorf("that a part is shown is not said:\n%s", frame)
	}
	act, _ := p.Handle(intent.Copy)
	if got, ok := act.(pane.CopyText); !ok || got.Text != c.Full {
		t.Errorf("copying gives %d bytes of %d", len(got.Text), len(c.Full))
	}
	p.tab = tabSteps
	p.Lines(80, 40)
	act, _ = p.Handle(intent.Copy)
	if got := act.(pane.CopyText); !strings.Contains(got.Text, "allowed by you") || strings.Contains(got.Text, "\x1b") {
		t.Errorf("copying the steps gives %q", got.Text)
	}
}

func TestOutputIsLaidOutOncePerVersion(t *testing.T) {
	c := failedCall()
	p := NewCallPage(testStyles(), c)
	first := p.sheet(60)
	at := &first.lines[0]
	if again := p.sheet(60); &again.lines[0] != at {
		t.Error("the same output at the same width is laid out again")
	}
	if again := p.sheet(61); &again.lines[0] == at {
		t.Error("another width shows the old lines")
	}
}

func TestAChangeIsShownWithItsHunks(t *testing.T) {
	c := failedCall()
	c.Plan, c.Changed = editPlan(), []toolkit.Change{{Path: "engine/retry.go", Kind: "changed", Added: 6, Removed: 2}}
	p := NewCallPage(testStyles(), c)
	p.Lines(80, 20)
	p.Handle(intent.NextHit)
	frame := plainFrame(t, p.Lines(80, 30), 80, 30)
	for _, want := range []string{"[Change]", "changed     engine/retry.go  +6 -2", "+         select {", "▸"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the change lacks %q:\n%s", want, frame)
		}
	}
	c2 := failedCall()
	c2.Plan, c2.Changed = toolkit.Plan{}, nil
	p2 := NewCallPage(testStyles(), c2)
	p2.tab = tabChange
	if frame := plainFrame(t, p2.Lines(80, 20), 80, 20); !strings.Contains(frame, "changes nothing") {
		t.Errorf("a call without a change:\n%s", frame)
	}
	if p2.Disabled(intent.Layout) == "" {
		t.Error("two columns are offered where there is no change")
	}
}

func TestStepsSayWhereTheCallStopped(t *testing.T) {
	for _, c := range []struct {
		name string
		call calls.Call
		want []string
	}{
		{"invalid", calls.Call{State: store.CallFailed, EmittedAt: at(1), ValidatedAt: at(1), ReturnedAt: at(1), Error: &toolkit.Error{Code: toolkit.CodeInvalid}}, []string{"✗ valid", "○ judged", "○ run"}},
		{"denied by the floor", calls.Call{State: store.CallDenied, Decision: "deny", By: "floor", EmittedAt: at(1), ValidatedAt: at(1), JudgedAt: at(1), ReturnedAt: at(1)}, []string{"✓ valid", "✗ judged", "○ run", "deny, by floor"}},
		{"waits", calls.Call{State: store.CallWaiting, Decision: "ask", By: "mode", EmittedAt: at(1), ValidatedAt: at(1), JudgedAt: at(1)}, []string{"✓ judged", "○ run", "waits for you"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewCallPage(testStyles(), &c.call)
			p.SetNow(at(2).Add(time.Second))
			p.tab = tabSteps
			frame := plainFrame(t, p.Lines(80, 30), 80, 30)
			for _, want := range c.want {
				if !strings.Contains(frame, want) {
					t.Errorf("lacks %q:\n%s", want, frame)
				}
			}
		})
	}
}
