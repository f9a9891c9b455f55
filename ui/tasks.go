package ui

import (
	"context"
	"fmt"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/store"
	"chela/ui/markdown/syntax"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// The messages of what was done off the screen's goroutine.
type (
	treeMsg struct {
		tree  pane.FileTree
		paths []string
	}
	dirMsg struct {
		dir   string
		nodes []pane.FileNode
		err   error
	}
	previewMsg struct {
		path         string
		text         string
		binary, more bool
		err          error
	}
	copiedMsg  struct{ what, how string }
	sessionMsg struct {
		session    *engine.Session
		transcript engine.Transcript
		err        error
		swapped    bool // it takes the place of another one
	}
	serverMsg struct {
		choice engine.Choice
		err    error
	}
)

// other routes the results of background work.
func (m *Model) other(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case failedMsg:
		m.refresh()
		m.conversation.Note("error", msg.err.Error(), "")
		return m.say(firstSentence(msg.err.Error()))
	case doneMsg:
		m.refresh()
		return m.say(msg.text)
	case treeMsg:
		m.files.SetTree(msg.tree)
		m.paths = msg.paths
	case dirMsg:
		if msg.err != nil {
			return m.say(msg.err.Error())
		}
		m.files.SetDir(msg.dir, msg.nodes)
	case previewMsg:
		return m.showPreview(msg)
	case copiedMsg:
		return m.say("copied " + msg.what + " " + msg.how)
	case sessionMsg:
		return m.opened(msg)
	case serverMsg:
		return m.serverUp(msg)
	case modelsMsg:
		return m.showModels(msg)
	case sessionsMsg:
		return m.showSessions(msg)
	case rulesMsg:
		return m.showRules(msg)
	case historyMsg:
		m.foundHistory(msg)
	case hitMsg:
		return m.openedHit(msg)
	case feedsMsg:
		return m.reader(msg)
	case polledMsg:
		return tea.Batch(m.say(msg.text), m.showFeeds())
	case gradeMsg:
		return m.graded(msg)
	case workMsg:
		return m.workPage(msg)
	case undoMsg:
		return m.askUndo(msg)
	case pastMsg:
		return m.offerRules(msg)
	}
	return nil
}

// use reads the transcript of a session and then takes it into use. The order
// matters: a prompt sent before the transcript is there would be overwritten.
func (m *Model) use(s *engine.Session) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		t, err := s.Transcript(ctx)
		return sessionMsg{session: s, transcript: t, err: err}
	}
}

func (m *Model) opened(msg sessionMsg) tea.Cmd {
	if msg.err != nil {
		m.conversation.Note("error", msg.err.Error(), "")
		return m.say(firstSentence(msg.err.Error()))
	}
	m.session = msg.session
	m.calls.Load(msg.transcript.Calls)
	if msg.swapped || len(msg.transcript.Messages) > 0 {
		m.conversation.Load(msg.transcript)
	}
	for _, n := range m.bootNotes {
		m.conversation.Note(n.Level, n.Text, n.Hint)
	}
	if m.bootNotes = nil; !msg.swapped {
		m.noteTrust(len(msg.transcript.Messages) == 0)
	}
	m.timeline.Load()
	m.composer.LoadPast(promptsOf(msg.transcript))
	if n := interrupted(msg.transcript.Calls); n > 0 {
		m.conversation.Note("warn", pane.Count(n, "call was", "calls were")+" interrupted when chela ended; the timeline marks what it was", "")
	}
	m.refresh()
	m.refreshQueue()
	m.setJobs(m.session.Jobs())
	return nil
}

func promptsOf(t engine.Transcript) []string {
	var out []string
	for _, x := range t.Messages {
		if x.Role == store.RoleUser {
			out = append(out, x.Content)
		}
	}
	return out
}

// interrupted counts the calls of the last turn that the program did not live
// to finish.
func interrupted(calls []store.Call) int {
	n := 0
	for i := len(calls) - 1; i >= 0 && calls[i].Turn == calls[len(calls)-1].Turn; i-- {
		if calls[i].State == store.CallInterrupted {
			n++
		}
	}
	return n
}

// swap opens another session and then closes this one, which no turn uses.
func (m *Model) swap(o engine.OpenOptions) tea.Cmd {
	eng, old, ctx := m.eng, m.session, m.ctx
	return func() tea.Msg {
		s, err := eng.Open(ctx, o)
		if err != nil {
			return sessionMsg{err: err}
		}
		old.Close()
		t, err := s.Transcript(ctx)
		return sessionMsg{session: s, transcript: t, err: err, swapped: true}
	}
}

func (m *Model) newSession() tea.Cmd {
	o := engine.OpenOptions{Model: m.state.Model.Name}
	if mode := m.session.Mode(); mode != pipeline.Unlimited {
		o.Mode = &mode // full is for the session it was chosen in, and no other
	}
	return m.endJobs("Start a new session", func() tea.Cmd { return tea.Batch(m.swap(o), m.say("a new session")) })
}

func (m *Model) resume(id string) tea.Cmd {
	if id == m.session.ID() {
		return m.say("this session is open already")
	}
	return m.endJobs("Go there", func() tea.Cmd { return m.swap(engine.OpenOptions{ID: id}) })
}

