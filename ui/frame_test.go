package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestCutTakesTheCellsWithTheirStyles(t *testing.T) {
	line := "ab\x1b[1mcd\x1b[31mef\x1b[mgh漢字"
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 2, "ab"},
		{0, 3, "ab\x1b[m\x1b[1mc\x1b[m"},
		{4, 7, "\x1b[m\x1b[1m\x1b[31mef\x1b[mg"},
		{8, 12, "漢字"},
		{9, 11, "  "},
		{12, 20, ""},
		{5, 5, ""},
	} {
		if got := cut(line, c.from, c.to); got != c.want {
			t.Errorf("cut %d to %d is %q, not %q", c.from, c.to, got, c.want)
		}
	}
}

func TestCutPiecesAreAsWideAsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "漢", "e\u0301", "👩\u200d👧", "\x1b[1m", "\x1b[38;5;4m", "\x1b[m"})).Draw(t, "parts")
		line := strings.Join(parts, "")
		w := ansi.StringWidth(line)
		at := rapid.IntRange(0, w).Draw(t, "at")
		if n := ansi.StringWidth(cut(line, 0, at)) + ansi.StringWidth(cut(line, at, w)); n != w {
			t.Fatalf("%q cut at %d is %d wide, not %d", line, at, n, w)
		}
	})
}

func TestViewsOverViewsDoNotMakeTheFrameGrow(t *testing.T) {
	row := strings.Repeat("\x1b[31mx\x1b[m", 80)
	frame := row
	for i := range 40 {
		frame = overlay(frame, Rect{10, 0, 20, 1}, []string{"\x1b[1m" + fmt.Sprintf("%20d", i) + "\x1b[m"})
	}
	if len(frame) > 2*len(row) {
		t.Fatalf("a row of %d bytes has grown to %d", len(row), len(frame))
	}
}
