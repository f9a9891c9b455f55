package rescue

import (
	"fmt"
	"slices"
	"strings"
)

// span is a piece of the text, from start up to end.
type span struct{ start, end int }

// candidate is a call as written, before anything was resolved or checked.
type candidate struct {
	name       string
	args       any   // map[string]any, or JSON in a string, or nil
	positional []any // Python arguments without a name
	open       openness
}

// openness says how much of a candidate's end is missing.
type openness int

const (
	closed   openness = iota
	loose             // an end mark is missing, but the arguments are whole
	cutShort          // the arguments themselves were not closed
)

// envelope is one piece of markup that holds calls.
type envelope struct {
	family string
	span
	calls  []candidate
	marked bool   // has marks that do not occur by chance
	broken string // why it is no call; what it owns is not looked at again
	known  bool   // its end is known though it is broken; else it owns the rest
}

type scanner struct {
	text  string
	tools *offered
	stop  bool // the answer ended by itself

	work    int            // bytes that may still be read while trying
	checked int            // candidates that were looked at
	cached  map[string]hit // see find
	code    map[int]int    // see inlineCode

	base       int // where the answer begins, behind thinking
	fresh      int // a line begins here as well: behind something that was taken out
	line       int // where the current line begins
	firstOf    int // see first: the line it is remembered of, counted from 1
	firstAt    int
	quoted     bool // the line before was a block quote
	indented   bool // the line before was indented code
	blank      bool // the line before was blank
	inThinking bool // what is read is thinking that never closed

	calls    []Call
	cuts     []span // not for the reader
	thinking []span
	invented int // where an invented tool response begins, or -1
	notes    []string
	kinds    []string // see passed
}

func newScanner(text string, o Options) *scanner {
	return &scanner{
		text: text, tools: newOffered(o.Tools), stop: o.Done == "stop", work: 8*len(text) + 4096,
		cached: map[string]hit{}, code: map[int]int{}, invented: -1,
	}
}

// maxNotes bounds what a hostile text can make us say.
const maxNotes = 20

func (s *scanner) note(format string, args ...any) {
	if len(s.notes) < maxNotes {
		s.notes = append(s.notes, fmt.Sprintf(format, args...))
	}
}

// run reads the whole text.
func (s *scanner) run() {
	for i := 0; i < len(s.text) && s.invented < 0; {
		if s.work <= 0 {
			s.note("the text takes too long to read; from byte %d on it is taken as text", i)
			return
		}
		if i == 0 || s.text[i-1] == '\n' {
			s.line = i
			if end, ok := s.skipLine(i); ok {
				i = end
				continue
			}
			if f, ok := s.fenceAt(i); ok {
				i = s.fence(f)
				continue
			}
		}
		if end, ok := s.split(i); ok {
			i = end
			continue
		}
		if s.startsLine(i) {
			if end, ok := s.take(s.unmarked(i)); ok {
				i = end
				continue
			}
		}
		switch s.text[i] {
		case '`':
			i = s.inlineCode(i)
		case '<', '[':
			if !mayMark(s.text[i:]) {
				i++
				break
			}
			if isResponse(s.text[i:]) {
				s.invented = i
				s.note("a tool response that the model made up; nothing behind it is looked at")
				break
			}
			if end, ok := s.take(s.marker(i)); ok {
				i = end
				continue
			}
			i++
		case 'a':
			// Marks that were lost glue a header to the thoughts before it.
			if s.has(i, gluedHeader) {
				if end, ok := s.take(s.unmarked(i)); ok {
					i = end
					continue
				}
			}
			i++
		default:
			i++
		}
	}
}

// mayMark looks at the first two bytes of what may be a mark.
func mayMark(t string) bool {
	if len(t) < 2 {
		return false
	}
	return t[0] == '[' && t[1] == 'T' || t[0] == '<' && strings.IndexByte("tfi|\xef", t[1]) >= 0
}

