package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/engine/event"
	"chela/ui/safetext"
)

// notify has the terminal notify the person: OSC 9, which most know, OSC 777,
// which the others do, and the bell, which survives every multiplexer.
func notify(n event.TerminalNotice) tea.Cmd {
	// Neither sequence may hold what ends it, and in the second a semicolon
	// parts the fields. A control character shows by its name.
	title, body := osc(n.Title), osc(n.Body)
	text := title
	if body != "" {
		text += ": " + body
	}
	return tea.Raw(ansi.Notify(text) + "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + "\a" + "\a")
}

// osc is text that is harmless within a sequence to the terminal.
func osc(s string) string {
	const most = 400 // bytes; what terminals show is less
	s = safetext.Line(s)
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
