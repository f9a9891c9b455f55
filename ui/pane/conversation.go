package pane

import (
	"fmt"
	"strings"

	"chela/engine"
	"chela/engine/event"
	"chela/store"
	"chela/themes"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/list"
	"chela/ui/markdown"
	"chela/ui/safetext"
)

// Conversation shows what was said, with each call as a line that opens.
type Conversation struct {
	look    look
	list    *list.List
	calls   *calls.Calls
	live    *answer // the message that streams now
	model   string
	counter int
	empty   func(w, h int) []string // what is shown while nothing was said
	drawn   []string                // the lines drawn last, reused
}

// NewConversation returns an empty conversation over the shared calls.
func NewConversation(st *themes.Styles, c *calls.Calls) *Conversation {
	v := &Conversation{calls: c, list: list.New(1, 1)}
	v.Restyle(st)
	return v
}

// Restyle draws everything in other styles from now on.
func (v *Conversation) Restyle(st *themes.Styles) {
	v.look.st, v.look.md = st, markdown.New(*st)
	if v.live != nil && v.live.stream != nil {
		fresh := v.look.md.NewStream()
		fresh.Append(v.live.text)
		v.live.stream = fresh
	}
	v.list.Invalidate()
}

// SetEmpty sets what is shown while nothing was said: at most h lines of at
// most w cells.
func (v *Conversation) SetEmpty(draw func(w, h int) []string) { v.empty = draw }

// Load shows a stored session.
func (v *Conversation) Load(t engine.Transcript) {
	var items []list.Item
	for _, m := range t.Messages {
		switch m.Role {
		case store.RoleUser:
			items = append(items, &prompt{&v.look, m.ID, m.Content, m.Created})
		case store.RoleAssistant:
			a := &answer{look: &v.look, id: m.ID, model: m.Model, at: m.Created, version: 1, gap: len(items) > 0 && isCall(items[len(items)-1])}
			a.finish(m.Content, m.Thinking, m.Partial)
			items = append(items, a)
			for _, id := range m.Calls {
				if c := v.calls.Get(id); c != nil {
					items = append(items, &callLine{&v.look, c})
				}
			}
		}
	}
	v.live = nil
	v.list.SetItems(items)
	v.list.End()
}

// Apply takes an event into account. Calls must have been applied to the
// shared record before.
func (v *Conversation) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.TurnStarted:
		v.model = b.Model
		v.list.Append(&prompt{&v.look, b.Message, b.Prompt, e.At})
	case event.TextDelta:
		a := v.answer(b.Message, e)
		a.text += b.Text
		a.say(b.Text)
	case event.ThinkingDelta:
		v.answer(b.Message, e).think(b.Text, e.At)
	case event.MessageDone:
		v.answer(b.Message, e).finish(b.Text, b.Thinking, b.Partial)
		v.live = nil
	case event.CallEmitted:
		v.list.Append(&callLine{&v.look, v.calls.Get(b.Call)})
	case event.Notice:
		v.Note(b.Level, b.Text, b.Hint)
	case interface{ Notice() event.Notice }:
		if n := b.Notice(); n.Text != "" {
			v.Note(n.Level, n.Text, n.Hint)
		}
	case event.TurnEnded:
		v.ended(b)
	}
}

// answer finds the message that streams, or begins it.
func (v *Conversation) answer(id string, e event.Event) *answer {
	if v.live == nil || v.live.id != id {
		if i, ok := v.list.Index(id); ok {
			if a, ok := v.list.At(i).(*answer); ok {
				return a
			}
		}
		last := v.list.Len() - 1
		v.live = &answer{
			look: &v.look, id: id, model: v.model, at: e.At, version: 1, stream: v.look.md.NewStream(), gap: last >= 0 && isCall(v.list.At(last)),
		}
		v.list.Append(v.live)
	}
	return v.live
}

func isCall(it list.Item) bool {
	_, ok := it.(*callLine)
	return ok
}

func (v *Conversation) ended(b event.TurnEnded) {
	switch b.Reason {
	case event.EndedCancelled:
		v.Note("warn", "stopped by you", "")
	case event.EndedSteps, event.EndedError:
		v.Note("error", b.Error, b.Hint)
	case event.EndedCompleted:
		if b.Summary != "" {
			v.Note("info", "completed: "+b.Summary, "")
		}
	}
}

// Note appends a line of the program itself.
func (v *Conversation) Note(level, text, hint string) {
	v.counter++
	v.list.Append(&note{&v.look, fmt.Sprintf("note-%d", v.counter), level, text, hint})
}

