package safetext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Report counts what a text hides or disguises. The zero value says that
// nothing was found.
type Report struct {
	Bidi      int // characters that reorder text
	ZeroWidth int // other format characters, tags and blank-looking letters
	Control   int // C0 other than tab and newline, DEL, C1
	Invalid   int // bytes that are not UTF-8
	Unknown   int // private-use and unassigned code points, separators
	Spaces    int // blanks other than U+0020
	Marks     int // combining marks above MaxMarks on one base
	// Confusable holds the words, at most eight, in which letters of
	// different scripts are mixed, and the host and program names that are
	// not plain ASCII; each as [ASCII] writes it.
	Confusable []string
}

// maxConfusable bounds Report.Confusable; a warning needs an example, not a
// list.
const maxConfusable = 8

// Any reports whether a person ought to be warned.
func (r Report) Any() bool {
	return r.Bidi+r.ZeroWidth+r.Control+r.Invalid+r.Unknown+r.Spaces+r.Marks > 0 || len(r.Confusable) > 0
}

// String is a warning in plain words, or "" when nothing was found.
func (r Report) String() string {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(r.Bidi, "text-reordering character", "text-reordering characters")
	count(r.ZeroWidth, "invisible character", "invisible characters")
	count(r.Control, "control character", "control characters")
	count(r.Invalid, "invalid byte", "invalid bytes")
	count(r.Unknown, "unknown character", "unknown characters")
	count(r.Spaces, "unusual blank", "unusual blanks")
	count(r.Marks, "stacked mark", "stacked marks")
	if len(r.Confusable) > 0 {
		parts = append(parts, "look-alike letters in "+strings.Join(r.Confusable, ", "))
	}
	return strings.Join(parts, ", ")
}

// Hidden counts the hidden and confusable characters of s, a URL or a text that
// a person is asked to approve. What stands between "://" and the next slash is
// taken as a host.
func Hidden(s string) Report {
	rep := inspect(s)
	rep.words(s)
	return rep
}

// HiddenCommand is [Hidden] for a command line, where the first word of every
// part between the shell's separators is taken as a program name.
func HiddenCommand(s string) Report {
	rep := inspect(s)
	rep.programs(s)
	rep.words(s)
	return rep
}

func inspect(s string) Report {
	var rep Report
	marks := MaxMarks
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\t' || c == '\n' {
			marks = 0
			if c == '\n' {
				marks = MaxMarks
			}
			i++
			continue
		}
		if c == '\r' && strings.HasPrefix(s[i:], "\r\n") {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == utf8.RuneError && size <= 1 {
			rep.Invalid++
			continue
		}
		rep.count(r, &marks)
	}
	return rep
}

func (r *Report) count(c rune, marks *int) {
	mark := unicode.Is(unicode.M, c)
	switch {
	case unicode.Is(bidi, c):
		r.Bidi++
	case unicode.Is(unicode.Cc, c):
		r.Control++
	case unicode.Is(unicode.Cf, c), unicode.Is(blank, c):
		r.ZeroWidth++
	case !visible(c):
		r.Unknown++
	case unicode.Is(unicode.Zs, c):
		r.Spaces++
	case mark && *marks >= MaxMarks:
		r.Marks++
	case mark:
		*marks++
	}
	if !mark {
		*marks = 0
	}
}

// programs looks at the names that a shell would run. A program has to be
// ASCII to be taken at face value, since even Latin has look-alikes: U+0261
// for g.
func (r *Report) programs(s string) {
	if ASCIIOnly(s) {
		return
	}
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("|;&()\n", c) }) {
		for word := range strings.FieldsSeq(part) {
			if strings.Contains(word, "=") {
				continue // an assignment in front of the program
			}
			if strings.ContainsFunc(word, strange) {
				r.note(word)
			}
			break
		}
	}
}

// words looks at the rest. A word may be written in any one script; a host has
// to be ASCII, as a program does.
func (r *Report) words(s string) {
	if ASCIIOnly(s) {
		return
	}
	for field := range strings.FieldsSeq(s) {
		if _, rest, ok := strings.Cut(field, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			if strings.ContainsFunc(host, strange) {
				r.note(host)
				continue
			}
		}
		for word := range strings.FieldsFuncSeq(field, notWord) {
			if MixedScript(word) {
				r.note(word)
			}
		}
	}
}

func (r *Report) note(word string) {
	word = ASCII(word)
	if len(r.Confusable) < maxConfusable && !slices.Contains(r.Confusable, word) {
		r.Confusable = append(r.Confusable, word)
	}
}

// ASCIIOnly reports whether s holds nothing but bytes below 0x80.
func ASCIIOnly(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func strange(r rune) bool { return r > 0x7e }

func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// MixedScript reports whether word has Latin letters next to letters of
// another alphabet that look like them.
func MixedScript(word string) bool {
	var latin, other bool
	for _, r := range word {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu):
			other = true
		}
	}
	return latin && other
}
