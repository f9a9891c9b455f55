package toolkit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bound shortens text to about limit characters: its head and its tail, with
// the gap counted between them. It cuts at line ends where it can, never
// inside a character. The second result is nil when nothing was cut.
//
// Two thirds go to the head: models read what a command printed first, and the
// last lines hold its verdict.
func Bound(text string, limit int, hint string) (string, *Truncated) {
	if limit <= 0 || len(text) <= limit {
		return text, nil
	}
	total := utf8.RuneCountInString(text)
	if total <= limit {
		return text, nil
	}
	head := cutAfter(text, limit*2/3)
	tail := cutBefore(text, limit-limit*2/3)
	if len(head)+len(tail) >= len(text) {
		return text, nil
	}
	gap := text[len(head) : len(text)-len(tail)]
	shown := total - utf8.RuneCountInString(gap)
	mark := fmt.Sprintf("[… %d characters, %d lines left out …]", utf8.RuneCountInString(gap), strings.Count(gap, "\n"))
	if hint != "" {
		mark = strings.TrimSuffix(mark, "]") + " " + hint + "]"
	}
	var b strings.Builder
	b.WriteString(head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(mark)
	b.WriteByte('\n')
	b.WriteString(tail)
	return b.String(), &Truncated{Shown: shown, Total: total, Unit: "characters", Hint: hint}
}

// cutAfter returns at most n bytes from the start, up to a line end if one is
// in the last quarter, else up to a character's end.
func cutAfter(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i >= n*3/4 {
		return s[:i+1]
	}
	return s[:n]
}

// cutBefore is cutAfter from the end.
func cutBefore(s string, n int) string {
	start := len(s) - n
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 && i < n/4 {
		return s[start+i+1:]
	}
	return s[start:]
}
