package files

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a text that every match of a pattern contains; with fold, in any
// case of its ASCII letters.
type needle struct {
	text []byte // lower case if fold
	fold bool
	rare int // index of the byte that is searched for
	// odd says that a letter also has a form outside of ASCII (k: the Kelvin
	// sign, s: the long s), which the search for text would miss.
	odd bool
}

// maxNeedles bounds the alternatives of a pattern that are searched for one by
// one; with more, the expression itself is as quick.
const maxNeedles = 8

// needles returns texts of which every match contains at least one; nil if
// there are none that help.
func needles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		if n, ok := newNeedle(string(re.Rune), re.Flags&syntax.FoldCase != 0); ok {
			return []needle{n}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if n := needles(sub); better(n, best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			n := needles(sub)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		if len(all) <= maxNeedles {
			return all
		}
	}
	return nil
}

// better prefers fewer and longer needles: the shortest of a set is what makes
// it stop often.
func better(a, b []needle) bool {
	shortest := func(list []needle) int {
		n := 1 << 20
		for _, x := range list {
			n = min(n, len(x.text))
		}
		return n
	}
	switch {
	case a == nil:
		return false
	case b == nil:
		return true
	}
	if la, lb := shortest(a), shortest(b); la != lb {
		return la > lb
	}
	return len(a) < len(b)
}

func newNeedle(text string, fold bool) (needle, bool) {
	if text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
		return needle{}, false
	}
	n := needle{text: []byte(text), fold: fold}
	if fold {
		for i, c := range n.text {
			if c >= utf8.RuneSelf {
				return needle{}, false
			}
			n.text[i] = lower(c)
			n.odd = n.odd || n.text[i] == 'k' || n.text[i] == 's'
		}
	}
	for i, c := range n.text {
		if commonness(c) < commonness(n.text[n.rare]) {
			n.rare = i
		}
	}
	return n, true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// commonBytes are the bytes of source text, the most frequent first.
const commonBytes = " etaoinsrlcdupmf\n\t.,()_h\"=-/g{}bv:;y0w1'xk*[]2><jqz"

func commonness(c byte) int {
	if i := strings.IndexByte(commonBytes, lower(c)); i >= 0 {
		return len(commonBytes) - i
	}
	return 0
}

// finder walks one text for one needle. It remembers where the next byte of
// either case is, so that the text is passed once.
type finder struct {
	n    *needle
	data []byte
	next [2]int // next place of the rare byte, lower and upper case; -1: not known
}

// none is beyond every text.
const none = int(^uint(0) >> 1)

func (n *needle) in(data []byte) finder { return finder{n, data, [2]int{-1, -1}} }

// from returns the first occurrence at or after an offset, or none.
func (f *finder) from(at int) int {
	n := f.n
	if !n.fold {
		if i := bytes.Index(f.data[at:], n.text); i >= 0 {
			return at + i
		}
		return none
	}
	c := n.text[n.rare]
	upper := c
	if c >= 'a' && c <= 'z' {
		upper = c - 'a' + 'A'
	}
	for pos := at + n.rare; ; {
		best := f.seek(0, c, pos)
		if upper != c {
			best = min(best, f.seek(1, upper, pos))
		}
		if best == none {
			return none
		}
		if start := best - n.rare; start+len(n.text) > len(f.data) {
			return none
		} else if foldEqual(f.data[start:start+len(n.text)], n.text) {
			return start
		}
		pos = best + 1
	}
}

func (f *finder) seek(which int, c byte, pos int) int {
	if f.next[which] >= pos {
		return f.next[which]
	}
	f.next[which] = none
	if pos < len(f.data) {
		if i := bytes.IndexByte(f.data[pos:], c); i >= 0 {
			f.next[which] = pos + i
		}
	}
	return f.next[which]
}

func foldEqual(data, folded []byte) bool {
	for i, c := range folded {
		if lower(data[i]) != c {
			return false
		}
	}
	return true
}

// oddForms reports whether data has letters that fold to k or s.
func oddForms(data []byte) bool {
	return bytes.Contains(data, []byte("\u212A")) || bytes.Contains(data, []byte("\u017F"))
}
