package ui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/trust"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// unusedText says what the folder holds that is not used, or "".
func unusedText(t engine.Trust) string {
	switch t.State {
	case trust.Unknown:
		return "This folder has " + trustFiles(t) + ", not used until you trust it: /trust shows it and asks."
	case trust.Changed:
		return "What this folder says changed since you trusted it (" + strings.Join(t.Changed, ", ") + "), so none of it is used: /trust shows it and asks."
	}
	return ""
}

// noteTrust says at the start what is not as the person may expect. An empty
// conversation says by itself what is not used.
func (m *Model) noteTrust(empty bool) {
	t := m.eng.Trust()
	if text := unusedText(t); text != "" && !empty {
		m.conversation.Note("info", text, "")
	}
	for _, p := range t.Problems {
		m.conversation.Note("warn", p.Error(), "")
	}
	for _, s := range t.Skipped {
		m.conversation.Note("warn", s, "")
	}
}

func trustFiles(t engine.Trust) string {
	var names []string
	for _, f := range t.Files {
		names = append(names, f.Path)
	}
	return safetext.Line(strings.Join(names, " and "))
}

// trustMenu shows what the folder says, and asks whether to use it.
func (m *Model) trustMenu() tea.Cmd {
	t := m.eng.Trust()
	if t.State == trust.Nothing {
		return m.say("nothing in this folder speaks to chela or to the model: there is nothing to trust")
	}
	set := func(on bool, done string) pane.Action {
		return perform{func() tea.Cmd {
			return m.command(func(ctx context.Context) error { return m.eng.SetTrust(ctx, on, t.Files) }, done)
		}}
	}
	var choices []view.Choice
	for _, f := range t.Files {
		choices = append(choices, view.Choice{
			Text: "Read " + f.Path, About: fmt.Sprintf("%d bytes%s", len(f.Data), changedMark(t, f.Path)), Action: perform{func() tea.Cmd {
				m.push(view.NewPage(m.st, safetext.Title(f.Path), strings.Split(safetext.Block(string(f.Data)), "\n"), string(f.Data), true))
				return nil
			}},
		})
	}
	if t.State == trust.Trusted {
		choices = append(choices, view.Choice{Text: "End the trust", About: "nothing of it is used any more", Action: set(false, "this folder is not trusted any more")})
	} else {
		choices = append(choices, view.Choice{Text: "Trust the folder with these files", About: "until one of them changes", Action: set(true, "trusted: the model is told the notes, and the settings are in force")})
	}
	m.push(view.NewMenu(m.st, "Trust this folder: "+t.State.String(), "what to do", choices).
		Hint("Its settings can only tighten. Its notes go into the system prompt."))
	return nil
}

func changedMark(t engine.Trust, path string) string {
	for _, c := range t.Changed {
		if c == path {
			return ", changed"
		}
	}
	return ""
}
