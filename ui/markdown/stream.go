package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"chela/ui/safetext"
)

// maxTail is how much of a stream may be open, in bytes, before it is shown
// plain until it is finished. Only one block of that size gets there: a huge
// fence, list or table.
const maxTail = 64 << 10

// Stream is a text that arrives in pieces. What is settled is rendered once;
// each [Stream.Lines] renders only the open end.
//
// Settled is whatever stands before the last block that begins on a finished
// line behind a blank line. By the rules of CommonMark nothing that follows can
// change the structure of blocks before that point: fences, lists, quotes,
// tables and HTML that are still open are themselves the last block, and a
// setext underline needs its paragraph right above. The parser says where
// blocks begin, so that no second set of rules has to agree with it. The one
// thing that acts backwards is a link reference that is defined below its use;
// such a text is rendered anew when it is finished.
//
// A Stream is not safe for concurrent use, and uses its renderer's state.
type Stream struct {
	r       *Renderer
	settled []segment
	refs    []parser.Reference // known at the end of what is settled
	tail    string             // harmless, whole lines
	last    []byte             // the last line, not finished, as it came
	blank   bool               // the last whole line is blank
	split   bool               // a line behind a blank one came since tail was last split
	plain   bool               // the open end outgrew maxTail
	done    bool

	width int
	lines []string // of what is settled, at width
	open  []string // of tail and last, at width; nil if they changed
}

// segment is a settled part and how many references were known in it.
type segment struct {
	source string
	refs   int
}

// NewStream returns an empty stream.
func (r *Renderer) NewStream() *Stream { return &Stream{r: r} }

// Append adds text as it comes; pieces may end anywhere, inside a character
// too. After Finish it does nothing.
func (s *Stream) Append(text string) {
	if s.done || text == "" {
		return
	}
	s.open = nil
	s.last = append(s.last, text...)
	// The new piece alone can hold the newline; what was there has none.
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return
	}
	end := len(s.last) - len(text) + i + 1
	lines := safetext.Block(string(s.last[:end]))
	s.tail += lines
	s.last = append([]byte(nil), s.last[end:]...)
	for line := range strings.Lines(lines) {
		blank := strings.TrimSpace(line) == ""
		s.split = s.split || s.blank && !blank
		s.blank = blank
	}
}

// Finish says that nothing more will come. From then on Lines returns exactly
// what [Renderer.Render] does for the whole text.
func (s *Stream) Finish() {
	if s.done {
		return
	}
	s.done = true
	s.open = nil
	s.tail += safetext.Block(string(s.last))
	s.last = nil
	late := len(s.settled) > 0 && len(s.refs) > s.settled[0].refs
	if !late && len(s.settled) > 0 && len(s.tail) <= MaxDocument && strings.Contains(s.tail, "]:") {
		_, fresh := parse(s.tail, s.refs)
		late = len(fresh) > 0
	}
	if late || s.plain || s.length() > MaxDocument {
		s.rejoin()
	}
}

// Finished reports whether Finish was called.
func (s *Stream) Finished() bool { return s.done }

// Len is the length of the text so far in bytes, made harmless.
func (s *Stream) Len() int { return s.length() + len(s.last) }

func (s *Stream) length() int {
	n := len(s.tail)
	for _, seg := range s.settled {
		n += len(seg.source)
	}
	return n
}

// rejoin makes one part of all, to be rendered at once.
func (s *Stream) rejoin() {
	var b strings.Builder
	for _, seg := range s.settled {
		b.WriteString(seg.source)
	}
	b.WriteString(s.tail)
	s.settled, s.refs, s.lines, s.tail = nil, nil, nil, b.String()
	s.plain, s.split = false, false
}

// Lines returns the lines at width cells. The caller must not change them, and
// the slice is valid until the next call of a method. A finished stream keeps no lines, so whoever draws it again should (ui/list
// does); then a long conversation is in memory only where it is looked at.
func (s *Stream) Lines(width int) []string {
	width = max(width, 1)
	if width != s.width {
		s.width, s.open, s.lines = width, nil, nil
		for _, seg := range s.settled {
			s.lines = join(s.lines, s.r.render(seg.source, width, s.refs[:seg.refs]))
		}
	}
	if s.split && !s.done {
		s.settle()
	}
	if s.open == nil {
		s.open = s.rest()
	}
	// The open end is put behind the settled lines in their own array, so that
	// a long text is not copied for each delta.
	all := join(s.lines, s.open)
	if s.done {
		s.lines, s.open, s.width = nil, nil, 0
	} else if len(s.lines) > 0 {
		s.lines = all[:len(s.lines)]
	}
	return all
}

// rest renders the open end.
func (s *Stream) rest() []string {
	source := s.tail
	if !s.done {
		source += safetext.Block(string(wholeRunes(s.last)))
	}
	if s.plain {
		return s.r.plain(source, s.width)
	}
	lines := s.r.render(source, s.width, s.refs)
	if lines == nil {
		lines = []string{}
	}
	return lines
}

// settle moves what cannot change any more from the tail to the settled part.
func (s *Stream) settle() {
	s.split = false
	if s.plain {
		return
	}
	doc, fresh := parse(s.tail, s.refs)
	end, at := s.boundary(doc)
	defer func() { s.plain = len(s.tail) > maxTail }()
	if at == 0 {
		return
	}
	source := s.tail[:at]
	c := canvas{Renderer: s.r, source: []byte(s.tail)}
	s.lines = join(s.lines, fit(c.blocks(doc.FirstChild(), end, s.width, 0, true), s.width))
	// References of what stays in the tail are found again when it is settled.
	if len(fresh) > 0 {
		_, fresh = parse(source, s.refs)
		s.refs = append(s.refs, fresh...)
	}
	s.settled = append(s.settled, segment{source: source, refs: len(s.refs)})
	s.tail = strings.Clone(s.tail[at:])
	s.open = nil
}

// boundary finds the last block that begins behind a blank line, and where its
// first line starts in the tail; 0 if there is none but the first.
func (s *Stream) boundary(doc ast.Node) (ast.Node, int) {
	for n := doc.LastChild(); n != nil && n.PreviousSibling() != nil; n = n.PreviousSibling() {
		pos := n.Pos()
		if pos <= 0 || pos >= len(s.tail) {
			continue
		}
		start := strings.LastIndexByte(s.tail[:pos], '\n') + 1
		if start == 0 {
			continue
		}
		above := s.tail[:start-1]
		above = above[strings.LastIndexByte(above, '\n')+1:]
		if strings.TrimSpace(above) == "" {
			return n, start
		}
	}
	return nil, 0
}

// join puts b behind a as blocks are put together, in a's array if it has room.
func join(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return append(append(a, ""), b...)
}

// wholeRunes leaves out a character whose last bytes have not arrived, and a
// carriage return that may be half of a line ending.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			break
		}
	}
	if len(b) > 0 && b[len(b)-1] == '\r' {
		return b[:len(b)-1]
	}
	return b
}
