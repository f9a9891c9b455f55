package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/charmbracelet/x/ansi"
)

// print writes one JSON value as a line.
func (t Terminal) print(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return t.write(t.Out, escapeHidden(b))
}

func (t Terminal) write(w io.Writer, line []byte) error {
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// escapeHidden writes the characters that a terminal would act on or not show
// (C1 controls, bidirectional and zero-width ones) as \u escapes. Outside
// ASCII, JSON has characters only inside strings, so it stays the same value.
func escapeHidden(b []byte) []byte {
	hidden := func(r rune) bool {
		return r == 0x7f || r > 0x7f && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r))
	}
	if bytes.IndexFunc(b, hidden) < 0 {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case !hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// table collects rows and writes them in aligned columns.
type table struct {
	rows [][]string
}

func (tb *table) add(cells ...string) { tb.rows = append(tb.rows, cells) }

// write aligns the columns, two blanks apart; the last one is cut at the width
// of a terminal. head makes the first row a header.
func (tb *table) write(t Terminal, head bool) error {
	var widths []int
	for _, r := range tb.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
	}
	for n, r := range tb.rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(c)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if t.OutIsTerm && t.Width > 0 {
			line = ansi.Truncate(line, t.Width, "…")
		}
		if head && n == 0 {
			line = t.bold(line)
		}
		if err := t.write(t.Out, []byte(line)); err != nil {
			return err
		}
	}
	return nil
}

// short is how an id is shown; commands take it as well as the whole.
func short(id string) string { return id[:min(8, len(id))] }

// plural writes 1 tool, 2 tools.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
