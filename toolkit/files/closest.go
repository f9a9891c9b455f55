package files

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits of what is shown when a text was not found.
const (
	closestPlaces = 2
	closestLines  = 12  // of one place
	closestWidth  = 200 // characters of a line
	closestScore  = 0.5
)

// closest returns the places of the file most like old, as numbered lines
// ready to copy. It compares words, not letters, so that a large file costs no
// more than reading it.
func closest(d *document, old string) []string {
	lines := splitLines(old)
	anchor := 0
	for i, l := range lines { // the longest line says most
		if len(strings.TrimSpace(l)) > len(strings.TrimSpace(lines[anchor])) {
			anchor = i
		}
	}
	if len(lines) == 0 || strings.TrimSpace(lines[anchor]) == "" {
		return nil
	}
	want := pairs(lines[anchor])
	type place struct {
		line  int
		score float64
	}
	var best []place
	for i := range d.starts {
		if s := overlap(want, pairs(d.line(i))); s >= closestScore {
			best = append(best, place{i, s})
		}
	}
	slices.SortStableFunc(best, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	var out []string
	taken := -1
	for _, p := range best {
		if len(out) == closestPlaces || p.score < best[0].score*0.8 {
			break
		}
		from := max(0, p.line-anchor)
		to := min(len(d.starts), from+min(max(len(lines), 1), closestLines))
		if len(lines) > closestLines { // keep the anchor in view
			from = max(0, p.line-closestLines/2)
			to = min(len(d.starts), from+closestLines)
		}
		if taken >= 0 && from < taken {
			continue
		}
		taken = to
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "%6d\t%s\n", i+1, firstRunes(d.line(i), closestWidth))
		}
		out = append(out, b.String())
	}
	return out
}

// pairs are the pairs of neighbouring letters of a line, blanks left out.
func pairs(s string) map[[2]byte]int {
	m := map[[2]byte]int{}
	var last byte
	for i := range min(len(s), maxCompared) {
		c := s[i]
		if c == ' ' || c == '\t' {
			continue
		}
		if last != 0 {
			m[[2]byte{last, c}]++
		}
		last = c
	}
	return m
}

// overlap is Dice's coefficient of two lines' letter pairs.
func overlap(a, b map[[2]byte]int) float64 {
	total, common := 0, 0
	for _, n := range a {
		total += n
	}
	for k, n := range b {
		total += n
		common += min(n, a[k])
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
