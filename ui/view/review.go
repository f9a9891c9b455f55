package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/engine/pipeline"
	"chela/themes"
	"chela/ui/diff"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
)

// Decide is the action of answering a waiting call. The root asks for what the
// intent still needs, a reason or the choice of a rule, and answers the engine
// for the plan with this hash, which is the one that was shown.
type Decide struct {
	Approval, PlanHash string
	Intent             intent.Intent
}

// Review shows one waiting call, whole, to be decided.
//
// Nothing that lets the call run is possible before the end of the preview was
// on the screen, and nothing at all for one that is too long to be read.
type Review struct {
	st      *themes.Styles
	pending pipeline.Pending
	preview preview
	warning string // hidden characters

	now      time.Time
	at, of   int // the place in the queue
	tab      int
	scroll   [reviewTabs]Scroll
	split    bool
	hunk     int
	sheets   [reviewTabs]sheet
	laidOut  [reviewTabs]int // the width of each sheet; 0: none
	reviewed bool            // the end of the preview was on the screen
}

// The tabs of a review.
const (
	tabPreview = iota
	tabReviewArgs
	tabPolicy
	reviewTabs
)

var reviewNames = []string{"Preview", "Arguments", "Policy"}

// reviewScopes are where the keys come from that a review names.
var reviewScopes = []intent.Scope{intent.Review, intent.Panes, intent.Global}

// NewReview returns the review of a waiting call.
func NewReview(st *themes.Styles, p pipeline.Pending, now time.Time) *Review {
	r := &Review{st: st, pending: p, preview: newPreview(p.Plan), now: now}
	r.warning = r.preview.warning()
	return r
}

// Restyle draws everything in other styles from now on.
func (r *Review) Restyle(st *themes.Styles) {
	r.st = st
	r.forget()
}

func (r *Review) forget() { r.laidOut = [reviewTabs]int{} }

// Pending is the call under review.
func (r *Review) Pending() pipeline.Pending { return r.pending }

// SetPosition says which of n waiting calls this is, from 1.
func (r *Review) SetPosition(i, n int) { r.at, r.of = i, n }

// SetNow sets the time, for the call's age.
func (r *Review) SetNow(now time.Time) { r.now = now }

// Scope says that the keys of a review hold.
func (r *Review) Scope() intent.Scope { return intent.Review }

// Title is the tool, its level, and why it asks.
func (r *Review) Title() string {
	parts := []string{"Review", safetext.Title(r.pending.Plan.Tool), r.pending.Plan.Level.String()}
	if len(r.pending.Reasons) > 0 {
		parts = append(parts, safetext.Title(r.pending.Reasons[0]))
	}
	return strings.Join(parts, " · ")
}

// Note is how long the call waits, and what part of it is shown.
func (r *Review) Note() string {
	note := "waits " + pane.Ago(r.now.Sub(r.pending.Asked))
	if pos := r.scroll[r.tab].Note(); pos != "" {
		note += " · " + pos
	}
	return note
}

// Size is the whole screen.
func (r *Review) Size(w, h int) (int, int) { return Full(w, h) }

// Scroll moves what is shown, for the mouse wheel.
func (r *Review) Scroll(n int) { r.scroll[r.tab].By(n) }

// Disabled says why an intent cannot act now, or "".
func (r *Review) Disabled(i intent.Intent) string {
	switch {
	case i.Allows() && r.preview.tooLong():
		return "too long to be shown whole: deny it"
	case i.Allows() && !r.reviewed && r.tab != tabPreview:
		return "read the preview to its end first"
	case i.Allows() && !r.reviewed:
		return "not seen to the end: scroll down"
	case (i == intent.ApproveSession || i == intent.ApproveRule) && len(r.pending.Offers) == 0:
		return "no rule can be made from this call"
	case i == intent.Layout && r.preview.hunks() == 0:
		return "only a change can be drawn in two columns"
	case (i == intent.NextHit || i == intent.PrevHit) && r.preview.hunks() == 0:
		return "there are no hunks here"
	}
	return ""
}

