package pane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/screentest"
)

func TestTimelineShowsEachState(t *testing.T) {
	for _, w := range []int{40, 60, 116} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			tl := NewTimeline(screentest.Styles(), loaded(someCalls()))
			tl.SetFocused(true)
			tl.Handle(intent.Up)
			frame := tl.Title() + "\n" + screentest.PlainFrame(t, tl.Lines(w, 14, screentest.At(42)), w, 14)
			golden.RequireEqual(t, []byte(frame))
		})
	}
}

func TestTimelineFitsEverySizeWhateverTheCall(t *testing.T) {
	stored := someCalls()
	for i, s := range hostileCalls() {
		s.ID = fmt.Sprintf("h%d", i)
		stored = append(stored, s)
	}
	tl := NewTimeline(screentest.Styles(), loaded(stored))
	tl.SetFocused(true)
	everySize(t, func(w, h int) []string { return tl.Lines(w, h, screentest.At(42)) })
}

func hostileCalls() []store.Call {
	var out []store.Call
	for _, s := range []store.CallState{store.CallFailed, store.CallDenied, store.CallRunning, store.CallWaiting, store.CallDone} {
		out = append(out, store.Call{
			Tool: screentest.Hostile, Summary: screentest.Hostile, State: s, Decision: screentest.Hostile, Reasons: []string{screentest.Hostile}, DecidedBy: screentest.Hostile,
			Error: []byte(`{"message":"\u001b[2J\u202e"}`), RunAt: screentest.At(1), EmittedAt: screentest.At(1),
		})
	}
	return out
}

func TestTimelineCountsTheSecondsOfARunningCall(t *testing.T) {
	tl := NewTimeline(screentest.Styles(), loaded(someCalls()))
	for _, second := range []float64{42, 43, 59} {
		frame := screentest.PlainFrame(t, tl.Lines(60, 14, screentest.At(second)), 60, 14)
		if want := fmt.Sprintf("%ds\n", int(second)-30); !strings.Contains(frame, want) {
			t.Errorf("after %v seconds the frame lacks %q:\n%s", second, want, frame)
		}
	}
}

func TestTimelineKeepsTheSelectionWhenCallsArrive(t *testing.T) {
	shared := loaded(someCalls())
	tl := NewTimeline(screentest.Styles(), shared)
	tl.SetFocused(true)
	tl.Lines(60, 20, screentest.At(42))
	if !tl.Select("2") {
		t.Fatal("call 2 is not known")
	}
	tl.Apply(shared.Apply(event.Event{At: screentest.At(50), Body: event.CallEmitted{Call: "8", Tool: "exec", Args: []byte(`{}`)}}))
	tl.Load()
	tl.Lines(60, 20, screentest.At(51))
	if diff := cmp.Diff(Action(OpenCall{"2"}), tl.Handle(intent.Open)); diff != "" {
		t.Error(diff)
	}
}

func TestTimelineShowsTheSelectionOnlyWhenFocused(t *testing.T) {
	tl := NewTimeline(screentest.Styles(), loaded(someCalls()))
	tl.Select("2")
	if frame := screentest.PlainFrame(t, tl.Lines(60, 20, screentest.At(42)), 60, 20); strings.Contains(frame, "▌") {
		t.Errorf("a selection without focus:\n%s", frame)
	}
	tl.SetFocused(true)
	frame := screentest.PlainFrame(t, tl.Lines(60, 20, screentest.At(42)), 60, 20)
	if !strings.Contains(frame, "▌09:41:03 ✓ grep") {
		t.Errorf("no selection with focus:\n%s", frame)
	}
}

func TestTimelineFiltersWhatFailed(t *testing.T) {
	shared := loaded(someCalls())
	tl := NewTimeline(screentest.Styles(), shared)
	tl.SetFocused(true)
	tl.Handle(intent.Filter)
	frame := screentest.PlainFrame(t, tl.Lines(60, 20, screentest.At(42)), 60, 20)
	if strings.Contains(frame, "read_file") || !strings.Contains(frame, "TestBackoff") || !strings.Contains(frame, "rm -rf") {
		t.Errorf("the filter shows:\n%s", frame)
	}
	// One that fails meanwhile goes where it was emitted.
	tl.Apply(shared.Apply(event.Event{At: screentest.At(50), Body: event.CallReturned{Call: "5", Error: toolkit.Errorf(toolkit.CodeExecution, "exit 1")}}))
	tl.Apply(shared.Apply(event.Event{At: screentest.At(50), Body: event.CallReturned{Call: "6", OK: true}}))
	frame = screentest.PlainFrame(t, tl.Lines(60, 20, screentest.At(51)), 60, 20)
	if !strings.Contains(frame, "exit 1") || strings.Contains(frame, "edit_file") {
		t.Errorf("the filter shows:\n%s", frame)
	}
	// Going to a call that is filtered out shows all again.
	if !tl.Select("1") || strings.Contains(tl.Title(), "only") {
		t.Errorf("selecting a call that is filtered out left the filter on: %s", tl.Title())
	}
}

