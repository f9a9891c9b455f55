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
	"chela/ui/safetext"
)

// maxCounted is the size in bytes of the two versions of a file up to which
// the queue counts the changed lines. The review shows them whatever the size.
const maxCounted = 1 << 20

// fact is a piece of the second line of a waiting call.
type fact struct {
	text  string
	tone  tone
	alarm bool // goes first, so that it is never cut off
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
		it.facts = factsOf(it.Plan)
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
	return []string{
		spread(left, st.Faint.Render(Ago(now.Sub(it.Asked))), w),
		ansi.Truncate(second, w, "…"),
	}
}

// factsOf says in short what a person should know of a plan: how bad it can
// be, what it touches, and whether the text hides something.
func factsOf(p toolkit.Plan) []fact {
	var out []fact
	if hides(p) {
		out = append(out, fact{"! hidden characters", warn, true})
	}
	level := fact{text: p.Level.String(), tone: plain}
	if p.Level == toolkit.Dangerous {
		level.tone = bad
	}
	out = append(out, level)
	if p.Preview.Kind == toolkit.PreviewDiff {
		out = append(out, fact{text: sizeOf(p.Preview)})
	}
	out = append(out, touched(p)...)
	for _, ask := range p.Asks {
		out = append(out, fact{text: safetext.Line(ask), tone: warn})
	}
	return out
}

// sizeOf is the size of a change in lines.
func sizeOf(p toolkit.Preview) string {
	if len(p.Old)+len(p.New) > maxCounted {
		return "large change"
	}
	d, err := diff.New(p.Path, p.Old, p.New)
	if err != nil {
		return "change"
	}
	return d.Summary()
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
// seen, or that look like others.
func hides(p toolkit.Plan) bool {
	return safetext.HiddenCommand(p.Preview.Command).Any() || safetext.Hidden(p.Preview.URL).Any() ||
		safetext.Hidden(p.Summary).Any() || safetext.Hidden(p.Preview.Path).Any() || added(p.Preview)
}

// added reports whether a change brings such characters in. Those that a file
// had before are no news.
func added(p toolkit.Preview) bool {
	now := safetext.Hidden(p.New)
	if !now.Any() {
		return false
	}
	return safetext.Hidden(p.Old).String() != now.String()
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
