package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/engine"
	"chela/engine/ollama"
	"chela/ui/intent"
	"chela/ui/safetext"
	"chela/ui/view"
)

// greet says what a person needs to know at the start: which model runs and
// why, and what is missing. A choice is only put where there is one.
func (m *Model) greet(c engine.Choice) tea.Cmd {
	m.setEmpty(c)
	switch {
	case c.Server != nil && ollama.Installed() != "":
		return m.showWelcome()
	case c.Empty:
		return m.showWelcome()
	}
	return nil
}

// emptyWidth is the width of a sentence there: it fits the narrowest column
// that the conversation gets beside others.
const emptyWidth = 42

// setEmpty sets what the conversation shows while nothing was said.
func (m *Model) setEmpty(c engine.Choice) {
	st := m.st
	row := func(key, what string) string {
		return "  " + st.Key.Render(fmt.Sprintf("%-7s", key)) + st.Subtle.Render(what)
	}
	lines := []string{"", "  " + st.Text.Render("chela works with models on this machine."), ""}
	if c.Model == engine.PocketModel {
		lines = append(lines,
			"  "+st.Warn.Render("This is the built-in pocket model:"),
			"  "+st.Subtle.Render("a demonstration: a dozen kinds of request."), "",
			"  "+st.Subtle.Render("Try: ")+st.Text.Render("read go.mod"),
			"  "+st.Subtle.Render("     ")+st.Text.Render("run go version"),
			"  "+st.Subtle.Render("     ")+st.Text.Render("write notes.txt containing hello"), "",
		)
		if c.Server != nil {
			for _, l := range strings.Split(ansi.Wrap(safetext.Line(firstSentence(c.Server.Error())), emptyWidth, ""), "\n") {
				lines = append(lines, "  "+st.Subtle.Render(l))
			}
			lines = append(lines, "  "+st.Subtle.Render("For real work start Ollama; then ")+st.Key.Render(intent.Show("ctrl+t"))+st.Subtle.Render(" picks a model."), "")
		}
	} else if c.Model != "" {
		lines = append(lines, "  "+st.Subtle.Render(safetext.Line(c.Model)+" is ready: "+c.Reason+"."), "")
	}
	lines = append(lines, row("⏎", "send a request"), row("@ /", "name a file, give a command"), row("tab", "go to the next pane"),
		row(intent.Show("ctrl+p"), "find everything"), row("?", "show the keys"))
	m.conversation.SetEmpty(lines)
}

// showWelcome offers what would help: start the server, pull a model, or go on
// with the built-in one.
func (m *Model) showWelcome() tea.Cmd {
	var choices []view.Choice
	hint := "Mode ask: you decide every change and command."
	if program := ollama.Installed(); program != "" {
		choices = append(choices, view.Choice{Text: "Start Ollama", About: "found: " + program, Action: m.run(intent.StartServer)})
	} else {
		choices = append(choices, view.Choice{Text: "Start Ollama", About: "not installed here", Why: ollama.ErrNotInstalled.Error()})
	}
	choices = append(choices,
		view.Choice{Text: "Pull qwen3:8b", About: "5.2 GB, calls tools well", Action: perform{func() tea.Cmd { return m.startPull("qwen3:8b") }}},
		view.Choice{Text: "Pull another model", Action: m.run(intent.PullModel)},
		view.Choice{Text: "Pick an installed model", About: intent.Show("ctrl+t"), Action: m.run(intent.PickModel)},
		view.Choice{Text: "Go on with the built-in pocket model", About: "a demonstration: a dozen kinds of request", Mark: true, Action: perform{func() tea.Cmd { return m.useModel(engine.PocketModel) }}},
	)
	m.push(view.NewMenu(m.st, "Welcome · chela works with models on this machine", "what to do first", choices).Hint(hint))
	return nil
}