// startsLine reports whether only blanks are before i on its line. Four of
// them make it code, unless the message begins so.
func (s *scanner) startsLine(i int) bool {
	if i != s.first() {
		return false
	}
	return i-max(s.line, s.fresh) <= 3 || strings.TrimSpace(s.text[s.base:i]) == ""
}

// first is where the current line's text begins.
func (s *scanner) first() int {
	if from := max(s.line, s.fresh); s.firstOf != from+1 {
		s.firstOf, s.firstAt = from+1, from
		for s.firstAt < len(s.text) && strings.IndexByte(" \t", s.text[s.firstAt]) >= 0 {
			s.firstAt++
		}
	}
	return s.firstAt
}

// take makes calls of an envelope, or says why not. It returns where to go on.
func (s *scanner) take(e envelope, ok bool) (int, bool) {
	if !ok {
		return 0, false
	}
	switch {
	case e.broken != "":
		s.note("%s at byte %d: %s", e.family, e.start, e.broken)
		if !e.known {
			// A string in it may hold what looks like its end, and more calls.
			e.end = len(s.text)
		}
	case e.marked && s.midSentence(e.span):
		s.note("%s at byte %d: in the middle of a sentence, so it is quoted", e.family, e.start)
	default:
		if s.accept(e) {
			e.end = s.swallow(e.end)
			s.cuts = append(s.cuts, e.span)
			s.fresh = e.end
		}
	}
	return max(e.end, e.start+1), true
}

// midSentence reports whether there is prose on the same line on both sides.
func (s *scanner) midSentence(e span) bool {
	after := strings.TrimLeft(s.text[s.swallowMarks(e.end):], " \t")
	return s.first() < e.start && after != "" && !strings.ContainsAny(after[:1], "\r\n<[")
}

func (s *scanner) result() Result {
	r := Result{Calls: s.calls, Notes: s.notes}
	for i := range r.Calls {
		r.Calls[i].InThinking = s.inThinking
	}
	cuts := slices.Clone(s.thinking)
	if len(s.calls) > 0 {
		cuts = append(cuts, s.cuts...)
		if s.invented >= 0 {
			cuts = append(cuts, span{s.invented, len(s.text)})
		}
	}
	slices.SortFunc(cuts, func(a, b span) int { return a.start - b.start })
	var left, thought strings.Builder
	at := 0
	for _, c := range cuts {
		left.WriteString(s.text[min(at, c.start):c.start])
		at = max(at, c.end)
	}
	left.WriteString(s.text[at:])
	for _, c := range s.thinking {
		thought.WriteString(strings.TrimSpace(stripThinkMarks(s.text[c.start:c.end])))
	}
	r.Text, r.Thinking = left.String(), thought.String()
	if len(cuts) > 0 {
		r.Text = strings.TrimSpace(r.Text)
	}
	if s.inThinking {
		r.Thinking = strings.TrimSpace(r.Thinking + "\n" + r.Text)
		r.Text = ""
	}
	return r
}

// hit remembers the result of a search: from any place between from and at the
// next one is at; at -1: there is none.
type hit struct{ from, at int }

// find is strings.Index from a place, where repeated searches cost nothing.
func (s *scanner) find(sub string, from int) int {
	if h, ok := s.cached[sub]; ok && from >= h.from && (h.at < 0 || from <= h.at) {
		return h.at
	}
	at := -1
	if from <= len(s.text) {
		if at = strings.Index(s.text[from:], sub); at >= 0 {
			at += from
		}
	}
	s.cached[sub] = hit{from, at}
	return at
}

// space skips white space.
func (s *scanner) space(i int) int {
	for i < len(s.text) && strings.IndexByte(" \t\r\n", s.text[i]) >= 0 {
		i++
		s.work--
	}
	return i
}

func (s *scanner) has(i int, prefix string) bool {
	return i <= len(s.text) && strings.HasPrefix(s.text[i:], prefix)
}

// ident reads a name as tools have them, with dots and a kimi index.
func (s *scanner) ident(i int) (string, int) {
	start := i
	for i < len(s.text) && i-start < 128 && isNameByte(s.text[i]) {
		i++
	}
	return s.text[start:i], i
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
