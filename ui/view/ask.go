package view

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/intent"
	"chela/ui/pane"
)

// Ask asks for one line of text.
type Ask struct {
	st    *themes.Styles
	title string
	about string
	field textinput.Model
	done  func(text string) pane.Action
}

// NewAsk returns a question. done makes the action of an answer; it may return
// nil to refuse an empty one.
func NewAsk(st *themes.Styles, title, about, placeholder string, done func(string) pane.Action) *Ask {
	return &Ask{st: st, title: title, about: about, field: newField(st, placeholder), done: done}
}

// SetValue fills the field.
func (a *Ask) SetValue(s string) *Ask {
	a.field.SetValue(s)
	a.field.CursorEnd()
	return a
}

// Scope says that the question's keys hold.
func (a *Ask) Scope() intent.Scope { return intent.Ask }

// Title is the question.
func (a *Ask) Title() string { return a.title }

// Note is empty.
func (a *Ask) Note() string { return "" }

// Size is one field and what it is about.
func (a *Ask) Size(w, h int) (int, int) {
	return Centered(w, h, 72, 6+strings.Count(ansi.Wrap(a.about, 68, ""), "\n"))
}

// Disabled reports nothing.
func (a *Ask) Disabled(intent.Intent) string { return "" }

// Handle takes the answer.
func (a *Ask) Handle(i intent.Intent) (pane.Action, bool) {
	if i != intent.Open {
		return nil, false
	}
	act := a.done(strings.TrimSpace(a.field.Value()))
	if act == nil {
		return pane.Say{Text: "write something first, or press esc"}, true
	}
	return act, true
}

// Type edits the answer.
func (a *Ask) Type(msg tea.Msg) (pane.Action, tea.Cmd) {
	var cmd tea.Cmd
	a.field, cmd = a.field.Update(msg)
	return nil, cmd
}

// Cursor is in the field.
func (a *Ask) Cursor() (int, int, bool) {
	c := a.field.Cursor()
	if c == nil {
		return 0, 0, false
	}
	return c.X + 1, a.aboutRows(), true
}

func (a *Ask) aboutRows() int {
	if a.about == "" {
		return 0
	}
	return strings.Count(a.about, "\n") + 1
}

// Lines draws what it is about, the field, and the keys.
func (a *Ask) Lines(w, h int) []string {
	a.field.SetWidth(max(w-5, 1))
	var out []string
	if a.about != "" {
		a.about = ansi.Wrap(a.about, max(w-2, 1), "")
		for _, l := range strings.Split(a.about, "\n") {
			out = append(out, " "+a.st.Subtle.Render(l))
		}
	}
	out = append(out, " "+a.field.View())
	for len(out) < h-1 {
		out = append(out, "")
	}
	return append(out[:max(h-1, 0)], a.st.Faint.Render(" ⏎ confirm   esc back"))
}
