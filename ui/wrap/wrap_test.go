package wrap

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var bold = lipgloss.NewStyle().Bold(true)

func TestHard(t *testing.T) {
	for _, c := range []struct {
		name, line string
		width      int
		want       []string
	}{
		{"what fits", "abc", 3, []string{"abc"}},
		{"plain text, blanks kept", "a  bcd", 3, []string{"a  ", "bcd"}},
		{"a style closed and opened again", bold.Render("abcd"), 2, []string{bold.Render("ab"), bold.Render("cd")}},
		{"no width", "abc", 0, []string{"abc"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Hard(c.line, c.width)
			if diff := cmp.Diff(c.want, normal(got)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// normal writes the short form of the sequence that resets a style.
func normal(lines []string) []string {
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "\x1b[0m", "\x1b[m")
	}
	return lines
}

func TestWords(t *testing.T) {
	if diff := cmp.Diff([]string{"one", "two", "three", "x"}, Words("one two\nthreex", 5)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestCut(t *testing.T) {
	if diff := cmp.Diff([]string{"abc", "ab…", ""}, Cut([]string{"abc", "abcd", ""}, 3)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestNothingIsLostAndNothingIsTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab 日é"))).Draw(t, "text")
		width := rapid.IntRange(2, 20).Draw(t, "width")
		line := text
		if rapid.Bool().Draw(t, "styled") {
			line = bold.Render(text)
		}
		var got string
		for _, l := range Hard(line, width) {
			if ansi.StringWidth(l) > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
			got += ansi.Strip(l)
		}
		if got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
