package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"chela/ui/safetext"
	"chela/ui/wrap"
)

// maxTail is how much of a stream may be open, in bytes, before it is shown
// plain until it is finished. Only one block of that size gets there: a huge
// fence, list or table.
const maxTail = 64 << 10

// Stream is a text that arrives in pieces. What is settled is rendered once;
// each [Stream.Lines] renders only the open end.
//
// Settled is whatever stands before the last block that begins behind a blank
// line, on a line that is finished or begins with a letter. By the rules of CommonMark nothing that follows can
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
	s.tail += safetext.Block(string(s.last[:end]))
	s.last = append([]byte(nil), s.last[end:]...)
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
	if s.plain || s.length() > MaxDocument || tooHeavy(s.tail) || s.late() {
		s.rejoin()
	}
}

// late reports whether a link reference came after text was settled that might
// have used it.
func (s *Stream) late() bool {
	if len(s.settled) == 0 || len(s.refs) > s.settled[0].refs {
		return len(s.settled) > 0
	}
	if !strings.Contains(s.tail, "]:") {
		return false
	}
	_, fresh := parse(s.tail, s.refs)
	return len(fresh) > 0
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
	s.plain = false
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
	if s.open == nil {
		s.update()
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

// update parses the open end, moves what cannot change any more to the settled
// part, and renders both.
func (s *Stream) update() {
	source := s.tail
	if !s.done {
		source += safetext.Block(string(wholeRunes(s.last)))
		s.plain = s.plain || len(source) > maxTail || tooHeavy(source)
	}
	if s.plain || tooHeavy(source) {
		s.open = s.r.plain(source, s.width)
		return
	}
	doc, fresh := parse(source, s.refs)
	c := canvas{Renderer: s.r, source: []byte(source)}
	first := doc.FirstChild()
	if end, at := s.boundary(doc, source); at > 0 && !s.done {
		s.lines = join(s.lines, wrap.Cut(c.blocks(first, end, s.width, 0, true), s.width))
		if len(fresh) > 0 {
			// References of what stays open are found again with it.
			_, fresh = parse(source[:at], s.refs)
			s.refs = append(s.refs, fresh...)
		}
		s.settled = append(s.settled, segment{source: source[:at], refs: len(s.refs)})
		s.tail = strings.Clone(s.tail[at:])
		first = end
	}
	s.open = wrap.Cut(c.blocks(first, nil, s.width, 0, true), s.width)
	if s.open == nil {
		s.open = []string{}
	}
}

// boundary finds the last block that begins behind a blank line for certain,
// and where its first line starts; 0 if there is none but the first.
func (s *Stream) boundary(doc ast.Node, source string) (ast.Node, int) {
	for n := doc.LastChild(); n != nil && n.PreviousSibling() != nil; n = n.PreviousSibling() {
		pos := n.Pos()
		if pos <= 0 || pos >= len(source) {
			continue
		}
		start := strings.LastIndexByte(source[:pos], '\n') + 1
		if start == 0 || start >= len(s.tail) && !letter(source[start]) {
			continue
		}
		above := source[:start-1]
		above = above[strings.LastIndexByte(above, '\n')+1:]
		if strings.TrimSpace(above) == "" {
			return n, start
		}
	}
	return nil, 0
}

// letter reports whether a line that begins with c is a paragraph, however it
// goes on: no list, which might be the one above, begins with a letter.
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
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
