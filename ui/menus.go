package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/store"
	"chela/themes"
	"chela/tiers"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/view"
)

// run is the action of carrying out an intent from a menu.
func (m *Model) run(i intent.Intent) pane.Action {
	return perform{func() tea.Cmd { return m.do(i) }}
}

// extra are the intents without a key; the palette is how they are reached.
var extra = []intent.Binding{
	{Intent: intent.CancelTurn, Verb: "Turn: stop", About: "Stops the turn that runs."},
	{Intent: intent.NewSession, Verb: "Session: new", About: "Starts a new session."},
	{Intent: intent.DenyAllCalls, Verb: "Approvals: deny all with a reason", About: "Denies every call that waits."},
	{Intent: intent.PickMode, Verb: "Mode: choose", About: "What runs without a question."},
	{Intent: intent.PickTier, Verb: "Tier: choose", About: "How many tools this session's model gets."},
	{Intent: intent.ShowTools, Verb: "Tools: list, promote, demote", About: "What this model gets, and what each tool costs."},
	{Intent: intent.ListRules, Verb: "Rules: list and revoke", About: "The decisions kept for later calls."},
	{Intent: intent.ShowWork, Verb: "Work list: show", About: "What the model keeps of its work: the list, and its plans."},
	{Intent: intent.ShowJobs, Verb: "Background processes: list and end", About: "What tools started and left running."},
	{Intent: intent.ShowFeeds, Verb: "Feeds: read", About: "The articles of the feeds that are followed."},
	{Intent: intent.TrustFolder, Verb: "Folder: trust", About: "Whether what this project says to chela and the model is used."},
	{Intent: intent.PullModel, Verb: "Model: pull", About: "Downloads a model."},
	{Intent: intent.StopPull, Verb: "Model: stop the download", About: "What was loaded is kept."},
	{Intent: intent.StartServer, Verb: "Ollama: start", About: "Starts an installed Ollama server."},
	{Intent: intent.ShowWelcome, Verb: "Welcome: show", About: "What works here and what is missing."},
	{Intent: intent.PickTheme, Verb: "Theme: choose", About: "Colours."},
	{Intent: intent.Mouse, Verb: "Mouse: on or off", About: "Off, the terminal selects text itself."},
	{Intent: intent.DropQueued, Verb: "Queue: drop the last prompt", About: "Takes the prompt that was queued last out."},
	{Intent: intent.Quit, Verb: "Quit", About: "Ends chela; everything is kept."},
}

// groups names the intents with a key as the palette lists them.
var groups = map[intent.Intent]string{
	intent.Help: "Help: keys", intent.NextPane: "Pane: next", intent.GoComposer: "Message: write", intent.GoChat: "Conversation: go to",
	intent.GoTimeline: "Timeline: go to", intent.GoApprovals: "Approvals: open the queue", intent.GoFiles: "Files: go to",
	intent.CycleMode: "Mode: ask or standard", intent.PickModel: "Model: choose", intent.PickSession: "Sessions: list and resume",
	intent.ShowHistory: "History: find what was said and done", intent.Redraw: "Screen: draw again", intent.Suspend: "Screen: suspend to the shell",
}

// palette lists everything that can be done, with its key; what cannot act
// says why.
func (m *Model) palette() view.View {
	var choices []view.Choice
	for _, b := range intent.Table() {
		if name, ok := groups[b.Intent]; ok && b.Scope == intent.Global {
			choices = append(choices, view.Choice{Text: name, About: intent.Show(b.Keys[0]), Action: m.run(b.Intent), Why: m.disabled(b.Intent)})
		}
	}
	for _, b := range extra {
		choices = append(choices, view.Choice{Text: b.Verb, Action: m.run(b.Intent), Why: m.disabled(b.Intent)})
	}
	return view.NewMenu(m.st, "Do", "what to do", choices)
}

func (m *Model) modeMenu() view.View {
	var choices []view.Choice
	for _, mode := range pipeline.Modes() {
		choices = append(choices, view.Choice{
			Text: mode.String(), About: mode.Explain(), Mark: mode == m.state.Mode,
			Action: perform{func() tea.Cmd { return m.setMode(mode) }},
		})
	}
	return view.NewMenu(m.st, "Mode", "how much runs without a question", choices)
}

func (m *Model) tierMenu() view.View {
	set := func(t *tiers.Tier, text string) pane.Action {
		return perform{func() tea.Cmd {
			return m.onSession(func(ctx context.Context, s *engine.Session) error { return s.SetTier(ctx, t) }, text)
		}}
	}
	choices := []view.Choice{{Text: "detected", About: "from the model's size", Action: set(nil, "tier: detected")}}
	for _, t := range []tiers.Tier{tiers.Essential, tiers.Standard, tiers.Full} {
		choices = append(choices, view.Choice{Text: t.String(), Mark: t == m.state.Tier, Action: set(&t, "tier: "+t.String())})
	}
	return view.NewMenu(m.st, "Tier", "which tools the model gets", choices).Hint(m.state.TierReason)
}

func (m *Model) themeMenu() view.View {
	choices := []view.Choice{{Text: "auto", About: "follows the terminal", Mark: m.theme == "auto", Action: perform{func() tea.Cmd { return m.setTheme("auto") }}}}
	for _, name := range themes.Names() {
		choices = append(choices, view.Choice{Text: name, Mark: name == m.theme, Action: perform{func() tea.Cmd { return m.setTheme(name) }}})
	}
	return view.NewMenu(m.st, "Theme", "colours", choices)
}

