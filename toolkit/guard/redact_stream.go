package guard

import (
	"bytes"
	"io"
	"regexp"
	"strings"
)

// Bounds of what a RedactWriter holds back: a line is passed on whole up to
// maxHeldLine, a private key is awaited up to maxHeldKey.
const (
	maxHeldLine = 64 << 10
	maxHeldKey  = 256 << 10
	holdBack    = 4 << 10
)

// RedactWriter passes a stream on without secrets, also those that arrive in
// pieces. It holds back an unfinished line or private key until it is complete,
// and everything else only up to its bounds; Close passes on the rest. It is
// not safe for concurrent use.
type RedactWriter struct {
	r       *Redactor
	w       io.Writer
	buf     []byte
	swallow func(byte) bool // drops the rest of a secret that was cut by a bound
}

// Writer returns a writer that redacts what it passes on to w.
func (r *Redactor) Writer(w io.Writer) *RedactWriter { return &RedactWriter{r: r, w: w} }

// Write implements io.Writer.
func (s *RedactWriter) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	for {
		s.skip()
		cut, forced := s.cut()
		if cut <= 0 {
			return len(p), nil
		}
		if err := s.emit(cut, forced); err != nil {
			return 0, err
		}
	}
}

// skip drops the rest of a secret whose beginning was replaced already.
func (s *RedactWriter) skip() {
	for s.swallow != nil && len(s.buf) > 0 {
		if !s.swallow(s.buf[0]) {
			s.swallow = nil
			return
		}
		s.buf = s.buf[1:]
	}
}

// cut returns how much of the buffer can be passed on; forced says that the cut
// may go through a secret.
func (s *RedactWriter) cut() (n int, forced bool) {
	// A known value may contain line ends, so as much as the longest is kept.
	safe := len(s.buf)
	if s.r.longest > 0 {
		safe = s.knownTail(safe)
	}
	n = bytes.LastIndexAny(s.buf[:safe], "\n\r") + 1
	if n == 0 && len(s.buf) > maxHeldLine {
		n = max(0, len(s.buf)-max(holdBack, s.r.longest))
		forced = true
		if i := bytes.LastIndexAny(s.buf[:n], " \t"); i > 0 {
			n, forced = i, false
		}
	}
	n = s.beforeKnown(n)
	begin, _ := keyAround(s.buf, n)
	if begin == 0 && n > 0 && len(s.buf) > maxHeldKey {
		return len(s.buf), true
	}
	return begin, forced && begin == n
}

// knownTail returns the start of the longest end of the buffer that could begin
// a known value, or n.
func (s *RedactWriter) knownTail(n int) int {
	if s.r.known == nil {
		return n
	}
	for start := max(0, n-s.r.longest+1); start < n; start++ {
		for _, form := range s.r.forms {
			if len(form) > n-start && form[:n-start] == string(s.buf[start:n]) {
				return start
			}
		}
	}
	return n
}

// beforeKnown moves a cut to the start of a known value that it would split.
func (s *RedactWriter) beforeKnown(cut int) int {
	for moved := true; moved && cut > 0; {
		moved = false
		for _, form := range s.r.forms {
			// Only an occurrence that begins before the cut and ends after it counts.
			from := max(0, cut-len(form)+1)
			to := min(len(s.buf), cut+len(form)-1)
			if i := bytes.Index(s.buf[from:to], []byte(form)); i >= 0 {
				cut, moved = from+i, true
			}
		}
	}
	return cut
}

// The lines around a private key, as in secretPatterns.
var (
	keyBegin = regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = regexp.MustCompile(`-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`)
)

// keyAround returns where a private key begins that a cut would split, whether
// it has ended or not; or cut itself.
func keyAround(buf []byte, cut int) (begin int, ended bool) {
	for pos := 0; bytes.Contains(buf[pos:], []byte("-----BEGIN ")); {
		b := keyBegin.FindIndex(buf[pos:])
		if b == nil || pos+b[0] >= cut {
			break
		}
		e := keyEnd.FindIndex(buf[pos+b[1]:])
		if e == nil {
			return pos + b[0], false
		}
		if pos+b[1]+e[1] > cut {
			return pos + b[0], true
		}
		pos += b[1] + e[1]
	}
	return cut, true
}

func (s *RedactWriter) emit(n int, forced bool) error {
	text := s.r.Text(string(s.buf[:n]))
	_, ended := keyAround(s.buf[:n], n)
	s.buf = append(s.buf[:0], s.buf[n:]...)
	if forced && strings.HasSuffix(text, "]") && strings.LastIndex(text, "[REDACTED:") >= len(text)-64 {
		s.swallow = tokenByte
		if !ended {
			s.swallow = keyByte
		}
	}
	_, err := io.WriteString(s.w, text)
	return err
}

func tokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_-.+/=~", c) >= 0
}

func keyByte(c byte) bool { return tokenByte(c) || c == '\n' || c == '\r' || c == ' ' }

// Close passes on what is held back. It does not close the writer below.
func (s *RedactWriter) Close() error {
	s.skip()
	if len(s.buf) == 0 {
		return nil
	}
	return s.emit(len(s.buf), false)
}
