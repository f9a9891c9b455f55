package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/screentest"
)

func review(p toolkit.Plan) *Review {
	r := NewReview(screentest.Styles(), pending(p), screentest.At(0))
	r.SetNow(screentest.At(12))
	r.SetPosition(2, 3)
	return r
}

var allowing = []intent.Intent{intent.Approve, intent.ApproveSession, intent.ApproveRule, intent.ApproveNote}

func TestReviewShowsTheWholeEffect(t *testing.T) {
	for name, p := range map[string]toolkit.Plan{
		"change":  editPlan(),
		"command": execPlan("go test ./engine -run 'Backoff' &&\ngo vet ./engine"),
		"address": fetchPlan("https://pkg.go.dev/time?q=1"),
	} {
		for _, w := range []int{40, 60, 116} {
			t.Run(fmt.Sprintf("%s/%d", name, w), func(t *testing.T) {
				r := review(p)
				frame := r.Title() + "   " + r.Note() + "\n" + screentest.PlainFrame(t, r.Lines(w, 26), w, 26)
				golden.RequireEqual(t, []byte(frame))
			})
		}
	}
}

func TestReviewTabs(t *testing.T) {
	r := review(editPlan())
	for _, tab := range []string{"arguments", "policy"} {
		r.Handle(intent.NextTab)
		t.Run(tab, func(t *testing.T) { golden.RequireEqual(t, []byte(screentest.PlainFrame(t, r.Lines(80, 30), 80, 30))) })
	}
}

func TestReviewFitsEverySizeWhateverTheCall(t *testing.T) {
	for _, kind := range kinds {
		r := NewReview(screentest.Styles(), pending(hostilePlan(kind)), screentest.At(0))
		r.SetPosition(10, 100)
		for range reviewTabs {
			everySize(t, r.Lines)
			r.Handle(intent.NextTab)
		}
		r.Handle(intent.Layout)
		everySize(t, r.Lines)
	}
}

func TestAllowingNeedsTheEndToHaveBeenSeen(t *testing.T) {
	long := editPlan()
	long.Preview.New = strings.Repeat("a line\n", 100)
	r := review(long)
	for _, i := range allowing {
		if r.Disabled(i) == "" {
			t.Errorf("%s is possible before anything was drawn", i)
		}
	}
	frame := screentest.PlainFrame(t, r.Lines(60, 20), 60, 20)
	if !strings.Contains(frame, "not seen to the end") {
		t.Errorf("the reason is not on the screen:\n%s", frame)
	}
	act, _ := r.Handle(intent.Approve)
	if diff := cmp.Diff(pane.Action(pane.Say{Text: r.Disabled(intent.Approve)}), act); diff != "" {
		t.Error(diff)
	}
	// Reading the other tabs to their ends does not count.
	for range reviewTabs {
		r.Handle(intent.NextTab)
		r.Lines(60, 200)
		if r.tab != tabPreview && r.Disabled(intent.Approve) == "" {
			t.Fatal("the end of another tab counts as the end of the preview")
		}
		if r.tab == tabPolicy {
			break
		}
	}
	r.Handle(intent.NextTab)
	r.Lines(60, 20)
	for r.Disabled(intent.Approve) != "" {
		top := r.scroll[tabPreview].Top()
		r.Handle(intent.PageDown)
		r.Lines(60, 20)
		if r.scroll[tabPreview].Top() == top {
			t.Fatal("the end is never reached")
		}
	}
	r.Handle(intent.Home)
	frame = screentest.PlainFrame(t, r.Lines(60, 20), 60, 20)
	if !strings.Contains(frame, "seen to the end") {
		t.Errorf("having seen the end once is forgotten:\n%s", frame)
	}
	for _, i := range allowing {
		act, ok := r.Handle(i)
		if diff := cmp.Diff(pane.Action(Decide{"approval", long.Hash, i}), act); diff != "" || !ok {
			t.Error(diff)
		}
	}
}

func TestNoRoomForTheTextIsNotSeeingItsEnd(t *testing.T) {
	r := review(editPlan())
	for h := range withWarning {
		r.Lines(60, h)
		if r.Disabled(intent.Approve) == "" {
			t.Errorf("a screen of %d lines shows the end", h)
		}
	}
}

func TestDenyingIsPossibleAtOnce(t *testing.T) {
	r := review(editPlan())
	for _, i := range []intent.Intent{intent.Deny, intent.DenyReason} {
		act, _ := r.Handle(i)
		if diff := cmp.Diff(pane.Action(Decide{"approval", editPlan().Hash, i}), act); diff != "" {
			t.Error(diff)
		}
	}
}

func TestALongCommandCanOnlyBeDenied(t *testing.T) {
	for _, c := range []struct {
		size int
		want bool
	}{{MaxCommand, true}, {MaxCommand + 1, false}} {
		r := review(execPlan(strings.Repeat("x", c.size)))
		r.Lines(80, 30)
		r.Handle(intent.End)
		r.Lines(80, 30)
		if why := r.Disabled(intent.Approve); (why == "") != c.want {
			t.Errorf("a command of %d bytes, read to its end: %q", c.size, why)
		}
	}
	r := review(execPlan(strings.Repeat("x", MaxCommand+1)))
	if frame := screentest.PlainFrame(t, r.Lines(80, 30), 80, 30); !strings.Contains(frame, "too long to be shown whole: deny it") {
		t.Errorf("the reason is not on the screen:\n%s", frame)
	}
}

