package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/view"
)

// key turns a key press into an intent and carries it out. Keys that mean
// nothing in a field are typed.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	b, bound := intent.Resolve(msg.String(), m.scopes())
	if v := m.top(); v != nil {
		return m.viewKey(v, b, bound, msg)
	}
	if m.focus == FocusComposer {
		return m.composerKey(b, bound, msg)
	}
	if bound {
		return m.do(b.Intent)
	}
	return m.say("that means nothing here: " + intent.KeyOf(intent.GoComposer, []intent.Scope{intent.Panes}) + " writes a message, ? shows the keys")
}

func (m *Model) composerKey(b intent.Binding, bound bool, msg tea.KeyPressMsg) tea.Cmd {
	defer m.arrange() // the message may have more or fewer lines now
	if msg.String() == "?" && m.composer.Empty() {
		return m.do(intent.Help)
	}
	if bound {
		if act, ok := m.composer.Handle(b.Intent, msg); ok {
			return m.act(act)
		}
		switch b.Intent {
		case intent.PageUp, intent.PageDown:
			return m.act(m.conversation.Handle(b.Intent, false))
		case intent.RecallPrev, intent.RecallNext, intent.Send: // not taken: they move in the text
		default:
			return m.do(b.Intent)
		}
	}
	return m.composer.Type(msg)
}

func (m *Model) viewKey(v view.View, b intent.Binding, bound bool, msg tea.KeyPressMsg) tea.Cmd {
	if !bound {
		if t, ok := v.(view.Typist); ok {
			act, cmd := t.Type(msg)
			return tea.Batch(cmd, m.act(act))
		}
		return nil
	}
	if why := m.disabled(b.Intent); why != "" {
		return m.say(why)
	}
	if why := v.Disabled(b.Intent); why != "" {
		return m.say(why)
	}
	if act, ok := v.Handle(b.Intent); ok {
		return m.act(act)
	}
	if r, ok := v.(*view.Review); ok {
		switch b.Intent {
		case intent.NextItem:
			return m.moveReview(r, 1)
		case intent.PrevItem:
			return m.moveReview(r, -1)
		}
	}
	switch b.Intent {
	case intent.Back:
		m.pop()
		return nil
	case intent.Undo, intent.UndoTurn, intent.Interrupt, intent.Help, intent.Palette, intent.Redraw, intent.Suspend, intent.Mouse, intent.CycleMode:
		return m.do(b.Intent)
	}
	if b.Scope == intent.Global { // going elsewhere would leave the view open behind
		return m.say("close this first: " + intent.Show("esc"))
	}
	return m.say("that means nothing here: " + intent.Show("f1") + " shows the keys")
}

// disabled says why an intent cannot act now, or "". Palette, footer and keys
// all ask here.
func (m *Model) disabled(i intent.Intent) string {
	if i.Decides() && i != intent.DenyAllCalls {
		return m.cannotDecide(i)
	}
	busy := m.state.Running
	switch i {
	case intent.CancelTurn:
		if !busy {
			return "no turn is running"
		}
	case intent.NewSession, intent.PickSession:
		if busy {
			return "a turn is running: stop it first (" + intent.Show("ctrl+c") + ")"
		}
		if m.session == nil {
			return "the engine is not up"
		}
	case intent.DenyAllCalls:
		if m.approvals.Len() == 0 {
			return "no call waits"
		}
	case intent.PickModel, intent.PullModel, intent.PickTier, intent.ShowTools, intent.TrustFolder, intent.ShowWork, intent.ShowJobs, intent.ShowFeeds, intent.ShowHistory, intent.ListRules, intent.PickMode, intent.CycleMode:
		if m.session == nil {
			return "the engine is not up"
		}
	case intent.StopPull:
		if m.pull == nil {
			return "nothing is being downloaded"
		}
	case intent.DropQueued:
		if len(m.state.Queued) == 0 {
			return "no prompt is queued"
		}
	}
	return ""
}