func TestTimelineSaysWhyThereIsNothing(t *testing.T) {
	tl := NewTimeline(screentest.Styles(), calls.New())
	tl.SetFocused(true)
	if frame := screentest.PlainFrame(t, tl.Lines(40, 5, screentest.At(0)), 40, 5); !strings.Contains(frame, "Calls appear here") {
		t.Errorf("empty: %q", frame)
	}
	tl.Handle(intent.Filter)
	if frame := screentest.PlainFrame(t, tl.Lines(40, 5, screentest.At(0)), 40, 5); !strings.Contains(frame, "f shows all") {
		t.Errorf("filtered: %q", frame)
	}
	if _, ok := tl.Handle(intent.Open).(Say); !ok {
		t.Error("opening nothing says nothing")
	}
}

func TestTimelineThawsACallThatFinished(t *testing.T) {
	shared := loaded(someCalls())
	tl := NewTimeline(screentest.Styles(), shared)
	tl.Lines(60, 20, screentest.At(42))
	tl.Apply(shared.Apply(event.Event{At: screentest.At(45), Body: event.CallReturned{Call: "5", OK: true, Output: "ok"}}))
	frame := screentest.PlainFrame(t, tl.Lines(60, 20, screentest.At(90)), 60, 20)
	if !strings.Contains(frame, "✓ exec       go test ./...") || !strings.Contains(frame, "15.0s") {
		t.Errorf("after it returned:\n%s", frame)
	}
}

func TestTimelineOpensWhatIsClicked(t *testing.T) {
	tl := NewTimeline(screentest.Styles(), loaded(someCalls()))
	tl.Lines(60, 20, screentest.At(42))
	if diff := cmp.Diff(Action(OpenCall{"3"}), tl.Click(3)); diff != "" { // its second line
		t.Error(diff)
	}
	if act := tl.Click(19); act != nil {
		t.Errorf("a click below the last call gives %v", act)
	}
}

func TestACallWithoutAPlanIsListedByItsValues(t *testing.T) {
	for raw, want := range map[string]string{
		`{"path":"a/b.go","line":12,"all":true}`: "a/b.go · 12 · true",
		`{}`:                                     "",
		`{"todos":[{"text":"x"}]}`:               `{"todos":[{"text":"x"}]}`,
		`{"path":"a`:                             `{"path":"a`,
		`no object`:                              "no object",
	} {
		if got := Brief(&calls.Call{Tool: "read_file", Emitted: raw, Summary: raw}); got != want {
			t.Errorf("%s is listed as %q, want %q", raw, got, want)
		}
	}
	if got := Brief(&calls.Call{Args: `{"command":"x"}`, Summary: `{"a":"planned"}`}); got != `{"a":"planned"}` {
		t.Errorf("what a plan says became %q", got)
	}
}

func TestADenialSpeaksToThePerson(t *testing.T) {
	denied := func(c calls.Call) string {
		c.State, c.Error = store.CallDenied, &toolkit.Error{Message: "denied by the user, exec was not run."}
		return strings.Join((&callLine{&look{st: screentest.Styles()}, &c}).Render(60, false), "\n")
	}
	for name, c := range map[string]struct {
		call calls.Call
		want string
	}{
		"by you":        {calls.Call{By: "you"}, "by you"},
		"with a reason": {calls.Call{By: "you", Reason: "wrong folder"}, "by you: wrong folder"},
		"by a rule":     {calls.Call{By: "rule", Reasons: []string{"rule #2 denies it"}}, "rule #2 denies it"},
	} {
		if got := denied(c.call); !strings.Contains(got, c.want) || strings.Contains(got, "the user") {
			t.Errorf("%s: %q lacks %q", name, got, c.want)
		}
	}
}

func TestTheSelectedMessageIsMarkedInTheMargin(t *testing.T) {
	v := NewConversation(screentest.Styles(), calls.New())
	v.Note("info", "first", "")
	v.Note("info", "second\nand more", "")
	frame := func() string { return screentest.PlainFrame(t, v.Lines(30, 6), 30, 6) }
	if s := frame(); strings.Contains(s, "▌") {
		t.Errorf("marked without the focus:\n%s", s)
	}
	v.Focus()
	v.Handle(intent.End, true)
	if s := frame(); strings.Count(s, "▌") != 2 || !strings.Contains(s, "▌· second") {
		t.Errorf("the second note's two lines should be marked:\n%s", s)
	}
}
