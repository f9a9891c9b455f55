package pane

import (
	"fmt"
	"strings"
	"time"

	"chela/themes"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/list"
)

// Timeline shows every call of the session as it passes the five steps.
type Timeline struct {
	look    look
	list    *list.List
	calls   *calls.Calls
	now     time.Time // of the frame that is drawn, for what still runs
	focused bool
	failed  bool // only calls that went wrong are shown
}

// NewTimeline returns a timeline over the shared calls.
func NewTimeline(st *themes.Styles, c *calls.Calls) *Timeline {
	t := &Timeline{look: look{st: st}, list: list.New(1, 1), calls: c}
	t.Load()
	return t
}

// Restyle draws everything in other styles from now on.
func (t *Timeline) Restyle(st *themes.Styles) {
	t.look.st = st
	t.list.Invalidate()
}

// Load takes over the shared calls, after another session was opened say. What
// was selected stays selected if it is still there.
func (t *Timeline) Load() {
	var items []list.Item
	for _, c := range t.calls.All() {
		if t.shows(c) {
			items = append(items, &callRow{t, c})
		}
	}
	t.list.SetItems(items)
}

func (t *Timeline) shows(c *calls.Call) bool { return !t.failed || c.Bad() }

// Apply takes a call that is new or has changed into account.
func (t *Timeline) Apply(c *calls.Call) {
	if c == nil {
		return
	}
	_, known := t.list.Index(c.ID)
	switch {
	case t.shows(c) && !known && t.failed:
		t.Load() // it goes where it was emitted, which may not be the end
	case t.shows(c) && !known:
		t.list.Append(&callRow{t, c})
	case !t.shows(c) && known:
		t.list.Remove(c.ID)
	case known && c.Finished():
		t.list.Replace(c.ID, &callRow{t, c}) // it may be frozen
	}
	// A row that is known draws itself anew, since the call's version changed.
}

// SetFocused shows the selection, or hides it.
func (t *Timeline) SetFocused(on bool) {
	t.focused = on
	t.sync()
}

// sync turns the selection on as soon as there is something to select.
func (t *Timeline) sync() { t.list.SetSelecting(t.focused && t.list.Len() > 0) }

// Select selects a call, brings it into view, and reports whether it is known.
func (t *Timeline) Select(id string) bool {
	if _, shown := t.list.Index(id); !shown && t.failed && t.calls.Get(id) != nil {
		t.failed = false
		t.Load()
	}
	ok := t.list.Select(id)
	t.sync()
	return ok
}

// Handle carries out an intent.
func (t *Timeline) Handle(i intent.Intent) Action {
	t.sync()
	if act, ok := move(t.list, i); ok {
		return act
	}
	switch i {
	case intent.Open:
		if c := t.Selected(); c != nil {
			return OpenCall{c.ID}
		}
		return Say{"no call is selected: there is none yet"}
	case intent.Copy:
		if c := t.Selected(); c != nil {
			return CopyText{c.Output, "the output of " + c.Tool}
		}
		return Say{"nothing to copy: no call is selected"}
	case intent.Filter:
		t.failed = !t.failed
		t.Load()
		t.list.End()
		t.sync()
	}
	return nil
}

// Selected is the marked call, or nil.
func (t *Timeline) Selected() *calls.Call {
	it, ok := t.list.Selected()
	if !ok {
		return nil
	}
	return it.(*callRow).call
}

// Scroll moves by lines, for the mouse wheel.
func (t *Timeline) Scroll(n int) { t.list.ScrollLines(n) }

// Click opens the call that is drawn in line y.
func (t *Timeline) Click(y int) Action {
	i, _, ok := t.list.ItemAt(y)
	if !ok {
		return nil
	}
	id := t.list.At(i).ID()
	t.list.Select(id)
	t.sync()
	return OpenCall{id}
}

// Title is the pane's title, with how many calls there are and failed.
func (t *Timeline) Title() string {
	parts := []string{"Timeline"}
	if n := t.calls.Len(); n > 0 {
		parts = append(parts, fmt.Sprint(n))
	}
	if n := t.calls.Failed(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := t.calls.Denied(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d denied", n))
	}
	if t.failed {
		parts = append(parts, "only those")
	}
	return strings.Join(parts, " · ")
}

// Lines draws the pane: exactly h lines of at most w cells, or fewer while it
// is empty.
func (t *Timeline) Lines(w, h int, now time.Time) []string {
	if t.list.Len() == 0 {
		text := "Calls appear here, step by step."
		if t.failed {
			text = fmt.Sprintf("Nothing failed. %s shows all calls.", intent.KeyOf(intent.Filter, []intent.Scope{intent.Timeline}))
		}
		return clip(prose(t.look.st, text, w), w, h)
	}
	t.now = now
	t.sync()
	t.list.Resize(w, h)
	lines := t.list.Lines()
	if n := t.list.NewBelow(); n > 0 && h > 1 {
		key := intent.KeyOf(intent.End, []intent.Scope{intent.Timeline, intent.Panes})
		// Over the last line, so that nothing moves.
		lines[h-1] = spread("", t.look.st.Accent.Render(fmt.Sprintf(" ↓ %d new below · %s ", n, key)), w)
	}
	return clip(lines, w, h)
}
