package rescue

import "strings"

// mark reads a special token: <|name|>, or DeepSeek's with its own bars and
// blocks. The name comes back in plain letters.
func (s *scanner) mark(i int) (name string, end int) {
	begin := 0
	for _, open := range []string{"<|", "<｜"} {
		if s.has(i, open) {
			begin = i + len(open)
		}
	}
	if begin == 0 {
		return "", i
	}
	s.work -= 16
	rest := s.text[begin:min(begin+64, len(s.text))]
	for n := 1; n < len(rest); n++ {
		for _, shut := range []string{"|>", "｜>"} {
			if strings.HasPrefix(rest[n:], shut) {
				return plainLetters.Replace(rest[:n]), begin + n + len(shut)
			}
		}
		if rest[n] == '<' {
			break
		}
	}
	return "", i
}

var plainLetters = strings.NewReplacer("▁", "_", " ", "_")

// sections reads the calls of DeepSeek and Kimi, which put each between a
// begin and an end mark, and all of them into a section.
func (s *scanner) sections(i int) (envelope, bool) {
	e := envelope{family: DeepSeek, span: span{i, i}}
	for at := i; ; {
		name, end := s.mark(at)
		switch name {
		case "tool_calls_begin", "tool_calls_section_begin":
		case "tool_calls_end", "tool_calls_section_end":
			e.end = end
			return e, true
		case "tool_call_begin":
			c, family, after, broken := s.section(end)
			if e.end = after; broken != "" {
				e.broken = broken
				return e, true
			}
			e.family, end = family, after
			e.calls = append(e.calls, c)
		default:
			if len(e.calls) == 0 && e.end > i {
				e.broken, e.known = "the section is empty", true
			}
			return e, e.end > i
		}
		e.end = end
		at = s.space(end)
	}
}

// deepSeekPlain reads a call whose begin mark was lost: the separator and the
// end mark are still there.
func (s *scanner) deepSeekPlain(i int) (envelope, bool) {
	_, after := s.ident(i)
	if after == i {
		return envelope{}, false
	}
	if sep, _ := s.mark(after); sep != "tool_sep" {
		return envelope{}, false
	}
	c, family, end, broken := s.section(i)
	return envelope{family: family, span: span{i, end}, calls: []candidate{c}, broken: broken}, true
}

// section reads one call behind its begin mark.
func (s *scanner) section(i int) (c candidate, family string, end int, broken string) {
	family = DeepSeek
	left, at := s.ident(s.space(i))
	at = s.kimiIndex(at)
	sep, after := s.mark(s.space(at))
	switch sep {
	case "tool_sep":
		at = s.space(after)
		c.name = left
		if name, behind := s.ident(at); name != "" { // left was the type
			c.name, at = name, s.space(behind)
		}
	case "tool_call_argument_begin":
		family, c.name, at = Kimi, left, s.space(after)
	default:
		return c, family, max(at, i), "a call has no separator"
	}
	fenced := false
	if s.has(at, "```") {
		at += 3
		_, at = s.ident(at)
		at, fenced = s.space(at), true
	}
	e, ok := s.named(family, c.name, at)
	if !ok || e.broken != "" {
		return c, family, max(at, e.end), "the arguments of a call are no JSON, or cut off"
	}
	if at = s.space(e.end); fenced && s.has(at, "```") {
		at = s.space(at + 3)
	}
	switch shut, behind := s.mark(at); shut {
	case "tool_call_end":
		return e.calls[0], family, behind, ""
	case "tool_calls_end", "tool_calls_section_end", "tool_call_begin":
		return e.calls[0], family, at, ""
	}
	return c, family, at, "a call never closes"
}
