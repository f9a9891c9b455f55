package rescue

import "strings"

// glm reads GLM's keys and values behind a name, up to the end of the block.
func (s *scanner) glm(name string, i int) envelope {
	const openKey, shutKey, openValue, shutValue = "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"
	e := envelope{family: GLM, span: span{i, i}}
	args := map[string]any{}
	for s.has(i, openKey) {
		i += len(openKey)
		end := s.find(shutKey, i)
		if end < 0 {
			e.broken = "a key never closes"
			return e
		}
		key := strings.TrimSpace(s.text[i:end])
		if i = s.space(end + len(shutKey)); !s.has(i, openValue) {
			e.broken = "a key has no value"
			return e
		}
		i += len(openValue)
		// The value ends where a key or the end of the block follows: markup
		// inside it is its own.
		for end = i; ; end += len(shutValue) {
			if end = s.find(shutValue, end); end < 0 {
				e.broken = "a value never closes"
				return e
			}
			s.work -= 16
			next := s.space(end + len(shutValue))
			if next == len(s.text) || s.has(next, openKey) || s.has(next, "</tool_call>") || s.has(next, "<tool_call>") {
				break
			}
		}
		if _, twice := args[key]; twice || key == "" {
			e.broken = "a key is given twice, or empty"
			return e
		}
		args[key] = s.text[i:end]
		e.end = end + len(shutValue)
		i = s.space(e.end)
	}
	e.calls = []candidate{{name: name, args: args}}
	return e
}
