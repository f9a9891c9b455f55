package pane

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/store"
	"chela/themes"
	"chela/ui/calls"
	"chela/ui/markdown"
	"chela/ui/safetext"
)

// indent is what stands in front of everything a speaker says.
const indent = "  "

// look is what items need to draw themselves. It is shared, so that a change
// of theme reaches all.
type look struct {
	st *themes.Styles
	md *markdown.Renderer
}

// prompt is a message of the person.
type prompt struct {
	look *look
	id   string
	text string
	at   time.Time
}

func (p *prompt) ID() string      { return p.id }
func (p *prompt) Version() uint64 { return 1 }
func (p *prompt) Finished() bool  { return true }

func (p *prompt) Render(width int, selected bool) []string {
	st := p.look.st
	out := []string{heading(st, "you", clock(p.at), width, selected)}
	for _, line := range strings.Split(safetext.Block(p.text), "\n") {
		for _, wrapped := range strings.Split(ansi.Wrap(line, max(width-4, 1), ""), "\n") {
			out = append(out, indent+st.Text.Render(wrapped))
		}
	}
	return append(out, "")
}

func heading(st *themes.Styles, who, right string, width int, selected bool) string {
	name := st.Subtle.Render(who)
	if selected {
		name = st.Selection.Render(who)
	}
	return spread(name, st.Faint.Render(right), width)
}

// answer is a message of the model, also while it streams.
type answer struct {
	look     *look
	id       string
	model    string
	at       time.Time
	version  uint64
	done     bool
	partial  bool
	unfolded bool

	text     string // when done
	stream   *markdown.Stream
	thinking strings.Builder
	thought  time.Duration
	started  time.Time
	speaks   bool // text has begun, so thinking is over
	gap      bool // a blank line sets it off from the calls before it
}

func (a *answer) ID() string      { return a.id }
func (a *answer) Version() uint64 { return a.version }
func (a *answer) Finished() bool  { return a.done }

func (a *answer) think(text string, at time.Time) {
	if a.started.IsZero() {
		a.started = at
	}
	a.thinking.WriteString(text)
	a.thought = at.Sub(a.started)
	a.version++
}

func (a *answer) say(text string) {
	a.speaks = true
	a.stream.Append(text)
	a.version++
}

func (a *answer) finish(text, thinking string, partial bool) {
	a.text, a.partial, a.done = text, partial, true
	a.stream = nil // rendered from the text from now on; the list freezes the lines
	if thinking != "" && a.thinking.Len() == 0 {
		a.thinking.WriteString(thinking)
	}
	a.version++
}

