package calls_test

import (
	"strings"
	"testing"
	"time"

	"chela/engine/event"
	"chela/store"
	"chela/themes"
	"chela/toolkit"
	"chela/ui/calls"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func apply(c *calls.Calls, seconds int, b event.Body) *calls.Call {
	return c.Apply(event.Event{Turn: 1, At: noon.Add(time.Duration(seconds) * time.Second), Body: b})
}

func TestACallFollowsItsEvents(t *testing.T) {
	c := calls.New()
	apply(c, 0, event.CallEmitted{Call: "a", Tool: "exec", Args: []byte(`{"cmd":"ls"}`), Origin: toolkit.FromModel, Repair: "name repaired"})
	steps := []struct {
		body  event.Body
		state store.CallState
	}{
		{event.CallValidated{Call: "a", Args: []byte(`{"command":"ls"}`), Repairs: []string{"name repaired", "cmd read as command"}}, store.CallValidated},
		{event.CallJudged{Call: "a", Decision: "ask", Level: toolkit.Dangerous, Plan: toolkit.Plan{Summary: "ls"}}, store.CallWaiting},
		{event.ApprovalResolved{Call: "a", State: store.ApprovalApproved, Reason: "go on"}, store.CallWaiting},
		{event.CallRunning{Call: "a"}, store.CallRunning},
		{event.CallProgress{Call: "a", Text: "one\n"}, store.CallRunning},
		{event.CallReturned{Call: "a", OK: true, Output: "one\ntwo\n"}, store.CallDone},
	}
	x := c.Get("a")
	for i, s := range steps {
		before := x.Version()
		if got := apply(c, i+1, s.body); got != x || x.State != s.state {
			t.Errorf("after %s: %s, want %s", s.body.Type(), x.State, s.state)
		}
		if x.Version() == before {
			t.Errorf("%s did not change the version", s.body.Type())
		}
	}
	if x.Summary != "ls" || x.By != "you" || x.Reason != "go on" || x.Output != "one\ntwo\n" || len(x.Repairs) != 2 || !x.Finished() {
		t.Errorf("%+v", x)
	}
	if got := x.Duration(noon.Add(time.Hour)); got != 2*time.Second {
		t.Errorf("it ran %v", got)
	}
}

func TestHowACallEnded(t *testing.T) {
	for code, want := range map[toolkit.Code]store.CallState{
		toolkit.CodeExecution: store.CallFailed, toolkit.CodeTimeout: store.CallFailed, toolkit.CodeInvalid: store.CallFailed,
		toolkit.CodeDenied: store.CallDenied, toolkit.CodeUserDenied: store.CallDenied, toolkit.CodeApproval: store.CallDenied,
		toolkit.CodeCancelled: store.CallCancelled,
	} {
		c := calls.New()
		apply(c, 0, event.CallEmitted{Call: "a", Tool: "exec"})
		apply(c, 1, event.CallReturned{Call: "a", Error: &toolkit.Error{Code: code}})
		x := c.Get("a")
		if x.State != want {
			t.Errorf("%s ends as %s, want %s", code, x.State, want)
		}
		if x.Duration(noon.Add(time.Hour)) != 0 {
			t.Errorf("%s: a call that never ran took time", code)
		}
	}
}

// An event of a call nobody has heard of, such as one that was emitted before
// the screen was there, changes nothing.
func TestEventsOfUnknownCallsAreIgnored(t *testing.T) {
	c := calls.New()
	for _, b := range []event.Body{
		event.CallValidated{Call: "x"},
		event.CallJudged{Call: "x"},
		event.ApprovalResolved{Call: "x"},
		event.CallRunning{Call: "x"},
		event.CallProgress{Call: "x"},
		event.CallReturned{Call: "x"},
		event.Notice{Text: "hi"},
		event.TextDelta{Text: "a"},
	} {
		if got := apply(c, 0, b); got != nil {
			t.Errorf("%s made a call", b.Type())
		}
	}
	if c.Len() != 0 {
		t.Errorf("%d calls", c.Len())
	}
}

func TestOnlyTheTailOfALiveOutputIsKept(t *testing.T) {
	c := calls.New()
	apply(c, 0, event.CallEmitted{Call: "a", Tool: "exec"})
	for range 100 {
		apply(c, 1, event.CallProgress{Call: "a", Text: strings.Repeat("x", 4096)})
	}
	apply(c, 2, event.CallProgress{Call: "a", Text: "the end"})
	if out := c.Get("a").Output; len(out) > 64<<10 || !strings.HasSuffix(out, "the end") {
		t.Errorf("%d bytes kept, ending in %q", len(out), out[max(0, len(out)-10):])
	}
}

func TestStoredCallsLookLikeLiveOnes(t *testing.T) {
	x := calls.FromStore(store.Call{
		ID: "a", Turn: 2, Tool: "write_file", State: store.CallDenied, Emitted: `{"path":"a"}`, DecidedBy: "person",
		Plan: []byte(`{"tool":"write_file","summary":"a.txt new","hash":"h"}`), Error: []byte(`{"code":"USER_DENIED","message":"no"}`),
		Changed: []byte(`[{"path":"a.txt","kind":"created"}]`), EmittedAt: noon,
	})
	if x.By != "you" || x.Plan.Hash != "h" || x.Error == nil || x.Error.Code != toolkit.CodeUserDenied || len(x.Changed) != 1 || x.Summary != `{"path":"a"}` {
		t.Errorf("%+v", x)
	}
	broken := calls.FromStore(store.Call{ID: "b", Plan: []byte("{"), Error: []byte("nonsense"), Changed: []byte("1")})
	if broken.Error != nil || broken.Plan.Hash != "" || broken.Changed != nil {
		t.Errorf("what cannot be read is not absent: %+v", broken)
	}
}

func TestCountsByState(t *testing.T) {
	c := calls.New()
	var stored []store.Call
	for i, s := range []store.CallState{store.CallDone, store.CallFailed, store.CallInterrupted, store.CallDenied, store.CallRunning, store.CallCancelled} {
		stored = append(stored, store.Call{ID: string(rune('a' + i)), State: s})
	}
	c.Load(stored)
	if c.Len() != 6 || c.Failed() != 2 || c.Denied() != 1 || c.Running() != 1 {
		t.Errorf("%d calls, %d failed, %d denied, %d running", c.Len(), c.Failed(), c.Denied(), c.Running())
	}
}

// Colour alone never tells states apart: each has a word of its own, and
// states that differ in what a person should do differ in their sign too.
func TestEveryStateHasASignAndAWord(t *testing.T) {
	st := themes.NewStyles(themes.NoColor())
	words := map[string]bool{}
	for _, s := range []store.CallState{
		store.CallEmitted, store.CallWaiting, store.CallRunning, store.CallDone, store.CallFailed, store.CallDenied, store.CallInterrupted, store.CallCancelled,
	} {
		sign, _ := calls.Glyph(s, &st)
		if len([]rune(sign)) != 1 {
			t.Errorf("%s has the sign %q", s, sign)
		}
		if w := calls.Word(s); w == "" || words[w] {
			t.Errorf("%s has no word of its own: %q", s, w)
		}
		words[calls.Word(s)] = true
	}
}
