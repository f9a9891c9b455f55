package rescue

// hermesTags open a block of calls. The first is that of Hermes and Qwen; the
// others are drifts of it, and <tools> what Qwen's coder models write.
var hermesTags = []string{"tool_call", "tool_calls", "tools", "function_call", "toolcall", "|tool_call|"}

// hermes reads <tool_call>, with whatever models put into it: JSON, a name and
// JSON, XML, GLM's keys and values, Python.
func (s *scanner) hermes(i int) (envelope, bool) {
	for _, tag := range hermesTags {
		if s.has(i, "<") && s.has(i+1, tag) && s.has(i+1+len(tag), ">") {
			return s.hermesBody(i, s.space(i+len(tag)+2), "</"+tag+">")
		}
	}
	return envelope{}, false
}

func (s *scanner) hermesBody(start, i int, shut string) (envelope, bool) {
	if i >= len(s.text) {
		return envelope{}, false
	}
	e, looks := s.inHermes(i)
	if !looks {
		return envelope{}, false
	}
	if e.family == "" {
		e.family = Hermes
	}
	e.start = start
	if e.broken == "" {
		at := s.space(e.end)
		for at < len(s.text) && (s.text[at] == '}' || s.text[at] == ']') {
			at = s.space(at + 1) // one bracket too many
		}
		switch {
		case s.has(at, shut):
			e.end = at + len(shut)
			return e, true
		case e.family == XML || at >= len(s.text) || s.text[at] == '<' || s.lineBetween(e.end, at):
			for n := range e.calls {
				e.calls[n].open = max(e.calls[n].open, loose) // the end mark is missing
			}
			return e, true
		}
		e.broken = "there is more in the block than a call"
	}
	return e, true
}

// inHermes reads what is in the block; looks is false if it is no block at all.
func (s *scanner) inHermes(i int) (e envelope, looks bool) {
	switch c := s.text[i]; {
	case c == '{' || c == '[':
		if e, ok := s.pythonList(i); ok {
			return e, true
		}
		e, ok := s.objects(i, true)
		if !ok && e.broken == "" {
			e.broken = "what is written is no JSON, or cut off"
		}
		return e, true
	case c == '<':
		if e, ok := s.xmlCall(i); ok {
			return e, true
		}
		return s.invoke(i)
	case !isNameByte(c):
		return envelope{}, false
	}
	name, after := s.ident(i)
	next := s.space(after)
	if s.tools.resolve(name) == nil || next >= len(s.text) {
		return envelope{}, false
	}
	switch {
	case s.has(next, "<arg_key>"):
		return s.glm(name, next), true
	case s.text[next] == '(':
		if e, ok := s.pythonLines(i); ok {
			return e, true
		}
		return envelope{broken: "what is written is no Python call of literals", span: span{i, next}}, true
	case s.text[next] == '{':
		return s.named(Hermes, name, next)
	case s.has(next, "</tool_call>"):
		return envelope{span: span{i, next}, calls: []candidate{{name: name}}}, true
	}
	return envelope{}, false
}

// named reads the object of arguments that follows a name.
func (s *scanner) named(family, name string, i int) (envelope, bool) {
	e := envelope{family: family, span: span{i, i}}
	if i >= len(s.text) || s.text[i] != '{' {
		return e, false
	}
	v, r, ok := s.value(i)
	if !ok {
		e.broken = "its arguments are no JSON, or cut off"
		return e, true
	}
	c := candidate{name: name, args: v}
	if r.open > 0 {
		c.open = cutShort
		if r.marked && !r.partly {
			c.open = loose
		}
	}
	e.end, e.calls = r.i, []candidate{c}
	return e, true
}

func (s *scanner) lineBetween(i, j int) bool {
	n := s.find("\n", i)
	return n >= 0 && n < j
}
