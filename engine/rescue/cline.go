package rescue

import "strings"

// cline reads <NAME><key>value</key></NAME>, the notation of Cline and Roo. Tags
// are common in text, so nothing but parameters that the tool has may be
// inside, and every tag must close.
func (s *scanner) cline(i int) (envelope, bool) {
	e := envelope{family: Cline, span: span{i, i}}
	for {
		at := s.space(e.end)
		c, end, ok := s.clineOne(at)
		if !ok {
			return e, len(e.calls) > 0
		}
		e.calls = append(e.calls, c)
		e.end = end
	}
}

func (s *scanner) clineOne(i int) (candidate, int, bool) {
	name, body, ok := s.plainTag(i)
	tool := s.tools.resolve(name)
	if !ok || tool == nil || name != tool.Name && !strings.Contains(name, "_") {
		return candidate{}, i, false
	}
	c, args := candidate{name: name}, map[string]any{}
	c.args = args
	for {
		at := s.space(body)
		if s.has(at, "</"+name+">") {
			return c, at + len(name) + 3, len(args) > 0
		}
		key, begin, ok := s.plainTag(at)
		if _, twice := args[key]; !ok || twice || !s.sibling(name, key, args) {
			return c, at, false
		}
		// The value ends at the last closing tag before the next parameter or
		// the end: one inside it is its own.
		shut, end := "</"+key+">", begin
		for {
			if end = s.find(shut, end); end < 0 {
				return c, at, false
			}
			s.work -= 32
			next := s.space(end + len(shut))
			sibling, _, tagged := s.plainTag(next)
			if s.has(next, "</"+name+">") || tagged && s.sibling(name, sibling, args) && sibling != key {
				break
			}
			end += len(shut)
		}
		args[key] = unwrapLines(s.text[begin:end])
		body = end + len(shut)
	}
}

// plainTag reads <name>.
func (s *scanner) plainTag(i int) (string, int, bool) {
	if !s.has(i, "<") {
		return "", i, false
	}
	name, end := s.ident(i + 1)
	return name, end + 1, name != "" && s.has(end, ">")
}
