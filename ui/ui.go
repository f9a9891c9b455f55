// Package ui is the screen: one Bubble Tea model at the root, plain panes and
// views below it.
//
// Guarantees:
//
//   - Nothing steals the focus. A call that waits for a person appears in the
//     queue and in titles; keys go on going where they went.
//   - A key allows a call only if the queue or the review had the focus and
//     the call was visible for [Settle]; keys typed before that are void.
//   - Whatever a model, tool, file or page produced passes ui/safetext before
//     it is drawn.
//   - Nothing ticks while nothing happens.
//
// The root routes: messages to panes, keys through the table of ui/intent to
// handlers, actions of panes and views to the engine.
package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/settings"
	"chela/themes"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/view"
)

// Settle is how long a call must have been visible, with the queue focused,
// before a key decides it: long enough that a key meant for something else has
// passed.
const Settle = 400 * time.Millisecond

// Ready is what the engine gives when it is up.
type Ready struct {
	Engine   *engine.Engine
	Session  *engine.Session
	Choice   engine.Choice
	Problems []settings.Problem
	Notices  []event.Notice
}

// Options are what the screen needs from the program.
type Options struct {
	// Boot opens store, engine and session. It runs after the first frame is
	// on the screen, off the screen's goroutine.
	Boot    func(ctx context.Context) (*Ready, error)
	Folder  string // the project folder, for the title before the engine is up
	Theme   string // auto, light, dark, ansi, none
	Mouse   bool
	Now     func() time.Time
	Version string
}

// Model is the root.
type Model struct {
	opts Options
	ctx  context.Context

	w, h   int
	focus  Focus
	zoom   Zoom
	layout Layout

	dark   bool
	theme  string
	st     *themes.Styles
	mouse  bool
	inView bool // the terminal has the focus, as far as it tells
	told   bool // it ever told

	eng       *engine.Engine
	session   *engine.Session
	state     engine.State
	events    *event.Subscription
	problem   error          // why the engine is not up
	bootNotes []event.Notice // of the start, to be shown below the transcript

	calls        *calls.Calls
	conversation *pane.Conversation
	timeline     *pane.Timeline
	approvals    *pane.Approvals
	files        *pane.Files
	composer     *pane.Composer
	views        []view.View

	jobs    jobs
	pull    *event.PullProgress
	waiting event.ModelState // what the model is doing before its first token; the zero state: nothing
	memory  event.ModelState // its way into memory, beside that
	grading string           // the model that is being graded; empty: none
	since   time.Time        // of the last of them
	stats   event.Stats
	paths   []string // for @ completion

	toast      string
	toastUntil time.Time
	ticking    bool
	focusedAt  time.Time // when the queue or a review got the focus
	cameFrom   Focus     // where the focus goes when the queue is empty again
	lastBack   time.Time // of esc or ctrl+c, for the second press
	quitting   bool

	frame frame
}

// New returns the root model.
func New(ctx context.Context, o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Model{opts: o, ctx: ctx, theme: o.Theme, dark: true, mouse: o.Mouse, inView: true}
	st := themes.NewStyles(themes.Pick(m.theme, m.dark))
	m.st = &st
	m.calls = calls.New()
	m.conversation = pane.NewConversation(m.st, m.calls)
	m.timeline = pane.NewTimeline(m.st, m.calls)
	m.approvals = pane.NewApprovals(m.st)
	m.files = pane.NewFiles(m.st)
	m.composer = pane.NewComposer(m.st)
	m.composer.SetSources(slashSuggestions(), func() []string { return m.paths })
	m.setFocus(FocusComposer)
	return m
}

// Init draws the first frame and starts the engine behind it.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.boot)
}

func (m *Model) boot() tea.Msg {
	r, err := m.opts.Boot(m.ctx)
	return bootMsg{r, err}
}

type (
	bootMsg struct {
		ready *Ready
		err   error
	}
	batchMsg struct {
		events []event.Event
		err    error
	}
	tickMsg  struct{}
	quietMsg struct{} // a toast may be over
)

