package files

import (
	"bytes"
	"sort"
	"strings"
)

// document is a text file prepared for matching: its text with every line end
// as "\n", and the way back to the bytes of the file.
type document struct {
	raw  string
	text string // raw without the byte order mark and without "\r" before "\n"
	bom  int    // bytes of the mark
	// dropped are the offsets in text at which a "\r" was left out, ascending.
	dropped []int
	starts  []int // offset in text of each line
}

func newDocument(data []byte) *document {
	d := &document{raw: string(data)}
	body := data
	if bytes.HasPrefix(body, bomUTF8) {
		d.bom = len(bomUTF8)
		body = body[d.bom:]
	}
	d.text = string(body)
	if bytes.Contains(body, []byte("\r\n")) {
		var b strings.Builder
		b.Grow(len(body))
		for i := range len(body) {
			if body[i] == '\r' && i+1 < len(body) && body[i+1] == '\n' {
				d.dropped = append(d.dropped, b.Len())
				continue
			}
			b.WriteByte(body[i])
		}
		d.text = b.String()
	}
	d.starts = append(d.starts, 0)
	for i := range len(d.text) {
		if d.text[i] == '\n' && i+1 < len(d.text) {
			d.starts = append(d.starts, i+1)
		}
	}
	return d
}

// rawOffset maps an offset in text to one in raw.
func (d *document) rawOffset(off int) int {
	return d.bom + off + sort.SearchInts(d.dropped, off)
}

// line returns line i without its end.
func (d *document) line(i int) string { return d.text[d.starts[i]:d.lineEnd(i)] }

func (d *document) lineEnd(i int) int {
	if i+1 < len(d.starts) {
		return d.starts[i+1] - 1
	}
	return len(strings.TrimSuffix(d.text, "\n"))
}

// lineAt returns the index of the line that holds an offset.
func (d *document) lineAt(off int) int {
	return sort.Search(len(d.starts), func(i int) bool { return d.starts[i] > off }) - 1
}

// crlf reports whether most line ends of a range of text are "\r\n" in the
// file; a range without any takes the file's own habit.
func (d *document) crlf(start, end int) bool {
	if lines := strings.Count(d.text[start:end], "\n"); lines > 0 {
		from, to := sort.SearchInts(d.dropped, start), sort.SearchInts(d.dropped, end)
		return 2*(to-from) > lines
	}
	return len(d.dropped) > 0 && 2*len(d.dropped) >= strings.Count(d.text, "\n")
}

// span is a range of text and what takes its place.
type span struct {
	start, end int
	with       string
}

// replace returns the file's bytes with the spans, which are in order and do not
// overlap, replaced. Nothing outside of them changes.
func (d *document) replace(spans []span) []byte {
	var b strings.Builder
	last := 0
	for _, s := range spans {
		from, to := d.rawOffset(s.start), d.rawOffset(s.end)
		with := s.with
		if d.crlf(s.start, s.end) {
			with = strings.ReplaceAll(strings.ReplaceAll(with, "\r\n", "\n"), "\n", "\r\n")
		}
		b.WriteString(d.raw[last:from])
		b.WriteString(with)
		last = to
	}
	b.WriteString(d.raw[last:])
	return []byte(b.String())
}
