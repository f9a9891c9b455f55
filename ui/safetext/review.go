package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// MaxBlanks is the longest run of blanks that an approval shows as such;
	// longer ones are counted, since padding is how the tail of a command is
	// pushed out of sight.
	MaxBlanks = 20
	// MaxBlankLines is the same for blank lines.
	MaxBlankLines = 2
	// MaxTitle is the length of a window title in cells.
	MaxTitle = 80
)

// Command returns a command line or script for approval. Newlines are kept;
// a tab is shown as [TabMark]; a carriage return is always shown, for a shell
// takes it as part of the word; every blank other than U+0020 is named, for a
// shell does not split there; long runs of blanks and blank lines are counted
// as ␠×240 and ↵×57.
func Command(s string) string {
	return countBlanks(clean(s, rules{tab: TabMark, spaces: true}))
}

// Review returns text for approval, a file's content say. It is [Block], with
// unusual blanks named and long runs counted as in [Command].
func Review(s string) string {
	return countBlanks(clean(s, rules{crlf: true, spaces: true}))
}

// Title returns s for a window title or a notification: one line of at most
// [MaxTitle] cells. Terminal libraries write titles raw, so nothing that has
// not passed through here may become one.
func Title(s string) string {
	// Bound the work first: a cell takes at most a few bytes, and names are
	// longer than what they stand for.
	const most = MaxTitle * utf8.UTFMax * (MaxMarks + 1)
	if len(s) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return ansi.Truncate(strings.TrimSpace(Line(s)), MaxTitle, "…")
}

// countBlanks replaces the runs of blanks and of blank lines that are longer
// than a person can be expected to notice.
func countBlanks(s string) string {
	if !strings.Contains(s, strings.Repeat(" ", MaxBlanks+1)) && !manyBlankLines(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	empty := 0
	flush := func() {
		if empty > MaxBlankLines {
			fmt.Fprintf(&b, "%s×%d\n", NewlineMark, empty)
		} else {
			b.WriteString(strings.Repeat("\n", empty))
		}
		empty = 0
	}
	for line := range strings.SplitAfterSeq(s, "\n") {
		text, ended := strings.CutSuffix(line, "\n")
		// Blanks alone on a line are as empty to the eye as nothing.
		if ended && strings.Trim(text, " ") == "" && len(text) <= MaxBlanks {
			empty++
			continue
		}
		flush()
		writeCounted(&b, text)
		if ended {
			b.WriteByte('\n')
		}
	}
	flush()
	return b.String()
}

func writeCounted(b *strings.Builder, line string) {
	for line != "" {
		start := strings.IndexByte(line, ' ')
		if start < 0 {
			b.WriteString(line)
			return
		}
		b.WriteString(line[:start])
		rest := strings.TrimLeft(line[start:], " ")
		n := len(line) - start - len(rest)
		if n > MaxBlanks {
			fmt.Fprintf(b, " ␠×%d ", n)
		} else {
			b.WriteString(line[start : start+n])
		}
		line = rest
	}
}

func manyBlankLines(s string) bool {
	empty := 0
	for line := range strings.SplitSeq(s, "\n") {
		if strings.Trim(line, " ") != "" {
			empty = 0
			continue
		}
		if empty++; empty > MaxBlankLines {
			return true
		}
	}
	return false
}
