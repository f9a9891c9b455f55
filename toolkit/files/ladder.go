package files

import (
	"strings"
)

// The rungs of the ladder, in the order in which they are tried: each forgives
// a mistake that models make, the frequent and harmless ones first.
const (
	matchExact       = "exact"
	matchLineNumbers = "line_numbers" // "   12\t" copied from read_file
	matchLineEndings = "line_endings" // "\n" for "\r\n" or the reverse
	matchTrailing    = "trailing_whitespace"
	matchIndentation = "indentation" // all lines shifted by the same indent
	matchWhitespace  = "whitespace"  // same words on each line
	matchEscapes     = "escapes"     // a literal \n or \" where the character is meant
	matchBlock       = "block"       // same first and last line, similar middle
)

// matchWords explains a rung to the person and the model.
var matchWords = map[string]string{
	matchLineNumbers: "copied line numbers ignored",
	matchLineEndings: "line ends adjusted",
	matchTrailing:    "blanks at line ends ignored",
	matchIndentation: "indentation adjusted",
	matchWhitespace:  "white space ignored",
	matchEscapes:     "escape sequences resolved",
	matchBlock:       "first and last line match, the middle is similar",
}

// maxFuzzy bounds the files and texts on which the rungs after exact are tried:
// beyond it a near match proves little and costs much.
const (
	maxFuzzyFile = 2 << 20
	maxFuzzyText = 64 << 10
)

// matched is where the ladder found the text.
type matched struct {
	kind  string
	spans []span // in order, not overlapping; one, unless all were asked for
}

// ambiguous reports that a rung found the text more than once.
type ambiguous struct {
	kind  string
	lines []int // from 1
}

// climb looks for old in the document, rung by rung. The first rung that finds
// anything decides: one place is the match, several are ambiguous unless all is
// set. Both results are nil when nothing is found.
func climb(d *document, old, with string, all bool) (*matched, *ambiguous) {
	kind := matchExact
	if strings.Contains(old, "\r\n") != (len(d.dropped) > 0) && strings.Contains(old, "\n") {
		kind = matchLineEndings
	}
	if strings.Contains(old, "\r\n") {
		old, with = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(with, "\r\n", "\n")
	}
	if m, a := decide(d, kind, literal(d, old, with), all); m != nil || a != nil {
		return m, a
	}
	if len(d.text) > maxFuzzyFile || len(old) > maxFuzzyText || strings.TrimSpace(old) == "" {
		return nil, nil
	}
	bare, numbered := stripNumbers(old)
	bareWith, ok := stripNumbers(with)
	if !ok {
		bareWith = with
	}
	if numbered {
		if m, a := decide(d, matchLineNumbers, literal(d, bare, bareWith), all); m != nil || a != nil {
			return m, a
		}
	}
	if m, a := climbLines(d, old, with, all); m != nil || a != nil {
		return m, a
	}
	if numbered {
		// "12: text" may be a line of the file itself, so the form without
		// numbers comes second.
		old, with = bare, bareWith
		if m, a := climbLines(d, old, with, all); m != nil || a != nil {
			return m, a
		}
	}
	if plain := unescape(old); plain != old {
		with := unescape(with)
		spans := literal(d, plain, with)
		if len(spans) == 0 {
			spans = lineRung(d, plain, with, sameTrailing, keepIndent)
		}
		if len(spans) == 0 {
			spans = lineRung(d, plain, with, sameShift, shiftIndent)
		}
		if m, a := decide(d, matchEscapes, spans, all); m != nil || a != nil {
			return m, a
		}
	}
	return decide(d, matchBlock, blocks(d, old, with), false)
}

// climbLines tries the rungs that compare whole lines.
func climbLines(d *document, old, with string, all bool) (*matched, *ambiguous) {
	for _, rung := range []struct {
		kind string
		same lineTest
		fit  fitter
	}{
		{matchTrailing, sameTrailing, keepIndent},
		{matchIndentation, sameShift, shiftIndent},
		{matchWhitespace, sameWords, mapIndent},
	} {
		if m, a := decide(d, rung.kind, lineRung(d, old, with, rung.same, rung.fit), all); m != nil || a != nil {
			return m, a
		}
	}
	return nil, nil
}

func decide(d *document, kind string, spans []span, all bool) (*matched, *ambiguous) {
	switch {
	case len(spans) == 0:
		return nil, nil
	case len(spans) == 1 || all:
		return &matched{kind, spans}, nil
	}
	a := &ambiguous{kind: kind}
	for _, s := range spans {
		a.lines = append(a.lines, d.lineAt(s.start)+1)
	}
	return nil, a
}

// literal finds every occurrence of old, left to right.
func literal(d *document, old, with string) []span {
	var out []span
	if old == "" {
		return nil
	}
	for at := 0; ; {
		i := strings.Index(d.text[at:], old)
		if i < 0 {
			return out
		}
		out = append(out, span{at + i, at + i + len(old), with})
		at += i + len(old)
	}
}

// lineTest reports whether lines of the file are what old's lines mean.
type lineTest func(file, old []string) bool

// fitter gives the replacement the indentation of the place it goes to.
type fitter func(file, old, with []string) []string

// lineRung finds the places where whole lines of the file pass a test. Blank
// lines around old count as decoration.
func lineRung(d *document, old, with string, same lineTest, fit fitter) []span {
	ol, wl := splitLines(old), splitLines(with)
	ol, wl = dropBlankEdges(ol, wl)
	if len(ol) == 0 || len(ol) > len(d.starts) {
		return nil
	}
	var out []span
	lines := make([]string, len(ol))
	for i := 0; i+len(ol) <= len(d.starts); i++ {
		if strings.TrimSpace(d.line(i)) == "" { // the first of old never is
			continue
		}
		for k := range ol {
			lines[k] = d.line(i + k)
		}
		if !same(lines, ol) {
			continue
		}
		out = append(out, d.lineSpan(i, i+len(ol)-1, strings.Join(fit(lines, ol, wl), "\n"), old, with))
		i += len(ol) - 1
	}
	return out
}

// lineSpan is the range of whole lines first to last. It takes the last line's
// end along only when old had one and the file has it too.
func (d *document) lineSpan(first, last int, with, old, given string) span {
	s := span{d.starts[first], d.lineEnd(last), with}
	if strings.HasSuffix(old, "\n") && s.end < len(d.text) {
		s.end++
		if strings.HasSuffix(given, "\n") {
			s.with += "\n"
		}
	}
	return s
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// dropBlankEdges removes blank lines around old, and as many around with.
func dropBlankEdges(old, with []string) (o, w []string) {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	for len(old) > 0 && blank(old[0]) {
		old = old[1:]
		if len(with) > 0 && blank(with[0]) {
			with = with[1:]
		}
	}
	for len(old) > 0 && blank(old[len(old)-1]) {
		old = old[:len(old)-1]
		if len(with) > 0 && blank(with[len(with)-1]) {
			with = with[:len(with)-1]
		}
	}
	return old, with
}
