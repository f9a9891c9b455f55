package themes

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Styles are the styles of a theme. Build them once per theme with [NewStyles]
// and hand them down; building one costs far more than copying it. None has a
// width, margin, padding or border, so that text keeps its size when styled.
type Styles struct {
	Theme Theme

	Text, Subtle, Faint, Accent lipgloss.Style
	OK, Warn, Bad               lipgloss.Style

	Title, TitleFocused   lipgloss.Style // of a pane
	Border, BorderFocused lipgloss.Style // of the border's lines
	Selection             lipgloss.Style // the chosen row of a list
	Match                 lipgloss.Style // a search hit
	Key, KeyHint          lipgloss.Style // a key in the footer, and what it does
	Disabled              lipgloss.Style // what cannot act now
	Cursor                lipgloss.Style

	Code Highlight

	DiffAdd, DiffDel         lipgloss.Style // the text of a changed line
	DiffAddWord, DiffDelWord lipgloss.Style // the words that changed in it
	DiffHunk, DiffNumber     lipgloss.Style
	DiffContext, DiffDropped lipgloss.Style

	Heading, Strong, Emph, Strike lipgloss.Style
	Link, URL, CodeSpan, Quote    lipgloss.Style
}

// Highlight has the styles of highlighted source text.
type Highlight struct {
	Text, Keyword, Type, Function, String, Number, Comment, Operator lipgloss.Style
}

// NewStyles builds the styles of t.
func NewStyles(t Theme) Styles {
	fg := func(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }
	s := Styles{
		Theme:  t,
		Text:   fg(t.Fg),
		Subtle: fg(t.Subtle),
		Faint:  fg(t.Faint).Faint(t.attributes),
		Accent: fg(t.Accent).Bold(t.attributes),
		OK:     fg(t.OK), Warn: fg(t.Warn), Bad: fg(t.Bad).Bold(t.attributes),

		Title:         fg(t.Subtle),
		TitleFocused:  fg(t.Accent).Bold(true),
		Border:        fg(t.Border).Faint(t.attributes),
		BorderFocused: fg(t.BorderFocused),
		Selection:     fg(t.SelectionFg).Background(t.SelectionBg).Reverse(t.attributes),
		Match:         fg(t.MatchFg).Background(t.MatchBg).Underline(true),
		Key:           fg(t.Fg).Bold(true),
		KeyHint:       fg(t.Faint).Faint(t.attributes),
		Disabled:      fg(t.Faint).Faint(true),
		Cursor:        lipgloss.NewStyle().Reverse(true),

		DiffAdd: fg(t.DiffAdd), DiffDel: fg(t.DiffDel),
		DiffAddWord: fg(t.DiffAddOnTint).Background(t.DiffAddTint).Bold(t.attributes).Underline(t.attributes),
		DiffDelWord: fg(t.DiffDelOnTint).Background(t.DiffDelTint).Bold(t.attributes).Underline(t.attributes),
		DiffHunk:    fg(t.Faint).Faint(t.attributes),
		DiffNumber:  fg(t.Faint).Faint(t.attributes),
		DiffContext: fg(t.Subtle),
		DiffDropped: fg(t.Faint).Strikethrough(true),

		Heading: fg(t.Accent).Bold(true),
		Strong:  fg(t.Fg).Bold(true),
		Emph:    fg(t.Fg).Italic(true),
		Strike:  fg(t.Subtle).Strikethrough(true),
		Link:    fg(t.Accent).Underline(true),
		URL:     fg(t.Faint).Faint(t.attributes),
		// No tint behind code in running text: it would be cut by wrapping.
		CodeSpan: fg(t.Code.String).Bold(t.attributes),
		Quote:    fg(t.Subtle).Italic(true),
	}
	s.Code = Highlight{
		Text:     fg(t.Code.Text),
		Keyword:  fg(t.Code.Keyword).Bold(t.attributes),
		Type:     fg(t.Code.Type),
		Function: fg(t.Code.Function),
		String:   fg(t.Code.String),
		Number:   fg(t.Code.Number),
		Comment:  fg(t.Code.Comment).Italic(true).Faint(t.attributes),
		Operator: fg(t.Code.Operator),
	}
	return s
}
