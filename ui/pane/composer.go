package pane

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/engine/event"
	"chela/themes"
	"chela/ui/intent"
	"chela/ui/safetext"
)

// Composer is the message being written, with completion of @paths and
// /commands, and the prompts that wait for the turn to end.
type Composer struct {
	st      *themes.Styles
	area    textarea.Model
	top     int // the first row of the message that is drawn
	queued  []event.Queued
	held    bool   // no turn runs, so what is queued waits for the person
	editing string // id of the queued prompt that is being edited; empty: a new one

	past   []string // prompts sent in this session, the oldest first
	recall int      // how far back in past; 0: what is being written
	draft  string   // what was being written before recalling

	hints Completion
}

// Submitted is the action of sending: the text, and the queued prompt that it
// replaces, if any.
type Submitted struct{ Text, Replaces string }

// Dropped is the action of dropping a queued prompt.
type Dropped struct{ ID string }

// NewComposer returns an empty message.
func NewComposer(st *themes.Styles) *Composer {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.Prompt = ""
	area.EndOfBufferCharacter = ' '
	area.MaxHeight, area.CharLimit = 0, 0
	area.DynamicHeight = true    // it holds all rows; Lines shows those around the cursor
	area.SetVirtualCursor(false) // the terminal's own cursor, so that input methods compose in place
	off := func(b *key.Binding) { b.SetEnabled(false) }
	// These keys are intents here.
	off(&area.KeyMap.InsertNewline)
	off(&area.KeyMap.TransposeCharacterBackward)
	off(&area.KeyMap.PageUp)
	off(&area.KeyMap.PageDown)
	off(&area.KeyMap.Paste)
	area.KeyMap.LinePrevious.SetKeys("up")
	area.KeyMap.LineNext.SetKeys("down", "ctrl+n")
	c := &Composer{area: area}
	c.Restyle(st)
	return c
}

// Restyle draws in other styles from now on.
func (c *Composer) Restyle(st *themes.Styles) {
	c.st = st
	plain := textarea.StyleState{
		Base: lipgloss.NewStyle(), Text: st.Text, CursorLine: st.Text, Placeholder: st.Faint, Prompt: st.Accent, EndOfBuffer: st.Faint,
	}
	s := c.area.Styles()
	s.Focused, s.Blurred = plain, plain
	s.Cursor.Blink = false // a blinking cursor is the terminal's own affair
	c.area.SetStyles(s)
}

// Focus gives the message the keys.
func (c *Composer) Focus() { c.area.Focus() }

// Blur takes them away.
func (c *Composer) Blur() { c.area.Blur() }

// Value is what is written.
func (c *Composer) Value() string { return c.area.Value() }

// Empty reports whether nothing is written.
func (c *Composer) Empty() bool { return c.area.Value() == "" }

// SetValue replaces what is written.
func (c *Composer) SetValue(s string) {
	c.area.SetValue(s)
	c.area.MoveToEnd()
	c.complete()
}

// Clear empties the message and stops editing a queued prompt.
func (c *Composer) Clear() {
	c.area.Reset()
	c.editing, c.recall, c.draft = "", 0, ""
	c.hints.close()
}

// SetWidth wraps the message for lines of w cells.
func (c *Composer) SetWidth(w int) { c.area.SetWidth(max(w-1, 1)) }

// Rows is how many lines the message takes, wrapped.
func (c *Composer) Rows() int { return c.area.Height() }

// SetQueued shows the prompts that wait.
func (c *Composer) SetQueued(q []event.Queued) {
	c.queued = q
	if c.editing != "" {
		for _, p := range q {
			if p.ID == c.editing {
				return
			}
		}
		c.editing = "" // it was sent meanwhile; what is written stays, as a new prompt
	}
}

// SetHeld says whether queued prompts wait for the person, since the turn
// before them was stopped or failed. Sending an empty message then sends the
// first of them.
func (c *Composer) SetHeld(held bool) { c.held = held }

// Insert puts text at the cursor.
func (c *Composer) Insert(s string) {
	c.area.InsertString(s)
	c.complete()
}

// Mention puts @path at the cursor, with blanks around it where needed.
func (c *Composer) Mention(path string) {
	if v := c.area.Value(); v != "" && !strings.HasSuffix(v, " ") && !strings.HasSuffix(v, "\n") {
		path = " @" + path
	} else {
		path = "@" + path
	}
	c.area.MoveToEnd()
	c.area.InsertString(path + " ")
	c.hints.close()
}

// Type takes a key that is no intent, or a paste.
func (c *Composer) Type(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	if p, ok := msg.(tea.PasteMsg); ok {
		msg = tea.PasteMsg{Content: strings.ReplaceAll(p.Content, "\r\n", "\n")}
	}
	c.area, cmd = c.area.Update(msg)
	c.complete()
	return cmd
}

