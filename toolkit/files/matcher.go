package files

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"chela/toolkit"
)

// maxPattern is the longest pattern in bytes: enough for any a person wrote,
// too short to make compiling it a burden.
const maxPattern = 1 << 10

// matcher finds the lines of a text that match a pattern. It is safe for
// concurrent use.
type matcher struct {
	re      *regexp.Regexp
	needles []needle
	literal bool // the only needle is the whole pattern
	odd     bool // some needle is odd
	// byLine: the expression looks at the edges of the text, so that only single
	// lines may be given to it.
	byLine  bool
	lineEnd bool // it looks at line ends, where a "\r" may be in the way
}

// compile reads an RE2 pattern.
func compile(pattern string, caseSensitive bool) (*matcher, error) {
	if len(pattern) > maxPattern {
		return nil, toolkit.Errorf(CodePattern, "the pattern has %d bytes; the limit is %d.", len(pattern), maxPattern).
			WithHint("Search for a shorter piece of it.")
	}
	flags := syntax.Perl &^ syntax.OneLine
	if !caseSensitive {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, patternError(pattern, err)
	}
	prefix := "(?m)"
	if !caseSensitive {
		prefix = "(?mi)"
	}
	re, err := regexp.Compile(prefix + pattern)
	if err != nil {
		return nil, patternError(pattern, err)
	}
	tree = tree.Simplify()
	m := &matcher{re: re, needles: needles(tree)}
	m.literal = tree.Op == syntax.OpLiteral && len(m.needles) == 1
	for _, n := range m.needles {
		m.odd = m.odd || n.odd
	}
	m.look(tree)
	return m, nil
}

// look notes which edges the expression looks at.
func (m *matcher) look(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText:
		m.byLine = true
	case syntax.OpEndLine, syntax.OpNoWordBoundary, syntax.OpWordBoundary:
		m.lineEnd = true
	case syntax.OpAnyChar, syntax.OpCharClass, syntax.OpAnyCharNotNL:
		m.lineEnd = true // ".$" must not take the "\r" for the last character
	}
	for _, sub := range re.Sub {
		m.look(sub)
	}
}

// patternError shows where a pattern is wrong, and one that would work.
func patternError(pattern string, err error) error {
	var se *syntax.Error
	what := err.Error()
	where := ""
	if errors.As(err, &se) {
		what = se.Code.String()
		if i := strings.Index(pattern, se.Expr); i >= 0 && se.Expr != pattern && se.Expr != "" {
			where = fmt.Sprintf(" at character %d, %q", len([]rune(pattern[:i]))+1, se.Expr)
		}
	}
	e := toolkit.Errorf(CodePattern, "the pattern %q is not a regular expression: %s%s.", pattern, what, where)
	if se != nil && se.Code == syntax.ErrInvalidPerlOp {
		return e.WithHint("Look-around and back-references are not supported. Search for a simpler pattern.")
	}
	return e.WithHint("To search for this very text, escape it: %s", regexp.QuoteMeta(pattern))
}

// lines calls found with the range of each matching line, without its end,
// until it returns false.
func (m *matcher) lines(data []byte, found func(start, end int) bool) {
	switch {
	case m.needles != nil && !(m.odd && oddForms(data)):
		m.byNeedle(data, found)
	case m.byLine || (m.lineEnd && bytes.IndexByte(data, '\r') >= 0):
		m.each(data, 0, len(data), found)
	default:
		m.whole(data, found)
	}
}

// byNeedle looks at the lines that contain a needle.
func (m *matcher) byNeedle(data []byte, found func(start, end int) bool) {
	var store [maxNeedles]finder
	finders := store[:0]
	for i := range m.needles {
		finders = append(finders, m.needles[i].in(data))
	}
	var known [maxNeedles]int
	for i := range finders {
		known[i] = -1
	}
	for at := 0; at < len(data); {
		hit := none
		for i := range finders {
			if known[i] < at {
				known[i] = finders[i].from(at)
			}
			hit = min(hit, known[i])
		}
		if hit == none {
			return
		}
		start, end, next := lineAround(data, hit)
		if m.literal || m.re.Match(data[start:end]) {
			if !found(start, end) {
				return
			}
		}
		at = next
	}
}

// whole gives the expression the whole text, and looks at each line that a
// match touches.
func (m *matcher) whole(data []byte, found func(start, end int) bool) {
	for at := 0; at < len(data); {
		loc := m.re.FindIndex(data[at:])
		if loc == nil {
			return
		}
		from, _, _ := lineAround(data, at+loc[0])
		last := max(at+loc[1]-1, at+loc[0])
		to := len(data)
		if last < len(data) {
			_, _, to = lineAround(data, last)
		}
		if !m.each(data, from, to, found) {
			return
		}
		at = to
	}
}

// each looks at every line of a range.
func (m *matcher) each(data []byte, from, to int, found func(start, end int) bool) bool {
	for at := from; at < to; {
		start, end, next := lineAround(data, at)
		if m.re.Match(data[start:end]) && !found(start, end) {
			return false
		}
		at = next
	}
	return true
}

// lineAround returns the line that holds an offset, without its end, and where
// the next one starts.
func lineAround(data []byte, at int) (start, end, next int) {
	start = bytes.LastIndexByte(data[:at], '\n') + 1
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end, next = at+i, at+i+1
	} else {
		end, next = len(data), len(data)
	}
	if end > start && data[end-1] == '\r' {
		end--
	}
	return start, end, next
}
