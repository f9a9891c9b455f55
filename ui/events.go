package ui

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/event"
	"chela/ui/safetext"
)

// booted takes the engine into use, or says why there is none.
func (m *Model) booted(b bootMsg) tea.Cmd {
	if b.err != nil {
		m.problem = b.err
		m.conversation.Note("error", b.err.Error(), "Press ctrl+c twice to leave.")
		return nil
	}
	m.eng = b.ready.Engine
	m.events = m.eng.Subscribe()
	m.bootNotes = b.ready.Notices
	for _, p := range b.ready.Problems {
		m.bootNotes = append(m.bootNotes, event.Notice{Level: "warn", Text: p.Error()})
	}
	cmds := []tea.Cmd{m.listen(), m.readFiles(), m.use(b.ready.Session)}
	if cmd := m.greet(b.ready.Choice); cmd != nil {
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// batchEvery is how often text that streams is taken from the engine at most.
// Thirty times a second reads as continuous; a frame for each token would cost
// without showing anything.
const batchEvery = 33 * time.Millisecond

// listen waits for the next events. After text it lets some more gather first.
func (m *Model) listen() tea.Cmd { return m.listenAfter(0) }

func (m *Model) listenAfter(pause time.Duration) tea.Cmd {
	sub, ctx, wait := m.events, m.ctx, m.later(pause, nil)
	return func() tea.Msg {
		if pause > 0 {
			wait()
		}
		events, err := sub.Next(ctx)
		return batchMsg{events, err}
	}
}

func (m *Model) batch(b batchMsg) tea.Cmd {
	if b.err != nil {
		if !errors.Is(b.err, event.ErrClosed) && m.ctx.Err() == nil {
			m.conversation.Note("error", "the event stream broke: "+b.err.Error(), "")
		}
		return nil
	}
	var cmds []tea.Cmd
	pause := batchEvery
	for _, e := range b.events {
		switch e.Body.(type) {
		case event.TextDelta, event.ThinkingDelta, event.CallProgress:
		default:
			pause = 0
		}
		cmds = append(cmds, m.apply(e))
	}
	return tea.Batch(append(cmds, m.listenAfter(pause), m.tick())...)
}

// apply takes one event into account.
func (m *Model) apply(e event.Event) tea.Cmd {
	if e.Session != "" && (m.session == nil || e.Session != m.session.ID()) {
		return nil
	}
	if c := m.calls.Apply(e); c != nil {
		m.timeline.Apply(c)
	}
	m.conversation.Apply(e)
	switch b := e.Body.(type) {
	case event.TurnStarted:
		m.refresh()
	case event.ModelState:
		m.modelState(b)
	case event.TextDelta, event.ThinkingDelta:
		m.waiting = event.ModelState{}
	case event.MessageDone:
		m.waiting, m.stats = event.ModelState{}, b.Stats
		m.refresh()
	case event.CallModeChanged, event.ContextCompacted:
		m.refresh()
	case event.TurnEnded:
		m.waiting = event.ModelState{}
		m.refresh()
		return m.turnEnded(b)
	case event.SessionChanged:
		m.refresh()
		m.refreshTools()
	case event.QueueChanged:
		m.composer.SetQueued(b.Prompts)
		m.refresh()
	case event.ApprovalAsked:
		m.refreshQueue()
		return m.signal(b)
	case event.ApprovalResolved:
		m.refreshQueue()
		m.closeReview(b)
		m.leaveQueue(b)
	case event.CallReturned:
		if len(b.Changed) > 0 {
			return m.readFiles()
		}
	case event.TerminalNotice:
		return notify(b, os.Getenv)
	case event.TerminalCopy:
		return tea.SetClipboard(b.Text)
	case engine.JobsChanged:
		m.setJobs(b.Jobs)
	case event.PullProgress:
		return m.pulling(b)
	}
	return nil
}

// modelState notes what the model is doing: with a prompt, or on its way into
// memory, which goes on beside the person's work.
func (m *Model) modelState(b event.ModelState) {
	switch b.State {
	case event.ModelLoading:
		m.memory, m.since = b, m.opts.Now()
	case event.ModelReady:
		m.memory = event.ModelState{}
		m.refresh()
	case event.ModelFailed:
		m.memory = b
		m.conversation.Note("warn", b.Model+" could not be loaded: "+b.Error, "")
	default:
		m.waiting, m.since = b, m.opts.Now()
	}
}

// refresh reads the session's state for the status line.
func (m *Model) refresh() {
	if m.session != nil {
		m.state = m.session.State()
		m.composer.SetHeld(!m.state.Running)
	}
}

func (m *Model) refreshQueue() {
	if m.session != nil {
		m.approvals.Set(m.session.Pending(), m.opts.Now())
	}
}

// turnEnded acts on how a turn ended: what would help is one key away.
func (m *Model) turnEnded(b event.TurnEnded) tea.Cmd {
	if b.Reason != event.EndedError {
		return m.readFiles()
	}
	if name, ok := strings.CutPrefix(b.Action, "pull "); ok {
		return m.confirmPull(name)
	}
	if b.Action == "start" {
		return m.showWelcome()
	}
	return nil
}

func (m *Model) pulling(b event.PullProgress) tea.Cmd {
	if !b.Done {
		m.pull = &b
		return nil
	}
	m.pull = nil
	if b.Error != "" {
		m.conversation.Note("error", fmt.Sprintf("pulling %s failed: %s", b.Model, b.Error), "")
		return nil
	}
	m.conversation.Note("info", "pulled "+safetext.Line(b.Model), "")
	return m.useModel(b.Model)
}
