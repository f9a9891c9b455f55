package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"chela/toolkit/guard"
)

// Limits of one read.
const (
	maxLines    = 2000     // lines of one window, as the schema says
	maxLineLen  = 2000     // characters shown of one line
	maxScan     = 1 << 30  // bytes looked through to count lines and hash
	scanBuffer  = 64 << 10 // bytes
	checkEveryN = 1 << 12  // lines between looks at the context
)

// window is a range of a file's lines.
type window struct {
	numbered strings.Builder // "    12\ttext" for each line
	raw      strings.Builder // the lines with their ends
	shown    int
	total    int // -1: not counted to the end
	size     int64
	sum      string
	binary   bool
	cutLines int // lines of which only a part is shown
	crlf, lf int
	bom      bool
	invalid  bool // bytes that are not UTF-8
	noEnd    bool // the last line has no line end
}

// readWindow reads lines offset to offset+want, as many of them as fit into
// room characters, at least one. It reads the file as a stream: memory does not
// grow with the file.
func readWindow(ctx context.Context, f *guard.File, offset, want, room int) (*window, error) {
	w := &window{}
	hash := sha256.New()
	counted := &countReader{r: io.TeeReader(io.LimitReader(f, maxScan+1), hash)}
	br := bufio.NewReaderSize(counted, scanBuffer)
	head, err := br.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if guard.IsBinary(head) {
		w.binary = true
		return w, nil
	}
	if w.bom = bytes.HasPrefix(head, bomUTF8); w.bom {
		_, _ = br.Discard(len(bomUTF8)) // it was just peeked
	}
	full := false
	for line := 0; ; line++ {
		if line%checkEveryN == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text, long, err := w.readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if errors.Is(err, io.EOF) && len(text) == 0 {
			w.total = line
			break
		}
		if line >= offset && w.shown < want && !full {
			full = !w.add(line+1, text, long, &room)
		}
		if errors.Is(err, io.EOF) {
			w.total, w.noEnd = line+1, true
			break
		}
	}
	w.size = counted.n
	if counted.n > maxScan {
		w.size, w.total = f.Info().Size, -1
		return w, nil
	}
	w.sum = hex.EncodeToString(hash.Sum(nil))
	return w, nil
}

var bomUTF8 = []byte("\xef\xbb\xbf")

// readLine returns one line with its end. Of a line longer than the buffer it
// returns the beginning; long counts the bytes that are missing.
func (w *window) readLine(br *bufio.Reader) (text []byte, long int, err error) {
	text, err = br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		text = bytes.Clone(text)
		var last byte
		for errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			rest, err = br.ReadSlice('\n')
			long += len(rest)
			if len(rest) > 0 {
				last = rest[len(rest)-1]
			}
		}
		text = guard.TrimPartialRune(text)
		if last == '\n' {
			text = append(text, '\n')
			long--
		}
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		if n > 1 && text[n-2] == '\r' {
			w.crlf++
		} else {
			w.lf++
		}
	}
	return text, long, err
}

// add shows one line if it fits; the first always does, cut if it must be.
func (w *window) add(number int, line []byte, long int, room *int) bool {
	body := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	if !utf8.ValidString(body) {
		w.invalid = true
		body = guard.ToText([]byte(body))
	}
	limit := maxLineLen
	if w.shown == 0 {
		limit = min(limit, max(*room-20, 80))
	}
	if n := utf8.RuneCountInString(body) + long; n > limit {
		body = firstRunes(body, limit)
		body = fmt.Sprintf("%s [+%d characters]", body, n-utf8.RuneCountInString(body))
		w.cutLines++
	}
	text := fmt.Sprintf("%6d\t%s\n", number, body)
	cost := utf8.RuneCountInString(text)
	if w.shown > 0 && cost > *room {
		return false
	}
	*room -= cost
	w.shown++
	w.numbered.WriteString(text)
	w.raw.WriteString(body)
	if bytes.HasSuffix(line, []byte("\n")) {
		w.raw.WriteByte('\n')
	}
	return true
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// notes are what an edit has to know of the file's form.
func (w *window) notes() string {
	var notes []string
	switch {
	case w.crlf > 0 && w.lf > 0:
		notes = append(notes, "mixed line ends")
	case w.crlf > 0:
		notes = append(notes, "CRLF line ends")
	}
	if w.bom {
		notes = append(notes, "byte order mark")
	}
	if w.invalid {
		notes = append(notes, "not UTF-8: odd bytes are shown as \uFFFD")
	}
	if w.noEnd && w.total > 0 {
		notes = append(notes, "no newline at the end")
	}
	if w.cutLines > 0 {
		notes = append(notes, "long lines are cut")
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
