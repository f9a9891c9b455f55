package stall

import (
	"hash/fnv"
	"strings"
	"unicode"
)

const (
	maxLinePeriod = 8 // lines
	lineCopies    = 4
	leastLines    = 400 // bytes over which lines must repeat
	leastWords    = 4   // in a line, on average

	// countedCopies is how many sentences in a row may differ by their numbers
	// only ("Attempt 12: I will start over."), and countedWords their length.
	countedCopies = 12
	countedWords  = 6

	mostLine  = 4 << 10 // bytes of a line that are looked at
	keptLines = maxLinePeriod * lineCopies
)

// lines finds lines that are nearly equal: the same words, whatever is between
// them. Blank lines and lines without words do not count.
type lines struct {
	current []byte
	bytes   int // of the current line, with what mostLine left out
	kept    []line
	counted int // sentences in a row that are equal but for their numbers
	since   int // bytes of them
}

// line is what is kept of one.
type line struct {
	words    uint64 // hash of its words and numbers
	wordless uint64 // hash without the numbers
	bytes    int    // with the blank lines before it
	weight   weight
	plain    bool // it begins as prose does: it is no item, comment, row or call
	sentence bool // plain, long enough, and it ends like one
}

// repeat is what lines.add found.
type repeat struct {
	bytes int // from the second copy to the end
	text  string
	times int
}

func (l *lines) add(piece string) (repeat, bool) {
	for piece != "" {
		i := strings.IndexByte(piece, '\n')
		part := piece
		if i >= 0 {
			part = piece[:i]
		}
		l.bytes += len(part)
		if room := mostLine - len(l.current); room > 0 {
			l.current = append(l.current, part[:min(room, len(part))]...)
		}
		if i < 0 {
			return repeat{}, false
		}
		piece = piece[i+1:]
		l.bytes++
		if r, ok := l.end(); ok {
			return r, true
		}
	}
	return repeat{}, false
}

// end takes the current line as complete.
func (l *lines) end() (repeat, bool) {
	text := strings.TrimSpace(strings.ToValidUTF8(string(l.current), ""))
	l.current = l.current[:0]
	w := weigh(text + " ")
	if w.words == 0 {
		return repeat{}, false // its bytes go with the next line's
	}
	n := line{bytes: l.bytes, weight: w, plain: isPlain(text)}
	n.sentence = n.plain && w.words >= countedWords && w.symbols*100 <= w.runes*12 && strings.ContainsAny(text[len(text)-1:], ".!?:")
	l.bytes = 0
	n.words, n.wordless = hashes(text)
	if len(l.kept) > 0 && n.sentence && l.kept[len(l.kept)-1].sentence && l.kept[len(l.kept)-1].wordless == n.wordless {
		l.counted++
		l.since += n.bytes
	} else {
		l.counted, l.since = 1, 0
	}
	if l.kept = append(l.kept, n); len(l.kept) > keptLines {
		l.kept = l.kept[1:]
	}
	if l.counted >= countedCopies {
		return repeat{l.since, text, l.counted}, true
	}
	return l.cycle(text)
}

func (l *lines) cycle(text string) (repeat, bool) {
	for p := 1; p <= maxLinePeriod && p*lineCopies <= len(l.kept); p++ {
		tail := l.kept[len(l.kept)-p*lineCopies:]
		equal := true
		var sum weight
		bytes, sentences := 0, 0
		for i, n := range tail {
			equal = equal && n.plain && (i < p || n.words == tail[i-p].words)
			if n.sentence {
				sentences++
			}
			sum.words += n.weight.words
			sum.runes += n.weight.runes
			sum.symbols += n.weight.symbols
			bytes += n.bytes
		}
		if equal && 2*sentences >= len(tail) && bytes >= leastLines && sum.words >= leastWords*len(tail) && sum.symbols*100 <= sum.runes*6 {
			return repeat{bytes - bytes/lineCopies, text, lineCopies}, true
		}
	}
	return repeat{}, false
}

// isPlain reports whether a line begins with a letter, perhaps emphasised or
// quoted.
func isPlain(text string) bool {
	for _, r := range strings.TrimLeft(text, "*_\"'“„«") {
		return unicode.IsLetter(r)
	}
	return false
}

// hashes are those of a line's words and numbers, and of its words alone, in
// lower case.
func hashes(text string) (words, wordless uint64) {
	a, b := fnv.New64a(), fnv.New64a()
	for f := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		_, _ = a.Write([]byte(f + " ")) // a hash never fails
		if !strings.ContainsFunc(f, unicode.IsDigit) {
			_, _ = b.Write([]byte(f + " "))
		}
	}
	return a.Sum64(), b.Sum64()
}
