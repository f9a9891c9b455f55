package view

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/store"
	"chela/toolkit"
	"chela/ui/calls"
	"chela/ui/diff"
	"chela/ui/pane"
	"chela/ui/safetext"
)

// maxShown is how many bytes of an output a page shows. Laying out more would
// be felt, and copying gives all of it.
const maxShown = 1 << 20

// output is what came back, with what went wrong in front of it.
func (p *CallPage) output(w int) sheet {
	c, out := p.call, newWriter(p.st, w)
	if c.Error != nil {
		out.fault(c.Error)
		out.blank()
	}
	text := c.Output
	if c.Full != "" && c.Full != c.Output {
		text = c.Full
		out.prose("· ", fmt.Sprintf("the model got %d of these %d characters", len([]rune(c.Output)), len([]rune(c.Full))), p.st.Subtle)
		out.blank()
	}
	copied := text
	if c.Error != nil { // the model reads it below the output; here it stands above
		text = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(text, c.Error.Error()), "error: "), "\n")
	}
	if d := c.Drawing(); d != "" {
		out.verbatim(strings.Split(strings.TrimRight(safetext.Block(d), "\n"), "\n"), "", "")
		out.blank()
		out.heading("what the model got")
	}
	if len(text) > maxShown {
		out.prose("· ", fmt.Sprintf("the first %d KiB of %d; copying gives all", maxShown>>10, len(text)>>10), p.st.Warn)
		out.blank()
		text = strings.ToValidUTF8(text[:maxShown], "")
	}
	switch {
	case text != "":
		out.verbatim(strings.Split(strings.TrimSuffix(safetext.Block(text), "\n"), "\n"), "", "")
	case !c.Finished():
		out.prose("", "No output yet: the call "+calls.Word(c.State)+".", p.st.Faint)
	case c.Error == nil:
		out.prose("", "No output.", p.st.Faint)
	}
	return sheet{lines: out.lines, plain: copied}
}

func (o *writer) fault(e *toolkit.Error) {
	o.prose("✗ ", e.Message, o.st.Bad)
	if e.Hint != "" {
		o.prose("  ", e.Hint, o.st.Subtle)
	}
}

// arguments shows them as they run, and as they came if that is something else.
func (p *CallPage) arguments(w int) sheet {
	c, out := p.call, newWriter(p.st, w)
	emitted, args := pretty(c.Emitted), pretty(c.Args)
	show := func(text string) {
		out.verbatim(source(p.st, safetext.Block(text), "json"), "", "")
	}
	switch {
	case args == "" || args == emitted:
		show(emitted)
		return sheet{lines: out.lines, plain: emitted}
	case len(c.Repairs) > 0:
		out.heading("repaired")
		for _, r := range c.Repairs {
			out.prose("· ", r, p.st.Warn)
		}
	}
	out.heading("as it runs")
	show(args)
	out.heading("as the model wrote it")
	show(emitted)
	return sheet{lines: out.lines, plain: args}
}

// change shows the preview that the call was judged by, and the files that it
// changed in the end.
func (p *CallPage) change(w int, o diff.Options) sheet {
	c, out := p.call, newWriter(p.st, w)
	for _, f := range c.Changed {
		out.fact(safetext.Line(f.Kind), fmt.Sprintf("%s  +%d -%d", safetext.Line(f.Path), f.Added, f.Removed), p.st.Text)
	}
	out.blank()
	if c.Plan.Preview.Kind == toolkit.PreviewNone {
		if len(c.Changed) == 0 {
			out.prose("", "This call changes nothing.", p.st.Faint)
		}
		return sheet{lines: out.lines}
	}
	s := p.preview.sheet(p.st, w, o)
	for i := range s.hunks {
		s.hunks[i] += len(out.lines)
	}
	s.lines = append(out.lines, s.lines...)
	return s
}

