package view

import (
	"strings"
	"time"

	"chela/themes"
	"chela/ui/calls"
	"chela/ui/diff"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
)

// OtherCall is the action of showing the call that was emitted Step places
// after the one with this ID, before it if Step is negative.
type OtherCall struct {
	ID   string
	Step int
}

// CallPage shows one call, whole, to be read: also while it still runs.
type CallPage struct {
	st      *themes.Styles
	call    *calls.Call
	preview preview
	planned string // hash of the plan that preview shows

	now    time.Time
	tab    int
	scroll [callTabs]Scroll
	follow bool // the output is shown to its end while it comes
	split  bool
	hunk   int
	sheets [callTabs]sheet
	drawn  [callTabs]stamp
}

// stamp says for what a sheet was laid out.
type stamp struct {
	width   int
	version uint64
	second  int64 // of the clock, where it shows
}

// The tabs of a call's page.
const (
	tabOutput = iota
	tabCallArgs
	tabChange
	tabSteps
	callTabs
)

var callNames = []string{"Output", "Arguments", "Change", "Steps"}

// NewCallPage returns the page of a call. The call may still change.
func NewCallPage(st *themes.Styles, c *calls.Call) *CallPage {
	return &CallPage{st: st, call: c, follow: !c.Finished()}
}

// Restyle draws everything in other styles from now on.
func (p *CallPage) Restyle(st *themes.Styles) {
	p.st = st
	p.drawn = [callTabs]stamp{}
}

// Call is the call that is shown.
func (p *CallPage) Call() *calls.Call { return p.call }

// SetNow sets the time, for how long the call has been running.
func (p *CallPage) SetNow(now time.Time) { p.now = now }

// Scope says that the keys of a call's page hold.
func (p *CallPage) Scope() intent.Scope { return intent.CallPage }

// Title is the tool and how the call stands.
func (p *CallPage) Title() string {
	glyph, _ := calls.Glyph(p.call.State, p.st)
	return "Call · " + safetext.Title(p.call.Tool) + " · " + glyph + " " + calls.Word(p.call.State)
}

// Note is how long it ran, and what part of the text is shown.
func (p *CallPage) Note() string {
	var parts []string
	if took := p.took(); took != "" {
		parts = append(parts, took)
	}
	if pos := p.scroll[p.tab].Note(); pos != "" {
		parts = append(parts, pos)
	}
	return strings.Join(parts, " · ")
}

// took is how long the call ran or has been running; empty if it did not, or
// if what time it is was not said.
func (p *CallPage) took() string {
	if p.call.ReturnedAt.IsZero() && p.now.IsZero() {
		return ""
	}
	return pane.Took(p.call.Duration(p.now))
}

// Size is the whole screen.
func (p *CallPage) Size(w, h int) (int, int) { return Full(w, h) }

// Scroll moves what is shown, for the mouse wheel.
func (p *CallPage) Scroll(n int) {
	p.scroll[p.tab].By(n)
	p.settle()
}

// settle follows the output again when its end is on the screen.
func (p *CallPage) settle() {
	if p.tab == tabOutput {
		p.follow = p.scroll[tabOutput].atEnd()
	}
}

// atEnd reports whether the last line is on screen.
func (s *Scroll) atEnd() bool { return s.top+s.height >= s.total }

// Disabled says why an intent cannot act now, or "".
func (p *CallPage) Disabled(i intent.Intent) string {
	p.plan()
	switch {
	case i == intent.Layout && p.preview.hunks() == 0:
		return "only a change can be drawn in two columns"
	case (i == intent.NextHit || i == intent.PrevHit) && p.preview.hunks() == 0:
		return "there are no hunks here"
	}
	return ""
}

// Handle carries out an intent.
func (p *CallPage) Handle(i intent.Intent) (pane.Action, bool) {
	if why := p.Disabled(i); why != "" {
		return pane.Say{Text: why}, true
	}
	switch i {
	case intent.NextTab:
		p.tab = (p.tab + 1) % callTabs
	case intent.NextItem:
		return OtherCall{p.call.ID, 1}, true
	case intent.PrevItem:
		return OtherCall{p.call.ID, -1}, true
	case intent.Layout:
		p.split = !p.split
		p.drawn[tabChange] = stamp{}
	case intent.NextHit:
		p.goTo(p.hunk + 1)
	case intent.PrevHit:
		p.goTo(p.hunk - 1)
	case intent.Copy:
		return pane.CopyText{Text: p.sheets[p.tab].copied(), What: "the " + strings.ToLower(callNames[p.tab]) + " of " + safetext.Title(p.call.Tool)}, true
	default:
		if !p.scroll[p.tab].Handle(i) {
			return nil, false
		}
		p.settle()
	}
	return nil, true
}

// goTo shows a hunk of the change; the first time, the current one.
func (p *CallPage) goTo(hunk int) {
	if p.tab != tabChange {
		p.tab, hunk = tabChange, p.hunk
	}
	p.hunk = max(0, min(hunk, p.preview.hunks()-1))
	p.drawn[tabChange] = stamp{} // the current hunk is marked
	if at := p.sheets[tabChange].hunks; p.hunk < len(at) {
		p.scroll[tabChange].To(at[p.hunk])
	}
}

// plan takes over the call's plan once there is one.
func (p *CallPage) plan() {
	if h := p.call.Plan.Hash; h != p.planned {
		p.planned, p.preview = h, newPreview(p.call.Plan)
	}
}

// sheet is what the open tab shows at a width.
func (p *CallPage) sheet(w int) *sheet {
	p.plan()
	s := &p.sheets[p.tab]
	want := stamp{width: w, version: p.call.Version()}
	if p.tab == tabSteps && !p.call.Finished() {
		want.second = p.now.Unix()
	}
	if p.drawn[p.tab] == want {
		return s
	}
	p.drawn[p.tab] = want
	switch p.tab {
	case tabOutput:
		*s = p.output(w)
	case tabCallArgs:
		*s = p.arguments(w)
	case tabChange:
		o := diff.Options{Current: p.hunk}
		if p.split {
			o.Layout = diff.Split
		}
		*s = p.change(w, o)
	case tabSteps:
		*s = p.steps(w)
	}
	return s
}

// Lines draws the page: what the call is, the tabs, and the open tab.
func (p *CallPage) Lines(w, h int) []string {
	var out []string
	if h >= withTabs {
		out = append(out, " "+tabBar(p.st, callNames, p.tab, w-2))
	}
	if h >= withReason {
		out = append(out, " "+p.st.Text.Render(cutLine(pane.Brief(p.call), w-2)))
	}
	if h >= withAir {
		out = append(out, "")
	}
	s := p.sheet(max(w-2, 1))
	scroll := &p.scroll[p.tab]
	room := max(h-len(out), 0)
	scroll.Window(len(s.lines), room)
	if p.tab == tabOutput && p.follow {
		scroll.To(len(s.lines))
	}
	first, last := scroll.Window(len(s.lines), room)
	for _, l := range s.lines[first:last] {
		out = append(out, " "+l)
	}
	return clip(out, w, h)
}
