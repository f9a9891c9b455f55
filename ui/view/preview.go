package view

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"chela/themes"
	"chela/toolkit"
	"chela/ui/diff"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/wrap"
)

// MaxCommand is the length in bytes of a command or an address above which it
// can only be denied: nobody reads more than that before deciding.
const MaxCommand = 8 << 10

// preview draws what a plan will do. What is costly about it is kept.
type preview struct {
	plan  toolkit.Plan
	diff  *diff.Diff // of a change
	fault error      // why there is none
}

func newPreview(p toolkit.Plan) preview {
	v := preview{plan: p}
	if p.Preview.Kind == toolkit.PreviewDiff {
		v.diff, v.fault = diff.New(p.Preview.Path, p.Preview.Old, p.Preview.New)
	}
	return v
}

// hunks is the number of hunks of the change.
func (v *preview) hunks() int {
	if v.diff == nil {
		return 0
	}
	return len(v.diff.Hunks)
}

// sheet lays the preview out.
func (v *preview) sheet(st *themes.Styles, w int, o diff.Options) sheet {
	out := newWriter(st, w)
	for _, ask := range v.plan.Asks {
		out.prose("! ", ask, st.Warn)
	}
	var s sheet
	switch p := v.plan.Preview; p.Kind {
	case toolkit.PreviewDiff:
		s.plain = p.New
		out.notes(p.Notes)
		s.hunks = v.change(out, o)
	case toolkit.PreviewCommand:
		s.plain = p.Command
		out.command(p, v.plan.Deadline)
		out.notes(p.Notes)
	case toolkit.PreviewURL:
		s.plain = p.URL
		out.address(p, dialed(v.plan))
		out.notes(p.Notes)
	case toolkit.PreviewText:
		s.plain = p.Text
		out.notes(p.Notes)
		out.blank()
		out.verbatim(strings.Split(safetext.Review(p.Text), "\n"), "", "")
	default:
		out.notes(p.Notes)
		out.prose("", "This tool has no preview. It runs with these arguments:", st.Subtle)
		out.blank()
		out.verbatim(source(st, safetext.Review(pretty(string(v.plan.Args))), "json"), "", "")
	}
	s.lines = out.lines
	return s
}

// change draws a diff and returns where its hunks start.
func (v *preview) change(out *writer, o diff.Options) []int {
	p := v.plan.Preview
	if v.diff == nil {
		out.prose("✗ ", fmt.Sprintf("the versions cannot be compared (%v); this is the whole new text:", v.fault), out.st.Bad)
		out.verbatim(strings.Split(safetext.Review(p.New), "\n"), "", "")
		return nil
	}
	size := v.diff.Summary()
	if p.Old == "" && p.New != "" {
		size += " · new file"
	}
	out.path(p.Path, size)
	out.blank()
	d := diff.NewRenderer(*out.st).Render(v.diff, out.w, o)
	hunks := make([]int, len(d.Hunks))
	for i, at := range d.Hunks {
		hunks[i] = len(out.lines) + at
	}
	out.lines = append(out.lines, d.Lines...)
	return hunks
}

// path draws the file's path whole, and the size of the change beside it.
func (o *writer) path(path, size string) {
	rows := wrap.Hard(strings.ReplaceAll(safetext.Command(path), "\n", safetext.NewlineMark), o.w)
	last := len(rows) - 1
	for i, row := range rows {
		rows[i] = o.st.Strong.Render(row)
	}
	size = o.st.Subtle.Render(size)
	if with := ends(rows[last], o.w, size); with != rows[last] {
		rows[last] = with
	} else {
		rows = append(rows, size)
	}
	o.lines = append(o.lines, rows...)
}

func (o *writer) notes(notes []string) {
	for _, n := range notes {
		o.prose("· ", n, o.st.Subtle)
	}
}

