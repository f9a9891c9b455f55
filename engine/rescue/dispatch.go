package rescue

import "strings"

// family reads an envelope that begins at i; ok is false if none does.
type family func(s *scanner, i int) (e envelope, ok bool)

// markers are the families with marks of their own, which may follow prose.
var markers = []family{
	(*scanner).hermes, (*scanner).xmlCall, (*scanner).invoke, (*scanner).mistral, (*scanner).pythonTag,
	(*scanner).pythonMarks, (*scanner).gemmaMarks, (*scanner).sections, (*scanner).harmonyMarks,
}

// plain are those that anything might look like. They must start a line and
// reach the end of the message.
var plain = []family{
	(*scanner).bareJSON, (*scanner).pythonList, (*scanner).pythonAlone, (*scanner).gemmaPlain,
	(*scanner).harmonyPlain, (*scanner).kimiPlain, (*scanner).deepSeekPlain, (*scanner).cline,
}

// marker tries the families with marks.
func (s *scanner) marker(i int) (envelope, bool) {
	for _, f := range markers {
		if e, ok := f(s, i); ok {
			e.start, e.marked = i, true
			return e, true
		}
	}
	return envelope{}, false
}

// unmarked tries the families without.
func (s *scanner) unmarked(i int) (envelope, bool) {
	for _, f := range plain {
		e, ok := f(s, i)
		if !ok {
			continue
		}
		e.start = i
		for e.broken == "" {
			at := s.swallow(e.end)
			if at == len(s.text) {
				break
			}
			next, ok := f(s, at)
			if !ok {
				e.broken, e.known = "more text follows, so it is an example", true
				break
			}
			e.calls = append(e.calls, next.calls...) // the same again, as on the next line
			e.end, e.broken, e.known = next.end, next.broken, next.known
		}
		return e, true
	}
	return envelope{}, false
}

// leftovers are marks that may be left around an envelope.
var leftovers = []string{
	"</tool_call>", "</tool_calls>", "</tools>", "</function>", "</function_call>", "</function_calls>", "</invoke>",
	"<tool_call|>", "<|tool_call_end|>", "<|tool_calls_section_end|>", "<|call|>", "<|end|>", "<|return|>", "<|im_end|>",
	"<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "<｜end▁of▁sentence｜>",
	"<end_of_turn>", "<turn|>", "</s>", "[/TOOL_CALLS]",
}

// swallow passes white space, marks, and up to two closing brackets that were
// never opened.
func (s *scanner) swallow(i int) int {
	for stray := 0; ; {
		i = s.space(s.swallowMarks(i))
		if stray == 2 || i >= len(s.text) || s.text[i] != '}' && s.text[i] != ']' {
			return i
		}
		i++
		stray++
	}
}

// swallowMarks passes marks and the white space before them.
func (s *scanner) swallowMarks(i int) int {
	for at := s.space(i); at < len(s.text); at = s.space(i) {
		found := false
		for _, m := range leftovers {
			if s.has(at, m) {
				i, found = at+len(m), true
				break
			}
		}
		if !found {
			return i
		}
	}
	return i
}

// fence is a fenced code block's opening line.
type fence struct {
	start, body int
	mark        string // the backticks or tildes
	lang        string
}

// fenceAt reads the opening of a fence at the beginning of a line.
func (s *scanner) fenceAt(i int) (fence, bool) {
	j := i
	for j < len(s.text) && j-i < 4 && s.text[j] == ' ' {
		j++
	}
	if j == len(s.text) || j-i > 3 || s.text[j] != '`' && s.text[j] != '~' {
		return fence{}, false
	}
	n := len(s.text[j:]) - len(strings.TrimLeft(s.text[j:], s.text[j:j+1]))
	s.work -= n
	if n < 3 {
		return fence{}, false
	}
	end := len(s.text)
	if p := s.find("\n", j); p >= 0 {
		end = p + 1
	}
	info := strings.TrimSpace(s.text[j+n : end])
	if strings.Contains(info, "`") {
		return fence{}, false // inline code
	}
	return fence{i, end, s.text[j : j+n], strings.ToLower(info)}, true
}

// fence makes calls of a fenced block, or skips it.
func (s *scanner) fence(f fence) int {
	switch f.lang {
	case "", "json", "tool_code", "tool_call":
		if s.nearTop(f.start) {
			if envelopes, ok := s.fences(f); ok {
				calls, cuts := s.calls, s.cuts
				for _, e := range envelopes {
					if !s.accept(e) {
						s.calls, s.cuts = calls, cuts
						return s.behind(f)
					}
				}
				s.cuts = append(s.cuts, span{f.start, len(s.text)})
				return len(s.text)
			}
		}
	}
	end := s.behind(f)
	s.passed("a code fence", f.start, s.text[f.body:max(f.body, end)])
	return end
}

// maxBefore is how many lines may be before a fence that is a call: a model
// that explains at length shows an example.
const maxBefore = 3

// nearTop reports whether no more lines than that are before i.
func (s *scanner) nearTop(i int) bool {
	for lines, at := 0, s.base; at < i; {
		end := i
		if p := s.find("\n", at); p >= 0 && p < i {
			end = p + 1
		}
		s.work -= end - at
		if strings.TrimSpace(s.text[at:end]) != "" {
			if lines++; lines > maxBefore {
				return false
			}
		}
		at = end
	}
	return true
}

// fences reads a block and those that follow it. They must be the last thing
// in the message, and nothing but calls.
func (s *scanner) fences(f fence) ([]envelope, bool) {
	var out []envelope
	for {
		i := s.space(f.body)
		if i >= len(s.text) {
			return nil, false
		}
		e, ok := s.inFence(f, i)
		if !ok || e.broken != "" {
			return nil, false
		}
		e.start = i
		out = append(out, e)
		at := s.swallow(e.end)
		if at == len(s.text) {
			return out, s.stop // the closing fence is missing
		}
		if !s.has(at, f.mark) {
			return nil, false
		}
		at += ticks(s.text[at:])
		if f.mark[0] == '~' {
			at = e.end + strings.Index(s.text[e.end:], f.mark) + len(f.mark)
		}
		if at = s.swallow(at); at == len(s.text) {
			return out, true
		}
		if f, ok = s.fenceAt(at); !ok {
			return nil, false
		}
		switch f.lang {
		case "", "json", "tool_code", "tool_call":
		default:
			return nil, false
		}
	}
}

// inFence reads what a fence of this language may hold.
func (s *scanner) inFence(f fence, i int) (envelope, bool) {
	if e, ok := s.bareJSON(i); ok {
		return e, true
	}
	if f.lang == "json" {
		return envelope{}, false
	}
	if e, ok := s.pythonLines(i); ok {
		e.family = ToolCode
		return e, true
	}
	if e, ok := s.pythonList(i); ok {
		return e, true
	}
	e, ok := s.marker(i)
	return e, ok
}

// behind is where a block that is no call ends.
func (s *scanner) behind(f fence) int {
	for i := f.body; i < len(s.text); {
		end := len(s.text)
		if p := s.find("\n", i); p >= 0 {
			end = p + 1
		}
		line := strings.TrimSpace(s.text[i:end])
		if strings.HasPrefix(line, f.mark) && strings.Trim(line, f.mark[:1]) == "" {
			return end
		}
		i = end
	}
	return len(s.text)
}
