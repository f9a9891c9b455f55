package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/store"
	"chela/ui/calls"
	"chela/ui/safetext"
	"chela/ui/view"
)

// historyMost is how many results are shown: more words find fewer.
const historyMost = 200

// historyMsg is what was found for a text.
type historyMsg struct {
	text string
	hits []store.HistoryHit
	err  error
}

// hitMsg is what was opened from the history.
type hitMsg struct {
	call    *store.Call
	message string
	title   string
	err     error
}

// showHistory opens the history with a first question.
func (m *Model) showHistory(text string) tea.Cmd {
	h := view.NewHistory(m.st, m.opts.Now(), text)
	m.push(h)
	return m.searchHistory(text)
}

// searchHistory looks beside the screen; what is typed meanwhile is asked anew.
func (m *Model) searchHistory(text string) tea.Cmd {
	eng, ctx, now := m.eng, m.ctx, m.opts.Now()
	return func() tea.Msg {
		q, err := store.ParseHistory(text, now)
		if err != nil {
			return historyMsg{text: text, err: err}
		}
		q.Workspace, q.Limit = eng.Workspace(), historyMost+1
		hits, err := eng.Store().SearchHistory(ctx, q)
		return historyMsg{text, hits, err}
	}
}

func (m *Model) foundHistory(msg historyMsg) {
	for _, v := range m.views {
		if h, ok := v.(*view.History); ok {
			h.SetHits(msg.text, msg.hits[:min(len(msg.hits), historyMost)], len(msg.hits) > historyMost, msg.err)
		}
	}
}

// openHit opens a call's page, also one of another session, or a message.
func (m *Model) openHit(hit store.HistoryHit) tea.Cmd {
	if hit.Kind == "call" {
		if c := m.calls.Get(hit.ID); c != nil {
			m.push(view.NewCallPage(m.st, c))
			return nil
		}
	}
	st, ctx := m.eng.Store(), m.ctx
	return func() tea.Msg {
		if hit.Kind == "call" {
			c, err := st.Call(ctx, hit.ID)
			return hitMsg{call: &c, err: err}
		}
		list, err := st.Messages(ctx, hit.Session)
		for _, msg := range list {
			if msg.ID == hit.ID {
				return hitMsg{message: msg.Content, title: hit.Title}
			}
		}
		return hitMsg{err: err}
	}
}

func (m *Model) openedHit(msg hitMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(msg.err.Error())
	case msg.call != nil:
		one := calls.New()
		one.Load([]store.Call{*msg.call})
		m.push(view.NewCallPage(m.st, one.Get(msg.call.ID)))
	default:
		m.push(view.NewPage(m.st, safetext.Title(msg.title), strings.Split(safetext.Block(msg.message), "\n"), msg.message, true))
	}
	return nil
}

// goToSession resumes the session of a hit, if it is another one.
func (m *Model) goToSession(hit store.HistoryHit) tea.Cmd {
	m.pop()
	switch {
	case hit.Session == m.session.ID():
		return m.say("that is this session, turn " + strconv.Itoa(hit.Turn))
	case m.state.Running:
		return m.say("a turn is running: stop it first")
	}
	return m.resume(hit.Session)
}
