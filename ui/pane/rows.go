package pane

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/intent"
)

// cursor is what stands in front of a row: the mark of the selected one, so
// that selection is not a matter of colour alone.
func cursor(st *themes.Styles, selected bool) string {
	if selected {
		return st.Accent.Render("▌")
	}
	return " "
}

// clip makes lines fit w by h cells.
func clip(lines []string, w, h int) []string {
	lines = lines[:min(len(lines), max(h, 0))]
	for i, l := range lines {
		if ansi.StringWidth(l) > w {
			lines[i] = ansi.Truncate(l, w, "…")
		}
	}
	return lines
}

// prose wraps a sentence about the pane itself into indented dim lines.
func prose(st *themes.Styles, text string, w int) []string {
	lines := strings.Split(ansi.Wrap(text, max(w-2, 1), ""), "\n")
	for i, l := range lines {
		lines[i] = " " + st.Faint.Render(l)
	}
	return lines
}

// footerKeys draws the keys that a scope shows in its footer, as many as fit.
func footerKeys(st *themes.Styles, scope intent.Scope, w int) string {
	out, used := "", 0
	for _, b := range intent.ForScopes([]intent.Scope{scope}) {
		if !b.Footer {
			continue
		}
		key := intent.Show(b.Keys[0])
		n := 2 + ansi.StringWidth(key) + 1 + ansi.StringWidth(b.Verb)
		if out == "" {
			n--
		}
		if used+n > w {
			break
		}
		gap := "  "
		if out == "" {
			gap = " "
		}
		out += gap + st.Key.Render(key) + " " + st.KeyHint.Render(b.Verb)
		used += n
	}
	return out
}

// elapsed is the age of something that still goes on: whole seconds, since it
// is drawn once a second.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return Ago(d)
	}
	return Took(d)
}

// viewport is the visible part of a slice of rows. It follows the selection
// when that moves, and stays where it was scrolled to otherwise.
type viewport struct {
	top    int
	height int // drawn last
	reveal bool
}

// window returns which of n rows are visible in h.
func (v *viewport) window(sel, n, h int) (first, last int) {
	v.height = max(h, 0)
	if v.reveal {
		v.reveal = false
		v.top = max(min(v.top, sel), sel-v.height+1)
	}
	v.top = max(0, min(v.top, n-v.height))
	return v.top, min(v.top+v.height, n)
}

// step gives the selection that an intent moves to; ok is false for intents
// that do not move.
func (v *viewport) step(i intent.Intent, sel, n int) (to int, ok bool) {
	page := max(v.height-1, 1)
	switch i {
	case intent.Up:
		sel--
	case intent.Down:
		sel++
	case intent.PageUp:
		sel -= page
	case intent.PageDown:
		sel += page
	case intent.Home:
		sel = 0
	case intent.End:
		sel = n - 1
	default:
		return sel, false
	}
	v.reveal = true
	return max(0, min(sel, n-1)), true
}
