package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// wrap breaks styled text at blanks, and inside words that are too long.
func wrap(styled string, width int) []string {
	if len(styled) > width && ansi.StringWidth(styled) > width || strings.Contains(styled, "\n") {
		styled = lipgloss.Wrap(styled, width, "")
	}
	return strings.Split(styled, "\n")
}

// hardWrap breaks a styled line wherever the width is reached; blanks stay as
// they are, which is right for code.
func hardWrap(line string, width int) []string {
	if len(line) <= width || ansi.StringWidth(line) <= width {
		return []string{line}
	}
	var b strings.Builder
	w := lipgloss.NewWrapWriter(&b)
	// Writing to a Builder cannot fail.
	_, _ = w.Write([]byte(ansi.Hardwrap(line, width, true)))
	_ = w.Close()
	return strings.Split(b.String(), "\n")
}

// fit cuts what could not be made to fit: the prefixes of nested blocks, or a
// letter of two cells, where there are only a few cells.
func fit(lines []string, width int) []string {
	for i, line := range lines {
		if len(line) > width && ansi.StringWidth(line) > width {
			lines[i] = ansi.Truncate(line, width, "…")
		}
	}
	return lines
}
