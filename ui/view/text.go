package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/markdown/syntax"
	"chela/ui/safetext"
	"chela/ui/wrap"
)

// sheet is a text that was laid out for a width: what a tab shows.
type sheet struct {
	lines []string // styled, none wider than asked for
	hunks []int    // where the hunks of a diff start; none for anything else
	plain string   // what copying gives; empty: the lines
}

// copied is what copying the sheet gives.
func (s *sheet) copied() string {
	if s.plain != "" {
		return s.plain
	}
	lines := make([]string, len(s.lines))
	for i, l := range s.lines {
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// writer lays text out line by line.
type writer struct {
	st    *themes.Styles
	w     int
	lines []string
}

func newWriter(st *themes.Styles, w int) *writer { return &writer{st: st, w: max(w, 1)} }

func (o *writer) blank() {
	if n := len(o.lines); n > 0 && o.lines[n-1] != "" {
		o.lines = append(o.lines, "")
	}
}

// prose wraps a sentence at blanks. first stands in front of the first line,
// and the others are indented as far.
func (o *writer) prose(first, text string, style lipgloss.Style) {
	indent := strings.Repeat(" ", ansi.StringWidth(first))
	for i, l := range strings.Split(ansi.Wrap(safetext.Block(text), max(o.w-len(indent), 1), ""), "\n") {
		lead := indent
		if i == 0 {
			lead = style.Render(first)
		}
		o.lines = append(o.lines, lead+style.Render(l))
	}
}

// verbatim breaks text, which must be harmless already, only where the width
// is reached, so that no blank of it is lost. first and next stand in front of
// its first and of its other lines; what had to be broken is indented as far.
func (o *writer) verbatim(lines []string, first, next string) {
	n := max(ansi.StringWidth(first), ansi.StringWidth(next))
	if n+8 > o.w {
		first, next, n = "", "", 0
	}
	indent := strings.Repeat(" ", n)
	for i, line := range lines {
		lead := next
		if i == 0 {
			lead = first
		}
		for k, row := range wrap.Hard(line, max(o.w-n, 1)) {
			if k > 0 {
				lead = indent
			}
			o.lines = append(o.lines, lead+row)
		}
	}
}

// labelWidth is the column of the labels in front of facts.
const labelWidth = 12

// fact is a labelled value, in as many lines as it takes, with no blank of it
// lost. The value must be harmless already.
func (o *writer) fact(label, value string, style lipgloss.Style) {
	o.labelled(label, value, style, wrap.Hard)
}

// says is [writer.fact] for a sentence, which breaks at blanks.
func (o *writer) says(label, text string, style lipgloss.Style) {
	o.labelled(label, text, style, func(line string, w int) []string {
		return strings.Split(ansi.Wrap(line, w, ""), "\n")
	})
}

func (o *writer) labelled(label, value string, style lipgloss.Style, wrap func(string, int) []string) {
	lead := o.st.Faint.Render(label) + strings.Repeat(" ", max(labelWidth-ansi.StringWidth(label), 1))
	n := ansi.StringWidth(lead)
	if n+8 > o.w {
		o.lines = append(o.lines, o.st.Faint.Render(label))
		lead, n = " ", 1
	}
	indent := strings.Repeat(" ", n)
	for _, line := range strings.Split(value, "\n") {
		for _, row := range wrap(line, max(o.w-n, 1)) {
			o.lines = append(o.lines, lead+style.Render(row))
			lead = indent
		}
	}
}

func (o *writer) heading(text string) {
	o.blank()
	o.lines = append(o.lines, o.st.Subtle.Render(text))
}

// source colours harmless text as a language, line by line.
func source(st *themes.Styles, text, language string) []string {
	if text == "" {
		return []string{""}
	}
	// A last line without a newline would count as unfinished.
	return syntax.NewPalette(st.Code).Lines(strings.TrimSuffix(text, "\n")+"\n", language)
}

// pretty is JSON with indents, in the order it was written; what is no JSON
// stays as it is.
func pretty(raw string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(raw), "", "  "); err != nil {
		return raw
	}
	return b.String()
}

// clip makes lines fit w by h cells.
func clip(lines []string, w, h int) []string {
	return wrap.Cut(lines[:min(len(lines), max(h, 0))], w)
}

// ends puts left and right at the two ends of a line of w cells; the right one,
// in the first of its wordings that there is room for.
func ends(left string, w int, right ...string) string {
	for _, r := range right {
		if gap := w - ansi.StringWidth(left) - ansi.StringWidth(r); r != "" && gap > 0 {
			return left + strings.Repeat(" ", gap) + r
		}
	}
	return left
}

// tabBar draws the names of the tabs, the one that is shown in brackets. On a
// narrow screen it shows only that one and how many there are.
func tabBar(st *themes.Styles, names []string, at, w int) string {
	var b strings.Builder
	used := 0
	for i, n := range names {
		if i > 0 {
			b.WriteString("  ")
			used += 2
		}
		if i == at {
			b.WriteString(st.Accent.Render("[" + n + "]"))
		} else {
			b.WriteString(st.Subtle.Render(n))
		}
		used += len(n) + 2
	}
	if used <= w {
		return b.String()
	}
	return st.Accent.Render("["+names[at]+"]") + st.Faint.Render(" "+strings.Repeat("·", at)+"•"+strings.Repeat("·", len(names)-1-at))
}

// cutLine is text from outside as one line of at most w cells.
func cutLine(s string, w int) string {
	return ansi.Truncate(safetext.Line(s), max(w, 1), "…")
}