// steps shows the five steps with their times, and what was decided by whom.
func (p *CallPage) steps(w int) sheet {
	c, out := p.call, newWriter(p.st, w)
	p.timeline(out)

	if c.Decision != "" {
		out.heading("decision")
		out.fact("decided", decided(c), p.st.Text)
		if c.Level != "" {
			out.fact("level", safetext.Line(c.Level), p.st.Text)
		}
		if c.Rule != "" {
			out.fact("rule", safetext.Line(c.Rule), p.st.Text)
		}
		if c.Reason != "" {
			out.says("remark", safetext.Review(c.Reason), p.st.Text)
		}
		for i, reason := range c.Reasons {
			label := ""
			if i == 0 {
				label = "because"
			}
			out.says(label, safetext.Line(reason), p.st.Text)
		}
	}
	if len(c.Repairs) > 0 {
		out.heading("repaired")
		for _, r := range c.Repairs {
			out.prose("· ", r, p.st.Text)
		}
	}
	if e := c.Error; e != nil {
		out.heading("error")
		out.fact("code", safetext.Line(string(e.Code)), p.st.Bad)
		out.says("message", safetext.Review(e.Message), p.st.Text)
		if e.Hint != "" {
			out.says("hint", safetext.Review(e.Hint), p.st.Text)
		}
		again := "no"
		if e.Retryable {
			again = "yes"
		}
		out.fact("retryable", again, p.st.Text)
	}
	return sheet{lines: out.lines}
}

// decided says the decision and who made it.
func decided(c *calls.Call) string {
	text := safetext.Line(c.Decision)
	if c.By == "" {
		return text
	}
	by := safetext.Line(c.By)
	switch {
	case c.By == "you" && c.State == store.CallDenied:
		return text + ", denied by you"
	case c.By == "you" && c.State != store.CallCancelled:
		return text + ", allowed by you"
	case c.By == "you":
		return text
	case c.Decision == "ask" && !c.Finished():
		return text + ", waits for you"
	}
	return text + ", by " + by
}

// timeline draws the five steps. Each time is that of the step's end; beside it
// stands how long after the step before that was.
func (p *CallPage) timeline(out *writer) {
	c := p.call
	before := time.Time{}
	step := func(name string, at time.Time, bad bool, note string) {
		sign, style, when, after := "○", p.st.Faint, "", ""
		switch {
		case !at.IsZero():
			sign, style, when = "✓", p.st.OK, at.Local().Format("15:04:05.000")
			if bad {
				sign, style = "✗", p.st.Bad
			}
			if !before.IsZero() {
				after = "+" + since(at.Sub(before))
			}
			before = at
		case bad:
			sign, style = "✗", p.st.Bad
		}
		out.step(sign, style, name, when, after, note)
	}
	valid := ""
	if n := len(c.Repairs); n > 0 {
		valid = fmt.Sprintf("%d repaired", n)
	}
	invalid := c.Error != nil && c.JudgedAt.IsZero() && c.Args == ""
	step("emitted", c.EmittedAt, false, safetext.Line(c.Origin))
	step("valid", c.ValidatedAt, invalid, valid)
	step("judged", c.JudgedAt, c.Decision == "deny", safetext.Line(c.Decision))
	running := ""
	if !c.RunAt.IsZero() {
		if took := p.took(); took != "" {
			running = "ran " + took
			if c.ReturnedAt.IsZero() {
				running = "runs for " + took
			}
		}
	}
	step("run", c.RunAt, false, running)
	step("returned", c.ReturnedAt, c.Bad(), calls.Word(c.State))
}

// since is a duration, also a very short one.
func since(d time.Duration) string {
	if d < time.Millisecond {
		return "0ms"
	}
	return pane.Took(d)
}

// step draws one line of the timeline, leaving out what there is no room for.
func (o *writer) step(sign string, style lipgloss.Style, name, when, after, note string) {
	line := style.Render(sign) + " " + o.st.Text.Render(fmt.Sprintf("%-9s", name))
	used := 11
	for _, part := range []struct {
		text  string
		width int
		style lipgloss.Style
	}{{when, 12, o.st.Faint}, {after, 7, o.st.Faint}, {note, 0, o.st.Subtle}} {
		n := max(part.width, ansi.StringWidth(part.text))
		if used+1+n > o.w {
			break
		}
		line += " " + part.style.Render(part.text) + strings.Repeat(" ", n-ansi.StringWidth(part.text))
		used += 1 + n
	}
	o.lines = append(o.lines, strings.TrimRight(line, " "))
}
