package toolkit

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"chela/tiers"
)

// Wire returns the tool as Ollama's /api/chat takes it: name, summary and
// the parameters that the model needs to know. Defaults and limits are left
// out (the validator fills and checks them), which keeps the schema short.
// The bytes are the same each time.
func (s *Spec) Wire() json.RawMessage { return s.wire(s.Summary) }

// WireFor is Wire for a model of a tier: those above Essential have room for
// the tool's guide.
func (s *Spec) WireFor(t tiers.Tier) json.RawMessage {
	if s.Guide == "" || t == tiers.Essential {
		return s.Wire()
	}
	return s.wire(s.Summary + " " + s.Guide)
}

func (s *Spec) wire(description string) json.RawMessage {
	type parameter struct {
		Type        string          `json:"type"`
		Description string          `json:"description,omitempty"`
		Enum        []any           `json:"enum,omitempty"`
		Items       json.RawMessage `json:"items,omitempty"`
	}
	var props strings.Builder
	props.WriteByte('{')
	for i, name := range s.Schema.PropertyOrder {
		p := s.Schema.Properties[name]
		w := parameter{Type: p.Type, Description: p.Description, Enum: p.Enum}
		if p.Items != nil {
			w.Items = itemSchema(p.Items)
		}
		if i > 0 {
			props.WriteByte(',')
		}
		props.Write(mustJSON(name))
		props.WriteByte(':')
		props.Write(mustJSON(w))
	}
	props.WriteByte('}')
	return mustJSON(struct {
		Type     string `json:"type"`
		Function any    `json:"function"`
	}{"function", struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"parameters"`
	}{s.Name, description, struct {
		Type       string          `json:"type"`
		Required   []string        `json:"required,omitempty"`
		Properties json.RawMessage `json:"properties"`
	}{"object", s.Schema.Required, json.RawMessage(props.String())}}})
}

// itemSchema keeps a list's item type and, for objects, the types and allowed
// values of the fields.
func itemSchema(p *jsonschema.Schema) json.RawMessage {
	if p.Type != "object" {
		return mustJSON(map[string]any{"type": p.Type})
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, name := range p.PropertyOrder {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(name))
		b.WriteByte(':')
		b.Write(mustJSON(struct {
			Type string `json:"type"`
			Enum []any  `json:"enum,omitempty"`
		}{p.Properties[name].Type, p.Properties[name].Enum}))
	}
	b.WriteString("}}")
	return json.RawMessage(b.String())
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings, numbers and maps of them come here
	}
	return b
}
