package markdown

import (
	"charm.land/lipgloss/v2"

	"chela/themes"
)

// face is the look of a piece of running text: a base and what is added to it.
type face struct {
	base                            base
	bold, italic, strike, underline bool
}

type base uint8

const (
	plainText base = iota
	headingText
	quoteText
	codeText
	linkText
	urlText
	faintText
)

// pens makes the pens for faces as they come up.
type pens struct {
	styles map[base]lipgloss.Style
	made   map[face]themes.Pen
}

func newPens(s themes.Styles) pens {
	return pens{
		styles: map[base]lipgloss.Style{
			plainText: s.Text, headingText: s.Heading, quoteText: s.Quote,
			codeText: s.CodeSpan, linkText: s.Link, urlText: s.URL, faintText: s.Faint,
		},
		made: map[face]themes.Pen{},
	}
}

func (p pens) get(f face) themes.Pen {
	pen, ok := p.made[f]
	if !ok {
		s := p.styles[f.base]
		if f.bold {
			s = s.Bold(true)
		}
		if f.italic {
			s = s.Italic(true)
		}
		if f.strike {
			s = s.Strikethrough(true)
		}
		if f.underline {
			s = s.Underline(true)
		}
		pen = themes.NewPen(s)
		p.made[f] = pen
	}
	return pen
}

// codeCache keeps the last few coloured blocks of code, so that a block is not
// coloured again for each delta that arrives below it or for a new width.
type codeCache struct {
	entries [32]codeEntry
	next    int
}

type codeEntry struct {
	source, language string
	lines            []string
}

func (c *codeCache) lines(source, language string, colour func() []string) []string {
	for i := range c.entries {
		if e := &c.entries[i]; e.lines != nil && e.source == source && e.language == language {
			return e.lines
		}
	}
	e := codeEntry{source: source, language: language, lines: colour()}
	c.entries[c.next] = e
	c.next = (c.next + 1) % len(c.entries)
	return e.lines
}
