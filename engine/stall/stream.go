package stall

import (
	"fmt"
	"strings"
	"unicode"
)

// Loop is a repetition that a [Stream] found.
type Loop struct {
	Kind  string // cycle, lines or chunks
	Start int    // bytes of the answer that are worth keeping: up to the first repetition
	Unit  string // what repeats, shortened to one line
	Times int
}

const (
	// lookBack is how much of an answer is looked back on, in bytes. Three copies
	// of what is up to 2 KiB long fit in.
	lookBack = 6 << 10

	// stride is the bytes between two looks: about 64 tokens, which is by how
	// much a loop is noticed later. A look costs one pass over what is looked back on, so
	// that a byte costs lookBack/stride steps, whatever the text.
	stride = 256

	// mostChunks is how many equal pieces in a row a server sends at most; see
	// Ollama's llm/server.go, which then closes the stream without a word.
	mostChunks = 30
)

// Stream watches one answer while it arrives. The zero value is ready. It fires
// on text that repeats itself and stays fired.
//
// How much repetition is too much depends on what repeats. Sentences do so by
// mistake after three copies over 48 tokens (192 bytes). Tables, code, art and
// data repeat with good reason: the fewer words there are in what repeats, the
// longer it must go on. The bounds are beyond what the standard library's
// sources hold, which is tested.
type Stream struct {
	text   []byte // the last bytes, at most lookBack
	total  int
	unread int   // bytes since the last look
	fail   []int // scratch of look
	chunk  chunks
	lines  lines
	loop   *Loop
}

// Write takes the next piece of the answer and reports the loop, if there is one.
func (s *Stream) Write(delta string) (Loop, bool) {
	if s.loop == nil && delta != "" {
		if s.chunk.add(delta) {
			s.found("chunks", s.total+len(delta)-s.chunk.bytes, s.chunk.last, s.chunk.times)
		}
		for delta != "" && s.loop == nil {
			n := min(len(delta), stride-s.unread)
			s.feed(delta[:n])
			delta = delta[n:]
		}
	}
	if s.loop == nil {
		return Loop{}, false
	}
	return *s.loop, true
}

func (s *Stream) feed(piece string) {
	s.text = append(s.text, piece...)
	s.total += len(piece)
	if over := len(s.text) - lookBack; over > 0 {
		s.text = append(s.text[:0], s.text[over:]...)
	}
	if l, ok := s.lines.add(piece); ok {
		s.found("lines", s.total-l.bytes, l.text, l.times)
	}
	if s.unread += len(piece); s.unread >= stride {
		s.unread = 0
		s.look()
	}
}

func (s *Stream) found(kind string, start int, unit string, times int) {
	s.loop = &Loop{Kind: kind, Start: max(start, 0), Unit: short(unit), Times: times}
}

// look finds exact cycles at the end of the text: the failure function of the
// reversed text (Knuth, Morris, Pratt) gives the smallest period of each of its
// endings in one pass.
func (s *Stream) look() {
	n := len(s.text)
	if cap(s.fail) < n {
		s.fail = make([]int, lookBack)
	}
	fail := s.fail[:n]
	back := func(i int) byte { return s.text[n-1-i] }
	k, period, length := 0, 0, 0
	for i := 1; i < n; i++ {
		for k > 0 && back(i) != back(k) {
			k = fail[k-1]
		}
		if back(i) == back(k) {
			k++
		}
		fail[i] = k
		if m, p := i+1, i+1-k; m >= leastCycle && m >= 3*p {
			if p != period && s.judge(period, length) {
				return
			}
			period, length = p, m
		}
	}
	s.judge(period, length)
}

// leastCycle is the shortest repetition that counts, in bytes: 48 tokens.
const leastCycle = 192

// judge decides whether a text that repeats its last period bytes over length
// bytes has to be a mistake.
func (s *Stream) judge(period, length int) bool {
	if period == 0 {
		return false
	}
	k := kindOf(inner(string(s.text[len(s.text)-3*period:])))
	if length < k.bytes || length/period < k.copies {
		return false
	}
	start := s.total - length + period
	s.found("cycle", start, string(s.text[len(s.text)-period:]), length/period)
	return true
}

// chunks counts equal pieces in a row.
type chunks struct {
	last  string
	times int
	bytes int
	feeds int // line ends among blank ones
}

// add reports whether there were too many. Blank pieces are all equal, as they
// are for the server, but only many line ends among them are a loop; others
// count if they are words: digits, dashes and the like come in rows.
func (c *chunks) add(delta string) bool {
	piece := strings.TrimSpace(delta)
	if piece != c.last || c.times == 0 || len(piece) > 64 {
		*c = chunks{last: piece}
	}
	c.times++
	c.bytes += len(delta)
	c.feeds += strings.Count(delta, "\n")
	if c.times <= mostChunks {
		return false
	}
	if piece == "" {
		return c.feeds > mostChunks
	}
	return isWord(strings.TrimFunc(piece, func(r rune) bool { return !unicode.IsLetter(r) })) && !strings.ContainsFunc(piece, unicode.IsDigit)
}

// String says what repeats.
func (l Loop) String() string {
	if l.Unit == "" {
		return fmt.Sprintf("blank text %d times", l.Times)
	}
	return fmt.Sprintf("%q %d times", l.Unit, l.Times)
}
