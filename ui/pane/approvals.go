package pane

import (
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/engine/pipeline"
	"chela/themes"
	"chela/ui/intent"
)

// itemRows is how many lines a waiting call takes.
const itemRows = 2

// Approvals shows the calls that wait for a person, the oldest first. It
// decides nothing itself.
type Approvals struct {
	st      *themes.Styles
	focused bool
	items   []*waiting
	sel     int
	view    viewport // in items
}

// waiting is one call in the queue.
type waiting struct {
	pipeline.Pending
	since  time.Time // drawn, whole, since then; zero: not yet
	facts  []fact    // the second line; made when first drawn
	hidden bool      // something in it cannot be seen; known with facts
	cut    bool      // the first line had no room for all of it
}

// NewApprovals returns an empty queue.
func NewApprovals(st *themes.Styles) *Approvals { return &Approvals{st: st} }

// Restyle draws everything in other styles from now on.
func (a *Approvals) Restyle(st *themes.Styles) { a.st = st }

// SetFocused shows the selection, or hides it.
func (a *Approvals) SetFocused(on bool) { a.focused = on }

// Set replaces the queue. The selected call stays selected while it waits. When
// it is gone, the one that takes its place is selected, and counts as visible
// only from now on: a key pressed twice must not decide two calls.
func (a *Approvals) Set(p []pipeline.Pending, now time.Time) {
	known := make(map[string]*waiting, len(a.items))
	for _, it := range a.items {
		known[it.ID] = it
	}
	var selected string
	if a.sel < len(a.items) {
		selected = a.items[a.sel].ID
	}
	items := make([]*waiting, len(p))
	found := false
	for i, pending := range p {
		it := known[pending.ID]
		if it == nil || it.Plan.Hash != pending.Plan.Hash {
			it = &waiting{Pending: pending}
		}
		items[i] = it
		if pending.ID == selected {
			a.sel, found = i, true
		}
	}
	a.items = items
	a.sel = max(0, min(a.sel, len(items)-1))
	if !found {
		a.view.reveal = true
		if len(items) > 0 && !items[a.sel].since.IsZero() {
			items[a.sel].since = now
		}
	}
}

// Len is how many calls wait.
func (a *Approvals) Len() int { return len(a.items) }

// Current is the selected call.
func (a *Approvals) Current() (pipeline.Pending, bool) {
	if a.sel >= len(a.items) {
		return pipeline.Pending{}, false
	}
	return a.items[a.sel].Pending, true
}

func (a *Approvals) index(id string) int {
	for i, it := range a.items {
		if it.ID == id {
			return i
		}
	}
	return -1
}

// At is the waiting call with this approval's id.
func (a *Approvals) At(id string) (pipeline.Pending, bool) {
	if i := a.index(id); i >= 0 {
		return a.items[i].Pending, true
	}
	return pipeline.Pending{}, false
}

// Position is where the call stands in the queue, from 1; 0 when it does not
// wait.
func (a *Approvals) Position(id string) int { return a.index(id) + 1 }

// Select selects a call and reports whether it waits.
func (a *Approvals) Select(id string) bool {
	i := a.index(id)
	if i < 0 {
		return false
	}
	a.sel, a.view.reveal = i, true
	return true
}

// Next is the call n places behind the one with this id, or before it if n is
// negative; false at the ends of the queue. When that call does not wait any
// more, it is the selected one.
func (a *Approvals) Next(id string, n int) (pipeline.Pending, bool) {
	i := a.index(id)
	if i < 0 {
		return a.Current()
	}
	if i += n; n == 0 || i < 0 || i >= len(a.items) {
		return pipeline.Pending{}, false
	}
	return a.items[i].Pending, true
}

// VisibleSince is when the call was first drawn, whole, in the queue; zero when
// it never was. See [Approvals.Set] for when that starts over.
func (a *Approvals) VisibleSince(id string) time.Time {
	if i := a.index(id); i >= 0 {
		return a.items[i].since
	}
	return time.Time{}
}

// Title is the pane's title, with how many wait and for how long.
func (a *Approvals) Title(now time.Time) string {
	if len(a.items) == 0 {
		return "Approvals"
	}
	oldest := a.items[0].Asked
	for _, it := range a.items {
		if it.Asked.Before(oldest) {
			oldest = it.Asked
		}
	}
	return fmt.Sprintf("Approvals · %d · oldest %s", len(a.items), Ago(now.Sub(oldest)))
}

// Handle carries out an intent. Those that decide are the root's.
func (a *Approvals) Handle(i intent.Intent) Action {
	if len(a.items) == 0 {
		switch i {
		case intent.Open, intent.Copy:
			return Say{"no call waits for you"}
		}
		return nil
	}
	if to, ok := a.view.step(i, a.sel, len(a.items)); ok {
		a.sel = to
		return nil
	}
	switch it := a.items[a.sel]; i {
	case intent.Open:
		return OpenReview{it.ID}
	case intent.Copy:
		text, what := copyOf(it.Plan)
		return CopyText{text, what}
	}
	return nil
}

// Scroll moves by items, for the mouse wheel; the selection stays.
func (a *Approvals) Scroll(n int) {
	a.view.top += n
	a.view.reveal = false
}

// Click selects the call drawn in line y and opens its review. It never
// decides anything.
func (a *Approvals) Click(y int) Action {
	i := a.view.top + y/itemRows
	if y < 0 || y/itemRows >= a.view.height || i >= len(a.items) {
		return nil
	}
	a.sel = i
	return OpenReview{a.items[i].ID}
}

// Lines draws the pane into at most h lines of at most w cells. The last one
// holds the keys, if there is room for it.
func (a *Approvals) Lines(w, h int, now time.Time) []string {
	if len(a.items) == 0 {
		return clip(prose(a.st, "Calls that need you wait here.", w), w, h)
	}
	rows := h
	if h > itemRows {
		rows--
	}
	whole := rows / itemRows
	first, last := a.view.window(a.sel, len(a.items), max(whole, 1))
	var out []string
	for i := first; i < last; i++ {
		it := a.items[i]
		if it.since.IsZero() && whole > 0 {
			it.since = now
		}
		out = append(out, a.draw(it, a.focused && i == a.sel, w, now)...)
	}
	out = out[:min(len(out), max(rows, 0))]
	if rows < h {
		for len(out) < rows {
			out = append(out, "")
		}
		out = append(out, a.footer(w, first, last))
	}
	return clip(out, w, h)
}

// keys are those of the queue; without the focus, the one that gives it: until
// then the others do something else.
func (a *Approvals) keys(w int) string {
	if a.focused {
		return footerKeys(a.st, intent.Approvals, w)
	}
	return ansi.Truncate(" "+a.st.Key.Render(intent.KeyOf(intent.GoApprovals, []intent.Scope{intent.Global}))+" "+a.st.KeyHint.Render("to decide"), w, "")
}

// footer shows the keys, and how many calls there is no room for.
func (a *Approvals) footer(w, first, last int) string {
	hidden := len(a.items) - (last - first)
	if hidden == 0 {
		return a.keys(w)
	}
	more := a.st.Warn.Render(fmt.Sprintf("+%d more", hidden))
	room := w - len("+99 more") - 1
	return spread(a.keys(room), more, w)
}
