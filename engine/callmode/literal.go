package callmode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// argument is one argument of a call, in the order the model wrote them.
type argument struct {
	name  string
	value json.RawMessage
}

// arguments reads a JSON object. What is none has no arguments.
func arguments(raw []byte) []argument {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []argument
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return out
		}
		out = append(out, argument{name, value})
	}
	return out
}

// text is the value if it is a string.
func (a argument) text() (string, bool) {
	var s string
	if len(a.value) == 0 || a.value[0] != '"' || json.Unmarshal(a.value, &s) != nil {
		return "", false
	}
	return s, true
}

// literal writes values as JSON, or as Python's literals. The spaces are those
// of Python's json.dumps, which models were trained on.
type literal struct {
	strings.Builder
	python bool
}

func (l *literal) word(json, python string) {
	if l.python {
		json = python
	}
	l.WriteString(json)
}

// value writes a value; path says that it belongs to a parameter that is a
// path.
func (l *literal) value(raw json.RawMessage, path bool) error {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if err := l.next(dec, path); err != nil {
		return fmt.Errorf("writing an argument: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("writing an argument: it is more than one JSON value")
	}
	return nil
}

func (l *literal) next(dec *json.Decoder, path bool) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case json.Delim:
		shut := map[json.Delim]byte{'{': '}', '[': ']'}[t]
		l.WriteString(t.String())
		for first := true; dec.More(); first = false {
			if !first {
				l.WriteString(", ")
			}
			if t == '{' {
				key, err := dec.Token()
				if err != nil {
					return err
				}
				name, _ := key.(string)
				l.text(name, false)
				l.WriteString(": ")
				path = isPath(name)
			}
			if err := l.next(dec, path); err != nil {
				return err
			}
		}
		l.WriteByte(shut)
		_, err = dec.Token()
		return err
	case string:
		l.text(t, path)
	case json.Number:
		l.WriteString(t.String())
	case bool:
		if t {
			l.word("true", "True")
		} else {
			l.word("false", "False")
		}
	default:
		l.word("null", "None")
	}
	return nil
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\t': `\t`, '\r': `\r`, '\b': `\b`, '\f': `\f`}

// text writes a string that JSON and Python read alike.
func (l *literal) text(s string, path bool) {
	l.WriteByte('"')
	for _, r := range s {
		short, ok := escapes[r]
		switch {
		case r < ' ' && (path || !ok):
			fmt.Fprintf(l, `\u%04x`, r)
		case ok:
			l.WriteString(short)
		default:
			l.WriteRune(r)
		}
	}
	l.WriteByte('"')
}

// isPath reports whether a parameter of this name is a path. In those, rescue
// takes \t before a letter for a folder that begins with t ("C:\temp"), so a
// real tab must be written in another way. The endings are those that it goes
// by, which a test holds together.
func isPath(name string) bool {
	flat := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	for _, end := range []string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder", "cwd"} {
		if strings.HasSuffix(flat, end) {
			return true
		}
	}
	return false
}

// identifier reports whether markup without quotes can hold a name.
func identifier(name string) bool {
	return name != "" && len(name) <= 128 && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// quoted is a string in quotes.
func quoted(s string) string {
	var l literal
	l.text(s, false)
	return l.String()
}