// Handle carries out an intent; ok is false when the key should be typed.
func (c *Composer) Handle(i intent.Intent, msg tea.KeyPressMsg) (act Action, ok bool) {
	if c.hints.Open() {
		switch i {
		case intent.Send, intent.NextPane:
			if text, ok := c.hints.accept(); ok {
				c.replaceWord(text)
				return nil, true
			}
		case intent.RecallPrev:
			c.hints.move(-1)
			return nil, true
		case intent.RecallNext:
			c.hints.move(1)
			return nil, true
		case intent.Back:
			c.hints.close()
			return nil, true
		}
	}
	switch i {
	case intent.Send:
		return c.send(), true
	case intent.Newline:
		c.area.InsertString("\n")
		return nil, true
	case intent.DropQueued:
		if len(c.queued) == 0 {
			return Say{"no prompt is queued"}, true
		}
		return Dropped{c.queued[len(c.queued)-1].ID}, true
	case intent.RecallPrev:
		if c.area.Line() > 0 || c.area.LineInfo().RowOffset > 0 {
			return nil, false
		}
		return nil, c.back()
	case intent.RecallNext:
		if c.recall == 0 || c.area.Line() < c.area.LineCount()-1 {
			return nil, false
		}
		c.forward()
		return nil, true
	}
	return nil, false
}

func (c *Composer) send() Action {
	text := strings.TrimRight(c.area.Value(), " \n\t")
	if strings.TrimSpace(text) == "" {
		if c.editing != "" {
			id := c.editing
			c.Clear()
			return Dropped{id}
		}
		if c.held && len(c.queued) > 0 {
			return Submitted{c.queued[0].Text, c.queued[0].ID}
		}
		return nil
	}
	act := Submitted{text, c.editing}
	c.past = append(c.past, text)
	c.Clear()
	return act
}

// Restore puts back a text that could not be sent.
func (c *Composer) Restore(text string) {
	if c.Empty() {
		c.SetValue(text)
	}
}

// back takes the last queued prompt for editing, else recalls earlier ones.
func (c *Composer) back() bool {
	if c.editing == "" && c.recall == 0 && c.Empty() && len(c.queued) > 0 {
		last := c.queued[len(c.queued)-1]
		c.SetValue(last.Text)
		c.editing = last.ID
		return true
	}
	if c.editing != "" || c.recall >= len(c.past) {
		return false
	}
	if c.recall == 0 {
		c.draft = c.area.Value()
	}
	c.recall++
	c.area.SetValue(c.past[len(c.past)-c.recall])
	return true
}

func (c *Composer) forward() {
	c.recall--
	if c.recall == 0 {
		c.area.SetValue(c.draft)
		return
	}
	c.area.SetValue(c.past[len(c.past)-c.recall])
}

// LoadPast sets the prompts that can be recalled, from a stored session.
func (c *Composer) LoadPast(prompts []string) { c.past = prompts }

// Lines draws the message into w by h cells. The last line holds the hints,
// if there is room for it.
func (c *Composer) Lines(w, h int, hint string) []string {
	rows := h
	if h > 2 {
		rows = h - 1
	}
	c.SetWidth(w)
	all := strings.Split(c.area.View(), "\n")
	if cur := c.area.Cursor(); cur != nil {
		c.top = min(max(c.top, cur.Y-max(rows, 1)+1), cur.Y)
	}
	c.top = max(min(c.top, len(all)-rows), 0)
	var lines []string
	for _, line := range all[c.top:min(c.top+max(rows, 1), len(all))] {
		lines = append(lines, " "+safetext.InOrder(line)) // a mentioned file may have any name
	}
	if rows < h {
		for len(lines) < rows {
			lines = append(lines, "")
		}
		lines = append(lines[:rows], " "+hint)
	}
	return lines
}

// Cursor is where the terminal's cursor belongs, inside the lines last drawn.
func (c *Composer) Cursor() (x, y int, ok bool) {
	cur := c.area.Cursor()
	if cur == nil {
		return 0, 0, false
	}
	return cur.X + 1, cur.Y - c.top, true
}

// QueueNote says in a few words what waits.
func (c *Composer) QueueNote(w int) string {
	switch {
	case c.editing != "":
		return c.st.Warn.Render("editing a queued prompt · empty drops it")
	case len(c.queued) == 0:
		return ""
	}
	next := c.queued[0].Text
	note := "queued " + strconv.Itoa(len(c.queued)) + ": " + safetext.Line(firstLine(next))
	if c.held {
		note = "held " + strconv.Itoa(len(c.queued)) + ", " + intent.KeyOf(intent.Send, []intent.Scope{intent.Composer}) + " sends it: " + safetext.Line(firstLine(next))
	}
	return c.st.Subtle.Render(ansi.Truncate(note, w, "…"))
}
