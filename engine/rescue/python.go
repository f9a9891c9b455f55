package rescue

import (
	"encoding/json"
	"strings"
)

// pythonList reads [NAME(key="value"), ...]. Only literals are arguments:
// nothing is evaluated.
func (s *scanner) pythonList(i int) (envelope, bool) {
	e := envelope{family: Pythonic, span: span{i, i}}
	if !s.has(i, "[") || !s.callAt(s.space(i+1)) {
		return e, false
	}
	for at := s.space(i + 1); ; {
		c, end, ok := s.pythonCall(at)
		if !ok {
			e.broken = "what is written is no Python call of literals"
			return e, true
		}
		e.calls = append(e.calls, c)
		switch at = s.space(end); {
		case s.has(at, "]"):
			e.end = at + 1
			return e, true
		case s.has(at, ","):
			at = s.space(at + 1)
		default:
			e.broken = "the list never closes"
			return e, true
		}
	}
}

// pythonLines reads calls one after the other, each possibly in print().
func (s *scanner) pythonLines(i int) (envelope, bool) {
	e := envelope{family: Pythonic, span: span{i, i}}
	for {
		at := s.space(e.end)
		if !s.callAt(at) || len(e.calls) > 0 && !s.lineBetween(e.end, at) {
			return e, len(e.calls) > 0
		}
		c, end, ok := s.pythonCall(at)
		if !ok {
			return envelope{}, false
		}
		e.calls = append(e.calls, c)
		if e.end = end; s.has(end, ";") {
			e.end++
		}
	}
}

// pythonAlone reads calls that are the whole message.
func (s *scanner) pythonAlone(i int) (envelope, bool) {
	if strings.TrimSpace(s.text[s.base:i]) != "" {
		return envelope{}, false
	}
	return s.pythonLines(i)
}

// pythonMarks reads LFM's <|tool_call_start|>[...]<|tool_call_end|>.
func (s *scanner) pythonMarks(i int) (envelope, bool) {
	const open, shut = "<|tool_call_start|>", "<|tool_call_end|>"
	if !s.has(i, open) {
		return envelope{}, false
	}
	at := s.space(i + len(open))
	e, ok := s.pythonList(at)
	if !ok && at < len(s.text) {
		if e, ok = s.objects(at, true); ok {
			e.family = Pythonic
		}
	}
	if !ok || e.broken != "" {
		return e, ok
	}
	at = s.space(e.end)
	if s.has(at, shut) {
		e.end = at + len(shut)
		return e, true
	}
	for n := range e.calls {
		e.calls[n].open = max(e.calls[n].open, loose)
	}
	return e, true
}

// callAt reports whether a call of a tool seems to begin at i.
func (s *scanner) callAt(i int) bool {
	name, end := s.ident(i)
	return name != "" && s.has(s.space(end), "(") && (name == "print" || s.tools.resolve(name) != nil)
}

// pythonCall reads one call. Without ok, end is how far it was read.
func (s *scanner) pythonCall(i int) (c candidate, end int, ok bool) {
	name, at := s.ident(i)
	if at = s.space(at); name == "" || !s.has(at, "(") {
		return c, at, false
	}
	if name == "print" {
		if c, at, ok = s.pythonCall(s.space(at + 1)); !ok || c.name == "print" {
			return c, at, false
		}
		at = s.space(at)
		return c, at + 1, s.has(at, ")")
	}
	c.name = name
	args := map[string]any{}
	p := python{s: s, i: at + 1}
	for {
		if p.i = s.space(p.i); s.has(p.i, ")") {
			if c.args = args; len(c.positional) > 0 && len(args) > 0 {
				return c, p.i, false
			}
			return c, p.i + 1, true
		}
		key, after := s.ident(p.i)
		eq := s.space(after)
		named := key != "" && s.has(eq, "=") && !s.has(eq, "==")
		if named {
			p.i = eq + 1
		}
		v, ok := p.literal(0, named && isPath(key))
		if _, twice := args[key]; !ok || named && twice {
			return c, p.i, false
		}
		if named {
			args[key] = v
		} else {
			c.positional = append(c.positional, v)
		}
		if p.i = s.space(p.i); s.has(p.i, ",") {
			p.i++
		} else if !s.has(p.i, ")") {
			return c, p.i, false
		}
	}
}

