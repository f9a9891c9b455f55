package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/ui/safetext"
	"chela/ui/view"
)

// frame is the last frame drawn. Bubble Tea asks for the view after each
// message; when no message changed anything the same frame is handed out.
type frame struct {
	dirty  bool
	view   tea.View
	cursor *tea.Cursor
}

// View draws the screen.
func (m *Model) View() tea.View {
	if m.frame.dirty {
		m.frame.view = m.draw()
		m.frame.dirty = false
	}
	return m.frame.view
}

func (m *Model) draw() tea.View {
	m.frame.cursor = nil
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = m.windowTitle()
	v.ProgramStatus = m.programStatus()
	if m.quitting || m.w == 0 || m.h == 0 {
		return v
	}
	switch {
	case m.layout.TooSmall:
		v.Content = strings.Join(fitBlock([]string{"chela needs", "20x6 cells"}, m.w, m.h), "\n")
	default:
		v.Content = m.screen()
	}
	v.Cursor = m.frame.cursor
	return v
}

func (m *Model) windowTitle() string {
	title := "chela"
	if n := m.approvals.Len(); n > 0 {
		title = fmt.Sprintf("(%d) chela", n)
	}
	if m.state.Title != "" {
		title += " · " + m.state.Title
	}
	return safetext.Title(title)
}

// programStatus tells terminals that show it what the program is doing.
func (m *Model) programStatus() *tea.ProgramStatus {
	switch {
	case m.quitting:
		return &tea.ProgramStatus{State: tea.ProgramStateIdle}
	case m.approvals.Len() > 0:
		return &tea.ProgramStatus{State: tea.ProgramStateBlocked, Kind: tea.ProgramStatusKindPermission}
	case m.state.Running:
		return &tea.ProgramStatus{State: tea.ProgramStateWorking}
	}
	return &tea.ProgramStatus{State: tea.ProgramStateIdle}
}

// screen composes panes, status line and what is open over them.
func (m *Model) screen() string {
	now := m.opts.Now()
	l := m.layout
	c := canvas{w: l.W, h: l.H}
	if l.Tabs.Shown() {
		c.place(l.Tabs, []string{m.tabs(l.W)})
	}
	for _, f := range []Focus{FocusFiles, FocusConversation, FocusComposer, FocusTimeline, FocusApprovals} {
		if l.Visible(f) {
			c.place(l.Panes[f], m.pane(f, now))
		}
	}
	if l.Shape == Tiny && l.H >= 8 {
		rule := m.st.Border.Render(strings.Repeat("─", l.W))
		c.place(Rect{0, 1, l.W, 1}, []string{rule})
		c.place(Rect{0, l.H - 4, l.W, 1}, []string{rule})
	}
	if l.Waiting.Shown() {
		c.place(l.Waiting, []string{m.waitingLine(l.W, now)})
	}
	c.place(l.Status, []string{m.statusLine(l.W)})
	out := c.String()
	out = m.drawHints(out)
	for _, v := range m.views {
		out = m.drawView(out, v, now)
	}
	return m.drawToast(out)
}

// pane draws one pane with its border.
func (m *Model) pane(f Focus, now time.Time) []string {
	r, in := m.layout.Panes[f], m.layout.Inner(f)
	var lines []string
	var title, note string
	switch f {
	case FocusFiles:
		lines, title = m.files.Lines(in.W, in.H), m.files.Title()
	case FocusConversation:
		lines, title = m.conversation.Lines(in.W, in.H), m.conversation.Title(m.state.Title)
		note = m.busyNote()
	case FocusTimeline:
		lines, title = m.timeline.Lines(in.W, in.H, now), m.timeline.Title()
	case FocusApprovals:
		lines, title = m.approvals.Lines(in.W, in.H, now), m.approvals.Title(now)
	case FocusComposer:
		return m.drawComposer(r, in)
	}
	if m.layout.Shape == Tiny {
		return fitBlock(lines, r.W, r.H)
	}
	return box(lines, r.W, r.H, title, note, m.focused(f), m.st)
}

