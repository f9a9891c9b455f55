package screentest

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
)

// Morning is when the tests of panes and views take place.
var Morning = time.Date(2026, 3, 2, 9, 41, 0, 0, time.UTC)

// At is so many seconds after Morning.
func At(seconds float64) time.Time {
	return Morning.Add(time.Duration(seconds * float64(time.Second)))
}

// Styles are those of the dark theme.
func Styles() *themes.Styles {
	st := themes.NewStyles(themes.Dark())
	return &st
}

// Hostile is text as no well-meaning model writes it.
const Hostile = "a\x1b]52;c;aGk=\x07b\u202e\u200bc\r\nd\te\x9b31m\xff日本語 \u0301\u0301\u0301"

// PlainFrame checks that lines fit and hold nothing but text and styles, and
// returns them without the styles.
func PlainFrame(t testing.TB, lines []string, w, h int) string {
	t.Helper()
	if len(lines) > h {
		t.Fatalf("%d lines in %d", len(lines), h)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Fatalf("line %d has %d cells, more than %d: %q", i, n, w, l)
		}
		out[i] = strings.TrimRight(WithoutStyles(l), " ")
		for _, r := range out[i] {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
				t.Fatalf("line %d holds %U: %q", i, r, l)
			}
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// WithoutStyles takes away what sets colours and attributes, and nothing else,
// so that any other sequence is found.
func WithoutStyles(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		rest := strings.TrimLeft(s[i+2:], "0123456789;:")
		if !strings.HasPrefix(rest, "m") {
			return b.String() + s[i:]
		}
		s = rest[1:]
	}
}
