package ui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
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

// setEmpty sets what the conversation shows while nothing was said.
func (m *Model) setEmpty(c engine.Choice) {
	m.conversation.SetEmpty(func(w, h int) []string {
		return fitParagraphs(m.emptyText(c, w), h)
	})
}

// paragraph is a part of a text that is left out as a whole when there is no
// room for it; those of the highest rank go first.
type paragraph struct {
	rank  int
	lines []string
}

// emptyText says what a newcomer needs, laid out for the width.
func (m *Model) emptyText(c engine.Choice, w int) []paragraph {
	st := m.st
	prose := func(style lipgloss.Style, text string) []string {
		lines := strings.Split(ansi.Wrap(safetext.Line(text), max(w-3, 1), ""), "\n")
		for i, l := range lines {
			lines[i] = "  " + style.Render(l)
		}
		return lines
	}
	row := func(key, what string) string {
		return "  " + st.Key.Render(fmt.Sprintf("%-7s", key)) + st.Subtle.Render(what)
	}
	keys := paragraph{3, []string{
		row("@ /", "name a file, give a command"), row("tab", "go to the next pane"),
		row(intent.Show("ctrl+p"), "find everything"), row("?", "show the keys"),
	}}
	out := []paragraph{{2, prose(st.Text, "chela works with models on this machine.")}}
	switch {
	case c.Model == engine.PocketModel:
		out = append(out,
			paragraph{1, prose(st.Warn, "This is the built-in pocket model, a demonstration.")},
			paragraph{0, []string{
				"  " + st.Subtle.Render("Try: ") + st.Text.Render("read go.mod"),
				"  " + st.Subtle.Render("     ") + st.Text.Render("run go version"),
				"  " + st.Subtle.Render("     ") + st.Text.Render("write notes.txt containing hello"),
			}})
		if c.Server != nil {
			why := strings.TrimSuffix(upperFirst(firstSentence(c.Server.Error())), ".") + ". "
			out = append(out, paragraph{4, prose(st.Subtle, why+"For real work start Ollama; then "+intent.Show("ctrl+t")+" picks a model.")})
		}
	case c.Model != "":
		out = append(out, paragraph{1, prose(st.Subtle, c.Model+" is ready: "+c.Reason+".")})
	}
	if m.eng != nil {
		if text := unusedText(m.eng.Trust()); text != "" {
			out = append(out, paragraph{2, prose(st.Subtle, text)})
		}
	}
	return append(out, keys)
}

// fitParagraphs sets paragraphs below each other, with blank lines in between
// if there is room, and without those of the highest ranks if there is none.
func fitParagraphs(all []paragraph, h int) []string {
	for {
		rows, last := 0, 0
		for i, p := range all {
			rows += len(p.lines)
			if p.rank > all[last].rank {
				last = i
			}
		}
		airy := rows+len(all)-1 <= h
		if rows <= h || len(all) == 1 {
			var out []string
			for i, p := range all {
				if i > 0 && airy || rows+len(all) <= h {
					out = append(out, "")
				}
				out = append(out, p.lines...)
			}
			return out
		}
		all = slices.Delete(slices.Clone(all), last, last+1)
	}
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
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
