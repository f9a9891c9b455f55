package view

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"chela/themes"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
)

// Choice is one line of a menu.
type Choice struct {
	Text   string
	About  string      // dim, at the right
	Action pane.Action // what choosing it does
	Why    string      // not empty: it cannot be chosen, and this is why
	Mark   bool        // the one in force
	Grade  pane.Action // what grading it does; nil: it has no grade
}

// Menu is a list to choose from, narrowed by typing.
type Menu struct {
	st    *themes.Styles
	title string
	all   []Choice
	shown []int // indexes into all, the best match first
	at    int
	top   int // first line drawn
	field textinput.Model
	hint  string // a line below, such as what enter will do
	free  func(text string) *Choice
	rows  int // drawn last
	wide  int // cells wanted; 0: 72
}

// NewMenu returns a menu. at is the line marked first.
func NewMenu(st *themes.Styles, title, placeholder string, choices []Choice) *Menu {
	m := &Menu{st: st, title: title, all: choices, field: newField(st, placeholder)}
	m.narrow()
	for i, c := range choices {
		if c.Mark {
			m.at = i
			break
		}
	}
	return m
}

// Free lets text that matches nothing be chosen too, such as a model's name to
// be pulled. f returns nil for text that it does not take.
func (m *Menu) Free(f func(text string) *Choice) *Menu {
	m.free = f
	return m
}

// Hint sets the line below the list.
func (m *Menu) Hint(s string) *Menu {
	m.hint = s
	return m
}

// SetChoices replaces the choices, keeping what was typed.
func (m *Menu) SetChoices(choices []Choice) {
	m.all = choices
	m.narrow()
}

func newField(st *themes.Styles, placeholder string) textinput.Model {
	f := textinput.New()
	f.Prompt = "> "
	f.Placeholder = placeholder
	f.SetVirtualCursor(false)
	s := f.Styles()
	plain := textinput.StyleState{Text: st.Text, Placeholder: st.Faint, Prompt: st.Accent, Suggestion: st.Faint}
	s.Focused, s.Blurred = plain, plain
	s.Cursor.Blink = false
	f.SetStyles(s)
	f.Focus()
	return f
}

func (m *Menu) narrow() {
	q := m.field.Value()
	m.shown = m.shown[:0]
	if q == "" {
		for i := range m.all {
			m.shown = append(m.shown, i)
		}
	} else {
		for _, hit := range fuzzy.FindFrom(q, choices(m.all)) {
			m.shown = append(m.shown, hit.Index)
		}
	}
	m.at = min(m.at, max(len(m.shown)-1, 0))
}

type choices []Choice

func (c choices) String(i int) string { return c[i].Text }
func (c choices) Len() int            { return len(c) }

// Scope says that the menu's keys hold.
func (m *Menu) Scope() intent.Scope { return intent.Menu }

// Title is the menu's title.
func (m *Menu) Title() string { return m.title }

// Note is empty: a menu's state is its lines.
func (m *Menu) Note() string { return "" }

// Size is as many rows as there are choices, up to most of the screen.
func (m *Menu) Size(w, h int) (int, int) {
	want := 72
	if m.wide > 0 {
		want = m.wide
	}
	return Centered(w, h, want, len(m.all)+6)
}

// Wide asks for more room, for choices with long texts.
func (m *Menu) Wide(cells int) *Menu {
	m.wide = cells
	return m
}

// Disabled reports nothing: the chosen line says itself why it cannot act.
func (m *Menu) Disabled(intent.Intent) string { return "" }

// Handle moves and chooses.
func (m *Menu) Handle(i intent.Intent) (pane.Action, bool) {
	last := max(m.count()-1, 0)
	switch i {
	case intent.Up:
		m.at--
	case intent.Down:
		m.at++
	case intent.PageUp:
		m.at -= max(m.rows-1, 1)
	case intent.PageDown:
		m.at += max(m.rows-1, 1)
	case intent.Open:
		return m.choose(), true
	case intent.CheckModel:
		if c := m.current(); c != nil && c.Grade != nil {
			return c.Grade, true
		}
		return pane.Say{Text: "only models have a grade"}, true
	default:
		return nil, false
	}
	m.at = max(0, min(m.at, last))
	return nil, true
}