// Update routes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.frame.dirty = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.arrange()
		return m, nil
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.restyle()
		return m, nil
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.MouseMsg:
		return m, m.mouseEvent(msg)
	case tea.FocusMsg:
		m.inView, m.told = true, true
		m.focusedAt = m.opts.Now() // keys typed while away must not decide
		return m, nil
	case tea.BlurMsg:
		m.inView, m.told = false, true
		return m, nil
	case bootMsg:
		return m, m.booted(msg)
	case batchMsg:
		return m, m.batch(msg)
	case tickMsg:
		m.ticking = false
		return m, m.tick()
	case quietMsg:
		if !m.opts.Now().Before(m.toastUntil) {
			m.toast = ""
		}
		return m, nil
	}
	return m, m.other(msg)
}

// arrange lays the screen out. How many rows the message takes depends on its
// width, which depends on nothing that is written.
func (m *Model) arrange() {
	m.layout = Arrange(m.w, m.h, m.focus, m.zoom, 1)
	if in := m.layout.Inner(FocusComposer); in.Shown() {
		m.composer.SetWidth(in.W)
		m.layout = Arrange(m.w, m.h, m.focus, m.zoom, m.composer.Rows())
	}
}

// setFocus moves the keys to a pane.
func (m *Model) setFocus(f Focus) {
	if m.focus == FocusConversation && f != FocusConversation {
		m.conversation.Blur()
	}
	m.focus = f
	m.timeline.SetFocused(f == FocusTimeline)
	m.approvals.SetFocused(f == FocusApprovals)
	m.files.SetFocused(f == FocusFiles)
	m.composer.Blur()
	switch f {
	case FocusComposer:
		m.composer.Focus()
	case FocusConversation:
		m.conversation.Focus()
	case FocusApprovals:
		m.focusedAt = m.opts.Now()
	}
	m.arrange()
}

// restyle applies the theme to everything.
func (m *Model) restyle() {
	*m.st = themes.NewStyles(themes.Pick(m.theme, m.dark))
	m.conversation.Restyle(m.st)
	m.timeline.Restyle(m.st)
	m.approvals.Restyle(m.st)
	m.files.Restyle(m.st)
	m.composer.Restyle(m.st)
	for _, v := range m.views {
		if r, ok := v.(interface{ Restyle(*themes.Styles) }); ok {
			r.Restyle(m.st)
		}
	}
}

// top is the view that is open over the panes, or nil.
func (m *Model) top() view.View {
	if len(m.views) == 0 {
		return nil
	}
	return m.views[len(m.views)-1]
}

// push opens a view. One that is open already is gone back to: help on help
// would take as many keys to leave.
func (m *Model) push(v view.View) {
	if i := slices.IndexFunc(m.views, func(o view.View) bool { return o.Title() == v.Title() }); i >= 0 {
		m.views = m.views[:i]
	}
	m.views = append(m.views, v)
	m.focusedAt = m.opts.Now()
}

func (m *Model) pop() {
	if n := len(m.views); n > 0 {
		m.views = m.views[:n-1]
		m.focusedAt = m.opts.Now()
	}
}

// scopes are the key scopes in force, the most specific first.
func (m *Model) scopes() []intent.Scope {
	if v := m.top(); v != nil {
		switch s := v.Scope(); s {
		case intent.Menu, intent.Ask, intent.History:
			return []intent.Scope{s, intent.Global}
		default:
			return []intent.Scope{s, intent.Panes, intent.Global}
		}
	}
	switch m.focus {
	case FocusComposer:
		return []intent.Scope{intent.Composer, intent.Global}
	case FocusConversation:
		return []intent.Scope{intent.Conversation, intent.Panes, intent.Global}
	case FocusTimeline:
		return []intent.Scope{intent.Timeline, intent.Panes, intent.Global}
	case FocusApprovals:
		return []intent.Scope{intent.Approvals, intent.Panes, intent.Global}
	default:
		return []intent.Scope{intent.Files, intent.Panes, intent.Global}
	}
}

// say shows a short note for three seconds.
func (m *Model) say(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	const shown = 3 * time.Second
	m.toast, m.toastUntil = text, m.opts.Now().Add(shown)
	return m.later(shown, quietMsg{})
}

// tick redraws once a second while something on the screen has an age.
func (m *Model) tick() tea.Cmd {
	if m.ticking || (m.calls.Running() == 0 && m.approvals.Len() == 0 && m.waiting.State == "" && m.memory.State != event.ModelLoading) {
		return nil
	}
	m.ticking = true
	return m.later(time.Second, tickMsg{})
}

// later delivers a message after a while. Unlike tea.Tick it ends with the
// screen.
func (m *Model) later(d time.Duration, msg tea.Msg) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}
