package callmode

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// FinalDelta streams the answer of a Forced model's final step while it
// arrives. The zero value is ready. However the output is split, the pieces
// joined are the Answer that [ParseForced] returns, if the output is a final
// step with its keys in the schema's order; of a call nothing comes.
type FinalDelta struct {
	state   deltaState
	pending string // what cannot be read yet
}

type deltaState int

const (
	deltaHead   deltaState = iota // before the answer's first quote
	deltaAnswer                   // in the answer
	deltaOver                     // behind it, or it is no final step
)

// head is what comes before the answer's text, with white space between the
// parts.
var head = []string{"{", `"tool"`, ":", `"final"`, ",", `"answer"`, ":", `"`}

// Add takes the next piece of output and returns the answer's text in it.
func (d *FinalDelta) Add(piece string) string {
	if d.state == deltaOver {
		return ""
	}
	d.pending += piece
	if d.state == deltaHead && !d.begin() {
		return ""
	}
	var out strings.Builder
	for d.state == deltaAnswer && d.pending != "" {
		n := d.char(&out)
		if n == 0 {
			break
		}
		d.pending = d.pending[n:]
	}
	if d.state == deltaOver {
		d.pending = ""
	}
	return out.String()
}

// begin reads the head once all of it is there.
func (d *FinalDelta) begin() bool {
	rest := d.pending
	for _, part := range head {
		rest = strings.TrimLeft(rest, " \t\r\n")
		switch {
		case strings.HasPrefix(rest, part):
			rest = rest[len(part):]
		case strings.HasPrefix(part, rest):
			return false // more comes
		default:
			d.state, d.pending = deltaOver, ""
			return false
		}
	}
	d.state, d.pending = deltaAnswer, rest
	return true
}

// char reads one character of a JSON string, as encoding/json does. It returns
// the bytes read; 0: more must come first.
func (d *FinalDelta) char(out *strings.Builder) int {
	t := d.pending
	switch c := t[0]; {
	case c == '"' || c < ' ':
		d.state = deltaOver
		return 1
	case c == '\\':
		return d.escape(out)
	case c < utf8.RuneSelf:
		out.WriteByte(c)
		return 1
	case !utf8.FullRuneInString(t):
		return 0
	}
	r, n := utf8.DecodeRuneInString(t)
	out.WriteRune(r)
	return n
}

func (d *FinalDelta) escape(out *strings.Builder) int {
	t := d.pending
	if len(t) < 2 {
		return 0
	}
	if t[1] != 'u' {
		at := strings.IndexByte(`"\/bfnrt`, t[1])
		if at < 0 {
			d.state = deltaOver
			return 2
		}
		out.WriteByte("\"\\/\b\f\n\r\t"[at])
		return 2
	}
	one, ok := unicodeEscape(t)
	switch {
	case !ok && len(t) < 6:
		return 0
	case !ok:
		d.state = deltaOver
		return 2
	case !utf16.IsSurrogate(one):
		out.WriteRune(one)
		return 6
	}
	// The other half may still be on its way.
	if next := t[6:]; len(next) < 6 && (next == "" || strings.HasPrefix(next, `\u`) || next == `\`) {
		return 0
	}
	if two, ok := unicodeEscape(t[6:]); ok {
		if both := utf16.DecodeRune(one, two); both != utf8.RuneError {
			out.WriteRune(both)
			return 12
		}
	}
	out.WriteRune(utf8.RuneError)
	return 6
}

// unicodeEscape reads a backslash, a u and four hexadecimal digits.
func unicodeEscape(t string) (rune, bool) {
	if len(t) < 6 || t[0] != '\\' || t[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(t[2:6], 16, 32)
	return rune(n), err == nil
}
