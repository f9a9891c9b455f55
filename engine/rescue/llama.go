package rescue

// pythonTag reads what follows Llama's <|python_tag|>: objects, or Python.
func (s *scanner) pythonTag(i int) (envelope, bool) {
	const tag = "<|python_tag|>"
	if !s.has(i, tag) {
		return envelope{}, false
	}
	at := s.space(i + len(tag))
	if at >= len(s.text) {
		return envelope{}, false
	}
	e, ok := s.pythonList(at)
	if !ok {
		e, ok = s.pythonLines(at)
	}
	if !ok {
		e, ok = s.objects(at, true)
		ok = ok || e.broken != ""
	}
	e.family = Llama
	return e, ok
}
