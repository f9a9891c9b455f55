package rescue

import "strings"

// dialect is one way to write calls in tags.
type dialect struct {
	family         string
	function, bind string // what is before a function's and a parameter's name
	after          string // what is behind a name
	shutFunction   string
	shutParameter  string
}

var (
	qwenXML   = dialect{XML, "<function=", "<parameter=", ">", "</function>", "</parameter>"}
	invokeXML = dialect{Anthropic, `<invoke name="`, `<parameter name="`, `"`, "</invoke>", "</parameter>"}
)

// xmlCall reads <function=NAME><parameter=KEY>value</parameter></function>, as
// Qwen's coder models write it, and <function=NAME>{json}</function>, as Llama
// does. Closing tags may be missing at the end of an answer that was complete.
func (s *scanner) xmlCall(i int) (envelope, bool) { return s.tags(qwenXML, i) }

// invoke reads Anthropic's <function_calls><invoke name="NAME">, and OLMo's
// <function_calls> with a Python call in each line.
func (s *scanner) invoke(i int) (envelope, bool) {
	const wrapper = "<function_calls>"
	if !s.has(i, wrapper) {
		return s.tags(invokeXML, i)
	}
	body := s.space(i + len(wrapper))
	e, ok := s.tags(invokeXML, body)
	if !ok {
		e, ok = s.pythonLines(body)
	}
	if !ok {
		e, ok = s.pythonList(body)
	}
	if ok && e.broken == "" && e.family == Pythonic && !s.has(s.space(e.end), "</function_calls>") {
		e.broken = "the block never closes"
	}
	return e, ok
}

// tags reads one or more functions of a dialect.
func (s *scanner) tags(d dialect, i int) (envelope, bool) {
	e := envelope{family: d.family, span: span{i, i}}
	for {
		at := s.space(e.end)
		if len(e.calls) > 0 && !s.has(at, d.function) {
			return e, true
		}
		name, body, ok := s.tagName(d, d.function, at)
		if !ok {
			return e, len(e.calls) > 0
		}
		c, end, broken := s.function(d, name, body)
		e.end = end
		if broken != "" {
			e.broken = broken
			return e, true
		}
		e.calls = append(e.calls, c)
	}
}

// tagName reads the name in a tag. i becomes the place behind the tag.
func (s *scanner) tagName(d dialect, open string, i int) (string, int, bool) {
	if !s.has(i, open) {
		return "", i, false
	}
	name, j := s.ident(i + len(open))
	if !s.has(j, d.after) || name == "" {
		return "", i, false
	}
	j += len(d.after)
	if d.after == ">" {
		return name, j, true
	}
	for n := 0; j < len(s.text) && n < 64; j, n = j+1, n+1 { // other attributes
		switch s.text[j] {
		case '>':
			return name, j + 1, true
		case '<', '\n':
			return "", i, false
		}
	}
	return "", i, false
}

// function reads the parameters of one function, up to behind its end.
func (s *scanner) function(d dialect, name string, i int) (c candidate, end int, broken string) {
	c = candidate{name: name}
	at := s.space(i)
	if at < len(s.text) && s.text[at] == '{' {
		e, _ := s.named(d.family, name, at)
		if e.broken != "" {
			return c, e.end, e.broken
		}
		if end = s.space(e.end); s.has(end, d.shutFunction) {
			return e.calls[0], end + len(d.shutFunction), ""
		}
		e.calls[0].open = max(e.calls[0].open, loose)
		return e.calls[0], e.end, ""
	}
	args := map[string]any{}
	c.args = args
	for closes := false; ; {
		at = s.space(i)
		if s.has(at, d.shutFunction) {
			return c, at + len(d.shutFunction), ""
		}
		key, body, ok := s.tagName(d, d.bind, at)
		if !ok {
			if at == len(s.text) || s.text[at] == '<' {
				c.open = max(c.open, loose)
				return c, i, ""
			}
			return c, s.closing(d.shutFunction, at), "there is text between the parameters"
		}
		if _, twice := args[key]; twice {
			return c, s.closing(d.shutFunction, at), "a parameter is given twice"
		}
		v := s.parameter(d, name, args, body)
		if v.unclear {
			return c, len(s.text), "it is not certain where a value ends"
		}
		args[key], i = v.text, v.end
		if v.open != closed && v.end == len(s.text) && (closes || v.text == "") {
			v.open = cutShort // the model closes its parameters, but not this one
		}
		closes = closes || v.open == closed
		c.open = max(c.open, v.open)
	}
}

// closing is the place behind the next mark, or the end of the text.
func (s *scanner) closing(mark string, i int) int {
	if p := s.find(mark, i); p >= 0 {
		return p + len(mark)
	}
	return len(s.text)
}

// tagValue is the value of a parameter, and where to go on.
type tagValue struct {
	text    string
	end     int
	open    openness
	unclear bool
}

