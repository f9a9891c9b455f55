package view

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/store"
	"chela/themes"
	"chela/ui/calls"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/safetext"
)

// The actions of the history.
type (
	// SearchHistory asks for what matches a text.
	SearchHistory struct{ Text string }
	// OpenHit opens what was found: a call, or the session of a message.
	OpenHit struct{ Hit store.HistoryHit }
	// GoToSession resumes the session of what was found.
	GoToSession struct{ Hit store.HistoryHit }
)

// History shows what was said and done, found while it is typed.
type History struct {
	st    *themes.Styles
	now   time.Time
	field textinput.Model
	hits  []store.HistoryHit
	fault string
	more  bool // there are more than are shown
	asked string
	at    int
	top   int
	rows  int
}

// NewHistory returns the view with a first question.
func NewHistory(st *themes.Styles, now time.Time, text string) *History {
	h := &History{st: st, now: now, field: newField(st, `words, "phrases", tool:exec status:failed file:x since:7d`)}
	h.field.SetValue(text)
	h.field.CursorEnd()
	return h
}

// Restyle draws everything in other styles from now on.
func (h *History) Restyle(st *themes.Styles) { h.st = st }

// Text is what is asked for.
func (h *History) Text() string { return h.field.Value() }

// SetHits shows what was found for a text, unless something else is asked for
// by now.
func (h *History) SetHits(text string, hits []store.HistoryHit, more bool, err error) {
	if text != h.field.Value() {
		return
	}
	h.asked, h.hits, h.more, h.fault = text, hits, more, ""
	if err != nil {
		h.fault = err.Error()
	}
	h.at = max(0, min(h.at, len(hits)-1))
}

// Scope says which keys hold.
func (h *History) Scope() intent.Scope { return intent.History }

// Title names the view.
func (h *History) Title() string { return "History" }

// Note counts what was found.
func (h *History) Note() string {
	if h.asked != h.field.Value() {
		return "searching"
	}
	n := fmt.Sprint(len(h.hits))
	if h.more {
		n += "+"
	}
	return n + " found, newest first"
}

// Size is the whole screen.
func (h *History) Size(w, hh int) (int, int) { return Full(w, hh) }

// Disabled says why a key cannot act.
func (h *History) Disabled(i intent.Intent) string {
	if (i == intent.Open || i == intent.GoSession) && len(h.hits) == 0 {
		return "nothing was found"
	}
	return ""
}

// Handle moves, and hands out what is opened.
func (h *History) Handle(i intent.Intent) (pane.Action, bool) {
	switch i {
	case intent.Up:
		h.at--
	case intent.Down:
		h.at++
	case intent.PageUp:
		h.at -= max(h.rows-1, 1)
	case intent.PageDown:
		h.at += max(h.rows-1, 1)
	case intent.Open:
		return OpenHit{h.hits[h.at]}, true
	case intent.GoSession:
		return GoToSession{h.hits[h.at]}, true
	default:
		return nil, false
	}
	h.at = max(0, min(h.at, len(h.hits)-1))
	return nil, true
}

// Type changes the question.
func (h *History) Type(msg tea.Msg) (pane.Action, tea.Cmd) {
	before := h.field.Value()
	var cmd tea.Cmd
	if h.field, cmd = h.field.Update(msg); h.field.Value() != before {
		h.at, h.top = 0, 0
		return SearchHistory{h.field.Value()}, cmd
	}
	return nil, cmd
}

// Cursor is in the field.
func (h *History) Cursor() (int, int, bool) {
	c := h.field.Cursor()
	if c == nil {
		return 0, 0, false
	}
	return c.X + 1, 0, true
}

// Scroll moves the mark, for the mouse wheel.
func (h *History) Scroll(n int) { h.at = max(0, min(h.at+n, len(h.hits)-1)) }

// Lines draws the field, what was found, and more about the marked one.
func (h *History) Lines(w, height int) []string {
	h.field.SetWidth(max(w-5, 1))
	out := []string{" " + h.field.View()}
	foot := h.about(w, min(6, max(height/4, 1)))
	h.rows = max(height-2-len(foot)-1, 1)
	if h.at < h.top {
		h.top = h.at
	}
	if h.at >= h.top+h.rows {
		h.top = h.at - h.rows + 1
	}
	h.top = max(0, min(h.top, len(h.hits)-h.rows))
	out = append(out, "")
	for i := h.top; i < min(h.top+h.rows, len(h.hits)); i++ {
		out = append(out, h.row(h.hits[i], i == h.at, w))
	}
	if len(h.hits) == 0 && h.asked == h.field.Value() {
		text := "   nothing was found: fewer words find more"
		if h.fault != "" {
			text = "   " + safetext.Line(h.fault)
		}
		out = append(out, h.st.Faint.Render(ansi.Truncate(text, w-1, "…")))
	}
	for len(out) < height-len(foot)-1 {
		out = append(out, "")
	}
	return append(append(out, h.st.Faint.Render(strings.Repeat("─", max(w, 0)))), foot...)
}

func (h *History) row(hit store.HistoryHit, marked bool, w int) string {
	lead, style := " ", h.st.Text
	if marked {
		lead, style = h.st.Accent.Render("▌"), h.st.Selection
	}
	who, sign := hit.Tool, " "
	if hit.Kind == "message" {
		who = map[string]string{"user": "you", "assistant": "model"}[hit.Role]
	} else {
		glyph, st := calls.Glyph(store.CallState(hit.State), h.st)
		sign = st.Render(glyph)
	}
	what := hit.What
	if hit.Kind == "message" && hit.Snippet != "" {
		what = hit.Snippet
	}
	text := fmt.Sprintf("%-10s %s", ansi.Truncate(safetext.Line(who), 10, "…"), safetext.Line(what))
	return lead + h.st.Faint.Render(fmt.Sprintf("%-7s", h.when(hit.At))) + sign + " " + style.Render(ansi.Truncate(text, max(w-12, 1), "…"))
}

// when is a time as far back as it is: the hour today, the day before, the date.
func (h *History) when(at time.Time) string {
	at = at.Local()
	switch age := h.now.Sub(at); {
	case age < 20*time.Hour && at.Day() == h.now.Local().Day():
		return at.Format("15:04")
	case age < 6*24*time.Hour:
		return at.Format("Mon")
	case age < 300*24*time.Hour:
		return at.Format("02 Jan")
	}
	return at.Format("2006-01")
}

// about is what is known of the marked one beyond its row.
func (h *History) about(w, most int) []string {
	if len(h.hits) == 0 {
		return nil
	}
	hit := h.hits[h.at]
	head := fmt.Sprintf("%s · session %q, turn %d", hit.At.Local().Format("2006-01-02 15:04:05"), safetext.Title(hit.Title), hit.Turn)
	if hit.Kind == "call" {
		head += " · " + hit.State
		if hit.By != "" {
			head += ", decided by " + hit.By
		}
	}
	out := []string{" " + h.st.Subtle.Render(ansi.Truncate(head, w-2, "…"))}
	text := hit.Snippet
	if text == "" {
		text = hit.What
	}
	for _, l := range strings.Split(ansi.Wrap(safetext.Line(text), max(w-2, 1), ""), "\n") {
		if len(out) >= most {
			break
		}
		out = append(out, " "+h.st.Text.Render(l))
	}
	return out
}
