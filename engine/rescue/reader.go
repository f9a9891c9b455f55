package rescue

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader reads JSON as models write it. Beside JSON it takes what has only one
// meaning:
//
//   - an escape that JSON does not know: the backslash stands for itself, as in
//     "\d+"; in a path also \b \f \n \r \t before a letter, as in "C:\bin\new";
//   - raw newlines and tabs in strings;
//   - 'single quotes', if what follows the closing one is punctuation;
//   - keys without quotes, trailing commas, True, False and None;
//   - missing closing brackets at the end, which are counted in open.
//
// A key that is given twice is an error: it has two meanings.
type reader struct {
	s    *scanner // for its budget
	text string
	i    int

	open     int  // brackets that were never closed
	marked   bool // a closing mark stood where they should have been
	partly   bool // a number or word ends where the text ends: it may be longer
	pathLike bool // the value that is read is a path
}

// maxDepth of nested values; no real call comes near.
const maxDepth = 32

// value reads one value of the scanner's text.
func (s *scanner) value(i int) (v any, r reader, ok bool) {
	r = reader{s: s, text: s.text, i: i}
	v, ok = r.value(0)
	return v, r, ok
}

// whole reads a text that is one value.
func (r *reader) whole() (any, bool) {
	v, ok := r.value(0)
	if !ok {
		return nil, false
	}
	r.space()
	return v, r.i == len(r.text)
}

func (r *reader) space() {
	for r.i < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.i]) >= 0 {
		r.i++
		r.s.work--
	}
}

// ends reports whether nothing more comes, or a mark that closes the envelope.
func (r *reader) ends() bool {
	rest := r.text[r.i:]
	if rest == "" {
		return true
	}
	if strings.HasPrefix(rest, "</") || strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "<|") {
		r.marked = true
		return true
	}
	return false
}

func (r *reader) value(depth int) (any, bool) {
	r.space()
	if r.i >= len(r.text) || depth > maxDepth || r.s.work <= 0 {
		return nil, false
	}
	r.s.work -= 4 // a value costs more than its bytes
	switch c := r.text[r.i]; c {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"', '\'':
		return r.str()
	default:
		return r.word()
	}
}

func (r *reader) object(depth int) (any, bool) {
	r.i++
	m := map[string]any{}
	for {
		r.space()
		switch {
		case r.ends():
			r.open++
			return m, len(m) > 0
		case r.text[r.i] == '}':
			r.i++
			return m, true
		}
		key, ok := r.key()
		if !ok {
			return nil, false
		}
		if _, twice := m[key]; twice {
			return nil, false
		}
		if r.space(); r.i >= len(r.text) || r.text[r.i] != ':' {
			return nil, false
		}
		r.i++
		was := r.pathLike
		r.pathLike = isPath(key)
		v, ok := r.value(depth + 1)
		r.pathLike = was
		if !ok {
			return nil, false
		}
		m[key] = v
		if !r.next('}') {
			return nil, false
		}
	}
}

func (r *reader) list(depth int) (any, bool) {
	r.i++
	list := []any{}
	for {
		r.space()
		switch {
		case r.ends():
			r.open++
			return list, len(list) > 0
		case r.text[r.i] == ']':
			r.i++
			return list, true
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if !r.next(']') {
			return nil, false
		}
	}
}

// next passes the comma behind an element. What closes the container, or ends
// everything, is left for the caller.
func (r *reader) next(shut byte) bool {
	r.space()
	if r.ends() {
		return true
	}
	if r.text[r.i] == ',' {
		r.i++
		return true
	}
	return r.text[r.i] == shut
}

func (r *reader) key() (string, bool) {
	if c := r.text[r.i]; c == '"' || c == '\'' {
		was := r.pathLike
		r.pathLike = false
		k, ok := r.str()
		r.pathLike = was
		text, _ := k.(string)
		return text, ok
	}
	start := r.i
	for r.i < len(r.text) && isNameByte(r.text[r.i]) && r.text[r.i] != '.' {
		r.i++
	}
	return r.text[start:r.i], r.i > start
}

// str reads a string in either quotes.
func (r *reader) str() (any, bool) {
	quote := r.text[r.i]
	r.i++
	var b strings.Builder
	for r.i < len(r.text) {
		r.s.work--
		switch c := r.text[r.i]; c {
		case quote:
			r.i++
			return b.String(), quote == '"' || r.punctuated()
		case '\\':
			if !r.escape(&b, quote) {
				return nil, false
			}
		default:
			b.WriteByte(c)
			r.i++
		}
	}
	return nil, false // it never closed: something is lost
}

// punctuated tells a closing single quote from an apostrophe.
func (r *reader) punctuated() bool {
	j := r.i
	for j < len(r.text) && strings.IndexByte(" \t\r\n", r.text[j]) >= 0 {
		j++
		r.s.work--
	}
	return j == len(r.text) || strings.IndexByte(",}]:<`)", r.text[j]) >= 0
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (r *reader) escape(b *strings.Builder, quote byte) bool {
	if r.i+1 >= len(r.text) {
		return false
	}
	c := r.text[r.i+1]
	switch plain, known := escapes[c]; {
	case c == 'u':
		if n := r.unicode(b); n > 0 {
			r.i += n
			return true
		}
	case c == quote:
		b.WriteByte(c)
		r.i += 2
		return true
	case known && !(r.pathLike && c >= 'a' && r.letter(r.i+2)):
		b.WriteByte(plain)
		r.i += 2
		return true
	}
	b.WriteByte('\\') // it stands for itself; what follows is read as usual
	r.i++
	return true
}

func (r *reader) letter(i int) bool {
	return i < len(r.text) && (r.text[i]|0x20 >= 'a' && r.text[i]|0x20 <= 'z')
}

// unicode reads an escape of four hexadecimal digits, or a pair of them. It returns the bytes read; 0: it is
// none.
func (r *reader) unicode(b *strings.Builder) int {
	one, ok := hex4(r.text[r.i:])
	if !ok {
		return 0
	}
	if !utf16.IsSurrogate(one) {
		b.WriteRune(one)
		return 6
	}
	if two, ok := hex4(r.text[r.i+6:]); ok {
		if both := utf16.DecodeRune(one, two); both != utf8.RuneError {
			b.WriteRune(both)
			return 12
		}
	}
	b.WriteRune(utf8.RuneError)
	return 6
}

func hex4(t string) (rune, bool) {
	if len(t) < 6 || t[0] != '\\' || t[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(t[2:6], 16, 32)
	return rune(n), err == nil
}

// word reads a number, or a word of JSON or Python.
func (r *reader) word() (any, bool) {
	start := r.i
	for r.i < len(r.text) && (isNameByte(r.text[r.i]) || r.text[r.i] == '+') {
		r.i++
	}
	r.s.work -= r.i - start
	r.partly = r.partly || r.i == len(r.text)
	switch w := r.text[start:r.i]; w {
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	case "null", "None":
		return nil, true
	default:
		number := w != "" && (w[0] == '-' || w[0] >= '0' && w[0] <= '9') && json.Valid([]byte(w))
		return json.Number(w), number
	}
}

var separators = strings.NewReplacer("_", "", "-", "")

// isPath reports whether an argument of this name is a path.
func isPath(key string) bool {
	flat := strings.ToLower(separators.Replace(key))
	for _, end := range []string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd"} {
		if strings.HasSuffix(flat, end) {
			return true
		}
	}
	return false
}
