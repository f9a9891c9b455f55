package ui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// act carries out what a pane or view asked for.
func (m *Model) act(a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case nil:
		return nil
	case pane.Say:
		return m.say(a.Text)
	case pane.Submitted:
		return m.submit(a)
	case pane.Dropped:
		if err := m.session.EditQueued(a.ID, ""); err != nil {
			return m.say(err.Error())
		}
	case pane.OpenCall:
		m.openCall(a.ID)
	case pane.OpenReview:
		m.openReview(a.Approval)
	case pane.CopyText:
		return m.copy(a)
	case pane.InsertMention:
		m.composer.Mention(a.Path)
		m.setFocus(FocusComposer)
		return m.say("@" + safetext.Line(a.Path) + " is in the message")
	case pane.PreviewFile:
		return m.preview(a.Path)
	case pane.FindFile:
		m.push(m.finder())
	case pane.ReadFiles:
		return m.readFiles()
	case pane.ReadDir:
		return m.readDir(a.Path)
	default:
		return m.actOfView(a)
	}
	return nil
}

// perform is a menu's action: something to do once it is closed.
type perform struct{ f func() tea.Cmd }

func (m *Model) actOfView(a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case view.Close:
		m.pop()
	case perform:
		m.pop()
		return a.f()
	case view.Decide:
		if p, ok := m.approvals.At(a.Approval); ok && p.Plan.Hash == a.PlanHash {
			return m.decide(p, a.Intent)
		}
		m.pop()
		return m.say("that call does not wait any more")
	case view.OtherCall:
		m.otherCall(a)
	case view.ToolForSession:
		return m.promote(a.Name, a.On)
	case view.ToolInSettings:
		return m.placeTool(a)
	case view.SearchHistory:
		return m.searchHistory(a.Text)
	case view.OpenHit:
		return m.openHit(a.Hit)
	case view.GoToSession:
		return m.goToSession(a.Hit)
	case view.DescribeTool:
		m.push(m.toolPage(a.Name))
	}
	return nil
}

// submit sends a message, or changes the queued prompt it replaces.
func (m *Model) submit(a pane.Submitted) tea.Cmd {
	if strings.HasPrefix(a.Text, "/") {
		return m.slash(a.Text)
	}
	if m.session == nil {
		m.composer.Restore(a.Text)
		return m.say("the engine is not up yet")
	}
	if a.Replaces != "" {
		if err := m.session.EditQueued(a.Replaces, a.Text); err == nil {
			return nil
		}
		// It was sent while it was being edited; what was written is a new prompt.
	}
	if err := m.session.Submit(a.Text); err != nil {
		m.composer.Restore(a.Text)
		return m.say(err.Error())
	}
	m.state.Running = true
	m.waiting, m.since = event.ModelState{State: event.ModelWaiting}, m.opts.Now()
	return m.tick()
}

func (m *Model) openCall(id string) {
	c := m.calls.Get(id)
	if c == nil {
		return
	}
	if c.State == store.CallWaiting {
		for _, p := range m.session.Pending() {
			if p.Call == id {
				m.openReview(p.ID)
				return
			}
		}
	}
	m.push(view.NewCallPage(m.st, c))
}

// otherCall goes to the call before or after the one that is shown.
func (m *Model) otherCall(o view.OtherCall) {
	all := m.calls.All()
	for i, c := range all {
		if c.ID == o.ID {
			if j := i + o.Step; j >= 0 && j < len(all) {
				m.views[len(m.views)-1] = view.NewCallPage(m.st, all[j])
				m.timeline.Select(all[j].ID)
			}
			return
		}
	}
}

func (m *Model) openReview(approval string) {
	p, ok := m.approvals.At(approval)
	if !ok {
		return
	}
	m.push(m.review(p))
}

func (m *Model) review(p pipeline.Pending) *view.Review {
	r := view.NewReview(m.st, p, m.opts.Now())
	all := m.session.Pending()
	for i := range all {
		if all[i].ID == p.ID {
			r.SetPosition(i+1, len(all))
		}
	}
	return r
}

