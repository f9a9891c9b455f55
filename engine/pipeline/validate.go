package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"chela/toolkit"
)

// validate repairs and checks arguments. On success it returns them as JSON in
// schema order; otherwise an error in three lines that a small model can act
// on: what is wrong, the right call, what to do next.
func validate(spec *toolkit.Spec, raw json.RawMessage) (json.RawMessage, []string, *toolkit.Error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	v, err := decodeArgs(raw)
	if err != nil {
		return nil, nil, complain(spec, nil, toolkit.CodeInvalid, err.Error())
	}
	args, notes := repairArgs(spec.Schema, v)
	if args == nil {
		return nil, notes, complain(spec, nil, toolkit.CodeInvalid, fmt.Sprintf("arguments must be a JSON object, not %s", describe(v)))
	}
	var missing []string
	for _, name := range spec.Schema.Required {
		if _, ok := args[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, notes, complain(spec, args, toolkit.CodeMissing, missingText(spec, args, missing))
	}
	for _, name := range sortedKeys(args) {
		p := spec.Schema.Properties[name]
		if p == nil {
			return nil, notes, complain(spec, args, toolkit.CodeInvalid,
				fmt.Sprintf("%q is no argument of %s, which takes %s", name, spec.Name, strings.Join(spec.Schema.PropertyOrder, ", ")))
		}
		if m := find(name, p, args[name]); m != nil {
			return nil, notes, complain(spec, args, toolkit.CodeInvalid, fmt.Sprintf("%q %s; you sent %s", m.at, m.fault, describe(m.sent)), name)
		}
	}
	out, err := ordered(spec.Schema, args)
	if err != nil {
		return nil, notes, complain(spec, args, toolkit.CodeInvalid, err.Error())
	}
	// The schema has the last word: it knows more than the friendly checks above.
	var plain map[string]any
	if err := json.Unmarshal(out, &plain); err != nil {
		return nil, notes, complain(spec, args, toolkit.CodeInvalid, err.Error())
	}
	if err := spec.Schema.Validate(plain); err != nil {
		return nil, notes, complain(spec, args, toolkit.CodeInvalid, err.Error())
	}
	return out, notes, nil
}

func missingText(spec *toolkit.Spec, args map[string]any, missing []string) string {
	what := fmt.Sprintf("the required argument %q is missing", missing[0])
	if len(missing) > 1 {
		quoted := make([]string, len(missing))
		for i, m := range missing {
			quoted[i] = fmt.Sprintf("%q", m)
		}
		what = "the required arguments " + strings.Join(quoted, " and ") + " are missing"
	}
	for _, name := range sortedKeys(args) {
		if spec.Schema.Properties[name] == nil {
			what += fmt.Sprintf("; %q is not known", name)
		}
	}
	return what
}

// misfit is a value, in an argument or somewhere inside it, that misses its
// schema.
type misfit struct {
	at, fault string
	sent      any
}

// find returns the first misfit of an argument: itself, an item of its list or
// a field of its object.
func find(at string, p *jsonschema.Schema, v any) *misfit {
	if fault := check(p, v); fault != "" {
		return &misfit{at, fault, v}
	}
	switch x := v.(type) {
	case []any:
		for i, item := range x {
			if p.Items == nil {
				break
			}
			if m := find(fmt.Sprintf("%s[%d]", at, i), p.Items, item); m != nil {
				return m
			}
		}
	case map[string]any:
		if fault := fields(p, x); fault != "" {
			return &misfit{at, fault, v}
		}
		for _, name := range sortedKeys(x) {
			field := p.Properties[name]
			if field == nil {
				field = p.AdditionalProperties // of a map
			}
			if field == nil || field.Type == "" {
				continue
			}
			if m := find(at+"."+name, field, x[name]); m != nil {
				return m
			}
		}
	}
	return nil
}

// fields says which of an object's fields is not one, or is missing, or "".
func fields(p *jsonschema.Schema, x map[string]any) string {
	if p.AdditionalProperties != nil && p.AdditionalProperties.Not != nil { // the schema that nothing fits
		for _, name := range sortedKeys(x) {
			if p.Properties[name] == nil {
				return fmt.Sprintf("has no field %q; its fields are %s", name, strings.Join(p.PropertyOrder, ", "))
			}
		}
	}
	for _, name := range p.Required {
		if _, ok := x[name]; !ok {
			return fmt.Sprintf("lacks its field %q", name)
		}
	}
	return ""
}

// check says how a value itself misses its schema, or "".
func check(p *jsonschema.Schema, v any) string {
	if !hasType(p.Type, v) {
		return "must be " + article(p.Type)
	}
	if len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(e any) bool { return e == v }) {
		return fmt.Sprintf("must be one of %v", p.Enum)
	}
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		if err != nil {
			return "is no number that fits"
		}
		if p.Minimum != nil && f < *p.Minimum {
			return fmt.Sprintf("must be %v or more", *p.Minimum)
		}
		if p.Maximum != nil && f > *p.Maximum {
			return fmt.Sprintf("must be %v or less", *p.Maximum)
		}
	}
	if s, ok := v.(string); ok && p.MinLength != nil && len(s) < *p.MinLength {
		return "must not be empty"
	}
	return ""
}

