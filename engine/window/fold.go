package window

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FoldFacts are what a stub says about the call whose output it replaces.
type FoldFacts struct {
	Call  string // the call's id
	Path  string // what it was about, if it was one file
	Error bool
}

const (
	stubOpen  = "[folded: "
	stubClose = "]"

	// foldMost bounds a stub in units (see [Measure]): 60 tokens of text.
	foldMost  = 200
	headUnits = 48
	tailUnits = 32
)

// Fold is what replaces an old output: tool and path, how much was left out,
// its first and last words, and how to get it back. A stub takes at most about
// [FoldTokens] tokens and one line. Text no longer than a stub stays as it is,
// so that folding twice changes nothing. The words of the output are quoted:
// they cannot end the stub or be taken for more than its content.
func Fold(tool, text string, f FoldFacts) string {
	if Measure(text).Units <= foldMost {
		return text
	}
	what := clip(word(tool), 24)
	if f.Path != "" {
		what += " " + clipStart(word(f.Path), 36)
	}
	if f.Error {
		what += " failed"
	}
	again := "call it again to see it"
	switch {
	case tool == "read_file":
		again = "read_file again to see it"
	case f.Call != "":
		again = "kept as " + clip(word(f.Call), 12)
	}
	head, tail := clip(flat(text), headUnits), clipStart(flat(lastPart(text)), tailUnits)
	stub := fmt.Sprintf("%s%s, %d lines, %d characters; %s; began %s, ended %s%s", stubOpen, what,
		strings.Count(text, "\n")+1, utf8.RuneCountInString(text), again, quote(head), quote(tail), stubClose)
	if Measure(stub).Units > foldMost {
		stub = fmt.Sprintf("%s%s, %d characters; %s%s", stubOpen, what, utf8.RuneCountInString(text), again, stubClose)
	}
	return stub
}

// lastPart is enough of a text's end to take its last words from.
func lastPart(text string) string {
	const most = 512
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	for text != "" && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// flat puts the beginning of a text on one line.
func flat(text string) string {
	const most = 1024
	if len(text) > most {
		text = text[:most]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}

// word makes a name safe inside a stub: one word, no brackets.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '[' || r == ']' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, s)
}

// quote quotes foreign text on one line.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

// clip returns the start of s that weighs at most so many units.
func clip(s string, units float64) string {
	var sum float64
	for i, r := range s {
		if sum += Measure(string(r)).Units; sum > units {
			return s[:i] + "…"
		}
	}
	return s
}

// clipStart is clip from the end.
func clipStart(s string, units float64) string {
	var sum float64
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if sum += Measure(string(r)).Units; sum > units {
			return "…" + s[i:]
		}
		i -= n
	}
	return s
}