// moveReview shows the next or previous waiting call in the review.
func (m *Model) moveReview(r *view.Review, step int) tea.Cmd {
	p, ok := m.approvals.Next(r.Pending().ID, step)
	if !ok {
		return m.say("no other call waits")
	}
	m.views[len(m.views)-1] = m.review(p)
	m.focusedAt = m.opts.Now() // another call: the wait begins anew
	return nil
}

// closeReview closes the review of a call that was resolved, and shows the next
// one that waits, if any.
func (m *Model) closeReview(b event.ApprovalResolved) {
	for i, v := range m.views {
		r, ok := v.(*view.Review)
		if !ok || r.Pending().ID != b.Approval {
			continue
		}
		m.views = append(m.views[:i:i], m.views[i+1:]...)
		m.focusedAt = m.opts.Now()
		if p, ok := m.approvals.Current(); ok && b.State != store.ApprovalCancelled {
			m.push(m.review(p))
		}
		return
	}
}

// decide answers a call, after asking for what the answer needs.
func (m *Model) decide(p pipeline.Pending, i intent.Intent) tea.Cmd {
	answer := func(a pipeline.Answer) tea.Cmd { return m.answer(p, a) }
	switch i {
	case intent.Approve:
		return answer(pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce})
	case intent.Deny:
		return answer(pipeline.Answer{})
	case intent.DenyReason:
		m.push(m.askText("Deny "+safetext.Line(p.Plan.Tool), "The model reads the reason.", "why not, or what instead", func(text string) tea.Cmd {
			return answer(pipeline.Answer{Reason: text})
		}))
	case intent.ApproveNote:
		m.push(m.askText("Allow "+safetext.Line(p.Plan.Tool)+" once, with a note", "The model reads the note with the result.", "what it should mind", func(text string) tea.Cmd {
			return answer(pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce, Reason: text})
		}))
	case intent.ApproveSession, intent.ApproveRule:
		eng, ctx := m.eng, m.ctx
		return func() tea.Msg {
			past, err := eng.PastPlans(ctx, p.Plan.Tool)
			return pastMsg{p, i, past, err}
		}
	}
	return nil
}

// answer resolves a call.
func (m *Model) answer(p pipeline.Pending, a pipeline.Answer) tea.Cmd {
	if err := m.session.Answer(p.ID, p.Plan.Hash, a); err != nil {
		return m.say(err.Error())
	}
	// The event will take it out of the queue; until then no key may answer the
	// next one by being pressed twice.
	m.focusedAt = m.opts.Now()
	return nil
}

// askText asks for a text that must not be empty and then does something with it.
func (m *Model) askText(title, about, placeholder string, then func(text string) tea.Cmd) view.View {
	return view.NewAsk(m.st, title, about, placeholder, func(text string) pane.Action {
		if text == "" {
			return nil
		}
		return perform{func() tea.Cmd { return then(text) }}
	})
}

// leaveQueue goes back to where the person came from once the last call is
// decided: what is typed next is meant for there. It is the person's own answer
// that moves the focus, never something that merely happened.
func (m *Model) leaveQueue(b event.ApprovalResolved) {
	decided := b.State == store.ApprovalApproved || b.State == store.ApprovalDenied
	if decided && m.approvals.Len() == 0 && m.focus == FocusApprovals && m.top() == nil {
		m.setFocus(m.cameFrom)
	}
}

func (m *Model) askDenyAll() view.View {
	title := fmt.Sprintf("Deny all %d waiting calls", m.approvals.Len())
	return m.askText(title, "The model reads the reason.", "why not", func(text string) tea.Cmd {
		for _, p := range m.session.Pending() {
			if err := m.session.Answer(p.ID, p.Plan.Hash, pipeline.Answer{Reason: text}); err != nil {
				return m.say(err.Error())
			}
		}
		return nil
	})
}

func (m *Model) setTheme(name string) tea.Cmd {
	m.theme = name
	m.restyle()
	if m.eng == nil {
		return nil
	}
	return m.command(func(ctx context.Context) error { return m.eng.Remember(ctx, store.LastTheme, name) }, "theme "+name)
}
