package rescue

import "strings"

// kimiIndex passes the :0 behind a name.
func (s *scanner) kimiIndex(i int) int {
	if !s.has(i, ":") {
		return i
	}
	j := i + 1
	for j < len(s.text) && s.text[j] >= '0' && s.text[j] <= '9' {
		j++
	}
	if j == i+1 {
		return i
	}
	return j
}

// kimiPlain reads functions.NAME:0{json} whose marks were lost.
func (s *scanner) kimiPlain(i int) (envelope, bool) {
	e := envelope{family: Kimi, span: span{i, i}}
	for {
		at := s.space(e.end)
		if !s.has(at, "functions.") {
			return e, len(e.calls) > 0
		}
		name, after := s.ident(at)
		behind := s.kimiIndex(after)
		if behind == after {
			return e, len(e.calls) > 0
		}
		behind = s.space(behind)
		if mark, end := s.mark(behind); mark == "tool_call_argument_begin" {
			behind = s.space(end)
		}
		next, ok := s.named(Kimi, strings.TrimPrefix(name, "functions."), behind)
		if !ok {
			return e, len(e.calls) > 0
		}
		if e.end = next.end; next.broken != "" {
			e.broken = next.broken
			return e, true
		}
		e.calls = append(e.calls, next.calls...)
	}
}
