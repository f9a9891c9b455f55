package rescue

const toolCalls = "[TOOL_CALLS]"

// mistral reads the three forms behind [TOOL_CALLS]: a list of objects, a name
// and an object, and a name, [ARGS] and an object, each possibly again behind
// another mark.
func (s *scanner) mistral(i int) (envelope, bool) {
	e := envelope{family: Mistral, span: span{i, i}}
	if !s.has(i, toolCalls) {
		return e, false
	}
	for s.has(s.space(e.end), toolCalls) {
		at := s.space(s.space(e.end) + len(toolCalls))
		if at >= len(s.text) {
			break
		}
		next, ok := s.mistralOne(at)
		if !ok {
			break
		}
		if e.end = next.end; next.broken != "" {
			e.broken, e.known = next.broken, next.known
			return e, true
		}
		e.calls = append(e.calls, next.calls...)
	}
	return e, len(e.calls) > 0
}

func (s *scanner) mistralOne(i int) (envelope, bool) {
	if s.text[i] == '{' || s.text[i] == '[' {
		e, ok := s.objects(i, true)
		return e, ok || e.broken != ""
	}
	name, at := s.ident(i)
	if at = s.space(at); s.has(at, "[CALL_ID]") {
		_, at = s.ident(at + len("[CALL_ID]"))
		at = s.space(at)
	}
	if s.has(at, "[ARGS]") {
		at = s.space(at + len("[ARGS]"))
	}
	if name == "" {
		return envelope{}, false
	}
	return s.named(Mistral, name, at)
}
