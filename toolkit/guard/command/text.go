package command

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// checkText refuses a text that a person cannot read as the shell does: what is
// invisible, what reorders, what the parser and the shell read differently (a
// carriage return is a blank to the one and a letter to the other).
func checkText(src string, limit int) string {
	switch {
	case len(src) > limit:
		return fmt.Sprintf("the command has %d bytes, more than %d", len(src), limit)
	case !utf8.ValidString(src):
		return "the command is not valid UTF-8"
	}
	before := rune(0)
	for i, r := range src {
		if (r == 0xfe0e || r == 0xfe0f) && unicode.Is(unicode.S, before) {
			continue // which of its two forms a symbol is drawn in
		}
		before = r
		if r != '\n' && r != '\t' && hidden(r) {
			return fmt.Sprintf("the command has the control or invisible character %+q at byte %d", r, i)
		}
	}
	return ""
}

// hidden reports characters without a glyph of their own: control and format
// characters, line separators other than the newline, blanks other than the
// space, unassigned and private ones. What joins emoji is among them: it hides
// as well.
func hidden(r rune) bool {
	switch {
	case r == ' ', r == 0x3000: // the wide space is as wide as a letter
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff: // variation selectors, tags
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800, r == 0x034f: // fillers drawn as nothing
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Co, unicode.Cs) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}