// focused reports whether the pane has the keys.
func (m *Model) focused(f Focus) bool { return m.focus == f && m.top() == nil }

func (m *Model) drawComposer(r, in Rect) []string {
	if m.layout.Shape == Tiny {
		lines := m.composer.Lines(r.W-1, 1, "")
		m.placeCursor(Rect{r.X + 1, r.Y, r.W - 1, 1})
		return []string{fit(m.st.Accent.Render(">")+strings.TrimPrefix(lines[0], " "), r.W)}
	}
	hint := m.composer.QueueNote(in.W - 2)
	if hint == "" {
		hint = m.hints(in.W - 2)
	}
	lines := m.composer.Lines(in.W, in.H, hint)
	m.placeCursor(in)
	return box(lines, r.W, r.H, "Message", "", m.focused(FocusComposer), m.st)
}

func (m *Model) placeCursor(in Rect) {
	if !m.focused(FocusComposer) {
		return
	}
	if x, y, ok := m.composer.Cursor(); ok && y < in.H {
		m.frame.cursor = tea.NewCursor(in.X+min(x, in.W-1), in.Y+y)
	}
}

// viewRect is where a view is drawn, its border included.
func (m *Model) viewRect(v view.View) Rect {
	body := m.layout.H - 1
	w, h := v.Size(m.layout.W, body)
	w, h = clamp(w, min(16, m.layout.W), m.layout.W), clamp(h, min(4, body), body)
	return Rect{(m.layout.W - w) / 2, (body - h) / 3, w, h}
}

// drawView draws what is open over the panes.
func (m *Model) drawView(frame string, v view.View, now time.Time) string {
	r := m.viewRect(v)
	if timed, ok := v.(interface{ SetNow(time.Time) }); ok {
		timed.SetNow(now)
	}
	lines := v.Lines(r.W-2, r.H-2)
	if t, ok := v.(view.Typist); ok && v == m.top() {
		if x, y, ok := t.Cursor(); ok {
			m.frame.cursor = tea.NewCursor(r.X+1+min(x, r.W-3), r.Y+1+y)
		}
	}
	return overlay(frame, r, box(lines, r.W, r.H, v.Title(), v.Note(), v == m.top(), m.st))
}

// drawHints draws the completion list over the message's box.
func (m *Model) drawHints(frame string) string {
	h := m.composer.Hints()
	if !h.Open() || m.focus != FocusComposer || m.top() != nil {
		return frame
	}
	r := m.layout.Panes[FocusComposer]
	w := min(r.W, 64)
	lines := h.Lines(w-2, r.Y-2, m.st)
	high := len(lines) + 2
	return overlay(frame, Rect{r.X, max(r.Y-high, 0), w, high}, box(lines, w, high, "", "", true, m.st))
}

// drawToast draws a short note at the lower right, never over the message. Over
// an open view it takes the place of the status line's end.
func (m *Model) drawToast(frame string) string {
	if m.toast == "" {
		return frame
	}
	text := " " + safetext.Line(m.toast) + " "
	if n := ansi.StringWidth(text); n > m.layout.W { // a long path: what is said of it stands at the end
		head := m.layout.W / 2
		text = ansi.Truncate(text, head, "…") + ansi.TruncateLeft(text, n-(m.layout.W-head), "")
	}
	w := min(ansi.StringWidth(text), m.layout.W)
	y := m.layout.Status.Y
	x := m.layout.W - w
	if r := m.layout.Panes[FocusComposer]; r.Shown() && m.top() == nil {
		y, x = r.Y-1, max(r.X+r.W-w-1, 0) // on the edge above the message: beside it calls may wait
	}
	return overlay(frame, Rect{x, max(y, 0), w, 1}, []string{m.st.Selection.Render(fit(text, w))})
}
