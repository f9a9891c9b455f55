package rescue

import (
	"slices"
	"strings"
)

// skipLine skips a line that is quoted or indented code. Such a line, and one
// that goes on from a quote, shows something; it does not do it.
func (s *scanner) skipLine(i int) (int, bool) {
	end := len(s.text)
	if n := s.find("\n", i); n >= 0 {
		end = n + 1
	}
	line := strings.TrimRight(s.text[i:end], " \t\r\n")
	wasBlank := s.blank
	if s.blank = line == ""; s.blank {
		s.quoted = false
		return 0, false
	}
	if quotes(line) || s.quoted {
		s.quoted, s.indented = true, false
		s.passed("a block quote", i, line)
		return end, true
	}
	deep := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
	s.indented = deep && (s.indented || wasBlank && strings.TrimSpace(s.text[s.base:i]) != "")
	if s.indented {
		s.passed("indented code", i, line)
		return end, true
	}
	return 0, false
}

// passed notes, once for each kind, that something like markup was not looked at.
func (s *scanner) passed(kind string, i int, what string) {
	if strings.ContainsAny(what, "{<[(") && !slices.Contains(s.kinds, kind) {
		s.kinds = append(s.kinds, kind)
		s.note("%s at byte %d is shown, not meant, so it is not looked at", kind, i)
	}
}

// quotes reports whether a line begins a block quote, possibly in a list.
func quotes(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) && len(rest) > 1 && (rest[0] == '.' || rest[0] == ')') {
		line = strings.TrimLeft(rest[1:], " \t")
	} else if len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t') {
		line = strings.TrimLeft(line[1:], " \t")
	}
	return strings.HasPrefix(line, ">")
}

// inlineCode skips a code span, or only its backticks if it never closes in
// its paragraph. code remembers up to where there is no closer of a length.
func (s *scanner) inlineCode(i int) int {
	n := ticks(s.text[i:])
	if i < s.code[n] {
		return i + n
	}
	end := len(s.text)
	if p := s.find("\n\n", i); p >= 0 {
		end = p
	}
	for j := i + n; j < end; {
		next := strings.IndexByte(s.text[j:end], '`')
		if next < 0 {
			break
		}
		s.work -= next
		j += next
		m := ticks(s.text[j:])
		if m == n {
			s.passed("inline code", i, s.text[i:j])
			return j + m
		}
		j += m
	}
	s.code[n] = end
	return i + n
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// thinkMarks open and close thinking.
var thinkMarks = []struct {
	open, shut string
	stray      bool // the closer alone ends thinking too
}{
	{"<think>", "</think>", true},
	{"<thinking>", "</thinking>", true},
	{"[THINK]", "[/THINK]", true},
	{"<|channel>", "<channel|>", false},
	{"<|channel|>analysis<|message|>", "<|end|>", false},
}

// split takes thinking out. A closer without an opener ends thinking that
// began with the message: templates write the opener themselves.
func (s *scanner) split(i int) (int, bool) {
	if c := s.text[i]; c != '<' && (c != '[' || !s.has(i, "[T") && !s.has(i, "[/")) {
		return 0, false
	}
	for _, m := range thinkMarks {
		switch {
		case s.has(i, m.open) && s.startsLine(i):
			begin := i + len(m.open)
			if shut := s.find(m.shut, begin); shut >= 0 {
				end := shut + len(m.shut)
				s.thought(span{i, end})
				return end, true
			}
			if strings.TrimSpace(s.text[s.base:i]) == "" && len(s.calls) == 0 {
				// Nothing but thinking that never closed: it is looked at.
				s.thinking = append(s.thinking, span{i, begin})
				s.inThinking, s.base, s.fresh = true, begin, begin
				return begin, true
			}
			s.thought(span{i, len(s.text)})
			return len(s.text), true
		case m.stray && s.has(i, m.shut) && !s.inThinking && s.strayCloser(i, i+len(m.shut)):
			end := i + len(m.shut)
			if len(s.calls) > 0 {
				s.note("calls in thinking that closed are not made")
			}
			s.calls, s.cuts, s.thinking, s.base = nil, nil, nil, 0
			s.thought(span{0, end})
			return end, true
		}
	}
	return 0, false
}

func (s *scanner) thought(t span) {
	s.thinking = append(s.thinking, t)
	if strings.TrimSpace(s.text[s.base:t.start]) == "" {
		s.base = t.end
	}
	s.fresh = t.end
}

// strayCloser tells the end of thinking from a sentence about it.
func (s *scanner) strayCloser(start, end int) bool {
	rest := strings.TrimLeft(s.text[end:], " \t")
	return s.startsLine(start) || rest == "" || strings.ContainsAny(rest[:1], "\r\n{<[")
}

func stripThinkMarks(t string) string {
	for _, m := range thinkMarks {
		t = strings.TrimSuffix(strings.TrimPrefix(t, m.open), m.shut)
	}
	return t
}

// responses are the marks of a tool's result, which a model must not write.
var responses = []string{
	"<tool_response", "<|tool_response", "<tool_result", "<function_results", "<function_result", "[TOOL_RESULTS]",
	"<｜tool▁outputs▁begin｜>", "<｜tool▁output▁begin｜>", "<|start|>functions.",
}

func isResponse(t string) bool {
	for _, m := range responses {
		if strings.HasPrefix(t, m) {
			return true
		}
	}
	return false
}
