package pane

import (
	"path"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/safetext"
)

// maxIndent is how deep the tree is indented, in levels, so that names in deep
// folders keep their room.
const maxIndent = 8

// Lines draws the tree into at most h lines of at most w cells.
func (f *Files) Lines(w, h int) []string {
	f.width = w
	if f.tree.Err != "" {
		lines := strings.Split(ansi.Wrap("✗ cannot read: "+safetext.Line(f.tree.Err), max(w-2, 1), ""), "\n")
		for i, l := range lines {
			lines[i] = " " + f.st.Bad.Render(l)
		}
		return clip(lines, w, h)
	}
	if len(f.rows) == 0 {
		text := "No files here yet."
		if _, read := f.tree.Dirs[""]; !read {
			text = "The files appear here."
		}
		return clip(prose(f.st, text, w), w, h)
	}
	first, last := f.view.window(f.sel, len(f.rows), h)
	out := make([]string, 0, last-first)
	for i := first; i < last; i++ {
		out = append(out, f.draw(f.rows[i], f.focused && i == f.sel, w))
	}
	return clip(out, w, h)
}

func (f *Files) draw(r fileRow, selected bool, w int) string {
	st := f.st
	sign, name := "  ", st.Text
	switch {
	case r.Dir && f.open[r.Path]:
		sign = "▾ "
	case r.Dir:
		sign = "▸ "
	}
	if r.Ignored {
		name = st.Faint
	}
	mark, style := markOf(r, st)
	right := style.Render(mark)
	if mark == "" && r.Dir && f.open[r.Path] {
		if nodes, read := f.tree.Dirs[r.Path]; read && len(nodes) == 0 {
			right = st.Faint.Render("empty")
		}
	}
	if selected {
		name = st.Selection
	}
	left := cursor(st, selected) + spaces(2*min(r.depth, maxIndent)) + st.Subtle.Render(sign) + name.Render(safetext.Line(path.Base(r.Path)))
	return spread(left, right, w)
}

// markOf is git's letter for a file, and a dot for a folder with such files
// in it.
func markOf(r fileRow, st *themes.Styles) (string, lipgloss.Style) {
	if r.Dir {
		if r.inner {
			return "•", st.Warn
		}
		return "", st.Faint
	}
	mark := ansi.Truncate(safetext.Line(r.Mark), 2, "")
	switch mark {
	case "A":
		return mark, st.OK
	case "D", "U":
		return mark, st.Bad
	case "?":
		return mark, st.Subtle
	}
	return mark, st.Warn
}

// sortNodes puts folders first, and names in the order that people expect:
// without regard to case, and 2 before 10.
func sortNodes(nodes []FileNode) {
	slices.SortFunc(nodes, func(a, b FileNode) int {
		if a.Dir != b.Dir {
			if a.Dir {
				return -1
			}
			return 1
		}
		if c := naturally(strings.ToLower(a.Path), strings.ToLower(b.Path)); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
}

// naturally compares two names, with runs of digits as numbers.
func naturally(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na == 0 || nb == 0 {
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) - len(b)
}

// digits is the length of the run of digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
