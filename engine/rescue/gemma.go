package rescue

import (
	"encoding/json"
	"strings"
)

const (
	gemmaOpen  = "<|tool_call>"
	gemmaShut  = "<tool_call|>"
	gemmaQuote = `<|"|>`
)

// gemmaMarks reads Gemma 4's <|tool_call>call:NAME{key:value}<tool_call|>.
func (s *scanner) gemmaMarks(i int) (envelope, bool) {
	if !s.has(i, gemmaOpen) {
		return envelope{}, false
	}
	return s.gemma(s.space(i + len(gemmaOpen)))
}

// gemmaPlain reads calls whose marks were lost.
func (s *scanner) gemmaPlain(i int) (envelope, bool) { return s.gemma(i) }

func (s *scanner) gemma(i int) (envelope, bool) {
	e := envelope{family: Gemma, span: span{i, i}}
	for at := i; s.has(at, "call:"); {
		name, after := s.ident(at + len("call:"))
		c := candidate{name: name}
		p := gemma{s: s, i: s.space(after)}
		ok := false
		switch {
		case name == "" || p.i >= len(s.text):
		case s.text[p.i] == '{':
			c.args, ok = p.object(0, '}')
		case s.text[p.i] == '(':
			c.args, ok = p.object(0, ')')
		case s.text[p.i] == ':':
			c.positional, ok = p.blocks()
		default:
			return e, len(e.calls) > 0
		}
		if !ok {
			e.broken = "its arguments cannot be read, or are cut off"
			return e, true
		}
		e.calls = append(e.calls, c)
		e.end = p.i
		at = s.space(p.i)
		for s.has(at, gemmaShut) || s.has(at, gemmaOpen) {
			at = s.space(at + len(gemmaShut)) // both marks have the same length
			e.end = at
		}
	}
	return e, len(e.calls) > 0
}

// gemma reads the notation for arguments: keys without quotes, strings in
// marks, in quotes of any kind, or bare.
type gemma struct {
	s *scanner
	i int
}

func (g *gemma) object(depth int, shut byte) (any, bool) {
	m := map[string]any{}
	for g.i++; ; {
		if g.i = g.s.space(g.i); g.i >= len(g.s.text) {
			return nil, false
		}
		if g.s.text[g.i] == shut {
			g.i++
			return m, true
		}
		key, ok := g.key()
		g.i = g.s.space(g.i)
		if !ok || !g.s.has(g.i, ":") && !g.s.has(g.i, "=") {
			return nil, false
		}
		g.i++
		v, ok := g.value(depth+1, shut)
		if _, twice := m[key]; twice || !ok || !g.comma(shut) {
			return nil, false
		}
		m[key] = v
	}
}

func (g *gemma) key() (string, bool) {
	if g.s.has(g.i, gemmaQuote) || g.s.text[g.i] == '"' {
		v, ok := g.value(0, 0)
		text, isText := v.(string)
		return text, ok && isText
	}
	name, end := g.s.ident(g.i)
	g.i = end
	return name, name != ""
}

func (g *gemma) comma(shut byte) bool {
	if g.i = g.s.space(g.i); g.i >= len(g.s.text) {
		return false
	}
	if g.s.text[g.i] == ',' {
		g.i++
		return true
	}
	return g.s.text[g.i] == shut
}

func (g *gemma) value(depth int, shut byte) (any, bool) {
	s := g.s
	if g.i = s.space(g.i); g.i >= len(s.text) || depth > maxDepth || s.work <= 0 {
		return nil, false
	}
	switch c := s.text[g.i]; {
	case s.has(g.i, gemmaQuote):
		return g.until(gemmaQuote, gemmaQuote)
	case c == '\'' || c == '`':
		return g.quoted(c, shut)
	case c == '"':
		r := reader{s: s, text: s.text, i: g.i}
		v, ok := r.str()
		g.i = r.i
		return v, ok
	case c == '{':
		return g.object(depth, '}')
	case c == '[':
		list := []any{}
		for g.i++; ; {
			if g.i = s.space(g.i); s.has(g.i, "]") {
				g.i++
				return list, true
			}
			v, ok := g.value(depth+1, ']')
			if !ok || !g.comma(']') {
				return nil, false
			}
			list = append(list, v)
		}
	}
	start := g.i
	for g.i < len(s.text) && strings.IndexByte(",{}[]()<>\"'`\n", s.text[g.i]) < 0 {
		g.i++
	}
	s.work -= g.i - start
	switch w := strings.TrimSpace(s.text[start:g.i]); {
	case w == "":
		return nil, false
	case w == "true" || w == "false":
		return w == "true", true
	case w == "null":
		return nil, true
	case json.Valid([]byte(w)):
		return json.Number(w), true
	default:
		return w, true
	}
}

// until reads a string that has no escapes, up to a mark.
func (g *gemma) until(open, shut string) (any, bool) {
	begin := g.i + len(open)
	end := g.s.find(shut, begin)
	if end < 0 {
		return nil, false
	}
	g.i = end + len(shut)
	return g.s.text[begin:end], true
}

// quoted reads a string in single quotes or backticks. It ends at the quote
// that punctuation follows; what is between is taken as it is.
func (g *gemma) quoted(quote, shut byte) (any, bool) {
	s := g.s
	begin := g.i + 1
	for j := begin; j < len(s.text); j++ {
		s.work--
		if s.text[j] != quote || s.text[j-1] == '\\' {
			continue
		}
		next := s.space(j + 1)
		if s.has(next, ",") || next < len(s.text) && s.text[next] == shut {
			g.i = j + 1
			return s.text[begin:j], true
		}
	}
	return nil, false
}

// blocks reads BEGIN_ARG: value END_ARG, one for each argument in order.
func (g *gemma) blocks() ([]any, bool) {
	s := g.s
	g.i++
	var out []any
	for {
		at := s.space(g.i)
		if !s.has(at, "BEGIN_ARG") {
			return out, len(out) > 0
		}
		g.i = at + len("BEGIN_ARG")
		if s.has(g.i, ":") {
			g.i++
		}
		v, ok := g.until("", "END_ARG")
		text, _ := v.(string)
		if !ok {
			return nil, false
		}
		// An empty channel of thoughts leaks in here.
		text = strings.TrimSpace(text)
		if rest, ok := strings.CutPrefix(text, "<|channel>thought"); ok {
			_, text, _ = strings.Cut(rest, "<channel|>")
		}
		out = append(out, strings.TrimSpace(text))
	}
}