// cannotDecide is the guard against keys that were meant for something else:
// the queue or the review must have the focus, and the call must have been on
// the screen for a while, both since before the key.
func (m *Model) cannotDecide(i intent.Intent) string {
	now := m.opts.Now()
	var since time.Time
	switch v := m.top().(type) {
	case *view.Review:
		if why := v.Disabled(i); why != "" {
			return why
		}
		since = m.focusedAt
	case nil:
		if m.focus != FocusApprovals {
			return "open the approval queue first (" + intent.Show("alt+3") + ")"
		}
		p, ok := m.approvals.Current()
		if !ok {
			return "no call waits"
		}
		if why := m.approvals.Disabled(i); why != "" {
			return why
		}
		since = m.approvals.VisibleSince(p.ID)
		if since.IsZero() {
			return "not on the screen yet"
		}
		if m.focusedAt.After(since) {
			since = m.focusedAt
		}
	default:
		return "open the approval queue first (" + intent.Show("alt+3") + ")"
	}
	if now.Sub(since) < Settle {
		return "too fast: look at it first"
	}
	return ""
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if t, ok := m.top().(view.Typist); ok {
		_, cmd := t.Type(tea.PasteMsg{Content: strings.Join(strings.Fields(msg.Content), " ")})
		return cmd
	}
	if m.top() != nil {
		return nil
	}
	if m.focus != FocusComposer {
		m.setFocus(FocusComposer)
	}
	defer m.arrange()
	return m.composer.Type(msg)
}

// scroller is a view or pane that the mouse wheel moves.
type scroller interface{ Scroll(n int) }

const wheelLines = 3

func (m *Model) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	e := msg.Mouse()
	wheel := 0
	if w, ok := msg.(tea.MouseWheelMsg); ok {
		switch w.Button {
		case tea.MouseWheelUp:
			wheel = -wheelLines
		case tea.MouseWheelDown:
			wheel = wheelLines
		}
	}
	if v := m.top(); v != nil {
		if s, ok := v.(scroller); ok && wheel != 0 {
			s.Scroll(wheel)
		}
		if click, ok := msg.(tea.MouseClickMsg); ok && click.Button == tea.MouseLeft {
			return m.clickView(v, e.X, e.Y)
		}
		return nil
	}
	f, ok := m.layout.At(e.X, e.Y)
	if !ok {
		if _, click := msg.(tea.MouseClickMsg); click && e.Y == m.layout.Tabs.Y && m.layout.Tabs.Shown() {
			return m.clickTab(e.X)
		}
		return nil
	}
	if wheel != 0 {
		m.scrollerOf(f).Scroll(wheel)
		return nil
	}
	if click, ok := msg.(tea.MouseClickMsg); ok && click.Button == tea.MouseLeft {
		return m.click(f, e.Y-m.layout.Inner(f).Y)
	}
	return nil
}

func (m *Model) scrollerOf(f Focus) scroller {
	switch f {
	case FocusTimeline:
		return m.timeline
	case FocusApprovals:
		return m.approvals
	case FocusFiles:
		return m.files
	default:
		return m.conversation
	}
}

// clicker is a view whose lines a click can choose; y counts from the first
// line inside the border. ok is false where a click means nothing.
type clicker interface {
	Click(y int) (act pane.Action, ok bool)
}

// clickView hands a click to the view on top. Over the queue and the review it
// only marks the line: what is chosen there may decide a call, and that takes a
// key.
func (m *Model) clickView(v view.View, x, y int) tea.Cmd {
	c, ok := v.(clicker)
	r := m.viewRect(v)
	inner := Rect{r.X + 1, r.Y + 1, r.W - 2, r.H - 2}
	if !ok || !inner.Contains(x, y) {
		return nil
	}
	act, ok := c.Click(y - inner.Y)
	switch {
	case !ok:
		return nil
	case m.deciding():
		return m.say("a click decides no call: " + intent.Show("enter") + " chooses the marked line")
	}
	return m.act(act)
}

// deciding reports whether calls that wait are what the keys are about.
func (m *Model) deciding() bool {
	return m.focus == FocusApprovals || slices.ContainsFunc(m.views, func(v view.View) bool {
		_, review := v.(*view.Review)
		return review
	})
}

// click focuses a pane and hands it the line.
func (m *Model) click(f Focus, y int) tea.Cmd {
	if m.focus != f {
		m.setFocus(f)
	}
	if y < 0 {
		return nil
	}
	var act pane.Action
	switch f {
	case FocusConversation:
		act = m.conversation.Click(y)
	case FocusTimeline:
		act = m.timeline.Click(y)
	case FocusApprovals:
		act = m.approvals.Click(y)
	case FocusFiles:
		act = m.files.Click(y)
	}
	return m.act(act)
}
