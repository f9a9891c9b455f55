package pocket

import (
	"strings"
	"unicode/utf8"
)

// cutAtStop returns s up to the first of the stop sequences found in it. The
// list's order decides, not the place in the text, as in Ollama's runner.
func cutAtStop(s string, stops []string) (string, bool) {
	for _, stop := range stops {
		if stop == "" {
			continue
		}
		if before, _, found := strings.Cut(s, stop); found {
			return before, true
		}
	}
	return s, false
}

// mayBecomeStop reports whether s ends with the beginning of a stop sequence,
// so that it must not be sent yet.
func mayBecomeStop(s string, stops []string) bool {
	for _, stop := range stops {
		for i := 1; i <= len(stop); i++ {
			if strings.HasSuffix(s, stop[:i]) {
				return true
			}
		}
	}
	return false
}

// endsInsideRune reports whether s ends with the first bytes of a longer UTF-8
// sequence.
func endsInsideRune(s string) bool {
	for i := 1; i <= min(len(s), utf8.UTFMax); i++ {
		if tail := s[len(s)-i:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRuneInString(tail)
		}
	}
	return false
}

// validPrefix returns the longest prefix of s that is valid UTF-8.
func validPrefix(s string) string {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return s[:i]
		}
		i += n
	}
	return s
}