func (a *answer) Render(width int, selected bool) []string {
	st := a.look.st
	var out []string
	if thoughts := a.thinking.String(); thoughts != "" || !a.empty() {
		if a.gap {
			out = append(out, "")
		}
		out = append(out, heading(st, safetext.Line(a.model), a.thoughtNote(), width, selected))
		if thoughts != "" && (a.unfolded || !a.done && !a.speaks) {
			out = append(out, a.thoughts(thoughts, width)...)
		}
	}
	if !a.empty() {
		for _, line := range a.body(max(width-4, 1)) {
			out = append(out, indent+line)
		}
	}
	if a.partial {
		out = append(out, indent+st.Warn.Render("… broke off here"))
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	return out
}

func (a *answer) empty() bool {
	if a.stream != nil {
		return a.stream.Len() == 0
	}
	return strings.TrimSpace(a.text) == ""
}

func (a *answer) body(width int) []string {
	if a.stream != nil {
		return a.stream.Lines(width)
	}
	return a.look.md.Render(a.text, width)
}

func (a *answer) thoughtNote() string {
	if a.thinking.Len() == 0 {
		return clock(a.at)
	}
	fold := "▸"
	if a.unfolded {
		fold = "▾"
	}
	if a.thought <= 0 {
		return "thought " + fold
	}
	return fmt.Sprintf("thought %s %s", Took(a.thought), fold)
}

// thoughts shows the thinking: all of it when unfolded, its last lines while
// the model has said nothing yet.
func (a *answer) thoughts(text string, width int) []string {
	st := a.look.st
	const tail = 4 << 10
	if !a.unfolded && len(text) > tail {
		text = strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	lines := strings.Split(ansi.Wrap(safetext.Block(strings.TrimSpace(text)), max(width-6, 1), ""), "\n")
	if !a.unfolded && len(lines) > 3 {
		lines = lines[len(lines)-3:]
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = indent + st.Faint.Render("┆ "+l)
	}
	return out
}

// callLine is one call in the conversation.
type callLine struct {
	look *look
	call *calls.Call
}

func (c *callLine) ID() string      { return c.call.ID }
func (c *callLine) Version() uint64 { return c.call.Version() }
func (c *callLine) Finished() bool  { return c.call.Finished() }

func (c *callLine) Render(width int, selected bool) []string {
	st := c.look.st
	glyph, style := calls.Glyph(c.call.State, st)
	tool := safetext.Line(c.call.Tool)
	name := fmt.Sprintf("%-10s", ansi.Truncate(tool, 18, "…"))
	nameStyle := st.Text
	if selected {
		nameStyle = st.Selection
	}
	left := indent + style.Render(glyph) + " " + nameStyle.Render(name) + " " + st.Subtle.Render(safetext.Line(Brief(c.call)))
	right := st.Faint.Render(Took(c.call.Duration(c.call.ReturnedAt)))
	if !c.call.Finished() || c.call.Bad() {
		right = style.Render(calls.Word(c.call.State))
	}
	out := []string{spread(left, right, width-2) + indent}
	if c.call.State == store.CallDone && listed[c.call.Tool] {
		out = append(out, c.work(width)...)
	}
	out = append(out, c.drawing(width)...)
	if e := c.call.Error; e != nil && c.call.Finished() {
		why := e.Message
		if c.call.State == store.CallDenied {
			why = denial(c.call)
		}
		out = append(out, indent+indent+st.Faint.Render(ansi.Truncate(safetext.Line(firstLine(why)), max(width-6, 1), "…")))
	}
	return out
}

// listed are the tools whose result is a list that the person follows.
var listed = map[string]bool{"todo_write": true, "create_plan": true, "complete_plan_step": true}

// work draws the items of a work list or a plan.
func (c *callLine) work(width int) []string {
	st := c.look.st
	var out []string
	for line := range strings.Lines(c.call.Output) {
		line = strings.TrimRight(line, "\n")
		if len(line) < 4 || line[0] != '[' {
			continue
		}
		mark, style := "○", st.Text
		switch line[1] {
		case 'x':
			mark, style = "✓", st.Subtle
		case '>':
			mark, style = "●", st.Strong
		case '-':
			mark, style = "–", st.Faint
		case '!':
			mark, style = "!", st.Warn
		}
		text := ansi.Truncate(safetext.Line(strings.TrimSpace(line[3:])), max(width-8, 1), "…")
		out = append(out, indent+indent+style.Render(mark+" "+text))
	}
	return out
}

// maxDrawn is how many lines of a drawing the conversation shows; the call's
// page shows all.
const maxDrawn = 30

// drawing is what the call drew.
func (c *callLine) drawing(width int) []string {
	text := c.call.Drawing()
	if text == "" {
		return nil
	}
	st := c.look.st
	lines := strings.Split(strings.TrimRight(safetext.Block(text), "\n"), "\n")
	more := len(lines) - maxDrawn
	var out []string
	for _, l := range lines[:min(len(lines), maxDrawn)] {
		out = append(out, indent+indent+st.Text.Render(ansi.Truncate(l, max(width-6, 1), "…")))
	}
	if more > 0 {
		out = append(out, indent+indent+st.Faint.Render(Count(more, "more line", "more lines")))
	}
	return out
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// note is a line of the program itself: a notice, or how a turn ended.
type note struct {
	look  *look
	id    string
	level string // info, warn, error
	text  string
	hint  string
}

func (n *note) ID() string      { return n.id }
func (n *note) Version() uint64 { return 1 }
func (n *note) Finished() bool  { return true }

func (n *note) Render(width int, _ bool) []string {
	st := n.look.st
	style, sign := st.Subtle, "·"
	switch n.level {
	case "warn":
		style, sign = st.Warn, "!"
	case "error":
		style, sign = st.Bad, "✗"
	}
	var out []string
	wrap := func(text string, style func(...string) string, first string) {
		for i, l := range strings.Split(ansi.Wrap(safetext.Block(text), max(width-4, 1), ""), "\n") {
			lead := indent
			if i == 0 && first != "" {
				lead = style(first) + " "
			}
			out = append(out, lead+style(l))
		}
	}
	wrap(n.text, style.Render, sign)
	if n.hint != "" {
		wrap(n.hint, st.Subtle.Render, "")
	}
	return append(out, "")
}
