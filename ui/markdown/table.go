package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	extast "github.com/yuin/goldmark/extension/ast"

	"chela/ui/wrap"
)

// minColumn is the least width of a column in which wrapped text can be read.
const minColumn = 6

const gutter = " │ "

// table draws a table without an outer frame. Cells wrap; where even that does
// not fit, the rows are shown as records of name and value.
func (c canvas) table(n *extast.Table, width int) []string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		f := c.face()
		_, header := row.(*extast.TableHeader)
		f.bold = f.bold || header
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			// A cell is one line in the source.
			cells = append(cells, c.inline(cell, f))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil
	}
	widths, ok := columns(rows, width)
	if !ok {
		return c.records(rows, width)
	}
	faint := c.pens.get(face{base: faintText})
	bar := faint.Draw(gutter)
	var out []string
	for i, cells := range rows {
		out = append(out, row(cells, widths, n.Alignments, bar)...)
		if i == 0 {
			rules := make([]string, len(widths))
			for j, w := range widths {
				rules[j] = strings.Repeat("─", w)
			}
			out = append(out, faint.Draw(strings.Join(rules, "─┼─")))
		}
	}
	return out
}

// columns shares out the width: what each column wants if there is room, else
// the widest ones give way. ok is false if they would get too narrow.
func columns(rows [][]string, width int) (widths []int, ok bool) {
	widths = make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells[:min(len(cells), len(widths))] {
			widths[i] = max(widths[i], ansi.StringWidth(cell), 1)
		}
	}
	room := width - len(widths)*3 + 3
	total := 0
	for i := range widths {
		widths[i] = min(widths[i], max(room, 1)) // no column needs more than all
		total += widths[i]
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			return nil, false
		}
		widths[widest]--
		total--
	}
	return widths, true
}

func row(cells []string, widths []int, align []extast.Alignment, bar string) []string {
	wrapped := make([][]string, len(widths))
	height := 1
	for i, w := range widths {
		if i < len(cells) {
			wrapped[i] = wrap.Words(cells[i], w)
			height = max(height, len(wrapped[i]))
		}
	}
	out := make([]string, height)
	for y := range height {
		parts := make([]string, len(widths))
		for i, w := range widths {
			text := ""
			if y < len(wrapped[i]) {
				text = wrapped[i][y]
			}
			a := extast.AlignNone
			if i < len(align) {
				a = align[i]
			}
			parts[i] = pad(text, w, a, i == len(widths)-1)
		}
		out[y] = strings.Join(parts, bar)
	}
	return out
}

// pad aligns text in a cell; the last cell of a row needs no blanks behind it.
func pad(text string, width int, align extast.Alignment, last bool) string {
	room := max(width-ansi.StringWidth(text), 0)
	left := 0
	switch align {
	case extast.AlignRight:
		left = room
	case extast.AlignCenter:
		left = room / 2
	}
	right := room - left
	if last {
		right = 0
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", right)
}

func (c canvas) records(rows [][]string, width int) []string {
	var out []string
	for i, cells := range rows[1:] {
		if i > 0 {
			out = append(out, "")
		}
		for j, cell := range cells {
			name := ""
			if j < len(rows[0]) && rows[0][j] != "" {
				name = rows[0][j] + " "
			}
			out = append(out, wrap.Words(name+cell, width)...)
		}
	}
	if len(rows) == 1 {
		out = wrap.Words(strings.Join(rows[0], "\n"), width)
	}
	return out
}