// modelsMsg is the answer of the servers.
type modelsMsg struct {
	models []ollama.Model
	grades map[string]string // by name; of models that were checked
	err    error
}

// modelMenu asks the servers and opens the picker when they have answered.
func (m *Model) modelMenu() tea.Cmd {
	eng, ctx := m.eng, m.ctx
	return tea.Batch(m.say("asking for the models"), func() tea.Msg {
		models, err := eng.Models(ctx)
		grades := map[string]string{}
		for _, mod := range models {
			if p, perr := eng.Profile(ctx, mod.Name); perr == nil && p.Check != nil {
				grades[mod.Name] = p.Check.Grade
			}
		}
		return modelsMsg{models, grades, err}
	})
}

func (m *Model) showModels(msg modelsMsg) tea.Cmd {
	m.toast = ""
	var choices []view.Choice
	for _, mod := range msg.models {
		choices = append(choices, view.Choice{
			Text: mod.Name, About: gradeNote(msg.grades[mod.Name]) + describeModel(mod), Mark: mod.Name == m.state.Model.Name,
			Action: perform{func() tea.Cmd { return m.useModel(mod.Name) }},
			Grade:  perform{func() tea.Cmd { return m.grade(mod.Name) }},
		})
	}
	menu := view.NewMenu(m.st, "Model", "pick a model, or write a name to pull", choices)
	if msg.err != nil {
		menu.Hint(firstSentence(msg.err.Error()))
	} else {
		menu.Hint(intent.Show("ctrl+g") + " grades the marked model; a name that is not installed can be pulled")
		menu.Free(func(text string) *view.Choice {
			return &view.Choice{Text: "pull " + text, About: "download it", Action: perform{func() tea.Cmd { return m.startPull(text) }}}
		})
	}
	m.push(menu)
	return nil
}

// describeModel is a model in a few words: size, window, what it can do.
func describeModel(mod ollama.Model) string {
	if mod.BuiltIn {
		return "built in · a demonstration: a dozen kinds of request"
	}
	parts := []string{tiers.FormatSize(mod.Parameters)}
	if mod.Size > 0 {
		parts = append(parts, ollama.FormatBytes(mod.Size))
	}
	if mod.ContextLength > 0 {
		parts = append(parts, fmt.Sprintf("%dk", mod.ContextLength/1024))
	}
	for _, c := range mod.Capabilities {
		if c != "completion" && c != "insert" {
			parts = append(parts, c)
		}
	}
	if mod.Remote {
		parts = append(parts, "runs elsewhere")
	}
	if mod.Loaded {
		parts = append(parts, "loaded")
	}
	return strings.Join(parts, " · ")
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i+1]
	}
	return s
}

func (m *Model) askPull() view.View {
	return m.askText("Pull a model", "From the Ollama library, such as qwen3:8b.", "name:tag", m.startPull)
}

func (m *Model) confirmPull(name string) tea.Cmd {
	m.push(view.NewMenu(m.st, "Model "+name+" is not installed", "what now", []view.Choice{
		{Text: "pull " + name, About: "download it now", Action: perform{func() tea.Cmd { return m.startPull(name) }}},
		{Text: "pick another model", Action: perform{m.modelMenu}},
	}))
	return nil
}

// sessionsMsg is what the store has.
type sessionsMsg struct {
	sessions []store.Session
	err      error
}

func (m *Model) sessionMenu() tea.Cmd {
	eng, ctx := m.eng, m.ctx
	return func() tea.Msg {
		list, err := eng.Store().Sessions(ctx, eng.Workspace(), 500)
		return sessionsMsg{list, err}
	}
}

func (m *Model) showSessions(msg sessionsMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(msg.err.Error())
	}
	choices := []view.Choice{{Text: "new session", Action: m.run(intent.NewSession)}}
	for _, s := range msg.sessions {
		if s.Turns == 0 && s.ID != m.session.ID() {
			continue // opened and never used
		}
		title := s.Title
		if title == "" {
			title = "untitled"
		}
		choices = append(choices, view.Choice{
			Text: title, About: fmt.Sprintf("%s · %s · %s ago", s.Model, pane.Count(s.Turns, "turn", "turns"), pane.Ago(m.opts.Now().Sub(s.Updated))),
			Mark:   s.ID == m.session.ID(),
			Action: perform{func() tea.Cmd { return m.resume(s.ID) }},
		})
	}
	m.push(view.NewMenu(m.st, "Sessions of this project", "which one", choices).Hint(intent.Show("enter") + " resumes"))
	return nil
}

// finder finds a file by parts of its name.
func (m *Model) finder() view.View {
	choices := make([]view.Choice, len(m.paths))
	for i, p := range m.paths {
		choices[i] = view.Choice{Text: p, Action: perform{func() tea.Cmd {
			m.files.Select(p)
			return m.preview(p)
		}}}
	}
	return view.NewMenu(m.st, "Find a file", "parts of its name", choices).Hint(intent.Show("enter") + " shows it")
}

func (m *Model) useModel(name string) tea.Cmd {
	text := "model " + name
	if name == engine.PocketModel {
		text = "the built-in pocket model: a demonstration"
	}
	return m.onSession(func(ctx context.Context, s *engine.Session) error { return s.SetModel(ctx, name) }, text)
}

func (m *Model) startPull(name string) tea.Cmd {
	if err := m.eng.Pull(name); err != nil {
		return m.say(err.Error())
	}
	return m.say("pulling " + name)
}

// startTimeout is how long an Ollama server may take to come up.
const startTimeout = 20 * time.Second