// command draws a command line whole, then what it runs in.
func (o *writer) command(p toolkit.Preview, deadline time.Duration) {
	o.blank()
	o.verbatim(source(o.st, safetext.Command(p.Command), "bash"), o.st.Faint.Render("$ "), o.st.Faint.Render("> "))
	o.blank()
	if p.Program != "" {
		o.fact("program", safetext.Command(p.Program), o.st.Text)
	}
	folder := safetext.Command(p.Dir)
	if p.Dir == "" || p.Dir == "." {
		folder = "the workspace"
	}
	o.fact("folder", folder, o.st.Text)
	for _, e := range p.Env {
		o.fact("environment", safetext.Command(e), o.st.Text)
	}
	if deadline > 0 {
		o.fact("deadline", pane.Took(deadline), o.st.Text)
	}
	if p.Body != "" {
		o.heading("input")
		o.verbatim(strings.Split(safetext.Review(p.Body), "\n"), "", "")
	}
}

// address draws a request: where it goes, as the network sees it, and all that
// is sent.
func (o *writer) address(p toolkit.Preview, dialed []string) {
	o.blank()
	method := p.Method
	if method == "" {
		method = "GET"
	}
	o.verbatim(strings.Split(safetext.Command(method+" "+p.URL), "\n"), "", "")
	o.blank()
	if u, err := url.Parse(p.URL); err == nil && u.Hostname() != "" {
		style := o.st.Text
		if !safetext.ASCIIOnly(u.Hostname()) {
			style = o.st.Warn
		}
		o.fact("host", safetext.ASCII(u.Hostname()), style)
	}
	for _, d := range dialed {
		o.fact("dials", safetext.ASCII(d), o.st.Text)
	}
	for _, a := range p.Address {
		o.fact("address", safetext.ASCII(a), o.st.Text)
	}
	for _, h := range p.Headers {
		o.fact("header", safetext.Command(h), o.st.Text)
	}
	if p.Body != "" {
		o.heading("body")
		o.verbatim(strings.Split(safetext.Review(p.Body), "\n"), "", "")
	}
}

func dialed(p toolkit.Plan) []string {
	var out []string
	for _, e := range p.Effects {
		if e.Kind == toolkit.Dials {
			out = append(out, e.Target)
		}
	}
	return out
}

// warning names the hidden and confusable characters in what would be
// approved, or is empty.
func (v *preview) warning() string {
	p := v.plan.Preview
	var found []string
	look := func(where string, r safetext.Report) {
		if r.Any() {
			found = append(found, where+": "+r.String())
		}
	}
	look("the command", safetext.HiddenCommand(p.Command))
	look("the address", safetext.Hidden(p.URL))
	look("the path", safetext.Hidden(p.Path))
	look("the body", safetext.Hidden(p.Body))
	look("the headers", safetext.Hidden(strings.Join(p.Headers, "\n")))
	look("the environment", safetext.Hidden(strings.Join(p.Env, "\n")))
	look("the program", safetext.HiddenCommand(p.Program))
	look("the folder", safetext.Hidden(p.Dir))
	look("the text", safetext.Hidden(p.Text))
	look("the new lines", safetext.Hidden(v.added()))
	if p.Kind == toolkit.PreviewNone {
		look("the arguments", safetext.Hidden(string(v.plan.Args)))
	}
	return strings.Join(found, "; ")
}

// added is what a change brings in; what a file held before is no news.
func (v *preview) added() string {
	if v.diff == nil {
		return v.plan.Preview.New
	}
	var b strings.Builder
	for _, h := range v.diff.Hunks {
		for _, l := range h.Lines {
			if l.Kind == diff.Added {
				b.WriteString(strings.TrimSuffix(l.Text, "\r"))
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// tooLong reports whether the preview is more than a person can be expected to
// read before letting it run.
func (v *preview) tooLong() bool {
	return len(v.plan.Preview.Command) > MaxCommand || len(v.plan.Preview.URL) > MaxCommand
}
