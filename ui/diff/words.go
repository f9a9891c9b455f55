package diff

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"

	"chela/ui/safetext"
)

// maxWords bounds the comparison of two lines word by word; longer lines are
// marked as changed all over.
const maxWords = 400

// piece is a run of text that changed or did not.
type piece struct {
	text    string
	changed bool
}

// shown is what is drawn of a line: harmless, and cut where words changed.
type shown struct {
	Line
	pieces []piece
}

// prepare pairs the deleted with the added lines of each block of changes and
// marks the words that differ.
func (d *Diff) prepare(h Hunk) []shown {
	crlf := d.crlf()
	out := make([]shown, len(h.Lines))
	for i, l := range h.Lines {
		out[i] = shown{Line: l, pieces: []piece{{text: clean(l.Text, crlf)}}}
	}
	for i := 0; i < len(out); {
		dels := i
		for i < len(out) && out[i].Kind == Deleted {
			i++
		}
		adds := i
		for i < len(out) && out[i].Kind == Added {
			i++
		}
		for k := range min(adds-dels, i-adds) {
			compare(&out[dels+k], &out[adds+k])
		}
		if i == dels {
			i++
		}
	}
	return out
}

// crlf reports whether all lines end in CR LF, which then is no news.
func (d *Diff) crlf() bool {
	n := 0
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if !strings.HasSuffix(l.Text, "\r") && !l.NoNewline {
				return false
			}
			n++
		}
	}
	return n > 0
}

func clean(text string, crlf bool) string {
	if crlf {
		text = strings.TrimSuffix(text, "\r")
	}
	return safetext.Block(text)
}

// compare splits two lines where they differ.
func compare(del, add *shown) {
	a, b := del.pieces[0].text, add.pieces[0].text
	if a == b {
		// They differ in what Block makes equal, tabs and blanks; Command
		// names all of that.
		a, b = safetext.Command(del.Text), safetext.Command(add.Text)
	}
	old, updated := words(a), words(b)
	if len(old) > maxWords || len(updated) > maxWords {
		return
	}
	edits := lcs.DiffLines(old, updated)
	kept := len(old)
	for _, e := range edits {
		kept -= e.End - e.Start
	}
	// Lines with little in common are two lines, not one that was edited:
	// marks all over them would say nothing.
	if 3*kept < max(len(old), len(updated)) {
		return
	}
	del.pieces, add.pieces = nil, nil
	i, j := 0, 0
	for _, e := range edits {
		same := strings.Join(old[i:e.Start], "")
		del.push(same, false)
		add.push(strings.Join(updated[j:e.ReplStart], ""), false)
		del.push(strings.Join(old[e.Start:e.End], ""), true)
		add.push(strings.Join(updated[e.ReplStart:e.ReplEnd], ""), true)
		i, j = e.End, e.ReplEnd
	}
	del.push(strings.Join(old[i:], ""), false)
	add.push(strings.Join(updated[j:], ""), false)
}

func (s *shown) push(text string, changed bool) {
	if text != "" {
		s.pieces = append(s.pieces, piece{text: text, changed: changed})
	}
}

// words cuts a line into words, runs of blanks, and single other characters.
func words(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
			return 1
		case r == ' ':
			return 2
		}
		return 0
	}
	var out []string
	start, last := 0, -1
	for i, r := range s {
		c := class(r)
		if i > 0 && (c != last || c == 0) {
			out = append(out, s[start:i])
			start = i
		}
		last = c
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
