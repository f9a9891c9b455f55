package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/pipeline"
	"chela/ui/intent"
	"chela/ui/view"
)

// do carries out an intent. Key presses, the palette and slash commands all
// end here.
func (m *Model) do(i intent.Intent) tea.Cmd {
	if why := m.disabled(i); why != "" {
		return m.say(why)
	}
	switch i {
	case intent.Interrupt:
		return m.interrupt()
	case intent.Back:
		return m.back()
	case intent.Quit:
		return m.quit()
	case intent.Suspend:
		return tea.Suspend
	case intent.Redraw:
		return tea.ClearScreen
	case intent.Help:
		m.push(m.helpPage())
	case intent.Palette:
		m.push(m.palette())
	case intent.NextPane:
		m.nextPane(1)
	case intent.PrevPane:
		m.nextPane(-1)
	case intent.GoComposer:
		m.setFocus(FocusComposer)
	case intent.GoChat:
		m.setFocus(FocusConversation)
	case intent.GoTimeline:
		m.setFocus(FocusTimeline)
	case intent.GoApprovals:
		if m.focus != FocusApprovals {
			m.cameFrom = m.focus
		}
		m.setFocus(FocusApprovals)
	case intent.GoFiles:
		m.setFocus(FocusFiles)
	case intent.ZoomIn, intent.ZoomOut:
		return m.zoomBy(i)
	case intent.Mouse:
		m.mouse = !m.mouse
		if m.mouse {
			return m.say("mouse on: the wheel scrolls, a click selects")
		}
		return m.say("mouse off: the terminal selects text again")
	case intent.CancelTurn:
		m.session.Cancel()
	default:
		return m.doMore(i)
	}
	return nil
}

// doMore carries out what concerns sessions, models and decisions, and leaves
// the rest to the focused pane.
func (m *Model) doMore(i intent.Intent) tea.Cmd {
	switch i {
	case intent.CycleMode:
		return m.cycleMode()
	case intent.PickMode:
		m.push(m.modeMenu())
	case intent.PickModel:
		return m.modelMenu()
	case intent.PickTier:
		m.push(m.tierMenu())
	case intent.PickTheme:
		m.push(m.themeMenu())
	case intent.PickSession:
		return m.sessionMenu()
	case intent.NewSession:
		return m.newSession()
	case intent.ShowTools:
		m.push(view.NewTools(m.st, m.toolsState()))
	case intent.PullModel:
		m.push(m.askPull())
	case intent.StopPull:
		m.eng.CancelPull(m.pull.Model)
		return m.say("stopping the download; what was loaded is kept")
	case intent.StartServer:
		return m.startServer()
	case intent.ShowWelcome:
		return m.showWelcome()
	case intent.ShowHistory:
		return m.showHistory("")
	case intent.ShowFeeds:
		return m.showFeeds()
	case intent.ShowJobs:
		return m.showJobs()
	case intent.ShowWork:
		return m.showWork()
	case intent.TrustFolder:
		return m.trustMenu()
	case intent.ListRules:
		return m.rulesMenu()
	case intent.DenyAllCalls:
		m.push(m.askDenyAll())
	case intent.DropQueued:
		act, _ := m.composer.Handle(i, tea.KeyPressMsg{})
		return m.act(act)
	case intent.Undo, intent.UndoTurn:
		return m.undo(i)
	case intent.Approve, intent.ApproveSession, intent.ApproveRule, intent.ApproveNote, intent.Deny, intent.DenyReason:
		if p, ok := m.approvals.Current(); ok {
			return m.decide(p, i)
		}
	default:
		return m.paneIntent(i)
	}
	return nil
}

func (m *Model) paneIntent(i intent.Intent) tea.Cmd {
	switch m.focus {
	case FocusConversation:
		return m.act(m.conversation.Handle(i, true))
	case FocusTimeline:
		return m.act(m.timeline.Handle(i))
	case FocusApprovals:
		return m.act(m.approvals.Handle(i))
	case FocusFiles:
		return m.act(m.files.Handle(i))
	}
	return nil
}

// nextPane moves the focus around, over the panes that the screen can show.
func (m *Model) nextPane(step int) {
	next := (m.focus + Focus(step) + focusCount) % focusCount
	m.setFocus(next)
}

func (m *Model) zoomBy(i intent.Intent) tea.Cmd {
	if m.layout.Shape != Wide {
		return m.say("one pane at a time already: there is nothing to enlarge")
	}
	if i == intent.ZoomIn {
		m.zoom = min(m.zoom+1, ZoomFull)
	} else {
		m.zoom = max(m.zoom-1, ZoomNormal)
	}
	m.arrange()
	return nil
}

// secondPress is how long the second of two presses may take.
const secondPress = 2 * time.Second

// interrupt is ctrl+c: it clears the message, then stops the turn, then quits
// on a second press. It never does two of these at once.
func (m *Model) interrupt() tea.Cmd {
	if m.top() == nil && m.focus == FocusComposer && !m.composer.Empty() {
		m.composer.Clear()
		m.arrange()
		return nil
	}
	if m.state.Running && m.session.Cancel() {
		m.lastBack = m.opts.Now()
		return m.say("stopping the turn")
	}
	if m.opts.Now().Sub(m.lastBack) < secondPress {
		return m.quit()
	}
	m.lastBack = m.opts.Now()
	return m.say("press " + intent.Show("ctrl+c") + " again to quit")
}

// back is esc with nothing open: twice stops the turn; elsewhere it goes to
// the message.
func (m *Model) back() tea.Cmd {
	if m.zoom != ZoomNormal {
		m.zoom = ZoomNormal
		m.arrange()
		return nil
	}
	if m.focus != FocusComposer {
		m.setFocus(FocusComposer)
		return nil
	}
	if !m.state.Running {
		return nil
	}
	if m.opts.Now().Sub(m.lastBack) < secondPress {
		m.lastBack = time.Time{}
		m.session.Cancel()
		return m.say("stopping the turn")
	}
	m.lastBack = m.opts.Now()
	return m.say("press esc again to stop the turn")
}

// quit leaves, after asking if background processes run.
func (m *Model) quit() tea.Cmd {
	return m.endJobs("Leave", func() tea.Cmd {
		m.quitting = true
		return tea.Quit
	})
}

// cycleMode switches between the two everyday modes. The others take a choice
// from the menu: nobody gets to "full" by one key too many.
func (m *Model) cycleMode() tea.Cmd {
	next := pipeline.Ask
	if m.session.Mode() == pipeline.Ask {
		next = pipeline.Standard
	}
	return m.setMode(next)
}

func (m *Model) setMode(mode pipeline.Mode) tea.Cmd {
	return m.onSession(func(ctx context.Context, s *engine.Session) error { return s.SetMode(ctx, mode) }, mode.String()+" mode: "+mode.Explain())
}

// failed reports an error of something done off the screen's goroutine; done
// says that it worked.
type (
	failedMsg struct{ err error }
	doneMsg   struct{ text string }
)

// onSession is command for what changes the session: the one that is open now,
// even if another takes its place meanwhile.
func (m *Model) onSession(f func(ctx context.Context, s *engine.Session) error, done string) tea.Cmd {
	s := m.session
	return m.command(func(ctx context.Context) error { return f(ctx, s) }, done)
}

// command runs f off the screen's goroutine and reports how it went.
func (m *Model) command(f func(ctx context.Context) error, done string) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		if err := f(ctx); err != nil {
			return failedMsg{err}
		}
		return doneMsg{done}
	}
}