// Handle carries out an intent.
func (r *Review) Handle(i intent.Intent) (pane.Action, bool) {
	if why := r.Disabled(i); why != "" {
		return pane.Say{Text: why}, true
	}
	switch i {
	case intent.Approve, intent.ApproveSession, intent.ApproveRule, intent.ApproveNote, intent.Deny, intent.DenyReason:
		return Decide{r.pending.ID, r.pending.Plan.Hash, i}, true
	case intent.NextTab:
		r.tab = (r.tab + 1) % reviewTabs
	case intent.Layout:
		r.split = !r.split
		r.forget()
	case intent.NextHit:
		r.goTo(r.hunk + 1)
	case intent.PrevHit:
		r.goTo(r.hunk - 1)
	case intent.Copy:
		return pane.CopyText{Text: r.sheets[r.tab].copied(), What: "the " + strings.ToLower(reviewNames[r.tab])}, true
	default:
		return nil, r.scroll[r.tab].Handle(i)
	}
	return nil, true
}

// goTo shows a hunk.
func (r *Review) goTo(hunk int) {
	r.hunk = max(0, min(hunk, r.preview.hunks()-1))
	r.tab = tabPreview
	r.laidOut[tabPreview] = 0 // the current hunk is marked
	if at := r.sheets[tabPreview].hunks; r.hunk < len(at) {
		r.scroll[tabPreview].To(at[r.hunk])
	}
}

// sheet is what the open tab shows at a width.
func (r *Review) sheet(w int) *sheet {
	s := &r.sheets[r.tab]
	if r.laidOut[r.tab] == w {
		return s
	}
	r.laidOut[r.tab] = w
	switch r.tab {
	case tabPreview:
		o := diff.Options{Current: r.hunk}
		if r.split {
			o.Layout = diff.Split
		}
		*s = r.preview.sheet(r.st, w, o)
	case tabReviewArgs:
		text := pretty(string(r.pending.Plan.Args))
		out := newWriter(r.st, w)
		out.verbatim(source(r.st, safetext.Review(text), "json"), "", "")
		*s = sheet{lines: out.lines, plain: text}
	case tabPolicy:
		*s = r.policy(w)
	}
	return s
}

// Lines draws the review: tabs, warning, the open tab, and the keys, which
// keep their place whatever the content.
func (r *Review) Lines(w, h int) []string {
	head, foot := r.head(w, h), r.foot(w, h)
	room := h - len(head) - len(foot)
	s := r.sheet(max(w-2, 1))
	first, last := r.scroll[r.tab].Window(len(s.lines), room)
	if !r.reviewed && r.tab == tabPreview && h >= withWarning && room > 0 && last == len(s.lines) {
		r.reviewed = true
		foot = r.foot(w, h) // it may say otherwise now
	}
	out := make([]string, 0, h)
	out = append(out, head...)
	for _, l := range s.lines[first:last] {
		out = append(out, " "+l)
	}
	for len(out) < h-len(foot) {
		out = append(out, "")
	}
	return clip(append(out, foot...), w, h)
}

// The heights below which a review leaves something out.
const (
	withWarning   = 3 // below that, nothing can be allowed either
	withTabs      = 4
	withReason    = 5
	withAir       = 14
	twoKeyLines   = 10
	threeKeyLines = 14
)

// head is what stands above the text.
func (r *Review) head(w, h int) []string {
	var out []string
	if h >= withTabs {
		var where []string
		if r.of > 1 {
			short := fmt.Sprintf("%d of %d", r.at, r.of)
			next := intent.KeyOf(intent.NextItem, reviewScopes) + " next"
			where = []string{r.st.Subtle.Render(short + " waiting · " + next), r.st.Subtle.Render(short)}
		}
		out = append(out, ends(" "+tabBar(r.st, reviewNames, r.tab, w-2), w-1, where...))
	}
	if r.warning != "" && h >= withWarning {
		lines := strings.Split(ansi.Wrap("! hidden characters: "+r.warning, max(w-2, 1), ""), "\n")
		if most := max(h/6, 1); len(lines) > most {
			lines = lines[:most]
			lines[most-1] = ansi.Truncate(lines[most-1], max(w-3, 1), "") + "…"
		}
		for _, l := range lines {
			out = append(out, " "+r.st.Bad.Render(l))
		}
	}
	if h >= withAir {
		out = append(out, "")
	}
	return out
}
