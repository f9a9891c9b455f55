package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/engine/event"
	"chela/ui/safetext"
)

// notify has the terminal notify the person, in the way that it understands, and
// with the bell, which survives every multiplexer. One way only: several
// terminals know more than one, and would show it twice.
func notify(n event.TerminalNotice, env func(string) string) tea.Cmd {
	// No sequence may hold what ends it, and in one of them a semicolon parts
	// the fields. A control character shows by its name.
	title, body := osc(n.Title), osc(n.Body)
	text := title
	if body != "" {
		text += ": " + body
	}
	term := env("TERM")
	seq := ansi.Notify(text) // OSC 9: iTerm2, WezTerm, Ghostty, Windows Terminal and others
	switch {
	case env("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty"):
		seq = "\x1b]99;;" + text + "\a"
	case strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") || env("VTE_VERSION") != "":
		seq = "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + "\a"
	}
	return tea.Raw(seq + "\a")
}

// osc is text that is harmless within a sequence to the terminal.
func osc(s string) string {
	const most = 400 // bytes; what terminals show is less
	s = safetext.Line(s)
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
