package view

import (
	"fmt"
	"slices"
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

// ToolRow is one tool of the catalogue as the session's model has it.
type ToolRow struct {
	Name     string
	Tier     string
	Level    string
	Tokens   int // of its schema
	Given    bool
	Why      string // why it is given, or why not; empty where the tier says it
	Promoted bool   // in settings.yml
	Demoted  bool   // in settings.yml
	Session  bool   // promoted or loaded for this session
}

// ToolsState is what the tools view shows.
type ToolsState struct {
	Model  string
	Reason string // of the tier
	Tokens int    // of the tools given
	Budget int    // 0: no limit
	Rows   []ToolRow
}

// The actions of the tools view.
type (
	// ToolForSession gives the model a tool for this session, or takes it away.
	ToolForSession struct {
		Name string
		On   bool
	}
	// ToolInSettings puts a tool into tools.promote or tools.demote, or out of it.
	ToolInSettings struct {
		Name string
		Want intent.Intent // PromoteTool or DemoteTool
	}
	// DescribeTool shows what a tool does and takes.
	DescribeTool struct{ Name string }
)

// Tools shows what a model gets, what each tool costs, and why the others are
// missing.
type Tools struct {
	st     *themes.Styles
	state  ToolsState
	shown  []int // indexes of the rows that match what was typed
	at     int
	top    int
	rows   int
	typing bool
	field  textinput.Model
}

// NewTools returns the view.
func NewTools(st *themes.Styles, s ToolsState) *Tools {
	t := &Tools{st: st, field: newField(st, "parts of a name")}
	t.SetState(s)
	return t
}

// SetState shows what is the case now. The marked tool stays marked.
func (t *Tools) SetState(s ToolsState) {
	name := ""
	if r, ok := t.current(); ok {
		name = r.Name
	}
	t.state = s
	t.narrow()
	if i := slices.IndexFunc(t.shown, func(i int) bool { return t.state.Rows[i].Name == name }); i >= 0 {
		t.at = i
	}
}

// Restyle draws everything in other styles from now on.
func (t *Tools) Restyle(st *themes.Styles) { t.st = st }

func (t *Tools) narrow() {
	t.shown = t.shown[:0]
	q := t.field.Value()
	names := make([]string, len(t.state.Rows))
	for i, r := range t.state.Rows {
		names[i] = r.Name
		if q == "" {
			t.shown = append(t.shown, i)
		}
	}
	if q != "" {
		for _, hit := range fuzzy.Find(q, names) {
			t.shown = append(t.shown, hit.Index)
		}
	}
	t.at = max(0, min(t.at, len(t.shown)-1))
}

func (t *Tools) current() (ToolRow, bool) {
	if t.at >= len(t.shown) {
		return ToolRow{}, false
	}
	return t.state.Rows[t.shown[t.at]], true
}

// Scope says which keys hold: while a name is typed, those of a list with a
// field.
func (t *Tools) Scope() intent.Scope {
	if t.typing {
		return intent.Menu
	}
	return intent.Tools
}

// Title names the model.
func (t *Tools) Title() string { return "Tools · " + safetext.Title(t.state.Model) }

// Note counts what is shown.
func (t *Tools) Note() string {
	if q := t.field.Value(); q != "" {
		return fmt.Sprintf("%d of %d match %q", len(t.shown), len(t.state.Rows), q)
	}
	return ""
}

// toolsWidth is what a row needs, with room for a reason.
const toolsWidth = 100

// Size is as much as the tools need.
func (t *Tools) Size(w, h int) (int, int) {
	return Centered(w, h, toolsWidth, len(t.state.Rows)+7)
}

// Disabled says why a key cannot act on the marked tool.
func (t *Tools) Disabled(i intent.Intent) string {
	r, ok := t.current()
	switch i {
	case intent.ToggleTool, intent.PromoteTool, intent.DemoteTool, intent.Open:
	default:
		return ""
	}
	switch {
	case !ok:
		return "no tool is marked"
	case i == intent.ToggleTool && r.Demoted:
		return r.Name + " is demoted in settings.yml: " + intent.KeyOf(intent.DemoteTool, []intent.Scope{intent.Tools}) + " takes it out there"
	case i == intent.ToggleTool && r.Given && !r.Session:
		return "the model has it by its tier or by settings.yml: " + intent.KeyOf(intent.DemoteTool, []intent.Scope{intent.Tools}) + " takes it away for all models"
	}
	return ""
}

// Handle moves, filters, and hands out what changes a tool.
func (t *Tools) Handle(i intent.Intent) (pane.Action, bool) {
	if t.typing {
		switch i {
		case intent.Open:
			t.typing = false
			return nil, true
		case intent.Back:
			t.typing = false
			t.field.SetValue("")
			t.narrow()
			return nil, true
		}
	}
	r, ok := t.current()
	switch i {
	case intent.Up:
		t.at--
	case intent.Down:
		t.at++
	case intent.PageUp:
		t.at -= max(t.rows-1, 1)
	case intent.PageDown:
		t.at += max(t.rows-1, 1)
	case intent.Home:
		t.at = 0
	case intent.End:
		t.at = len(t.shown) - 1
	case intent.Search:
		t.typing = true
	case intent.Copy:
		return pane.CopyText{Text: r.Name, What: "the tool's name"}, true
	case intent.Open:
		if ok {
			return DescribeTool{r.Name}, true
		}
	case intent.ToggleTool:
		if ok {
			return ToolForSession{r.Name, !r.Session}, true
		}
	case intent.PromoteTool, intent.DemoteTool:
		if ok {
			return ToolInSettings{r.Name, i}, true
		}
	default:
		return nil, false
	}
	t.at = max(0, min(t.at, len(t.shown)-1))
	return nil, true
}

// Type narrows the list while a name is typed.
func (t *Tools) Type(msg tea.Msg) (pane.Action, tea.Cmd) {
	if !t.typing {
		return nil, nil
	}
	before := t.field.Value()
	var cmd tea.Cmd
	if t.field, cmd = t.field.Update(msg); t.field.Value() != before {
		t.at, t.top = 0, 0
		t.narrow()
	}
	return nil, cmd
}

// Cursor is in the field while a name is typed.
func (t *Tools) Cursor() (int, int, bool) {
	c := t.field.Cursor()
	if !t.typing || c == nil {
		return 0, 0, false
	}
	return c.X + 1, 0, true
}

// Scroll moves the mark, for the mouse wheel.
func (t *Tools) Scroll(n int) { t.at = max(0, min(t.at+n, len(t.shown)-1)) }

// Lines draws the table, the sum and the keys.
func (t *Tools) Lines(w, h int) []string {
	head := t.st.Faint.Render(ansi.Truncate("   "+t.columns("tool", "tier", "level", "tokens", "state", w), w, ""))
	if t.typing {
		t.field.SetWidth(max(w-5, 1))
		head = " " + t.field.View()
	}
	out := []string{head}
	t.rows = max(h-4, 1)
	if t.at < t.top {
		t.top = t.at
	}
	if t.at >= t.top+t.rows {
		t.top = t.at - t.rows + 1
	}
	t.top = max(0, min(t.top, len(t.shown)-t.rows))
	for i := t.top; i < min(t.top+t.rows, len(t.shown)); i++ {
		out = append(out, t.row(t.state.Rows[t.shown[i]], i == t.at, w))
	}
	if len(t.shown) == 0 {
		out = append(out, t.st.Faint.Render("   no tool has such a name"))
	}
	for len(out) < h-3 {
		out = append(out, "")
	}
	given := 0
	for _, r := range t.state.Rows {
		if r.Given {
			given++
		}
	}
	sum := fmt.Sprintf(" %d of %d given · %d tokens", given, len(t.state.Rows), t.state.Tokens)
	if t.state.Budget > 0 {
		sum += fmt.Sprintf(" of a %d budget", t.state.Budget)
	}
	sum += " · " + safetext.Line(t.state.Reason)
	return append(out, "", t.st.Subtle.Render(ansi.Truncate(sum, w-1, "…")), " "+t.keys(w-2))
}

// columns lays a row out. Where there is little room, tier and level go first.
func (t *Tools) columns(name, tier, level, tokens, state string, w int) string {
	cells := 22 // the longest name
	if w < 50 {
		cells = 14
	}
	name = fmt.Sprintf("%-*s", cells, ansi.Truncate(name, cells, "…"))
	if w < 70 {
		return fmt.Sprintf("%s %6s  %s", name, tokens, state)
	}
	return fmt.Sprintf("%s %-10s %-10s %6s  %s", name, tier, level, tokens, state)
}

func (t *Tools) row(r ToolRow, marked bool, w int) string {
	sign, style := "  ", t.st.Subtle
	if r.Given {
		sign, style = t.st.OK.Render("✓")+" ", t.st.Text
	}
	lead := " "
	if marked {
		lead, style = t.st.Accent.Render("▌"), t.st.Selection
	}
	text := t.columns(safetext.Line(r.Name), r.Tier, r.Level, fmt.Sprint(r.Tokens), safetext.Line(r.Why), w)
	return lead + sign + style.Render(ansi.Truncate(text, max(w-4, 1), "…"))
}

// keys are those that act here, dim where they cannot.
func (t *Tools) keys(w int) string {
	var parts []string
	for _, b := range intent.ForScopes([]intent.Scope{t.Scope()}) {
		if !b.Footer {
			continue
		}
		style := t.st.Key
		if t.Disabled(b.Intent) != "" {
			style = t.st.Disabled
		}
		parts = append(parts, style.Render(intent.Show(b.Keys[0]))+" "+t.st.KeyHint.Render(b.Verb))
	}
	return ansi.Truncate(strings.Join(parts, "   "), w, "")
}
