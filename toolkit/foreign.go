package toolkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// SpecFromWire reads a tool in the form that [Spec.Wire] writes, which is
// Ollama's, with or without the function around it. Only what the form holds is
// set: such a tool counts as dangerous until somebody says otherwise.
func SpecFromWire(raw json.RawMessage) (*Spec, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var w struct {
		function
		Function *function `json:"function"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("a tool is no JSON object of Ollama's form: %w", err)
	}
	f := w.function
	if w.Function != nil {
		f = *w.Function
	}
	if f.Name == "" {
		return nil, errors.New(`a tool has no name: write {"type": "function", "function": {"name": ..., "parameters": ...}}`)
	}
	schema, err := ParseSchema(f.Parameters)
	if err != nil {
		return nil, fmt.Errorf("the parameters of tool %q: %w", f.Name, err)
	}
	return &Spec{Name: f.Name, Summary: f.Description, Schema: schema}, nil
}

// ParseSchema reads the JSON Schema of a tool's arguments. An absent one takes
// no arguments. A parameter that may be null counts as optional: null is
// "absent" here.
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	if t := bytes.TrimSpace(raw); len(t) == 0 || bytes.Equal(t, []byte("null")) {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	root := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, root); err != nil {
		return nil, fmt.Errorf("no JSON Schema: %w", err)
	}
	if root.Type != "object" && root.Type != "" {
		return nil, fmt.Errorf("type %q: the arguments of a tool are an object", root.Type)
	}
	for _, p := range root.Properties {
		if rest := slices.DeleteFunc(slices.Clone(p.Types), func(t string) bool { return t == "null" }); len(rest) == 1 {
			p.Types, p.Type = nil, rest[0]
		}
	}
	var err error
	if root.PropertyOrder, err = propertyOrder(raw); err != nil {
		return nil, err
	}
	s := &Schema{Schema: root, Aliases: map[string]string{}}
	if s.resolved, err = root.Resolve(nil); err != nil {
		return nil, fmt.Errorf("no usable JSON Schema: %w", err)
	}
	return s, nil
}

// propertyOrder returns the names of the properties as they are written.
func propertyOrder(raw json.RawMessage) ([]string, error) {
	var v struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("no JSON Schema: %w", err)
	}
	if len(v.Properties) == 0 {
		return nil, nil
	}
	var order []string
	dec := json.NewDecoder(bytes.NewReader(v.Properties))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("properties: %w", err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("properties: %w", err)
		}
		if text, ok := name.(string); ok && !slices.Contains(order, text) {
			order = append(order, text)
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return nil, fmt.Errorf("properties: %w", err)
		}
	}
	return order, nil
}

// Inherit takes over what a form cannot say from a tool that does the same: its
// level, whether it only reads, and the other spellings of its parameters. A
// parameter that goes by one of these spellings gets all of them.
func (s *Spec) Inherit(from *Spec) {
	s.Level, s.ReadOnly, s.Idempotent = from.Level, from.ReadOnly, from.Idempotent
	spellings := map[string][]string{}
	for alias, target := range from.Schema.Aliases {
		spellings[target] = append(spellings[target], alias)
	}
	for target, aliases := range spellings {
		same := append(aliases, target)
		own := slices.DeleteFunc(slices.Clone(same), func(n string) bool { return s.Schema.Properties[n] == nil })
		if len(own) != 1 {
			continue // no parameter goes by these names, or it is not certain which
		}
		for _, n := range same {
			if n != own[0] {
				s.Schema.Aliases[n] = own[0]
			}
		}
	}
}
