package files

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Limits of the block rung. The values follow what other agents settled on:
// below this likeness wrong places are edited.
const (
	blockLikeness  = 0.85
	blockMinLines  = 3
	blockMaxLines  = 400
	blockMaxStarts = 200 // places where the first line occurs
	maxCompared    = 500 // bytes of a line compared letter by letter
)

// blocks finds places whose first and last line are those of old and whose
// middle is alike. The number of lines may differ by a fifth, at least by one.
func blocks(d *document, old, with string) []span {
	ol, wl := splitLines(old), splitLines(with)
	ol, wl = dropBlankEdges(ol, wl)
	if len(ol) < blockMinLines || len(ol) > blockMaxLines {
		return nil
	}
	first, last := strings.TrimSpace(ol[0]), strings.TrimSpace(ol[len(ol)-1])
	slack := max(1, len(ol)/5)
	var out []span
	starts := 0
	for i := range d.starts {
		if strings.TrimSpace(d.line(i)) != first {
			continue
		}
		if starts++; starts > blockMaxStarts {
			return nil
		}
		best, bestEnd := 0.0, -1
		for n := len(ol) - slack; n <= len(ol)+slack; n++ {
			end := i + n - 1
			if n < 2 || end >= len(d.starts) || strings.TrimSpace(d.line(end)) != last {
				continue
			}
			if like := d.likeness(i+1, end, ol[1:len(ol)-1]); like > best {
				best, bestEnd = like, end
			}
		}
		if best >= blockLikeness {
			file := []string{d.line(i)}
			out = append(out, d.lineSpan(i, bestEnd, strings.Join(mapIndent(file, ol[:1], wl), "\n"), old, with))
		}
	}
	if len(out) > 1 {
		out = disjoint(out)
	}
	return out
}

// disjoint keeps the first of spans that overlap.
func disjoint(spans []span) []span {
	out := spans[:1]
	for _, s := range spans[1:] {
		if s.start >= out[len(out)-1].end {
			out = append(out, s)
		}
	}
	return out
}

// likeness compares the file's lines from..to (exclusive) with the given ones,
// weighted by length: 1 is the same words, 0 nothing in common.
func (d *document) likeness(from, to int, lines []string) float64 {
	have := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		have = append(have, d.line(i))
	}
	if len(have) == 0 && len(lines) == 0 {
		return 1
	}
	// Align line by line, allowing one side to have extra lines: the usual
	// edit distance, with lines as letters.
	weight := func(s string) float64 { return float64(len(strings.TrimSpace(s))) + 1 }
	prev := make([]float64, len(lines)+1)
	total := 0.0
	for j, l := range lines {
		prev[j+1] = prev[j] + weight(l)
		total += weight(l)
	}
	for _, h := range have {
		total += weight(h)
		cur := make([]float64, len(lines)+1)
		cur[0] = prev[0] + weight(h)
		for j, l := range lines {
			change := (1 - lineLikeness(h, l)) * (weight(h) + weight(l))
			cur[j+1] = min(prev[j]+change, prev[j+1]+weight(h), cur[j]+weight(l))
		}
		prev = cur
	}
	return 1 - prev[len(lines)]/total
}

// lineLikeness compares two lines without the blanks around them.
func lineLikeness(a, b string) float64 {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	switch {
	case a == b:
		return 1
	case len(a) > maxCompared || len(b) > maxCompared || a == "" || b == "":
		return 0
	}
	longest := max(len([]rune(a)), len([]rune(b)))
	return 1 - float64(levenshtein.ComputeDistance(a, b))/float64(longest)
}