// parameter reads a value. It may hold tags of its own: those that are closed
// in it belong to it, and so does a closing tag that neither a parameter nor
// an end follows.
func (s *scanner) parameter(d dialect, function string, given map[string]any, begin int) tagValue {
	inner, functions, blocks := 0, 0, 0 // tags of the value itself that are open
	last := -1                          // the last closing tag that did not end it
	for i := begin; ; {
		at := s.nextTag(i)
		if at < 0 {
			if last >= 0 || functions > 0 || blocks > 0 {
				return tagValue{unclear: true}
			}
			return tagValue{text: strings.TrimSpace(s.text[begin:]), end: len(s.text), open: loose}
		}
		switch {
		case s.has(at, d.shutParameter):
			i = at + len(d.shutParameter)
			if inner > 0 {
				inner--
				last = at
				continue
			}
			if s.ends(d, function, given, s.space(i), functions) {
				return tagValue{text: unwrapLines(s.text[begin:at]), end: i}
			}
			last = at
		case s.has(at, d.bind):
			key, after, ok := s.tagName(d, d.bind, at)
			if i = at + len(d.bind); !ok {
				continue
			}
			i = after
			if inner == 0 && functions == 0 && last < 0 && s.sibling(function, key, given) {
				return tagValue{text: strings.TrimSpace(s.text[begin:at]), end: at, open: loose}
			}
			inner++
		case s.has(at, d.function):
			i = at + len(d.function)
			functions++
		case s.has(at, d.shutFunction):
			i = at + len(d.shutFunction)
			if functions > 0 {
				functions--
				continue
			}
			if last >= 0 { // a tag of the value was never closed: the last one was the value's
				if strings.TrimSpace(s.text[last+len(d.shutParameter):at]) != "" {
					return tagValue{unclear: true}
				}
				return tagValue{text: unwrapLines(s.text[begin:last]), end: at}
			}
			return tagValue{text: unwrapLines(s.text[begin:at]), end: at}
		case s.has(at, "<tool_call>"):
			i = at + 1
			blocks++
		case s.has(at, "</tool_call>"), s.has(at, "</function_calls>"):
			i = at + 1
			if blocks > 0 {
				blocks--
				continue
			}
			if functions > 0 || s.closesLater(d, i) {
				continue // in the value
			}
			if last >= 0 {
				return tagValue{unclear: true}
			}
			return tagValue{text: strings.TrimSpace(s.text[begin:at]), end: at, open: loose}
		default:
			i = at + 1
		}
	}
}

// closesLater reports whether the next tag of a function or parameter is one
// that closes it.
func (s *scanner) closesLater(d dialect, i int) bool {
	for {
		at := s.nextTag(i)
		if at < 0 {
			return false
		}
		if !s.has(at, "<tool_call>") && !s.has(at, "</tool_call>") && !s.has(at, "</function_calls>") {
			return s.has(at, d.shutParameter) || s.has(at, d.shutFunction)
		}
		i = at + 1
	}
}

// ends reports whether what is at i cannot be part of a value.
func (s *scanner) ends(d dialect, function string, given map[string]any, i, functions int) bool {
	if functions > 0 {
		return false
	}
	for _, m := range []string{d.shutFunction, "</tool_call>", "</function_calls>"} {
		if s.has(i, m) {
			return true
		}
	}
	if key, _, ok := s.tagName(d, d.bind, i); ok {
		return s.sibling(function, key, given) || s.tools.resolve(function) == nil
	}
	return i == len(s.text) || s.has(i, d.function)
}

// sibling reports whether a tag of this name is the function's next parameter:
// the tool has it, and it was not given.
func (s *scanner) sibling(function, key string, given map[string]any) bool {
	tool := s.tools.resolve(function)
	if tool == nil {
		return false
	}
	if _, twice := given[key]; twice {
		return false
	}
	if target, ok := tool.Schema.Aliases[key]; ok {
		key = target
	}
	return tool.Schema.Properties[key] != nil
}

// nextTag finds the next tag that matters to any dialect.
func (s *scanner) nextTag(i int) int {
	for {
		at := s.find("<", i)
		if at < 0 {
			return -1
		}
		s.work -= 8
		for _, p := range []string{"<function", "</function", "<parameter", "</parameter", "<invoke", "</invoke", "<tool_call>", "</tool_call>"} {
			if s.has(at, p) {
				return at
			}
		}
		if i = at + 1; s.work <= 0 {
			return -1
		}
	}
}

// unwrapLines takes the newlines away that stand beside the tags.
func unwrapLines(v string) string {
	trimmed := strings.TrimPrefix(strings.TrimPrefix(v, "\r"), "\n")
	if len(trimmed) == len(v) {
		return v
	}
	return strings.TrimSuffix(strings.TrimSuffix(trimmed, "\n"), "\r")
}
