package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/toolkit"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// undoMsg is what undoing calls would do.
type undoMsg struct {
	calls []string
	plan  toolkit.Plan
	err   error
}

// undo shows what putting a call's files back would change, or those of its
// whole turn.
func (m *Model) undo(i intent.Intent) tea.Cmd {
	c := m.marked()
	if c == nil {
		return m.say("no call is marked")
	}
	session, ctx := m.session, m.ctx
	return func() tea.Msg {
		calls := []string{c.ID}
		if i == intent.UndoTurn {
			var err error
			if calls, err = session.UndoableOf(ctx, c.Turn); err != nil {
				return undoMsg{err: err}
			}
		}
		plan, err := session.UndoPlan(ctx, calls)
		return undoMsg{calls, plan, err}
	}
}

// askUndo shows the change and asks.
func (m *Model) askUndo(msg undoMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(firstSentence(msg.err.Error()))
	}
	session := m.session
	do := perform{func() tea.Cmd {
		ctx := m.ctx
		return func() tea.Msg {
			out, err := session.Undo(ctx, msg.calls)
			switch {
			case err != nil:
				return failedMsg{err}
			case !out.OK:
				return doneMsg{out.Text}
			}
			return doneMsg{out.Result.Text + "; u on that call does it again"}
		}
	}}
	show := perform{func() tea.Cmd {
		text := msg.plan.Preview.Text
		m.push(view.NewPage(m.st, "what undoing changes", strings.Split(safetext.Block(text), "\n"), text, true))
		return nil
	}}
	m.push(view.NewMenu(m.st, "Undo · "+safetext.Title(msg.plan.Summary), "what to do", []view.Choice{
		{Text: "Show what changes", About: pane.Count(len(msg.plan.Effects), "file", "files"), Action: show},
		{Text: "Put " + pane.Count(len(msg.plan.Effects), "file", "files") + " back", About: "all of them or none", Mark: true, Action: do},
	}).Hint("What was changed since is never overwritten. Undoing can be undone."))
	return nil
}

// marked is the call that a page shows, or the one marked on the timeline.
func (m *Model) marked() *calls.Call {
	if p, ok := m.top().(*view.CallPage); ok {
		return p.Call()
	}
	if m.focus == FocusTimeline {
		return m.timeline.Selected()
	}
	return nil
}
