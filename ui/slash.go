package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/pipeline"
	"chela/themes"
	"chela/tiers"
	"chela/ui/intent"
	"chela/ui/pane"
)

// slashCommand is a command typed into the message. With an argument it does
// at once what its intent asks for in a menu.
type slashCommand struct {
	name   string
	arg    string // what may follow, for the completion list
	about  string
	intent intent.Intent
	with   func(m *Model, arg string) (tea.Cmd, error) // nil: it takes no argument; an error: not this one
}

var slashCommands = []slashCommand{
	{"/model", "NAME", "pick the model", intent.PickModel, func(m *Model, arg string) (tea.Cmd, error) { return m.useModel(arg), nil }},
	{"/mode", "MODE", "what runs without a question", intent.PickMode, func(m *Model, arg string) (tea.Cmd, error) {
		mode, err := pipeline.ParseMode(arg)
		if err != nil {
			return nil, err
		}
		return m.setMode(mode), nil
	}},
	{"/tier", "TIER", "which tools the model gets", intent.PickTier, func(m *Model, arg string) (tea.Cmd, error) {
		t, err := tiers.Parse(arg)
		if err != nil {
			return nil, err
		}
		return m.onSession(func(ctx context.Context, s *engine.Session) error { return s.SetTier(ctx, &t) }, "tier: "+t.String()), nil
	}},
	{"/tools", "", "what the model gets; promote and demote", intent.ShowTools, nil},
	{"/promote", "TOOL", "give the model a tool for this session", intent.ShowTools, func(m *Model, arg string) (tea.Cmd, error) {
		return m.promote(arg, true), nil
	}},
	{"/new", "", "start a new session", intent.NewSession, nil},
	{"/sessions", "", "list and resume sessions", intent.PickSession, nil},
	{"/rules", "", "list and revoke rules", intent.ListRules, nil},
	{"/history", "WORDS", "find what was said and done", intent.ShowHistory, func(m *Model, arg string) (tea.Cmd, error) { return m.showHistory(arg), nil }},
	{"/todo", "", "the work list and plans of this session", intent.ShowWork, nil},
	{"/ps", "", "list and end background processes", intent.ShowJobs, nil},
	{"/feeds", "", "read the feeds that are followed", intent.ShowFeeds, nil},
	{"/trust", "", "use what this folder says, or not", intent.TrustFolder, nil},
	{"/pull", "NAME", "download a model", intent.PullModel, func(m *Model, arg string) (tea.Cmd, error) { return m.startPull(arg), nil }},
	{"/rename", "TITLE", "give this session a title", "", func(m *Model, arg string) (tea.Cmd, error) {
		return m.onSession(func(ctx context.Context, s *engine.Session) error { return s.Rename(ctx, arg) }, "renamed"), nil
	}},
	{"/theme", "NAME", "change the colours", intent.PickTheme, func(m *Model, arg string) (tea.Cmd, error) {
		if arg != "auto" && !slices.Contains(themes.Names(), arg) {
			return nil, fmt.Errorf("theme %q is unknown: use auto, %s", arg, strings.Join(themes.Names(), ", "))
		}
		return m.setTheme(arg), nil
	}},
	{"/stop", "", "stop the turn", intent.CancelTurn, nil},
	{"/mouse", "", "turn the mouse on or off", intent.Mouse, nil},
	{"/help", "", "show the keys", intent.Help, nil},
	{"/quit", "", "leave; everything is kept", intent.Quit, nil},
}

func slashSuggestions() []pane.Suggestion {
	var out []pane.Suggestion
	for _, c := range slashCommands {
		out = append(out, pane.Suggestion{Text: c.name, About: strings.TrimSpace(c.arg + "  " + c.about)})
	}
	return out
}

// slash carries out a command. One that cannot be carried out is given back,
// so that nothing typed is lost.
func (m *Model) slash(text string) tea.Cmd {
	refuse := func(why string) tea.Cmd {
		m.composer.Restore(text)
		return m.say(why)
	}
	name, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	i := slices.IndexFunc(slashCommands, func(c slashCommand) bool { return c.name == name })
	if i < 0 {
		return refuse(name + " is no command: type / to see them, or put a space in front to send it as a message")
	}
	c := slashCommands[i]
	switch {
	case arg == "" && c.intent == "":
		text += " "
		return refuse(c.name + " needs " + c.arg)
	case arg == "":
		return m.do(c.intent)
	case c.with == nil:
		return refuse(c.name + " takes no argument")
	case m.session == nil:
		return refuse("the engine is not up yet")
	}
	if why := m.disabled(c.intent); why != "" {
		return refuse(why)
	}
	cmd, err := c.with(m, arg)
	if err != nil {
		return refuse(err.Error())
	}
	return cmd
}
