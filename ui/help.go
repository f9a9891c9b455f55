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

// helpRow is one key, or several, with what it does.
func (m *Model) helpRow(keys, about string, style lipgloss.Style) []string {
	indent, first := 4, "  "+m.st.Key.Render(keys)
	if m.w >= helpColumns {
		indent = keyColumn
		first += strings.Repeat(" ", max(keyColumn-2-ansi.StringWidth(keys), 1))
	}
	var out []string
	for i, l := range strings.Split(ansi.Wrap(about, max(min(m.w-8, 100)-indent, 16), ""), "\n") {
		switch {
		case i > 0 || m.w < helpColumns:
			out = append(out, strings.Repeat(" ", indent)+style.Render(l))
		default:
			out = append(out, first+style.Render(l))
		}
	}
	if m.w < helpColumns {
		out = append([]string{first}, out...)
	}
	return out
}

// helpPage shows the keys that work where the person is, from the table.
func (m *Model) helpPage() view.View {
	var lines []string
	var plain strings.Builder
	for i, scope := range m.scopes() {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, m.st.Heading.Render("Keys: "+string(scope)))
		for _, b := range intent.ForScopes(m.scopes()) {
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
			if why := m.disabled(b.Intent); why != "" && !b.Intent.Decides() {
				about += " Not now: " + why + "."
				style = m.st.Disabled
			}
			lines = append(lines, m.helpRow(keys, about, style)...)
			fmt.Fprintf(&plain, "%-20s %s\n", keys, about)
		}
	}
	lines = append(lines, "", m.st.Heading.Render("Commands"))
	for _, c := range slashCommands {
		name := strings.TrimSpace(c.name + " " + c.arg)
		lines = append(lines, m.helpRow(name, c.about, m.st.Text)...)
		fmt.Fprintf(&plain, "%-20s %s\n", name, c.about)
	}
	return view.NewPage(m.st, "Help", lines, plain.String(), false)
}