// readFiles reads the tree, git's marks and the list of paths again.
func (m *Model) readFiles() tea.Cmd {
	if m.eng == nil {
		return nil
	}
	eng, ctx, open := m.eng, m.ctx, m.files.Expanded()
	return func() tea.Msg {
		t := pane.FileTree{Root: path.Base(eng.Workspace()), Dirs: map[string][]pane.FileNode{}}
		project, err := eng.Project(ctx)
		if err != nil {
			t.Err = err.Error()
		}
		t.Branch, t.Changed = project.Branch, project.Changed
		for _, dir := range append([]string{""}, open...) {
			nodes, err := folder(ctx, eng, dir, project)
			if err != nil && dir == "" {
				t.Err = err.Error()
			}
			if err == nil {
				t.Dirs[dir] = nodes
			}
		}
		paths, err := eng.Paths(ctx)
		if err != nil && t.Err == "" {
			t.Err = err.Error()
		}
		return treeMsg{t, paths}
	}
}

func folder(ctx context.Context, eng *engine.Engine, dir string, p engine.Project) ([]pane.FileNode, error) {
	entries, more, err := eng.Folder(ctx, dir, p)
	if err != nil {
		return nil, err
	}
	nodes := make([]pane.FileNode, 0, len(entries)+1)
	for _, e := range entries {
		nodes = append(nodes, pane.FileNode{Path: e.Path, Dir: e.Dir, Mark: e.Mark, Ignored: e.Ignored})
	}
	if more {
		nodes = append(nodes, pane.FileNode{Path: path.Join(dir, "… more"), Ignored: true})
	}
	return nodes, nil
}

func (m *Model) readDir(dir string) tea.Cmd {
	eng, ctx := m.eng, m.ctx
	if eng == nil {
		return nil
	}
	return func() tea.Msg {
		project, err := eng.Project(ctx)
		if err != nil {
			project = engine.Project{} // the marks are missing; the tree is not
		}
		nodes, err := folder(ctx, eng, dir, project)
		return dirMsg{dir, nodes, err}
	}
}

func (m *Model) preview(file string) tea.Cmd {
	eng := m.eng
	if eng == nil {
		return nil
	}
	return func() tea.Msg {
		text, binary, more, err := eng.ReadText(file)
		return previewMsg{file, text, binary, more, err}
	}
}

func (m *Model) showPreview(p previewMsg) tea.Cmd {
	switch {
	case p.err != nil:
		return m.say(p.err.Error())
	case p.binary:
		return m.say(safetext.Line(p.path) + " is no text")
	}
	if p.text == "" {
		return m.say(safetext.Line(p.path) + " is empty")
	}
	clean := safetext.Block(strings.TrimSuffix(p.text, "\n") + "\n")
	lines := syntax.NewPalette(m.st.Code).Lines(clean, path.Base(p.path))
	width := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		lines[i] = m.st.DiffNumber.Render(fmt.Sprintf("%*d ", width, i+1)) + l
	}
	if p.more {
		lines = append(lines, m.st.Warn.Render("… the file goes on; only its start is shown"))
	}
	m.push(view.NewPage(m.st, safetext.Line(p.path), lines, p.text, true))
	return nil
}

// copy puts text on the clipboard in both ways that exist: the system's own,
// and the terminal's, which also reaches through ssh. The toast says which.
func (m *Model) copy(c pane.CopyText) tea.Cmd {
	if strings.TrimSpace(c.Text) == "" {
		return m.say("there is nothing to copy")
	}
	native := func() tea.Msg {
		if clipboard.Unsupported {
			return copiedMsg{c.What, "through the terminal"}
		}
		if err := clipboard.WriteAll(c.Text); err != nil {
			return copiedMsg{c.What, "through the terminal (no system clipboard)"}
		}
		return copiedMsg{c.What, "to the clipboard"}
	}
	return tea.Batch(tea.SetClipboard(c.Text), native)
}

// startServer starts an installed Ollama and picks a model on it.
func (m *Model) startServer() tea.Cmd {
	eng, ctx := m.eng, m.ctx
	if eng == nil {
		return m.say("the engine is not up")
	}
	return tea.Batch(m.say("starting ollama"), func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		if err := ollama.Serve(ctx, eng.Server()); err != nil {
			return serverMsg{err: err}
		}
		choice, err := eng.Choose(ctx, "")
		return serverMsg{choice, err}
	})
}

func (m *Model) serverUp(msg serverMsg) tea.Cmd {
	if msg.err != nil {
		return func() tea.Msg { return failedMsg{msg.err} }
	}
	if len(m.views) > 0 {
		m.pop()
	}
	if msg.choice.Empty {
		return m.showWelcome()
	}
	return m.useModel(msg.choice.Model)
}

// signal tells a person who looks elsewhere that a call waits.
func (m *Model) signal(event.ApprovalAsked) tea.Cmd {
	if !m.told || m.inView {
		return nil // the queue and the titles say it
	}
	// The bell is what survives every multiplexer.
	return tea.Raw("\a")
}
