package rescue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// offered are the tools of a request, with what was asked about them.
type offered struct {
	specs     []*toolkit.Spec
	canonical []string // of the specs
	known     map[string]*toolkit.Spec
}

func newOffered(specs []*toolkit.Spec) *offered {
	o := &offered{specs: specs, known: map[string]*toolkit.Spec{}}
	for _, t := range specs {
		o.canonical = append(o.canonical, toolkit.CanonicalName(t.Name))
	}
	return o
}

// resolve finds the offered tool that a name stands for: its exact name, the
// same with other case and prefixes, or a known habit. Two that fit equally
// well are none.
func (o *offered) resolve(name string) *toolkit.Spec {
	t, asked := o.known[name]
	if !asked {
		t = o.find(name)
		o.known[name] = t
	}
	return t
}

func (o *offered) find(name string) *toolkit.Spec {
	for _, t := range o.specs {
		if t.Name == name {
			return t
		}
	}
	want := toolkit.CanonicalName(name)
	if want == "" {
		return nil
	}
	var found *toolkit.Spec
	for i, t := range o.specs {
		switch {
		case o.canonical[i] != want:
		case t.Name == want:
			return t
		case found != nil:
			return nil
		default:
			found = t
		}
	}
	return found
}

// maxChecked is how many calls of one answer are looked at. A model that writes
// more of them is caught in a loop.
const maxChecked = 128

// accept makes calls of an envelope's candidates. One that does not hold up is
// noted; without marks it takes the whole envelope with it, since then nothing
// but its content says that it is one.
func (s *scanner) accept(e envelope) bool {
	var calls []Call
	for _, c := range e.calls {
		if s.checked++; s.checked > maxChecked {
			s.work = 0 // no answer asks for that many
			return false
		}
		call, why := s.check(c, e.marked)
		if why != "" {
			s.note("%s at byte %d: %s", e.family, e.start, why)
			if !e.marked {
				return false
			}
			continue
		}
		call.Family, call.Start, call.End, call.Raw = e.family, e.start, e.end, s.text[e.start:e.end]
		calls = append(calls, call)
	}
	s.calls = append(s.calls, calls...)
	return len(calls) > 0
}

// check says why a candidate is no call.
func (s *scanner) check(c candidate, marked bool) (Call, string) {
	tool := s.tools.resolve(c.name)
	if tool == nil {
		return Call{}, fmt.Sprintf("%q is no tool that was offered", short(c.name))
	}
	switch {
	case !s.stop && !tool.ReadOnly:
		return Call{}, fmt.Sprintf("the answer may be cut off, so %s is not taken: it changes things", tool.Name)
	case !s.stop && c.open != closed, c.open == cutShort && !tool.ReadOnly:
		return Call{}, fmt.Sprintf("the arguments of %s may be cut off", tool.Name)
	}
	args, why := s.arguments(tool, c)
	if why != "" {
		return Call{}, why
	}
	raw, err := encode(args)
	if err != nil {
		return Call{}, err.Error()
	}
	repaired, _, fault := pipeline.Repair(tool, raw)
	switch {
	case fault == nil:
		return Call{Name: tool.Name, Args: repaired}, ""
	case fault.Code == toolkit.CodeMissing || !marked:
		return Call{}, fault.Message
	}
	// It is a call without doubt; the pipeline tells the model what is wrong.
	return Call{Name: tool.Name, Args: raw}, ""
}

// arguments makes an object of what a candidate holds.
func (s *scanner) arguments(tool *toolkit.Spec, c candidate) (map[string]any, string) {
	if len(c.positional) > 0 {
		named, ok := c.args.(map[string]any)
		if c.args != nil && (!ok || len(named) > 0) || len(c.positional) != len(tool.Schema.Required) {
			return nil, fmt.Sprintf("it is not certain which arguments of %s are meant", tool.Name)
		}
		named = map[string]any{}
		for i, v := range c.positional {
			named[tool.Schema.Required[i]] = v
		}
		return named, ""
	}
	v := c.args
	for range 2 { // JSON in a string, as the OpenAI form has it
		text, ok := v.(string)
		if !ok {
			break
		}
		if v = nil; !blankArgs(text) {
			r := reader{s: s, text: text}
			if v, ok = r.whole(); !ok || r.open > 0 {
				return nil, fmt.Sprintf("the arguments of %s are no JSON", tool.Name)
			}
		}
	}
	switch args := v.(type) {
	case nil:
		return map[string]any{}, ""
	case map[string]any:
		if isSchema(args) {
			return nil, fmt.Sprintf("it describes the parameters of %s and gives no arguments", tool.Name)
		}
		return args, ""
	}
	return nil, fmt.Sprintf("the arguments of %s are no object", tool.Name)
}

func blankArgs(text string) bool {
	t := bytes.TrimSpace([]byte(text))
	return len(t) == 0 || string(t) == "null"
}

// isSchema tells a JSON Schema from arguments.
func isSchema(args map[string]any) bool {
	_, props := args["properties"].(map[string]any)
	return props && args["type"] == "object"
}

// encode writes arguments as JSON. Bytes that are no UTF-8 would be written as
// something else, so they are refused.
func encode(v map[string]any) (json.RawMessage, error) {
	if !validText(v) {
		return nil, fmt.Errorf("the arguments are no valid UTF-8")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("the arguments cannot be written as JSON: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func validText(v any) bool {
	switch x := v.(type) {
	case string:
		return utf8.ValidString(x)
	case []any:
		for _, e := range x {
			if !validText(e) {
				return false
			}
		}
	case map[string]any:
		for k, e := range x {
			if !utf8.ValidString(k) || !validText(e) {
				return false
			}
		}
	}
	return true
}

func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
