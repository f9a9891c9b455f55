package ui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/ui/intent"
	"chela/ui/view"
)

// helpColumns is the width from which keys and what they do stand side by
// side; keyColumn is how wide the keys then are.
const (
	helpColumns = 64
	keyColumn   = 28
)

// helpRow is one key, or several, with what it does, on a screen of w cells.
func (m *Model) helpRow(w int, keys, about string, style lipgloss.Style) []string {
	indent, first := 4, "  "+m.st.Key.Render(keys)
	if w >= helpColumns {
		indent = keyColumn
		first += strings.Repeat(" ", max(keyColumn-2-ansi.StringWidth(keys), 1))
	}
	var out []string
	for i, l := range strings.Split(ansi.Wrap(about, max(min(w-8, 100)-indent, 16), ""), "\n") {
		switch {
		case i > 0 || w < helpColumns:
			out = append(out, strings.Repeat(" ", indent)+style.Render(l))
		default:
			out = append(out, first+style.Render(l))
		}
	}
	if w < helpColumns {
		out = append([]string{first}, out...)
	}
	return out
}

// helpPage shows the keys that work where the person is, from the table.
func (m *Model) helpPage() view.View {
	scopes, why := m.scopes(), map[intent.Intent]string{}
	for _, b := range intent.ForScopes(scopes) {
		if !b.Intent.Decides() {
			why[b.Intent] = m.disabled(b.Intent)
		}
	}
	_, plain := m.helpText(m.w, scopes, why)
	return view.NewFlowing(m.st, "Help", plain, func(w int) []string {
		lines, _ := m.helpText(w, scopes, why)
		return lines
	})
}

// helpText is the help for a screen of w cells, and what copying it gives. why
// says of an intent what it cannot do just now.
func (m *Model) helpText(w int, scopes []intent.Scope, why map[intent.Intent]string) (lines []string, copied string) {
	var plain strings.Builder
	for i, scope := range scopes {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.st.Heading.Render("Keys: "+string(scope)))
		for _, b := range intent.ForScopes(scopes) {
			if b.Scope != scope {
				continue
			}
			shown := make([]string, len(b.Keys))
			for j, k := range b.Keys {
				shown[j] = intent.Show(k)
			}
			keys := strings.Join(shown, " ")
			about := b.About
			style := m.st.Text
			if why := why[b.Intent]; why != "" {
				about += " Not now: " + why + "."
				style = m.st.Disabled
			}
			lines = append(lines, m.helpRow(w, keys, about, style)...)
			fmt.Fprintf(&plain, "%-20s %s\n", keys, about)
		}
	}
	lines = append(lines, "", m.st.Heading.Render("Commands"))
	for _, c := range slashCommands {
		name := strings.TrimSpace(c.name + " " + c.arg)
		lines = append(lines, m.helpRow(w, name, c.about, m.st.Text)...)
		fmt.Fprintf(&plain, "%-20s %s\n", name, c.about)
	}
	return lines, plain.String()
}
