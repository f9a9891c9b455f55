package pane

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"chela/themes"
	"chela/ui/safetext"
)

// Suggestion is one thing that could be completed.
type Suggestion struct{ Text, About string }

// Completion is the small list over the message that completes the word at its
// end: /command at the start of the message, @path anywhere.
type Completion struct {
	Commands []Suggestion    // with the slash
	Paths    func() []string // of the workspace; called when @ is typed

	open  bool
	paths []string // asked for once per opening
	shown []Suggestion
	at    int
}

// maxShown is how many suggestions are listed.
const maxShown = 8

// SetSources says what can be completed.
func (c *Composer) SetSources(commands []Suggestion, paths func() []string) {
	c.hints.Commands, c.hints.Paths = commands, paths
}

// Hints is the completion list.
func (c *Composer) Hints() *Completion { return &c.hints }

// Open reports whether there is something to complete.
func (h *Completion) Open() bool { return h.open && len(h.shown) > 0 }

func (h *Completion) close() { h.open, h.shown, h.paths, h.at = false, nil, nil, 0 }

func (h *Completion) move(n int) {
	h.at = (h.at + n + len(h.shown)) % len(h.shown)
}

func (h *Completion) accept() (string, bool) {
	if !h.Open() {
		return "", false
	}
	s := h.shown[h.at].Text
	h.close()
	return s, true
}

// complete looks at the word before the end of the message.
func (c *Composer) complete() {
	h := &c.hints
	word := lastWord(c.area.Value())
	switch {
	case strings.HasPrefix(word, "/") && word == c.area.Value():
		if h.find(word, h.Commands) && len(h.shown) == 1 && h.shown[0].Text == word {
			h.close() // complete already: enter sends
		}
	case strings.HasPrefix(word, "@") && h.Paths != nil:
		if h.paths == nil {
			h.paths = h.Paths()
		}
		h.findPath(word[1:])
	default:
		h.close()
	}
}

func lastWord(s string) string {
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[i+1:]
	}
	return s
}

func (h *Completion) find(word string, all []Suggestion) bool {
	h.shown = h.shown[:0:0]
	for _, s := range all {
		if strings.HasPrefix(s.Text, word) {
			h.shown = append(h.shown, s)
		}
	}
	return h.finish()
}

func (h *Completion) findPath(query string) {
	h.shown = h.shown[:0:0]
	if query == "" {
		for _, p := range h.paths[:min(maxShown, len(h.paths))] {
			h.shown = append(h.shown, Suggestion{Text: "@" + p})
		}
	} else {
		for _, m := range fuzzy.Find(query, h.paths) {
			if h.shown = append(h.shown, Suggestion{Text: "@" + m.Str}); len(h.shown) == maxShown {
				break
			}
		}
	}
	h.finish()
}

func (h *Completion) finish() bool {
	h.open = len(h.shown) > 0
	h.at = clampTo(h.at, len(h.shown)-1)
	return h.open
}

func clampTo(v, hi int) int { return max(0, min(v, hi)) }

// replaceWord puts the accepted suggestion in place of the word at the end.
func (c *Composer) replaceWord(text string) {
	v := c.area.Value()
	v = v[:len(v)-len(lastWord(v))]
	c.area.SetValue(v + text + " ")
	c.area.MoveToEnd()
	c.hints.close()
}

// Lines draws the part of the list that the chosen suggestion is in: at most
// rows lines of at most w cells.
func (h *Completion) Lines(w, rows int, st *themes.Styles) []string {
	rows = max(min(rows, maxShown), 1)
	first := max(0, h.at-rows+1)
	last := min(first+rows, len(h.shown))
	out := make([]string, 0, last-first)
	widest := 0
	for _, s := range h.shown {
		widest = max(widest, ansi.StringWidth(s.Text))
	}
	widest = min(widest, w-2)
	for i, s := range h.shown[first:last] {
		text := ansi.Truncate(safetext.Line(s.Text), widest, "…")
		text += spaces(widest - ansi.StringWidth(text))
		style, chosen := st.Text, first+i == h.at
		if chosen {
			style = st.Selection
		}
		line := cursor(st, chosen) + style.Render(text)
		if s.About != "" {
			line += "  " + st.Faint.Render(s.About)
		}
		out = append(out, ansi.Truncate(line, w, "…"))
	}
	return out
}