// python reads literals of Python.
type python struct {
	s *scanner
	i int
}

func (p *python) literal(depth int, path bool) (any, bool) {
	s := p.s
	if p.i = s.space(p.i); p.i >= len(s.text) || depth > maxDepth || s.work <= 0 {
		return nil, false
	}
	switch c := s.text[p.i]; {
	case c == '"' || c == '\'':
		return p.str(false, path)
	case c == 'r' && (s.has(p.i, `r"`) || s.has(p.i, "r'")):
		p.i++
		return p.str(true, path)
	case c == '[' || c == '(':
		return p.items(depth, map[byte]byte{'[': ']', '(': ')'}[c])
	case c == '{':
		return p.dict(depth)
	}
	start := p.i
	for p.i < len(s.text) && (isNameByte(s.text[p.i]) || s.text[p.i] == '+') {
		p.i++
	}
	s.work -= p.i - start
	switch w := s.text[start:p.i]; w {
	case "True", "true":
		return true, true
	case "False", "false":
		return false, true
	case "None", "null":
		return nil, true
	default:
		return json.Number(w), w != "" && (w[0] == '-' || w[0] >= '0' && w[0] <= '9') && json.Valid([]byte(w))
	}
}

func (p *python) items(depth int, shut byte) (any, bool) {
	list := []any{}
	for p.i++; ; {
		if p.i = p.s.space(p.i); p.i >= len(p.s.text) {
			return nil, false
		}
		if p.s.text[p.i] == shut {
			p.i++
			return list, true
		}
		v, ok := p.literal(depth+1, false)
		if !ok || !p.comma(shut) {
			return nil, false
		}
		list = append(list, v)
	}
}

func (p *python) dict(depth int) (any, bool) {
	m := map[string]any{}
	for p.i++; ; {
		if p.i = p.s.space(p.i); p.i >= len(p.s.text) {
			return nil, false
		}
		if p.s.text[p.i] == '}' {
			p.i++
			return m, true
		}
		k, ok := p.literal(depth+1, false)
		key, isText := k.(string)
		if p.i = p.s.space(p.i); !ok || !isText || !p.s.has(p.i, ":") {
			return nil, false
		}
		p.i++
		v, ok := p.literal(depth+1, isPath(key))
		if _, twice := m[key]; twice || !ok || !p.comma('}') {
			return nil, false
		}
		m[key] = v
	}
}

func (p *python) comma(shut byte) bool {
	if p.i = p.s.space(p.i); p.i >= len(p.s.text) {
		return false
	}
	if p.s.text[p.i] == ',' {
		p.i++
		return true
	}
	return p.s.text[p.i] == shut
}

// str reads a string in single or triple quotes.
func (p *python) str(raw, path bool) (any, bool) {
	text := p.s.text
	quote := text[p.i : p.i+1]
	if triple := strings.Repeat(quote, 3); p.s.has(p.i, triple) {
		quote = triple
	}
	p.i += len(quote)
	var b strings.Builder
	r := reader{s: p.s, text: text, pathLike: path}
	for p.i < len(text) {
		p.s.work--
		switch {
		case p.s.has(p.i, quote):
			p.i += len(quote)
			return b.String(), true
		case text[p.i] == '\\' && raw && p.i+1 < len(text):
			b.WriteString(text[p.i : p.i+2])
			p.i += 2
		case text[p.i] == '\\':
			if p.s.has(p.i, "\\\n") { // the line goes on
				p.i += 2
				continue
			}
			if p.s.has(p.i, `\'`) || p.s.has(p.i, `\"`) {
				b.WriteByte(text[p.i+1])
				p.i += 2
				continue
			}
			r.i = p.i
			if !r.escape(&b, quote[0]) {
				return nil, false
			}
			p.i = r.i
		default:
			b.WriteByte(text[p.i])
			p.i++
		}
	}
	return nil, false
}