// Handle carries out an intent.
func (v *Conversation) Handle(i intent.Intent, focused bool) Action {
	v.list.SetSelecting(focused && v.list.Len() > 0)
	if act, ok := move(v.list, i); ok {
		return act
	}
	switch i {
	case intent.Open:
		switch it := v.selected().(type) {
		case *callLine:
			return OpenCall{it.call.ID}
		case *answer:
			return v.fold(it)
		}
		return Say{"nothing to open here: select a call with j and k"}
	case intent.Fold:
		if a, ok := v.selected().(*answer); ok {
			return v.fold(a)
		}
		return Say{"select a message of the model first"}
	case intent.Copy:
		return v.copy()
	}
	return nil
}

// Blur hides the selection.
func (v *Conversation) Blur() { v.list.SetSelecting(false) }

// Focus shows it.
func (v *Conversation) Focus() { v.list.SetSelecting(v.list.Len() > 0) }

// Scroll moves by lines, for the mouse wheel.
func (v *Conversation) Scroll(n int) { v.list.ScrollLines(n) }

// Click selects what is drawn in line y, and opens a call.
func (v *Conversation) Click(y int) Action {
	i, _, ok := v.list.ItemAt(y)
	if !ok {
		return nil
	}
	it := v.list.At(i)
	v.list.Select(it.ID())
	switch it := it.(type) {
	case *callLine:
		return OpenCall{it.call.ID}
	case *answer:
		if it.thinking.Len() > 0 {
			return v.fold(it)
		}
	}
	return nil
}

func (v *Conversation) selected() list.Item {
	it, ok := v.list.Selected()
	if !ok {
		return nil
	}
	return it
}

func (v *Conversation) fold(a *answer) Action {
	if a.thinking.Len() == 0 {
		return Say{"this message has no thinking"}
	}
	a.unfolded = !a.unfolded
	a.version++
	v.list.Replace(a.id, a) // a finished message is frozen; this thaws it
	return nil
}

func (v *Conversation) copy() Action {
	switch it := v.selected().(type) {
	case *prompt:
		return CopyText{it.text, "your message"}
	case *answer:
		return CopyText{it.text, "the message"}
	case *callLine:
		return CopyText{it.call.Output, "the output of " + it.call.Tool}
	case *note:
		return CopyText{strings.TrimSpace(it.text + "\n" + it.hint), "the note"}
	}
	return Say{"nothing is selected: move with j and k first"}
}

// Lines draws the pane.
func (v *Conversation) Lines(w, h int) []string {
	if v.list.Len() == 0 {
		if v.empty == nil {
			return clip(prose(v.look.st, "Starting.", w), w, h)
		}
		return clip(v.empty(w, h), w, h)
	}
	if w > 8 { // a margin, so that text does not lean on the border
		lines := v.lines(w-2, h)
		first, last := v.marked(lines)
		for i, l := range lines {
			v.drawn[i] = cursor(v.look.st, i >= first && i < last) + l
		}
		return v.drawn
	}
	return v.lines(w, h)
}

// marked are the lines of the selected item, without blank ones around it. The
// margin says which they are, so that it is not a matter of colour alone.
func (v *Conversation) marked(lines []string) (first, last int) {
	it, ok := v.list.Selected()
	if !ok {
		return 0, 0
	}
	for y, l := range lines {
		i, _, shown := v.list.ItemAt(y)
		if !shown || v.list.At(i).ID() != it.ID() || strings.TrimSpace(l) == "" {
			continue
		}
		if last == 0 {
			first = y
		}
		last = y + 1
	}
	return first, last
}

func (v *Conversation) lines(w, h int) []string {
	v.list.Resize(w, h)
	lines := v.list.Lines()
	if n := v.list.NewBelow(); n > 0 && h > 1 {
		// Over the last line, so that nothing moves.
		pill := v.look.st.Accent.Render(fmt.Sprintf(" ↓ %d new below · G ", n))
		lines[h-1] = spread("", pill, w)
	}
	if len(v.drawn) != len(lines) {
		v.drawn = make([]string, len(lines))
	}
	return lines
}

// Title is the pane's title: the session's.
func (v *Conversation) Title(session string) string {
	if session == "" {
		return "Conversation"
	}
	return safetext.Title(session)
}

// move carries out the intents that move in a list; ok is false for others.
func move(l *list.List, i intent.Intent) (Action, bool) {
	switch i {
	case intent.Up:
		l.Move(-1)
	case intent.Down:
		l.Move(1)
	case intent.PageUp:
		l.ScrollPages(-1)
	case intent.PageDown:
		l.ScrollPages(1)
	case intent.Home:
		l.Home()
	case intent.End:
		l.End()
	default:
		return nil, false
	}
	return nil, true
}
