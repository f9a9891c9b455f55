// Package wrap makes styled lines fit a width in cells.
//
// It guarantees that every line it returns is complete in itself: a style that
// a break cuts in two is closed before the break and opened again after it. All
// functions are safe for concurrent use.
package wrap

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Words breaks styled text at its newlines, at blanks, and inside words that are
// too long for width cells.
func Words(styled string, width int) []string {
	if len(styled) > width && ansi.StringWidth(styled) > width || strings.Contains(styled, "\n") {
		styled = lipgloss.Wrap(styled, width, "")
	}
	return strings.Split(styled, "\n")
}

// Hard breaks a line, styled or not, wherever width cells are reached; blanks
// stay as they are, which is right for code. A width below one breaks nothing.
func Hard(line string, width int) []string {
	if len(line) <= width || ansi.StringWidth(line) <= width {
		return []string{line}
	}
	broken := ansi.Hardwrap(line, width, true)
	if !strings.Contains(line, "\x1b") {
		return strings.Split(broken, "\n")
	}
	var b strings.Builder
	w := lipgloss.NewWrapWriter(&b)
	// Writing to a Builder cannot fail.
	_, _ = w.Write([]byte(broken))
	_ = w.Close()
	return strings.Split(b.String(), "\n")
}

// Cut shortens in place the lines that are wider than width cells, for what
// breaking could not make fit: prefixes of nested blocks, or a letter of two
// cells where there is one.
func Cut(lines []string, width int) []string {
	for i, line := range lines {
		if len(line) > width && ansi.StringWidth(line) > width {
			lines[i] = ansi.Truncate(line, width, "…")
		}
	}
	return lines
}
