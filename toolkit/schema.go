package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is the JSON Schema of a tool's arguments, with what the schema
// language has no word for: which other names people and models use.
type Schema struct {
	*jsonschema.Schema
	Aliases  map[string]string // other spelling -> parameter name
	resolved *jsonschema.Resolved
}

// SchemaFor derives a schema from an argument struct. Beside `json` (the name;
// omitempty makes it optional) these struct tags count:
//
//	doc      what the model reads about the parameter
//	default  used when the argument is absent
//	enum     allowed values, separated by commas
//	min, max limits of a number; of the length, for a string or list
//	alias    other names, separated by commas
//
// Unknown arguments are refused. Parameters keep the order of the fields, so
// the schema is the same bytes each time.
func SchemaFor[A any]() (*Schema, error) {
	root, err := jsonschema.For[A](nil)
	if err != nil {
		return nil, err
	}
	s := &Schema{Schema: root, Aliases: map[string]string{}}
	if err := s.annotate(reflect.TypeFor[A](), root, true); err != nil {
		return nil, err
	}
	if s.resolved, err = root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Schema) annotate(t reflect.Type, node *jsonschema.Schema, top bool) error {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			node.Types, node.Type = nil, "array" // null is "absent" here, handled before validation
			node = node.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			return fmt.Errorf("field %s needs a json name", f.Name)
		}
		p := node.Properties[name]
		if p == nil {
			return fmt.Errorf("field %s has no schema", f.Name)
		}
		if i := slices.Index(p.Types, "null"); i >= 0 { // pointers and slices: absent, not null
			rest := slices.Delete(slices.Clone(p.Types), i, i+1)
			if len(rest) == 1 {
				p.Types, p.Type = nil, rest[0]
			}
		}
		p.Description = f.Tag.Get("doc")
		if err := constrain(p, f.Tag); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
		if top {
			for _, a := range splitTag(f.Tag.Get("alias")) {
				s.Aliases[a] = name
			}
		}
		if err := s.annotate(f.Type, p, false); err != nil {
			return err
		}
	}
	return nil
}

func constrain(p *jsonschema.Schema, tag reflect.StructTag) error {
	if d, ok := tag.Lookup("default"); ok {
		if p.Type == "string" {
			d = strconv.Quote(d)
		}
		if !json.Valid([]byte(d)) {
			return fmt.Errorf("default %s is not JSON", d)
		}
		p.Default = json.RawMessage(d)
	}
	for _, e := range splitTag(tag.Get("enum")) {
		p.Enum = append(p.Enum, e)
	}
	for _, limit := range []struct {
		tag   string
		num   **float64
		str   **int
		items **int
	}{{"min", &p.Minimum, &p.MinLength, &p.MinItems}, {"max", &p.Maximum, &p.MaxLength, &p.MaxItems}} {
		text, ok := tag.Lookup(limit.tag)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%s %q is not a number", limit.tag, text)
		}
		n := int(f)
		switch p.Type {
		case "string":
			*limit.str = &n
		case "array":
			*limit.items = &n
		default:
			*limit.num = &f
		}
	}
	return nil
}

func splitTag(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Validate checks arguments strictly against the schema. Package
// engine/pipeline gives friendlier errors first; this is the last word.
func (s *Schema) Validate(args map[string]any) error { return s.resolved.Validate(args) }

// Names returns the parameters in order.
func (s *Schema) Names() []string { return s.PropertyOrder }

// withDefaults returns the arguments as a JSON object with absent ones filled.
func (s *Schema) withDefaults(raw json.RawMessage) ([]byte, error) {
	m, err := object(raw)
	if err != nil {
		return nil, err
	}
	for name, p := range s.Properties {
		if _, ok := m[name]; !ok && p.Default != nil {
			m[name] = p.Default
		}
	}
	return json.Marshal(m)
}

// canonical returns the arguments with keys in schema order and no white
// space, so that equal calls have equal bytes.
func (s *Schema) canonical(raw json.RawMessage) (json.RawMessage, error) {
	m, err := object(raw)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for _, name := range s.PropertyOrder {
		v, ok := m[name]
		if !ok {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(name))
		out.WriteByte(':')
		if err := json.Compact(&out, v); err != nil {
			return nil, Errorf(CodeInvalid, "argument %q is not JSON: %w", name, err)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// summarise makes a one-line summary from the first required string argument,
// or the first argument there is.
func (s *Schema) summarise(raw json.RawMessage) string {
	m, err := object(raw)
	if err != nil {
		return ""
	}
	for _, wanted := range [][]string{s.Required, s.PropertyOrder} {
		for _, name := range wanted {
			if v, ok := m[name]; ok {
				var text string
				if json.Unmarshal(v, &text) == nil {
					return text
				}
				return string(v)
			}
		}
	}
	return ""
}

func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, Errorf(CodeInvalid, "arguments are not a JSON object: %w", err)
	}
	if m == nil { // null
		m = map[string]json.RawMessage{}
	}
	return m, nil
}
