package pane

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/store"
	"chela/ui/calls"
	"chela/ui/safetext"
)

const (
	withClock  = 38 // the width from which on a row shows the time of day
	shortNames = 10 // cells of a tool's name at least
)

// callRow is one call in the timeline.
type callRow struct {
	pane *Timeline
	call *calls.Call
}

func (r *callRow) ID() string     { return r.call.ID }
func (r *callRow) Finished() bool { return r.call.Finished() }

// Version also counts the seconds of a call that runs, which is what makes its
// age go on.
func (r *callRow) Version() uint64 {
	v := r.call.Version() << 20
	if r.call.State == store.CallRunning {
		v += uint64(max(r.running()/time.Second, 0)) & (1<<20 - 1)
	}
	return v
}

func (r *callRow) running() time.Duration { return r.pane.now.Sub(r.call.RunAt) }

func (r *callRow) Render(w int, selected bool) []string {
	st, c := r.pane.look.st, r.call
	glyph, style := calls.Glyph(c.State, st)
	lead := cursor(st, selected)
	if w >= withClock {
		at := "        "
		if !c.EmittedAt.IsZero() {
			at = c.EmittedAt.Local().Format(time.TimeOnly)
		}
		lead += st.Faint.Render(at) + " "
	}
	name := st.Text
	if selected {
		name = st.Selection
	}
	tool := ansi.Truncate(safetext.Line(c.Tool), max(w/3, shortNames), "…")
	pad := spaces(shortNames - ansi.StringWidth(tool))
	left := lead + style.Render(glyph) + " " + name.Render(tool) + pad + " " + st.Subtle.Render(safetext.Line(Brief(c)))
	out := []string{spread(left, r.right(), w)}
	if second := r.second(); second != "" {
		// Below the tool's name, or further left if it only fits there.
		indent := ansi.StringWidth(lead) + 2
		if indent+ansi.StringWidth(second) > w {
			indent = 3
		}
		out = append(out, spaces(indent)+ansi.Truncate(second, max(w-indent, 1), "…"))
	}
	return out
}

// right is how long the call took, or what it is doing.
func (r *callRow) right() string {
	st, c := r.pane.look.st, r.call
	_, style := calls.Glyph(c.State, st)
	switch c.State {
	case store.CallRunning:
		return style.Render(elapsed(r.running()))
	case store.CallDone:
		return st.Faint.Render(Took(c.Duration(c.ReturnedAt)))
	case store.CallFailed:
		if took := Took(c.Duration(c.ReturnedAt)); took != "" {
			return st.Faint.Render(took)
		}
	}
	return style.Render(calls.Word(c.State))
}

// second is the line below: why it went wrong, or which steps it has passed.
func (r *callRow) second() string {
	st, c := r.pane.look.st, r.call
	switch {
	case c.Bad():
		return st.Faint.Render(safetext.Line(firstLine(r.why())))
	case c.State == store.CallWaiting:
		return st.Faint.Render("emitted ") + st.OK.Render("✓") + st.Faint.Render(" valid ") + st.OK.Render("✓") +
			st.Faint.Render(" judged: ") + st.Warn.Render("ask")
	case c.State == store.CallRunning:
		judged := safetext.Line(c.Decision)
		if c.By == "you" {
			judged = "you" // decided; that it asked is past, and the row is short
		}
		return st.Faint.Render("emitted ") + st.OK.Render("✓") + st.Faint.Render(" valid ") + st.OK.Render("✓") +
			st.Faint.Render(" judged: "+judged+" ") + st.OK.Render("✓") + st.Faint.Render(" ") + st.Accent.Render("runs")
	}
	return ""
}

// why says why a call went wrong. Where the end of the first line has no room
// for the state in a word, it comes first here: the sign in front of the row
// must not be the only thing that says so.
func (r *callRow) why() string {
	c := r.call
	var reason string
	switch {
	case c.State == store.CallDenied:
		reason = denial(c)
	case c.Error != nil:
		reason = c.Error.Message
	case c.State == store.CallInterrupted:
		reason = "the program ended before the call did"
	}
	reason = strings.TrimSpace(reason)
	switch word := calls.Word(c.State); {
	case c.State != store.CallFailed || c.Duration(c.ReturnedAt) <= 0:
		return reason
	case reason == "":
		return word
	default:
		return word + " · " + reason
	}
}

// denial says who denied a call, and why, to the person; what the model reads
// speaks of the person as of somebody else.
func denial(c *calls.Call) string {
	switch {
	case c.By == "you" && c.Reason != "":
		return "by you: " + c.Reason
	case c.By == "you":
		return "by you"
	case c.Reason != "":
		return c.Reason
	case len(c.Reasons) > 0:
		return strings.Join(c.Reasons, "; ")
	case c.Error != nil:
		return c.Error.Message
	}
	return ""
}