func hasType(want string, v any) bool {
	if want == "" {
		return true // a schema from elsewhere that leaves it open; it has the last word
	}
	switch x := v.(type) {
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case json.Number:
		if want == "integer" {
			f, err := x.Float64()
			return err == nil && f == float64(int64(f))
		}
		return want == "number"
	}
	return fits(want, v)
}

// describe names a value briefly enough for an error.
func describe(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(b) > 80 {
		b = append(bytes.ToValidUTF8(b[:77], nil), "…"...)
	}
	return string(b)
}

// ordered writes the arguments in schema order, unknown ones last. A whole
// number that came as 5.0 is written 5.
func ordered(s *toolkit.Schema, args map[string]any) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string) error {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		v := args[name]
		if n, ok := v.(json.Number); ok && s.Properties[name] != nil && s.Properties[name].Type == "integer" {
			if f, err := n.Float64(); err == nil {
				v = int64(f)
			}
		}
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(name); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode ends with a newline
		b.WriteByte(':')
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1)
		return nil
	}
	for _, name := range s.PropertyOrder {
		if _, ok := args[name]; ok {
			if err := put(name); err != nil {
				return nil, err
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// complain makes the three lines: the fault, a right call made of what was
// right in theirs, and the next step. The example has the required arguments and
// those that were wrong.
func complain(spec *toolkit.Spec, args map[string]any, code toolkit.Code, fault string, wrong ...string) *toolkit.Error {
	example := map[string]any{}
	for _, name := range wrong {
		example[name] = sample(name, spec.Schema.Properties[name])
	}
	for _, name := range spec.Schema.Required {
		if slices.Contains(wrong, name) {
			continue
		}
		p := spec.Schema.Properties[name]
		if v, ok := args[name]; ok && check(p, v) == "" {
			if s, isText := v.(string); !isText || len(s) <= 120 {
				example[name] = v
				continue
			}
		}
		example[name] = sample(name, p)
	}
	right, err := ordered(spec.Schema, example)
	if err != nil {
		right = json.RawMessage("{}")
	}
	e := toolkit.Errorf(code, "%s: %s.", spec.Name, fault)
	return e.WithHint("\nRight: %s %s\nNext: call %s again with corrected arguments.", spec.Name, right, spec.Name)
}

// sample is a stand-in value that shows the shape.
func sample(name string, p *jsonschema.Schema) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Type == "integer" || p.Type == "number":
		return 1
	case p.Type == "boolean":
		return true
	case p.Type == "array" && p.Items != nil:
		return []any{sample("", p.Items)}
	case p.Type == "array":
		return []any{"…"}
	case p.Type == "object":
		example := map[string]any{}
		for _, field := range p.Required {
			example[field] = sample(field, p.Properties[field])
		}
		return example
	case name == "path":
		return "src/main.go"
	case name == "url":
		return "https://example.com"
	case name == "command":
		return "ls"
	}
	return "…"
}
