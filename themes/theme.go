// Package themes holds chela's colours as semantic tokens and the styles built
// from them.
//
// It guarantees that no theme sets the terminal's own foreground or background
// colour, that the text tokens of Light and Dark reach a contrast of 4.5 to 1
// (WCAG 2.2, level AA) on the backgrounds that such terminals have, and that
// what a colour says is never said by colour alone: styles that mark a state
// differ in an attribute too wherever a theme has no colours.
//
// Everything here is a value without hidden state and safe for concurrent use.
package themes

import (
	"image/color"
	"slices"

	"charm.land/lipgloss/v2"
)

// Theme is one palette. The tokens name a purpose, not a colour.
type Theme struct {
	Name string
	Dark bool // made for a dark background

	// One accent and three greys.
	Accent color.Color
	Fg     color.Color // what is read
	Subtle color.Color // what is read second
	Faint  color.Color // hints, line numbers, what is over

	OK, Warn, Bad color.Color

	Border, BorderFocused color.Color

	SelectionFg, SelectionBg color.Color
	MatchFg, MatchBg         color.Color // a search hit

	// A changed line has DiffAdd or DiffDel as its text colour; only the
	// words that changed get a tint behind them.
	DiffAdd, DiffDel             color.Color
	DiffAddTint, DiffDelTint     color.Color
	DiffAddOnTint, DiffDelOnTint color.Color

	Code Code

	// attributes is set where the greys and tints have no colours of their
	// own and the terminal's attributes have to stand in for them.
	attributes bool
}

// Code has the colours of highlighted source text.
type Code struct {
	Text, Keyword, Type, Function, String, Number, Comment, Operator color.Color
}

// The names of the themes, as settings and the command line spell them.
const (
	NameDark    = "dark"
	NameLight   = "light"
	NameANSI    = "ansi"
	NameNoColor = "none"
	// NameAuto is dark or light, whichever suits the terminal.
	NameAuto = "auto"
)

// Names lists what [ByName] knows and NameAuto, in the order for a menu.
func Names() []string {
	return []string{NameAuto, NameDark, NameLight, NameANSI, NameNoColor}
}

// ByName returns the theme of that name; ok is false if there is none. NameAuto
// is no theme; see [Pick].
func ByName(name string) (t Theme, ok bool) {
	all := []Theme{Dark(), Light(), ANSI(), NoColor()}
	i := slices.IndexFunc(all, func(t Theme) bool { return t.Name == name })
	if i < 0 {
		return Theme{}, false
	}
	return all[i], true
}

// Pick returns the theme called name. For NameAuto, the empty name and names
// that it does not know it returns the one that suits the background.
func Pick(name string, darkBackground bool) Theme {
	if t, ok := ByName(name); ok {
		return t
	}
	if darkBackground {
		return Dark()
	}
	return Light()
}

// Dark is the theme for dark backgrounds, from black to #282c34.
func Dark() Theme {
	hex := lipgloss.Color
	return Theme{
		Name: NameDark, Dark: true,
		Accent: hex("#e8956d"),
		Fg:     hex("#dcdfe4"), Subtle: hex("#b3b9c5"), Faint: hex("#9299a6"),
		OK: hex("#8ccf7e"), Warn: hex("#e5c07b"), Bad: hex("#f08a8a"),
		Border: hex("#5c6370"), BorderFocused: hex("#e8956d"),
		SelectionFg: hex("#f2f4f8"), SelectionBg: hex("#3a4252"),
		MatchFg: hex("#1b1b1b"), MatchBg: hex("#e5c07b"),
		DiffAdd: hex("#8ccf7e"), DiffDel: hex("#f08a8a"),
		DiffAddTint: hex("#1f4a2c"), DiffDelTint: hex("#5c2530"),
		DiffAddOnTint: hex("#cdf5c4"), DiffDelOnTint: hex("#ffd4d4"),
		Code: Code{
			Text: hex("#dcdfe4"), Keyword: hex("#d596e8"), Type: hex("#e5c07b"),
			Function: hex("#82b8f5"), String: hex("#98d28a"), Number: hex("#e0a26f"),
			Comment: hex("#9299a6"), Operator: hex("#b3b9c5"),
		},
	}
}

// Light is the theme for light backgrounds, from white to #eee8d5.
func Light() Theme {
	hex := lipgloss.Color
	return Theme{
		Name:   NameLight,
		Accent: hex("#9c3f12"),
		Fg:     hex("#24292f"), Subtle: hex("#4a525c"), Faint: hex("#5a626d"),
		OK: hex("#1a6329"), Warn: hex("#7a5200"), Bad: hex("#b01f2c"),
		Border: hex("#9aa1ab"), BorderFocused: hex("#9c3f12"),
		SelectionFg: hex("#14181d"), SelectionBg: hex("#d5dce8"),
		MatchFg: hex("#14181d"), MatchBg: hex("#f2cf63"),
		DiffAdd: hex("#1a6329"), DiffDel: hex("#b01f2c"),
		DiffAddTint: hex("#c3ebc9"), DiffDelTint: hex("#fbd0d3"),
		DiffAddOnTint: hex("#0d3d17"), DiffDelOnTint: hex("#6b0d17"),
		Code: Code{
			Text: hex("#24292f"), Keyword: hex("#8a2aa8"), Type: hex("#7a5200"),
			Function: hex("#1c55a8"), String: hex("#1a6329"), Number: hex("#9c3f12"),
			Comment: hex("#5a626d"), Operator: hex("#4a525c"),
		},
	}
}

// ANSI uses nothing but the terminal's own sixteen colours, for people who
// have chosen those. The greys are the terminal's foreground, normal and dim,
// since "bright black" is invisible in some well-known palettes.
func ANSI() Theme {
	var none lipgloss.NoColor
	return Theme{
		Name: NameANSI, Dark: true, attributes: true,
		Accent: lipgloss.Cyan,
		Fg:     none, Subtle: none, Faint: none,
		OK: lipgloss.Green, Warn: lipgloss.Yellow, Bad: lipgloss.Red,
		Border: none, BorderFocused: lipgloss.Cyan,
		SelectionFg: none, SelectionBg: none,
		MatchFg: lipgloss.Black, MatchBg: lipgloss.Yellow,
		DiffAdd: lipgloss.Green, DiffDel: lipgloss.Red,
		DiffAddTint: none, DiffDelTint: none,
		DiffAddOnTint: lipgloss.Green, DiffDelOnTint: lipgloss.Red,
		Code: Code{
			Text: none, Keyword: lipgloss.Magenta, Type: lipgloss.Yellow,
			Function: lipgloss.Blue, String: lipgloss.Green, Number: lipgloss.Cyan,
			Comment: none, Operator: none,
		},
	}
}

// NoColor has no colours at all: bold, dim, underline and reverse only.
func NoColor() Theme {
	var none lipgloss.NoColor
	return Theme{
		Name: NameNoColor, Dark: true, attributes: true,
		Accent: none, Fg: none, Subtle: none, Faint: none,
		OK: none, Warn: none, Bad: none,
		Border: none, BorderFocused: none,
		SelectionFg: none, SelectionBg: none, MatchFg: none, MatchBg: none,
		DiffAdd: none, DiffDel: none, DiffAddTint: none, DiffDelTint: none,
		DiffAddOnTint: none, DiffDelOnTint: none,
		Code: Code{
			Text: none, Keyword: none, Type: none, Function: none,
			String: none, Number: none, Comment: none, Operator: none,
		},
	}
}