func TestReviewWarnsOfWhatCannotBeSeen(t *testing.T) {
	old := editPlan()
	old.Preview.Old, old.Preview.New = "x\u200by\na\n", "x\u200by\nb\n"
	fresh := editPlan()
	fresh.Preview.New += "var x\u200by = 1\n"
	for _, c := range []struct {
		name string
		plan toolkit.Plan
		want string
	}{
		{"reordering", execPlan("rm -rf /tmp/x \u202e# safe"), "the command: 1 text-reordering character"},
		{"a look-alike host", fetchPlan("https://p\u0430ypal.com/"), "the address: look-alike letters in p<U+0430>ypal.com"},
		{"invisible in a new line", fresh, "the new lines: 1 invisible character"},
		{"in the environment", func() toolkit.Plan { p := execPlan("ls"); p.Preview.Env = []string{"A=\u200b"}; return p }(), "the environment: 1 invisible"},
		{"only in what was there before", old, ""},
		{"nothing", execPlan("ls"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame := screentest.PlainFrame(t, review(c.plan).Lines(100, 30), 100, 30)
			has := strings.Contains(frame, "! hidden characters: "+c.want)
			if has != (c.want != "") || c.want == "" && strings.Contains(frame, "hidden characters") {
				t.Errorf("want %q in:\n%s", c.want, frame)
			}
		})
	}
}

func TestACommandIsShownWithNothingLeftOut(t *testing.T) {
	command := "go test " + strings.Repeat("./package ", 60) + "&& rm -rf /"
	r := review(execPlan(command))
	frame := screentest.PlainFrame(t, r.Lines(50, 40), 50, 40)
	joined := strings.Join(strings.Fields(frame), "")
	if want := strings.ReplaceAll(command, " ", ""); !strings.Contains(joined, want) {
		t.Errorf("the command is not all there:\n%s", frame)
	}
}

func TestTheKeysAreAlwaysThere(t *testing.T) {
	big := editPlan()
	big.Preview.New = strings.Repeat("a line\n", 500)
	big.Asks = []string{strings.Repeat("word ", 500)}
	big.Preview.Path = "a\u200b"
	r := review(big)
	everySize(t, func(w, h int) []string {
		lines := r.Lines(w, h)
		if len(lines) != h {
			t.Fatalf("%d lines in %d: the keys would move", len(lines), h)
		}
		rows := 2
		if h >= threeKeyLines {
			rows = 3
		}
		foot := screentest.WithoutStyles(strings.Join(lines[max(0, h-rows):], " "))
		for _, i := range []intent.Intent{intent.Approve, intent.ApproveSession, intent.ApproveRule, intent.Deny, intent.DenyReason} {
			if key := intent.KeyOf(i, []intent.Scope{intent.Review}); !strings.Contains(foot, " "+key) {
				t.Fatalf("%d by %d cells: the key %s of %s is missing in %q", w, h, key, i, foot)
			}
		}
		return lines
	})
}

func TestReviewStepsThroughHunks(t *testing.T) {
	two := editPlan()
	two.Preview.Old = strings.Repeat("x\n", 60)
	two.Preview.New = "first\n" + two.Preview.Old + "last\n"
	r := review(two)
	r.Lines(60, 12)
	r.Handle(intent.NextHit)
	frame := screentest.PlainFrame(t, r.Lines(60, 12), 60, 12)
	if !strings.Contains(frame, "▸") || !strings.Contains(frame, "last") {
		t.Errorf("the second hunk is not shown:\n%s", frame)
	}
	r.Handle(intent.PrevHit)
	if frame := screentest.PlainFrame(t, r.Lines(60, 12), 60, 12); !strings.Contains(frame, "first") {
		t.Errorf("the first hunk is not shown:\n%s", frame)
	}
	if why := review(execPlan("ls")).Disabled(intent.NextHit); why == "" {
		t.Error("a command has hunks")
	}
}

func TestReviewLeavesTheQueueToTheRoot(t *testing.T) {
	r := review(editPlan())
	for _, i := range []intent.Intent{intent.NextItem, intent.PrevItem, intent.Back, intent.Palette} {
		if act, ok := r.Handle(i); ok || act != nil {
			t.Errorf("%s gives %v", i, act)
		}
	}
}

func TestReviewCopiesWhatTheTabShows(t *testing.T) {
	r := review(execPlan("go test ./engine"))
	r.Lines(60, 20)
	act, _ := r.Handle(intent.Copy)
	if diff := cmp.Diff(pane.Action(pane.CopyText{Text: "go test ./engine", What: "the preview"}), act); diff != "" {
		t.Error(diff)
	}
	r.Handle(intent.NextTab)
	r.Lines(60, 20)
	act, _ = r.Handle(intent.Copy)
	want := "{\n  \"command\": \"go test ./engine\"\n}"
	if diff := cmp.Diff(pane.Action(pane.CopyText{Text: want, What: "the arguments"}), act); diff != "" {
		t.Error(diff)
	}
}

func TestPolicySaysWhatTheKeysWouldMake(t *testing.T) {
	r := review(editPlan())
	r.tab = tabPolicy
	frame := screentest.PlainFrame(t, r.Lines(100, 40), 100, 40)
	for _, want := range []string{
		"s  allow edit_file inside engine/, in this session",
		"r  allow edit_file inside engine/, in this workspace",
		"r  allow edit_file anywhere in the workspace",
		"moderate calls ask in ask mode",
		"0123456789ab",
	} {
		if !strings.Contains(frame, want) {
			t.Errorf("the policy lacks %q:\n%s", want, frame)
		}
	}
}
