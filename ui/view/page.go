package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/intent"
	"chela/ui/pane"
)

// Page is a text to read: help, a file, what a command says. Its lines are
// drawn as they are, so they must be harmless and styled already; wide ones
// are wrapped.
type Page struct {
	st     *themes.Styles
	title  string
	lines  []string // as given
	plain  string   // for copying
	wide   bool     // takes the whole screen
	scroll Scroll

	flow   func(w int) []string // makes lines for a screen of w cells; nil: they are what they are
	screen int                  // the width that lines were made for

	wrapped []string
	width   int
}

// NewPage returns a page. plain is what copying gives.
func NewPage(st *themes.Styles, title string, lines []string, plain string, wide bool) *Page {
	return &Page{st: st, title: title, lines: lines, plain: plain, wide: wide}
}

// NewFlowing returns a page whose lines are made for the width of the screen,
// and made anew when that changes.
func NewFlowing(st *themes.Styles, title, plain string, flow func(w int) []string) *Page {
	return &Page{st: st, title: title, plain: plain, flow: flow}
}

// Restyle draws everything in other styles from now on, as far as the page
// makes its lines itself.
func (p *Page) Restyle(st *themes.Styles) { p.st, p.screen = st, 0 }

// Scope says that the keys of reading hold.
func (p *Page) Scope() intent.Scope { return intent.Page }

// Title is the page's title.
func (p *Page) Title() string { return p.title }

// Note is how far it was read.
func (p *Page) Note() string { return p.scroll.Note() }

// Size is the whole screen, or as much as the text needs.
func (p *Page) Size(w, h int) (int, int) {
	if p.wide {
		return Full(w, h)
	}
	if p.flow != nil && p.screen != w {
		p.screen, p.width, p.lines = w, 0, p.flow(w)
	}
	widest := 30
	for _, l := range p.lines {
		widest = max(widest, ansi.StringWidth(l))
	}
	return Centered(w, h, widest+4, len(p.lines)+2)
}

// Disabled reports nothing.
func (p *Page) Disabled(intent.Intent) string { return "" }

// Handle scrolls and copies.
func (p *Page) Handle(i intent.Intent) (pane.Action, bool) {
	if i == intent.Copy {
		return pane.CopyText{Text: p.plain, What: p.title}, true
	}
	return nil, p.scroll.Handle(i)
}

// Lines draws the visible part.
func (p *Page) Lines(w, h int) []string {
	if p.width != w {
		p.width, p.wrapped = w, nil
		for _, l := range p.lines {
			p.wrapped = append(p.wrapped, strings.Split(ansi.Wrap(l, max(w-2, 1), ""), "\n")...)
		}
	}
	first, last := p.scroll.Window(len(p.wrapped), h)
	out := make([]string, 0, last-first)
	for _, l := range p.wrapped[first:last] {
		out = append(out, " "+l)
	}
	return out
}

// Scroll is a position in lines. The zero value is the start.
type Scroll struct {
	top, height, total int
	end                bool // the last line was on screen
}

// Handle moves by the intents of reading; false for others.
func (s *Scroll) Handle(i intent.Intent) bool {
	switch i {
	case intent.Up:
		s.top--
	case intent.Down:
		s.top++
	case intent.PageUp:
		s.top -= max(s.height-1, 1)
	case intent.PageDown:
		s.top += max(s.height-1, 1)
	case intent.Home:
		s.top = 0
	case intent.End:
		s.top = s.total
	default:
		return false
	}
	s.clamp()
	return true
}

// By moves by n lines, for the mouse wheel.
func (s *Scroll) By(n int) {
	s.top += n
	s.clamp()
}

// To brings a line to the top.
func (s *Scroll) To(line int) {
	s.top = line
	s.clamp()
}

func (s *Scroll) clamp() { s.top = max(0, min(s.top, s.total-s.height)) }

// Window sets the sizes and returns which lines are visible.
func (s *Scroll) Window(total, height int) (first, last int) {
	s.total, s.height = total, max(height, 0)
	s.clamp()
	last = min(s.top+s.height, total)
	if last >= total {
		s.end = true
	}
	return s.top, last
}

// Top is the first visible line.
func (s *Scroll) Top() int { return s.top }

// SeenEnd reports whether the last line has ever been on screen.
func (s *Scroll) SeenEnd() bool { return s.end }

// Reset goes back to the start and forgets that the end was seen.
func (s *Scroll) Reset() { *s = Scroll{} }

// Note is the position in words, empty when everything fits.
func (s *Scroll) Note() string {
	if s.total <= s.height || s.total == 0 {
		return ""
	}
	return fmt.Sprintf("%d–%d of %d", s.top+1, min(s.top+s.height, s.total), s.total)
}

// Scroll moves the page, for the mouse wheel.
func (p *Page) Scroll(n int) { p.scroll.By(n) }
