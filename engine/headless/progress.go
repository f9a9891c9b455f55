package headless

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chela/engine/event"
	"chela/toolkit"
)

// progress prints the events of a turn.
type progress struct {
	t     Terminal
	calls map[string]shownCall
	line  string // what came of the current line
	shown string // what of it was written
	wrote bool   // the answer has text
	mid   bool   // Out is inside a line
}

type shownCall struct{ tool, summary string }

func (p *progress) show(e event.Event) error {
	if p.t.JSON {
		return p.t.print(e)
	}
	switch b := e.Body.(type) {
	case event.TextDelta:
		return p.text(b.Text)
	case event.MessageDone:
		return p.endLine()
	case event.CallEmitted:
		p.calls[b.Call] = shownCall{tool: b.Tool}
	case event.CallJudged:
		c := p.calls[b.Call]
		c.summary = b.Plan.Summary
		p.calls[b.Call] = c
	case event.CallReturned:
		p.call(b)
	case event.Notice:
		p.t.note("%s", noticeText(b))
	case interface{ Notice() event.Notice }:
		if n := b.Notice(); n.Text != "" {
			p.t.note("%s", noticeText(n))
		}
	case event.TurnEnded:
		if err := p.endLine(); err != nil {
			return err
		}
		if b.Reason == event.EndedCompleted && !p.wrote {
			if err := p.text(b.Summary); err != nil {
				return err
			}
			return p.endLine()
		}
	}
	return nil
}

// text writes a piece of the answer. For a terminal the current line is
// cleaned as a whole each time, since what makes a character harmful (a mark
// without a base, a lone carriage return) may be cut in two by the stream.
func (p *progress) text(s string) error {
	p.wrote = p.wrote || strings.TrimSpace(s) != ""
	if !p.t.OutIsTerm || p.t.Safe == nil {
		return p.put(s)
	}
	for part := range strings.SplitAfterSeq(s, "\n") {
		p.line += part
		if err := p.flush(strings.HasSuffix(part, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// maxLine bounds the line that is cleaned again with each piece.
const maxLine = 4096

// flush writes what is new of the current line.
func (p *progress) flush(whole bool) error {
	line := p.line
	if !whole {
		line = strings.TrimSuffix(line, "\r") // a newline may follow
	}
	clean := p.t.safe(line)
	rest, ok := strings.CutPrefix(clean, p.shown)
	if !ok {
		rest = "\n" + clean
	}
	if err := p.put(rest); err != nil {
		return err
	}
	p.shown = clean
	if whole || len(p.line) > maxLine {
		p.line, p.shown = strings.TrimPrefix(p.line, line), ""
	}
	return nil
}

// endLine makes what follows begin on a line of its own.
func (p *progress) endLine() error {
	p.line, p.shown = "", ""
	if !p.mid {
		return nil
	}
	return p.put("\n")
}

func (p *progress) put(s string) error {
	if s == "" {
		return nil
	}
	if _, err := p.t.Out.Write([]byte(s)); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	p.mid = !strings.HasSuffix(s, "\n")
	return nil
}

// call writes the line of a finished call.
func (p *progress) call(b event.CallReturned) {
	c := p.calls[b.Call]
	mark, tail := "✓", ""
	switch {
	case b.Error != nil:
		mark, tail = "✗", strings.TrimPrefix(b.Error.Message, c.tool+" was not run: ")
	case len(b.Changed) > 0:
		tail = changes(b.Changed)
	}
	if b.Duration > 0 {
		tail = strings.TrimSpace(tail + " " + b.Duration.Round(time.Millisecond).String())
	}
	line := strings.Join(strings.Fields(p.t.clean(fmt.Sprintf("%s %s %s  %s", mark, c.tool, c.summary, tail), true)), " ")
	if p.t.ErrIsTerm && p.t.Width > 0 {
		line = ansi.Truncate(line, p.t.Width-1, "…")
	}
	fmt.Fprintln(p.t.Err, p.t.dim(line, p.t.ErrIsTerm))
}

func changes(list []toolkit.Change) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%s +%d -%d", c.Path, c.Added, c.Removed))
	}
	return strings.Join(parts, ", ")
}
