package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/wrap"
)

// Layout says how the two sides stand to each other.
type Layout uint8

const (
	// Unified has deleted lines above added ones.
	Unified Layout = iota
	// Split has them side by side. Below MinSplit cells it is Unified.
	Split
)

const (
	// MinSplit is the width in cells below which two columns are no help.
	MinSplit = 60
	// minText is the least room for text beside line numbers; with less the
	// numbers are left out.
	minText = 8
	bar     = " │ "
)

// Options are what a person can change about the drawing.
type Options struct {
	Layout Layout
	// Current is the hunk that the review is at; -1 for none.
	Current int
}

// View is a drawn diff.
type View struct {
	Lines []string
	// Hunks has for each hunk the index in Lines where it starts, to step to.
	Hunks []int
}

// Renderer draws diffs in the styles of a theme. It keeps nothing, so it is
// safe for concurrent use.
type Renderer struct {
	text, word                      [3]themes.Pen // by Kind
	number, hunk, current, dropped  themes.Pen
	separator, warn, droppedContext themes.Pen
}

// NewRenderer returns a renderer with the styles.
func NewRenderer(s themes.Styles) *Renderer {
	pen := themes.NewPen
	return &Renderer{
		text:   [3]themes.Pen{Same: pen(s.DiffContext), Added: pen(s.DiffAdd), Deleted: pen(s.DiffDel)},
		word:   [3]themes.Pen{Same: pen(s.DiffContext), Added: pen(s.DiffAddWord), Deleted: pen(s.DiffDelWord)},
		number: pen(s.DiffNumber), hunk: pen(s.DiffHunk), current: pen(s.Accent),
		dropped: pen(s.DiffDropped), droppedContext: pen(s.Faint),
		separator: pen(s.Border), warn: pen(s.Warn),
	}
}

// Render draws d at width cells. Each hunk begins with a line that says how
// much is folded above it, which one it is, and whether it is dropped.
func (r *Renderer) Render(d *Diff, width int, o Options) View {
	width = max(width, 1)
	v := View{Hunks: make([]int, len(d.Hunks))}
	if len(d.Hunks) == 0 {
		v.Lines = wrap.Cut([]string{r.hunk.Draw("no changes")}, width)
		return v
	}
	split := o.Layout == Split && width >= MinSplit
	cell := width
	if split {
		cell = (width - len([]rune(bar))) / 2
	}
	g := newGutter(d, cell)
	for i, h := range d.Hunks {
		v.Hunks[i] = len(v.Lines)
		v.Lines = append(v.Lines, r.header(d, i, i == o.Current))
		lines := d.prepare(h)
		if split {
			v.Lines = append(v.Lines, r.split(lines, g, cell, h.Dropped)...)
			continue
		}
		for _, l := range lines {
			n := l.Old
			if g.created {
				n = l.New
			}
			v.Lines = append(v.Lines, r.line(l, n, g, cell, h.Dropped)...)
		}
	}
	v.Lines = wrap.Cut(v.Lines, width)
	return v
}

func (r *Renderer) header(d *Diff, i int, current bool) string {
	h := d.Hunks[i]
	var parts []string
	switch h.Skipped {
	case 0:
	case 1:
		parts = append(parts, "1 line unchanged")
	default:
		parts = append(parts, fmt.Sprintf("%d lines unchanged", h.Skipped))
	}
	parts = append(parts, fmt.Sprintf("hunk %d of %d", i+1, len(d.Hunks)))
	pen, mark := r.hunk, "⋮ "
	if current {
		pen, mark = r.current, "▸ "
	}
	text := pen.Draw(mark + strings.Join(parts, " · "))
	if h.Dropped {
		text += pen.Draw(" · ") + r.warn.Draw("■ dropped")
	}
	return text
}

// gutter is what stands to the left of the text: number, sign, blanks.
type gutter struct {
	digits  int  // of the number; 0 for none
	width   int  // in all
	created bool // the file is new, so that its own numbers are shown
}

func newGutter(d *Diff, cell int) gutter {
	largest := 1
	created := true
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			largest = max(largest, l.Old, l.New)
			created = created && l.Kind == Added
		}
	}
	g := gutter{digits: len(strconv.Itoa(largest)), created: created}
	g.width = g.digits + len(" + ")
	switch {
	case cell >= g.width+minText:
	case cell > minText:
		g.digits, g.width = 0, len("+ ")
	case cell > 1:
		g.digits, g.width = 0, len("+")
	default:
		g.digits, g.width = 0, 0
	}
	return g
}

var signs = [3]string{Same: " ", Added: "+", Deleted: "-"}

// left draws the gutter of a line's first row.
func (r *Renderer) left(l shown, n int, g gutter, text themes.Pen) string {
	if g.width == 0 {
		return ""
	}
	number := ""
	if g.digits > 0 {
		if n > 0 {
			number = strconv.Itoa(n)
		}
		number = r.number.Draw(strings.Repeat(" ", g.digits-len(number))+number) + " "
	}
	sign := signs[l.Kind]
	if l.Kind != Same {
		sign = text.Draw(sign)
	}
	if g.width > 1 {
		sign += " "
	}
	return number + sign
}

// line draws one line of the file in as many rows as it takes.
func (r *Renderer) line(l shown, n int, g gutter, width int, dropped bool) []string {
	text, word := r.text[l.Kind], r.word[l.Kind]
	switch {
	case dropped && l.Kind == Same:
		text, word = r.droppedContext, r.droppedContext
	case dropped:
		text, word = r.dropped, r.dropped
	}
	var b strings.Builder
	for _, p := range l.pieces {
		if p.changed {
			word.Write(&b, p.text)
		} else {
			text.Write(&b, p.text)
		}
	}
	rows := wrap.Hard(b.String(), max(width-g.width, 1))
	rows[0] = r.left(l, n, g, text) + rows[0]
	indent := strings.Repeat(" ", g.width)
	for i := range rows[1:] {
		rows[i+1] = indent + rows[i+1]
	}
	if l.NoNewline {
		for _, row := range wrap.Hard(r.hunk.Draw("(no newline at the end of the file)"), max(width-g.width, 1)) {
			rows = append(rows, indent+row)
		}
	}
	return rows
}

// split draws the two sides of a hunk next to each other.
func (r *Renderer) split(lines []shown, g gutter, cell int, dropped bool) []string {
	var out []string
	put := func(left, right *shown) {
		var a, b []string
		if left != nil {
			a = r.line(*left, left.Old, g, cell, dropped)
		}
		if right != nil {
			b = r.line(*right, right.New, g, cell, dropped)
		}
		for y := range max(len(a), len(b)) {
			row := ""
			if y < len(a) {
				row = a[y]
			}
			row += strings.Repeat(" ", max(cell-ansi.StringWidth(row), 0)) + r.separator.Draw(bar)
			if y < len(b) {
				row += b[y]
			}
			out = append(out, row)
		}
	}
	for i := 0; i < len(lines); {
		if lines[i].Kind == Same {
			put(&lines[i], &lines[i])
			i++
			continue
		}
		dels := i
		for i < len(lines) && lines[i].Kind == Deleted {
			i++
		}
		adds := i
		for i < len(lines) && lines[i].Kind == Added {
			i++
		}
		for k := range max(adds-dels, i-adds) {
			var left, right *shown
			if dels+k < adds {
				left = &lines[dels+k]
			}
			if adds+k < i {
				right = &lines[adds+k]
			}
			put(left, right)
		}
	}
	return out
}
