package stall

import (
	"slices"
	"strings"
	"unicode"
)

// inner takes the words that are cut in two off both ends. Of letters without
// anything between them, as in base64, nothing is left: they are data.
func inner(text string) string {
	text = strings.ToValidUTF8(text, "")
	return strings.TrimRightFunc(strings.TrimLeftFunc(text, unicode.IsLetter), unicode.IsLetter)
}

// bound is how long a repetition may go on.
type bound struct{ bytes, copies int }

var (
	sentences = bound{leastCycle, 3}
	phrases   = bound{3 << 9, 8}   // words, but no sentence: YAML, headings, assembly
	words     = bound{1 << 10, 16} // one or two words: "the the the"
	code      = bound{2 << 10, 8}
	data      = bound{lookBack - 2*stride, 8} // no words at all: zeros, rules, base64, blank lines
)

// kindOf says how long a text may repeat, by what it is made of.
func kindOf(text string) bound {
	t := weigh(text)
	switch {
	case t.distinct == 0:
		return data
	case t.symbols*100 > t.runes*6:
		return code
	case t.distinct < 3 && (t.symbols+t.commas)*100 > t.runes*6:
		return data // "nil, nil, nil"
	case t.distinct < 3:
		return words
	case !t.ends:
		return phrases
	}
	return sentences
}

// weight is what a text is made of.
type weight struct {
	runes    int
	symbols  int // neither letters nor what sentences hold beside them
	commas   int
	words    int
	distinct int  // different words; counted up to 8
	ends     bool // a sentence ends in it
}

func weigh(text string) weight {
	var t weight
	var seen []string
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !isWord(w) {
			continue
		}
		t.words++
		if len(seen) < 8 && !slices.Contains(seen, w) {
			seen = append(seen, w)
		}
	}
	var before rune
	for _, r := range text {
		t.runes++
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r):
			if before == '.' {
				t.symbols++ // the dot of x.y
			}
		case unicode.IsSpace(r):
			t.ends = t.ends || strings.ContainsRune(".!?:…", before)
		case strings.ContainsRune("。！？", r):
			t.ends = true
		case r == ',':
			t.commas++
		case !strings.ContainsRune(".;:!?'’“”„«»…-–—、，：；", r):
			t.symbols++
		}
		before = r
	}
	t.distinct = len(seen)
	// A script without spaces writes a sentence as one word.
	if t.distinct > 0 && t.words > 0 && t.ends && longest(seen) >= 8 && !isLatin(seen) {
		t.distinct = max(t.distinct, 3)
	}
	return t
}

// isWord tells words from the letters of drawings and dumps: two different
// letters at least.
func isWord(w string) bool {
	var first rune
	for i, r := range w {
		if i == 0 {
			first = r
		} else if r != first {
			return true
		}
	}
	return false
}

func longest(words []string) int {
	n := 0
	for _, w := range words {
		n = max(n, len([]rune(w)))
	}
	return n
}

func isLatin(words []string) bool {
	for _, w := range words {
		for _, r := range w {
			if r >= 0x2E80 {
				return false
			}
		}
	}
	return true
}
