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
	"chela/ui/screentest"
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
		EmittedAt: screentest.At(10.114), ValidatedAt: screentest.At(10.115), JudgedAt: screentest.At(10.12), RunAt: screentest.At(22), ReturnedAt: screentest.At(25.2),
	}
}

func TestCallPageShowsEachTab(t *testing.T) {
	for _, w := range []int{40, 60, 116} {
		p := NewCallPage(screentest.Styles(), failedCall())
		for _, tab := range callNames {
			t.Run(fmt.Sprintf("%s/%d", tab, w), func(t *testing.T) {
				frame := p.Title() + "   " + p.Note() + "\n" + screentest.PlainFrame(t, p.Lines(w, 34), w, 34)
				golden.RequireEqual(t, []byte(frame))
			})
			p.Handle(intent.NextTab)
		}
	}
}

func TestCallPageFitsEverySizeWhateverTheCall(t *testing.T) {
	for _, kind := range kinds {
		c := &calls.Call{
			ID: "c", Tool: screentest.Hostile, Origin: screentest.Hostile, State: store.CallFailed, Emitted: screentest.Hostile, Args: `{"a":"` + screentest.Hostile + `"}`, Repairs: []string{screentest.Hostile},
			Summary: screentest.Hostile, Level: screentest.Hostile, Decision: screentest.Hostile, By: screentest.Hostile, Reasons: []string{screentest.Hostile, screentest.Hostile}, Rule: screentest.Hostile, Reason: screentest.Hostile,
			Plan: hostilePlan(kind), Output: screentest.Hostile + strings.Repeat("w", 300), Full: screentest.Hostile + screentest.Hostile,
			Error:     &toolkit.Error{Code: screentest.Hostile, Message: screentest.Hostile, Hint: screentest.Hostile},
			Changed:   []toolkit.Change{{Path: screentest.Hostile, Kind: screentest.Hostile}},
			EmittedAt: screentest.At(1),
		}
		p := NewCallPage(screentest.Styles(), c)
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
	shared.Apply(event.Event{At: screentest.At(0), Body: event.CallEmitted{Call: "c", Tool: "exec", Args: []byte(`{"command":"make"}`)}})
	shared.Apply(event.Event{At: screentest.At(1), Body: event.CallRunning{Call: "c"}})
	p := NewCallPage(screentest.Styles(), shared.Get("c"))
	p.SetNow(screentest.At(4))
	return shared, p
}

func progress(shared *calls.Calls, from, to int) {
	for i := from; i < to; i++ {
		shared.Apply(event.Event{At: screentest.At(2), Body: event.CallProgress{Call: "c", Text: fmt.Sprintf("line %d\n", i)}})
	}
}

func TestOutputIsFollowedWhileItComes(t *testing.T) {
	shared, p := running(t)
	if frame := screentest.PlainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "No output yet") {
		t.Errorf("before any output:\n%s", frame)
	}
	progress(shared, 0, 50)
	if frame := screentest.PlainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "line 49") {
		t.Errorf("the end is not followed:\n%s", frame)
	}
	p.Scroll(-20)
	before := screentest.PlainFrame(t, p.Lines(60, 10), 60, 10)
	progress(shared, 50, 60)
	if got := screentest.PlainFrame(t, p.Lines(60, 10), 60, 10); got != before {
		t.Errorf("what is read moves:\n%s", cmp.Diff(before, got))
	}
	p.Handle(intent.End)
	progress(shared, 60, 70)
	if frame := screentest.PlainFrame(t, p.Lines(60, 10), 60, 10); !strings.Contains(frame, "line 69") {
		t.Errorf("going to the end does not follow it again:\n%s", frame)
	}
	if got := p.Note(); !strings.HasPrefix(got, "3.0s") {
		t.Errorf("the note is %q", got)
	}
}

func TestAFinishedCallIsReadFromTheStart(t *testing.T) {
	c := failedCall()
	c.Full = strings.Repeat("line\n", 100)
	if frame := screentest.PlainFrame(t, NewCallPage(screentest.Styles(), c).Lines(60, 10), 60, 10); !strings.Contains(frame, "exit code 1") {
		t.Errorf("the start is not shown:\n%s", frame)
	}
}

func TestCallPageFollowsTheRecord(t *testing.T) {
	shared, p := running(t)
	p.tab = tabSteps
	if frame := screentest.PlainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "runs for 3.0s") || !strings.Contains(frame, "○ returned") {
		t.Errorf("while it runs:\n%s", frame)
	}
	p.SetNow(screentest.At(9))
	if frame := screentest.PlainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "runs for 8.0s") {
		t.Errorf("five seconds later:\n%s", frame)
	}
	shared.Apply(event.Event{At: screentest.At(11), Body: event.CallReturned{Call: "c", OK: true, Output: "done"}})
	if frame := screentest.PlainFrame(t, p.Lines(80, 20), 80, 20); !strings.Contains(frame, "ran 10.0s") || !strings.Contains(frame, "✓ returned") {
		t.Errorf("after it returned:\n%s", frame)
	}
}

func TestCallPageGoesToOtherCalls(t *testing.T) {
	p := NewCallPage(screentest.Styles(), failedCall())
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
	p := NewCallPage(screentest.Styles(), c)
	frame := screentest.PlainFrame(t, p.Lines(80, 20), 80, 20)
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
	p := NewCallPage(screentest.Styles(), c)
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
	p := NewCallPage(screentest.Styles(), c)
	p.Lines(80, 20)
	p.Handle(intent.NextHit)
	frame := screentest.PlainFrame(t, p.Lines(80, 30), 80, 30)
	for _, want := range []string{"[Change]", "changed     engine/retry.go  +6 -2", "+         select {", "▸"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the change lacks %q:\n%s", want, frame)
		}
	}
	c2 := failedCall()
	c2.Plan, c2.Changed = toolkit.Plan{}, nil
	p2 := NewCallPage(screentest.Styles(), c2)
	p2.tab = tabChange
	if frame := screentest.PlainFrame(t, p2.Lines(80, 20), 80, 20); !strings.Contains(frame, "changes nothing") {
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
		{"invalid", calls.Call{State: store.CallFailed, EmittedAt: screentest.At(1), ValidatedAt: screentest.At(1), ReturnedAt: screentest.At(1), Error: &toolkit.Error{Code: toolkit.CodeInvalid}}, []string{"✗ valid", "○ judged", "○ run"}},
		{"denied by the floor", calls.Call{State: store.CallDenied, Decision: "deny", By: "floor", EmittedAt: screentest.At(1), ValidatedAt: screentest.At(1), JudgedAt: screentest.At(1), ReturnedAt: screentest.At(1)}, []string{"✓ valid", "✗ judged", "○ run", "deny, by floor"}},
		{"waits", calls.Call{State: store.CallWaiting, Decision: "ask", By: "mode", EmittedAt: screentest.At(1), ValidatedAt: screentest.At(1), JudgedAt: screentest.At(1)}, []string{"✓ judged", "○ run", "waits for you"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := NewCallPage(screentest.Styles(), &c.call)
			p.SetNow(screentest.At(2).Add(time.Second))
			p.tab = tabSteps
			frame := screentest.PlainFrame(t, p.Lines(80, 30), 80, 30)
			for _, want := range c.want {
				if !strings.Contains(frame, want) {
					t.Errorf("lacks %q:\n%s", want, frame)
				}
			}
		})
	}
}
