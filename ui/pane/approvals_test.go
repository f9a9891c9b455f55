package pane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"chela/engine/pipeline"
	"chela/toolkit"
	"chela/ui/intent"
	"chela/ui/screentest"
)

func pending(id string, asked time.Time, p toolkit.Plan) pipeline.Pending {
	return pipeline.Pending{ID: id, Session: "s", Call: "call-" + id, Plan: p, Asked: asked, Reasons: []string{"moderate calls ask in ask mode"}}
}

func someWaiting() []pipeline.Pending {
	fetch := toolkit.Plan{
		Tool: "web_fetch", Level: toolkit.Moderate, Summary: "GET https://pkg.go.dev/time", Hash: "hash-c",
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: "pkg.go.dev:443"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: "GET", URL: "https://pkg.go.dev/time"},
	}
	hidden := execPlan("d", "rm -rf /tmp/x \u202e# safe")
	return []pipeline.Pending{
		pending("a", screentest.At(0), editPlan("a")), pending("b", screentest.At(12), execPlan("b", "go test ./engine")), pending("c", screentest.At(13), fetch), pending("d", screentest.At(14), hidden),
	}
}

func queue(p ...pipeline.Pending) *Approvals {
	a := NewApprovals(screentest.Styles())
	a.SetFocused(true)
	a.Set(p, screentest.At(12))
	return a
}

func TestApprovalsShowWhatWaits(t *testing.T) {
	for _, w := range []int{40, 60, 116} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			a := queue(someWaiting()...)
			a.Handle(intent.Down)
			frame := a.Title(screentest.At(15)) + "\n" + screentest.PlainFrame(t, a.Lines(w, 11, screentest.At(15)), w, 11)
			golden.RequireEqual(t, []byte(frame))
		})
	}
}

func TestApprovalsFitEverySizeWhateverTheCall(t *testing.T) {
	bad := execPlan("x", screentest.Hostile)
	bad.Tool, bad.Asks = screentest.Hostile, []string{screentest.Hostile}
	bad.Effects = append(bad.Effects, toolkit.Effect{Kind: toolkit.Dials, Target: screentest.Hostile})
	a := queue(append(someWaiting(), pending("x", screentest.At(1), bad))...)
	everySize(t, func(w, h int) []string {
		if a.Handle(intent.Down); w%7 == 0 {
			a.Handle(intent.Home)
		}
		return a.Lines(w, h, screentest.At(15))
	})
}

func TestEmptyQueueSaysWhatItIsFor(t *testing.T) {
	a := queue()
	if frame := screentest.PlainFrame(t, a.Lines(40, 5, screentest.At(0)), 40, 5); !strings.Contains(frame, "Calls that need you wait here") {
		t.Errorf("%q", frame)
	}
	if got := a.Title(screentest.At(0)); got != "Approvals" {
		t.Errorf("title %q", got)
	}
	if _, ok := a.Current(); ok {
		t.Error("there is a current call in an empty queue")
	}
}

func current(t *testing.T, a *Approvals) string {
	t.Helper()
	p, ok := a.Current()
	if !ok {
		t.Fatal("no call is selected")
	}
	return p.ID
}

func TestApprovalsKeepTheSelectionByID(t *testing.T) {
	all := someWaiting()
	a := queue(all...)
	a.Handle(intent.Down)
	a.Set(all[1:], screentest.At(20)) // the one before it was decided
	if got := current(t, a); got != "b" {
		t.Errorf("the selection went to %s", got)
	}
	a.Set(all, screentest.At(21))
	if got := current(t, a); got != "b" {
		t.Errorf("the selection went to %s", got)
	}
	a.Set([]pipeline.Pending{all[0], all[2], all[3]}, screentest.At(22)) // it was decided itself
	if got := current(t, a); got != "c" {
		t.Errorf("the selection went to %s, not to the one in its place", got)
	}
	a.Set(nil, screentest.At(23))
	a.Set(all[3:], screentest.At(24))
	if got := current(t, a); got != "d" {
		t.Errorf("after an empty queue the selection is %s", got)
	}
}

func TestVisibleSinceIsWhenTheCallWasDrawnWhole(t *testing.T) {
	a := queue(someWaiting()...)
	if !a.VisibleSince("a").IsZero() {
		t.Error("visible before it was drawn")
	}
	a.Lines(60, 1, screentest.At(13)) // only its first line
	if !a.VisibleSince("a").IsZero() {
		t.Error("visible with half of it cut off")
	}
	a.Lines(60, 3, screentest.At(14))
	a.Lines(60, 3, screentest.At(15))
	if got := a.VisibleSince("a"); !got.Equal(screentest.At(14)) {
		t.Errorf("visible since %v", got)
	}
	if !a.VisibleSince("b").IsZero() {
		t.Error("the second one has no room, yet counts as visible")
	}
	if !a.VisibleSince("unknown").IsZero() {
		t.Error("an unknown call is visible")
	}
}

func TestVisibleSinceStartsOverWhenTheSelectionMovesByItself(t *testing.T) {
	all := someWaiting()
	a := queue(all...)
	a.Lines(60, 20, screentest.At(14))
	a.Set(all[1:], screentest.At(30)) // a was decided; b was on the screen all the time
	if got := a.VisibleSince("b"); !got.Equal(screentest.At(30)) {
		t.Errorf("b counts as visible since %v: the same key pressed twice would decide it unseen", got)
	}
	if got := a.VisibleSince("c"); !got.Equal(screentest.At(14)) {
		t.Errorf("c counts as visible since %v", got)
	}
}

