package pane

import (
	"path"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/toolkit"
	"chela/ui/diff"
	"chela/ui/intent"
	"chela/ui/safetext"
)

// maxCounted is the size in bytes of the two versions of a file up to which
// the queue counts the changed lines. The review shows them whatever the size.
const maxCounted = 1 << 20

// fact is a piece of the second line of a waiting call.
type fact struct {
	text string
	tone tone
}

// tone is the colour of a fact; the styles may change, the fact does not.
type tone uint8

const (
	plain tone = iota
	warn
	bad
)

func (t tone) style(st *themes.Styles) lipgloss.Style {
	switch t {
	case warn:
		return st.Warn
	case bad:
		return st.Bad
	}
	return st.Subtle
}

// draw returns the two lines of a waiting call.
func (a *Approvals) draw(it *waiting, selected bool, w int, now time.Time) []string {
	st := a.st
	if it.facts == nil {
		it.facts, it.hidden = factsOf(it.Plan)
	}
	dot, name := st.Warn, st.Text
	if it.Plan.Level == toolkit.Dangerous {
		dot = st.Bad
	}
	if selected {
		name = st.Selection
	}
	tool := ansi.Truncate(safetext.Line(it.Plan.Tool), max(w/3, shortNames), "…")
	left := cursor(st, selected) + dot.Render("●") + " " + name.Render(tool) + spaces(shortNames-ansi.StringWidth(tool)) +
		" " + st.Text.Render(safetext.Line(it.Plan.Summary))
	second := "   "
	for i, f := range it.facts {
		if i > 0 {
			second += st.Faint.Render(" · ")
		}
		second += f.tone.style(st).Render(f.text)
	}
	age := st.Faint.Render(Ago(now.Sub(it.Asked)))
	it.cut = ansi.StringWidth(left)+1+ansi.StringWidth(age) > w
	return []string{spread(left, age, w), ansi.Truncate(second, w, "…")}
}

// Disabled says why an intent cannot act on the selected call from here, or "".
// The queue has one line for it, so what hides something, is unusual, or is a
// command or address that this line does not hold whole, has to be opened
// before it can be allowed.
func (a *Approvals) Disabled(i intent.Intent) string {
	if !i.Allows() {
		return ""
	}
	if a.sel >= len(a.items) {
		return "no call waits for you"
	}
	it := a.items[a.sel]
	open := intent.KeyOf(intent.Open, []intent.Scope{intent.Approvals}) + " opens it"
	switch {
	case it.since.IsZero():
		return "not on the screen yet"
	case it.hidden:
		return "it holds hidden characters: " + open
	case len(it.Plan.Asks) > 0:
		return "this call is unusual: " + open
	case it.cut && it.Plan.Preview.Kind != toolkit.PreviewDiff, !onOneLine(it.Plan):
		return "not all of it is on the screen: " + open
	}
	return ""
}

// onOneLine reports whether the summary of a command or request is all there is
// to it: nothing that is sent or set beside it, no blanks or lines left out.
func onOneLine(p toolkit.Plan) bool {
	switch v := p.Preview; v.Kind {
	case toolkit.PreviewCommand:
		return strings.Contains(p.Summary, v.Command) && len(v.Env) == 0 && (v.Dir == "" || v.Dir == ".")
	case toolkit.PreviewURL:
		return strings.Contains(p.Summary, v.URL) && v.Body == "" && len(v.Headers) == 0
	}
	return true
}

// factsOf says in short what a person should know of a plan: how bad it can
// be, what it touches, and whether the text hides something.
func factsOf(p toolkit.Plan) (out []fact, hidden bool) {
	size, added := changeOf(p.Preview)
	if hidden = hides(p, added); hidden {
		out = append(out, fact{text: "! hidden characters", tone: warn})
	}
	level := fact{text: p.Level.String(), tone: plain}
	if p.Level == toolkit.Dangerous {
		level.tone = bad
	}
	out = append(out, level)
	if size != "" {
		out = append(out, fact{text: size})
	}
	out = append(out, touched(p)...)
	for _, ask := range p.Asks {
		out = append(out, fact{text: safetext.Line(ask), tone: warn})
	}
	return out, hidden
}

// changeOf is the size of a change in lines, and the text that it adds.
func changeOf(p toolkit.Preview) (size, added string) {
	if p.Kind != toolkit.PreviewDiff {
		return "", ""
	}
	if len(p.Old)+len(p.New) > maxCounted {
		return "large change", p.New
	}
	d, err := diff.New(p.Path, p.Old, p.New)
	if err != nil {
		return "change", p.New
	}
	return d.Summary(), addedBy(d)
}

// addedBy is the text of the lines that a change adds.
func addedBy(d *diff.Diff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l.Kind == diff.Added {
				b.WriteString(strings.TrimSuffix(l.Text, "\r"))
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// touched says what kinds of thing the plan reaches.
func touched(p toolkit.Plan) []fact {
	var out []fact
	var runs, dials, writes, outside bool
	for _, e := range p.Effects {
		switch e.Kind {
		case toolkit.Runs:
			if !runs {
				runs = true
				out = append(out, fact{text: "shell"})
			}
		case toolkit.Dials:
			if !dials {
				dials = true
				out = append(out, fact{text: "network"})
			}
			out = append(out, fact{text: safetext.Line(e.Target)})
		case toolkit.Writes:
			writes = true
			outside = outside || leaves(e.Target)
		}
	}
	switch {
	case outside:
		out = append(out, fact{text: "outside workspace", tone: bad})
	case writes:
		out = append(out, fact{text: "inside workspace"})
	}
	return out
}

// leaves reports whether a path is not below the workspace.
func leaves(p string) bool {
	clean := path.Clean(p)
	return path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../")
}

// hides reports whether what would be approved holds characters that cannot be
// seen, or that look like others. What a file held before is no news.
func hides(p toolkit.Plan, added string) bool {
	if safetext.HiddenCommand(p.Preview.Command).Any() {
		return true
	}
	for _, text := range []string{p.Summary, p.Preview.Path, p.Preview.URL, p.Preview.Body, p.Preview.Text, added} {
		if safetext.Hidden(text).Any() {
			return true
		}
	}
	return false
}

// copyOf is what copying a waiting call gives, and what that is.
func copyOf(p toolkit.Plan) (text, what string) {
	switch p.Preview.Kind {
	case toolkit.PreviewCommand:
		return p.Preview.Command, "the command"
	case toolkit.PreviewURL:
		return p.Preview.URL, "the address"
	case toolkit.PreviewDiff:
		return p.Preview.New, "the new text"
	}
	return string(p.Args), "the arguments"
}
