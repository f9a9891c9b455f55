package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/ui/intent"
	"chela/ui/view"
)

// helpColumns is the width from which keys and what they do stand side by side.
const helpColumns = 70

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
			pad := strings.Repeat(" ", max(20-ansi.StringWidth(keys), 1))
			if m.w < helpColumns {
				pad = "\n    "
			}
			about := b.About
			style := m.st.Text
			if why := m.disabled(b.Intent); why != "" && !b.Intent.Decides() {
				about += " Not now: " + why + "."
				style = m.st.Disabled
			}
			lines = append(lines, strings.Split("  "+m.st.Key.Render(keys)+pad+style.Render(about), "\n")...)
			fmt.Fprintf(&plain, "%-20s %s\n", keys, about)
		}
	}
	lines = append(lines, "", m.st.Heading.Render("Commands"))
	for _, c := range slashCommands {
		name := strings.TrimSpace(c.name + " " + c.arg)
		lines = append(lines, "  "+m.st.Key.Render(fmt.Sprintf("%-20s", name))+m.st.Text.Render(c.about))
		fmt.Fprintf(&plain, "%-20s %s\n", name, c.about)
	}
	return view.NewPage(m.st, "Help", lines, plain.String(), false)
}
