package ui

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
)

// fit makes a line exactly w cells wide: cut with an ellipsis, or padded.
func fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	switch {
	case n > w:
		line = ansi.Truncate(line, w, "…")
		n = ansi.StringWidth(line) // a wide character at the edge leaves a gap
	case n == w:
		return line
	}
	return line + strings.Repeat(" ", w-n)
}

// fitBlock makes exactly h lines of exactly w cells.
func fitBlock(lines []string, w, h int) []string {
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = fit(lines[i], w)
		} else {
			out[i] = strings.Repeat(" ", w)
		}
	}
	return out
}

// border is the set of characters a box is drawn with. The focused pane has
// the heavy one: focus is never a matter of colour alone.
type border struct{ h, v, tl, tr, bl, br string }

var (
	light = border{"─", "│", "╭", "╮", "╰", "╯"}
	heavy = border{"━", "┃", "┏", "┓", "┗", "┛"}
)

// box draws lines in a border of w by h cells with a title, and a note on the
// right of the top edge.
func box(lines []string, w, h int, title, note string, focused bool, st *themes.Styles) []string {
	b, edge, head := light, st.Border, st.Title
	if focused {
		b, edge, head = heavy, st.BorderFocused, st.TitleFocused
	}
	if w < 2 || h < 2 {
		return fitBlock(lines, w, h)
	}
	inner := w - 2
	out := make([]string, 0, h)
	out = append(out, topEdge(b, inner, title, note, edge.Render, head.Render, st.Subtle.Render))
	side := edge.Render(b.v)
	for i := range h - 2 {
		line := strings.Repeat(" ", inner)
		if i < len(lines) {
			line = fit(lines[i], inner)
		}
		out = append(out, side+line+side)
	}
	return append(out, edge.Render(b.bl+strings.Repeat(b.h, inner)+b.br))
}

type painter func(...string) string

func topEdge(b border, inner int, title, note string, edge, head, dim painter) string {
	if inner < 4 {
		return edge(b.tl + strings.Repeat(b.h, inner) + b.tr)
	}
	title = ansi.Truncate(title, inner-3, "…")
	used := 0
	var s strings.Builder
	s.WriteString(edge(b.tl))
	if title != "" {
		s.WriteString(edge(b.h) + head(" "+title+" "))
		used = ansi.StringWidth(title) + 3
	}
	if room := inner - used - 4; note != "" && ansi.StringWidth(note) <= room {
		n := ansi.StringWidth(note)
		s.WriteString(edge(strings.Repeat(b.h, inner-used-n-3)) + dim(" "+note+" ") + edge(b.h))
		used = inner
	}
	s.WriteString(edge(strings.Repeat(b.h, inner-used) + b.tr))
	return s.String()
}

// canvas puts blocks of exact size side by side and below each other.
type canvas struct {
	w, h   int
	blocks []placed
}

type placed struct {
	r     Rect
	lines []string
}

func (c *canvas) place(r Rect, lines []string) {
	if r.Shown() {
		c.blocks = append(c.blocks, placed{r, lines})
	}
}

// String joins the blocks. They must not overlap and must be in order from
// left to right within each row, which the layout guarantees after sorting by
// column. Cells that no block covers are blank.
func (c *canvas) String() string {
	rows := make([]strings.Builder, c.h)
	filled := make([]int, c.h)
	for _, b := range c.blocks {
		for i := range b.r.H {
			y := b.r.Y + i
			if y >= c.h || i >= len(b.lines) {
				break
			}
			if gap := b.r.X - filled[y]; gap > 0 {
				rows[y].WriteString(strings.Repeat(" ", gap))
			}
			rows[y].WriteString(b.lines[i])
			filled[y] = b.r.X + b.r.W
		}
	}
	var out strings.Builder
	for y := range rows {
		if y > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(rows[y].String())
	}
	return out.String()
}

// overlay draws a block over a frame's lines, dimming nothing: what is below
// stays readable around it.
func overlay(frame string, r Rect, lines []string) string {
	rows := strings.Split(frame, "\n")
	for i, line := range lines {
		y := r.Y + i
		if y < 0 || y >= len(rows) {
			continue
		}
		left := cut(rows[y], 0, r.X)
		if n := ansi.StringWidth(left); n < r.X {
			left += strings.Repeat(" ", r.X-n)
		}
		rows[y] = left + line + "\x1b[m" + cut(rows[y], r.X+r.W, math.MaxInt)
	}
	return strings.Join(rows, "\n")
}

// cut returns the cells of a line from a column up to another, with the styles
// in force there and no others. ansi.Cut keeps the sequences of what it cuts
// off, so that with views over views they would double with each. A wide
// character that is cut through becomes blanks.
func cut(line string, from, to int) string {
	var out strings.Builder
	var pen, drawn string // the style in force, and that of the last cell drawn
	var state byte
	for col := 0; line != "" && col < to; {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		switch {
		case seq == "\x1b[m" || seq == "\x1b[0m":
			pen = ""
			continue
		case ansi.HasCsiPrefix(seq):
			pen += seq
			continue
		}
		first, last := max(col, from), min(col+width, to)
		if col += width; first > last || first == last && width > 0 {
			continue
		}
		if pen != drawn {
			out.WriteString("\x1b[m" + pen)
			drawn = pen
		}
		if last-first == width {
			out.WriteString(seq)
		} else {
			out.WriteString(strings.Repeat(" ", last-first))
		}
	}
	if drawn != "" {
		out.WriteString("\x1b[m")
	}
	return out.String()
}
