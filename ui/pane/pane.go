// Package pane holds the panes of the workstation: conversation, timeline,
// approvals, files, and the message being written.
//
// A pane is a plain struct that belongs to the screen's goroutine. It is fed
// with events, handles intents (never keys), and draws itself into exactly the
// lines it is asked for. It reaches nothing outside itself: what should happen
// elsewhere it returns as an [Action], which the root carries out.
package pane

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/ui/calls"
)

// Action is what a pane wants the root to do. Nil: nothing.
type Action any

// The actions of panes.
type (
	// OpenCall opens the page of a call.
	OpenCall struct{ ID string }
	// OpenReview opens a waiting call to be decided.
	OpenReview struct{ Approval string }
	// CopyText puts text on the clipboard; What names it for the toast.
	CopyText struct{ Text, What string }
	// InsertMention puts @path into the message.
	InsertMention struct{ Path string }
	// PreviewFile shows a file.
	PreviewFile struct{ Path string }
	// Say shows a short note: why a key did nothing, or what it did elsewhere.
	Say struct{ Text string }
	// FindFile opens the finder.
	FindFile struct{}
	// ReadFiles asks for the file tree to be read again.
	ReadFiles struct{}
)

// clock is when something happened, as a list shows it.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("15:04")
}

// Ago is an age in at most four cells: 12s, 5m, 3h, 8d.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Took is a duration as the timeline shows it: 4ms, 2.1s, 3m12s.
func Took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// Count is a number with the word that fits it: 1 turn, 3 turns.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// spread puts left and right at the two ends of a line of w cells; left is cut
// when both do not fit.
func spread(left, right string, w int) string {
	r := ansi.StringWidth(right)
	if r >= w {
		return ansi.Truncate(right, w, "…")
	}
	room := w - r
	if r > 0 {
		room--
	}
	left = ansi.Truncate(left, room, "…")
	return left + spaces(w-r-ansi.StringWidth(left)) + right
}

const blanks = "                                                                                                                                "

func spaces(n int) string {
	out := ""
	for n > len(blanks) {
		out += blanks
		n -= len(blanks)
	}
	if n <= 0 {
		return out
	}
	return out + blanks[:n]
}

// Brief is the one-line gist of a call: what its plan says, or the values of
// its arguments where it got no plan. It is not made harmless.
func Brief(c *calls.Call) string {
	if c.Summary == c.Args || c.Summary == c.Emitted {
		if text, ok := values(c.Summary); ok {
			return text
		}
	}
	return c.Summary
}

// values are the values of a flat JSON object in the order they were written,
// without the names, which a line has no room for. ok is false for anything
// else.
func values(raw string) (text string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	var out []string
	for dec.More() {
		if _, err := dec.Token(); err != nil { // the name
			return "", false
		}
		value, err := dec.Token()
		if _, nested := value.(json.Delim); err != nil || nested {
			return "", false
		}
		out = append(out, fmt.Sprint(value))
	}
	if _, err := dec.Token(); err != nil { // the object's end
		return "", false
	}
	return strings.Join(out, " · "), true
}
