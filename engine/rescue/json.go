package rescue

import "strings"

// The keys under which models write a name and arguments, the usual ones first.
var (
	nameKeys = []string{"name", "tool", "tool_name", "function_name", "function", "action", "recipient_name"}
	argKeys  = []string{"arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs"}
)

// bareJSON reads objects and lists that stand for themselves: the rest of the
// message, or of a fence, is nothing else.
func (s *scanner) bareJSON(i int) (envelope, bool) {
	if c := s.text[i]; c != '{' && c != '[' {
		return envelope{}, false
	}
	e, ok := s.objects(i, false)
	e.family = JSON
	if !ok && e.broken != "" && s.text[i] == '{' {
		// What begins like an object owns the rest, or its inside would be read.
		if next := s.space(i + 1); next < len(s.text) && (s.text[next] == '"' || s.text[next] == '\'') {
			return e, true
		}
	}
	return e, ok
}

// objects reads one or more JSON values that are calls, with white space,
// commas or semicolons between them.
func (s *scanner) objects(i int, marked bool) (envelope, bool) {
	e := envelope{span: span{i, i}, marked: marked}
	for {
		at := s.space(e.end)
		for len(e.calls) > 0 && at < len(s.text) && (s.text[at] == ';' || s.text[at] == ',') {
			at = s.space(at + 1)
		}
		if at >= len(s.text) || s.text[at] != '{' && s.text[at] != '[' || len(e.calls) > 0 && s.has(at, "[TOOL_CALLS]") {
			return e, len(e.calls) > 0
		}
		v, r, ok := s.value(at)
		if !ok {
			e.broken = "what is written is no JSON, or cut off"
			return e, false
		}
		e.end = r.i
		calls, ok := candidates(v, marked)
		if !ok {
			e.broken, e.known = "this JSON is no call", true
			return e, true // it is a value, and owns its span
		}
		for _, c := range calls {
			c.open = r.openness()
			e.calls = append(e.calls, c)
		}
	}
}

// openness of the calls in a value: one bracket may be that of the call itself,
// more of them are of its arguments. A mark that closes the envelope says that
// the model was done.
func (r *reader) openness() openness {
	switch {
	case r.open == 0:
		return closed
	case r.partly || r.open > 1 && !r.marked:
		return cutShort
	}
	return loose
}

// candidates finds the calls that a JSON value is. ok is false unless all of
// it is calls.
func candidates(v any, marked bool) ([]candidate, bool) {
	switch x := v.(type) {
	case []any:
		var out []candidate
		for _, e := range x {
			m, ok := e.(map[string]any)
			if !ok {
				return nil, false
			}
			c, ok := candidateOf(m, marked)
			if !ok {
				return nil, false
			}
			out = append(out, c)
		}
		return out, len(out) > 0
	case map[string]any:
		if list, ok := x["tool_calls"].([]any); ok {
			return candidates(list, marked)
		}
		c, ok := candidateOf(x, marked)
		return []candidate{c}, ok
	}
	return nil, false
}

func candidateOf(m map[string]any, marked bool) (candidate, bool) {
	for _, wrap := range []string{"function", "function_call", "tool_call"} {
		if inner, ok := m[wrap].(map[string]any); ok {
			return candidateOf(inner, marked)
		}
	}
	for _, key := range nameKeys {
		name, ok := m[key].(string)
		if !ok || name == "" || strings.ContainsAny(name, " \n") {
			continue
		}
		for _, argKey := range argKeys {
			if args, ok := m[argKey]; ok {
				return candidate{name: name, args: args}, true
			}
		}
		if !marked {
			return candidate{}, false // any JSON document may have a name
		}
		// Marked as a call, so what else it holds are the arguments.
		args := map[string]any{}
		for k, v := range m {
			if k != key && k != "id" && k != "type" {
				args[k] = v
			}
		}
		return candidate{name: name, args: args}, true
	}
	return candidate{}, false
}