// choose is what the marked choice does.
func (m *Menu) choose() pane.Action {
	c := m.current()
	switch {
	case c == nil:
		return pane.Say{Text: "nothing matches: type less"}
	case c.Why != "":
		return pane.Say{Text: c.Why}
	}
	return c.Action
}

// Click marks and chooses the line y, as drawn last; ok is false where there is
// no choice, such as in the field.
func (m *Menu) Click(y int) (act pane.Action, ok bool) {
	row := y - menuHead
	i := m.top + row
	if row < 0 || row >= m.rows || i >= m.count() {
		return nil, false
	}
	m.at = i
	return m.choose(), true
}

// current is the marked choice, or nil.
func (m *Menu) current() *Choice {
	if m.at < len(m.shown) {
		return &m.all[m.shown[m.at]]
	}
	return m.freeChoice()
}

func (m *Menu) freeChoice() *Choice {
	if m.free == nil || m.field.Value() == "" {
		return nil
	}
	return m.free(m.field.Value())
}

func (m *Menu) count() int {
	n := len(m.shown)
	if m.freeChoice() != nil {
		n++
	}
	return n
}

// Type narrows the list.
func (m *Menu) Type(msg tea.Msg) (pane.Action, tea.Cmd) {
	before := m.field.Value()
	var cmd tea.Cmd
	m.field, cmd = m.field.Update(msg)
	if m.field.Value() != before {
		m.at, m.top = 0, 0
		m.narrow()
	}
	return nil, cmd
}

// Cursor is in the field.
func (m *Menu) Cursor() (int, int, bool) {
	c := m.field.Cursor()
	if c == nil {
		return 0, 0, false
	}
	return c.X + 1, 0, true
}

// menuHead is how many lines stand above the choices: the field and a blank.
const menuHead = 2

// Lines draws the field, the choices and the hint.
func (m *Menu) Lines(w, h int) []string {
	m.field.SetWidth(max(w-5, 1))
	out := []string{" " + m.field.View(), ""}
	m.rows = max(h-menuHead-1, 1)
	if m.at < m.top {
		m.top = m.at
	}
	if m.at >= m.top+m.rows {
		m.top = m.at - m.rows + 1
	}
	n := m.count()
	m.top = max(0, min(m.top, n-m.rows))
	for i := m.top; i < min(m.top+m.rows, n); i++ {
		var c *Choice
		if i < len(m.shown) {
			c = &m.all[m.shown[i]]
		} else {
			c = m.freeChoice()
		}
		out = append(out, m.line(c, i == m.at, w))
	}
	if n == 0 {
		out = append(out, m.st.Faint.Render("   nothing matches"))
	}
	for len(out) < h-1 {
		out = append(out, "")
	}
	hint := m.hint
	if c := m.current(); c != nil && c.Why != "" {
		hint = "cannot: " + c.Why
	}
	return append(out, m.st.Faint.Render(" "+ansi.Truncate(hint, max(w-2, 1), "…")))
}

func (m *Menu) line(c *Choice, marked bool, w int) string {
	style, lead := m.st.Text, "   "
	switch {
	case marked:
		style, lead = m.st.Selection, m.st.Accent.Render(" ▌ ")
	case c.Why != "":
		style = m.st.Disabled
	}
	text := safetext.Line(c.Text)
	if c.Mark {
		text += " ·"
	}
	// The text has the room first: what is chosen must be readable whole.
	text = ansi.Truncate(text, max(w-4, 4), "…")
	room := max(w-4-ansi.StringWidth(text)-2, 0)
	about := ""
	if room >= 6 {
		about = ansi.Truncate(safetext.Line(c.About), room, "…")
	}
	gap := max(w-4-ansi.StringWidth(text)-ansi.StringWidth(about), 1)
	return lead + style.Render(text) + strings.Repeat(" ", gap) + m.st.Faint.Render(about)
}
