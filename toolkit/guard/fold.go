package guard

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldName reduces one path component to the form in which protected names are
// compared: Unicode case folding and NFC, without ignorable code points (HFS+
// drops them), without trailing dots and spaces (Windows drops them) and
// without an alternate data stream suffix. Two names that any of the usual file
// systems could treat as one fold to the same string.
func foldName(name string) string {
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	if isASCII(name) {
		return strings.TrimRight(strings.ToLower(name), ". ")
	}
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) ||
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Cc, r) {
			return -1
		}
		return r
	}, name)
	// Folding can leave a form that is not normalised, so normalise last too.
	name = norm.NFC.String(cases.Fold().String(norm.NFKC.String(name)))
	return strings.TrimRightFunc(name, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < 0x20 || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// components splits a slash path; a backslash separates too, since the same
// string may later be used on Windows.
func components(rel string) []string {
	return strings.FieldsFunc(rel, func(r rune) bool { return r == '/' || r == '\\' })
}
