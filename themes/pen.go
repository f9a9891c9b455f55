package themes

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Pen is a style reduced to the two strings around a text. Rendering with a
// lipgloss style looks at every property each time; where thousands of short
// pieces are drawn, as in code and running text, a Pen costs a concatenation.
// The zero value draws text as it is.
type Pen struct{ open, end string }

// NewPen returns the pen that draws as s does, but for width, alignment,
// margins, padding and borders, which it ignores.
func NewPen(s lipgloss.Style) Pen {
	const probe = "x"
	open, end, ok := strings.Cut(s.Inline(true).UnsetWidth().UnsetMaxWidth().Render(probe), probe)
	if !ok {
		return Pen{}
	}
	return Pen{open: open, end: end}
}

// Draw returns text, which must be of one line, in the pen's style.
func (p Pen) Draw(text string) string {
	if text == "" || p.open == "" {
		return text
	}
	return p.open + text + p.end
}

// Write is [Pen.Draw] into a builder.
func (p Pen) Write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	b.WriteString(p.open)
	b.WriteString(text)
	b.WriteString(p.end)
}