func TestVisibleSinceStartsOverForAnotherPlan(t *testing.T) {
	all := someWaiting()
	a := queue(all...)
	a.Lines(60, 20, screentest.At(14))
	all[0].Plan.Hash = "another"
	a.Set(all, screentest.At(30))
	if !a.VisibleSince("a").IsZero() {
		t.Error("a plan that was never drawn counts as visible")
	}
}

func TestApprovalsWarnOfHiddenCharacters(t *testing.T) {
	clean := editPlan("b")
	clean.Preview.Old, clean.Preview.New = "x\u200by\na\n", "x\u200by\nb\n" // it was there before
	sneaky := editPlan("c")
	sneaky.Preview.Old, sneaky.Preview.New = "x\u200by\n", "xy\u200b\n" // as many as before, elsewhere
	for _, c := range []struct {
		name string
		plan toolkit.Plan
		want bool
	}{
		{"reordering in a command", execPlan("a", "ls \u202e"), true},
		{"a look-alike program", execPlan("a", "ɡit status"), true},
		{"plain command", execPlan("a", "git status"), false},
		{"invisible before the change too", clean, false},
		{"invisible in a new line", sneaky, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := screentest.PlainFrame(t, queue(pending("a", screentest.At(0), c.plan)).Lines(60, 5, screentest.At(1)), 60, 5)
			if got := strings.Contains(frame, "hidden characters"); got != c.want {
				t.Errorf("warns %v:\n%s", got, frame)
			}
		})
	}
}

func TestApprovalsOpenAndCopyButNeverDecide(t *testing.T) {
	a := queue(someWaiting()...)
	a.Lines(60, 11, screentest.At(15))
	if diff := cmp.Diff(Action(OpenReview{"a"}), a.Handle(intent.Open)); diff != "" {
		t.Error(diff)
	}
	for _, b := range intent.Table() {
		if b.Intent.Decides() {
			if act := a.Handle(b.Intent); act != nil {
				t.Errorf("%s gives %v", b.Intent, act)
			}
		}
	}
	if diff := cmp.Diff(Action(OpenReview{"b"}), a.Click(3)); diff != "" {
		t.Error(diff)
	}
	if got := current(t, a); got != "b" {
		t.Errorf("a click selected %s", got)
	}
	if diff := cmp.Diff(Action(CopyText{"go test ./engine", "the command"}), a.Handle(intent.Copy)); diff != "" {
		t.Error(diff)
	}
	if a.Click(10) != nil || a.Click(-1) != nil {
		t.Error("a click beside the calls opens one")
	}
}

func TestNextGoesThroughTheQueue(t *testing.T) {
	a := queue(someWaiting()...)
	if p, ok := a.Next("a", 1); !ok || p.ID != "b" {
		t.Errorf("behind a comes %s", p.ID)
	}
	if _, ok := a.Next("a", -1); ok {
		t.Error("there is something before the first")
	}
	if _, ok := a.Next("d", 1); ok {
		t.Error("there is something behind the last")
	}
	if p, ok := a.Next("gone", 1); !ok || p.ID != "a" {
		t.Errorf("behind a call that is gone comes %s", p.ID)
	}
}

func TestTheQueueAllowsOnlyWhatItShowsWhole(t *testing.T) {
	unusual := editPlan("x")
	unusual.Asks = []string{"runs later: Makefile"}
	long := execPlan("x", "go test "+strings.Repeat("./engine ", 20))
	other := execPlan("x", "rm -rf .")
	other.Summary = "tidies up"
	elsewhere := execPlan("x", "make")
	elsewhere.Preview.Dir = "build"
	preset := execPlan("x", "make")
	preset.Preview.Env = []string{"PATH=/tmp"}
	get := toolkit.Plan{Tool: "web_fetch", Summary: "https://a.example/", Preview: toolkit.Preview{Kind: toolkit.PreviewURL, URL: "https://a.example/"}}
	post := get
	post.Preview.Body = "secret"
	for _, c := range []struct {
		name string
		plan toolkit.Plan
		want bool
	}{
		{"a command in another folder", elsewhere, false},
		{"a command with an environment", preset, false},
		{"an address", get, true},
		{"an address with a body", post, false},
		{"a short command", execPlan("x", "go test ./engine"), true},
		{"a change", editPlan("x"), true},
		{"a command that is cut off", long, false},
		{"a command that is told otherwise", other, false},
		{"hidden characters", execPlan("x", "ls \u200b"), false},
		{"unusual", unusual, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := queue(pending("x", screentest.At(0), c.plan))
			if a.Disabled(intent.Approve) == "" {
				t.Error("it can be allowed before it was drawn")
			}
			a.Lines(60, 5, screentest.At(1))
			if why := a.Disabled(intent.Approve); (why == "") != c.want {
				t.Errorf("allowing: %q", why)
			}
			if why := a.Disabled(intent.Deny); why != "" {
				t.Errorf("denying is refused: %s", why)
			}
		})
	}
}
