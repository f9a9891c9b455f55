package callmode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/ollama/ollama/api"

	"chela/toolkit"
)

// Final is the name under which a Forced model gives its answer. A tool of that
// name cannot be called in this mode.
const Final = "final"

// Schema is the JSON schema for the server's format field. It allows one
// object: {"tool": NAME, "arguments": {...}} of an offered tool, or
// {"tool": "final", "answer": "..."}.
//
// It is an anyOf of one object for each tool, so that the grammar ties the
// arguments to the name: an enum of names beside an anyOf of arguments would
// allow those of one tool under the name of another. llama.cpp's converter
// (json-schema-to-grammar.cpp) takes anyOf and oneOf alike, const, enum, nested
// objects and lists; llguidance, which other servers use, takes anyOf only. The
// converter writes required properties in their order, and leaves out all that
// are not named, so the name always comes first. Limits of numbers and lengths
// are left to the validator, since each costs the grammar many rules.
func Schema(specs []*toolkit.Spec) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"anyOf":[`)
	for _, s := range specs {
		if s.Name == Final {
			continue
		}
		fmt.Fprintf(&b, `{"type":"object","properties":{"tool":{"const":%s},"arguments":`, quoted(s.Name))
		object(&b, s.Schema.Schema)
		b.WriteString(`},"required":["tool","arguments"],"additionalProperties":false},`)
	}
	b.WriteString(`{"type":"object","properties":{"tool":{"const":"final"},"answer":{"type":"string"}},"required":["tool","answer"],"additionalProperties":false}]}`)
	return b.Bytes()
}

// object writes the schema of an object with known properties.
func object(b *bytes.Buffer, s *jsonschema.Schema) {
	b.WriteString(`{"type":"object","properties":{`)
	for i, name := range s.PropertyOrder {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(name) + ":")
		property(b, s.Properties[name])
	}
	b.WriteByte('}')
	if len(s.Required) > 0 {
		b.WriteString(`,"required":[`)
		for i, name := range s.Required {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(name))
		}
		b.WriteByte(']')
	}
	b.WriteString(`,"additionalProperties":false}`)
}

// property writes the schema of one value, in words that every converter knows.
// A map is any object, and one whose type is open is written as text: the
// validator has the last word.
func property(b *bytes.Buffer, p *jsonschema.Schema) {
	switch {
	case len(p.Enum) > 0:
		values, err := json.Marshal(p.Enum)
		if err != nil {
			values = []byte(`[]`) // it came from JSON
		}
		fmt.Fprintf(b, `{"enum":%s}`, values)
	case p.Type == "object" && len(p.PropertyOrder) > 0:
		object(b, p)
	case p.Type == "array" && p.Items != nil:
		b.WriteString(`{"type":"array","items":`)
		property(b, p.Items)
		b.WriteByte('}')
	case slices.Contains([]string{"object", "array", "integer", "number", "boolean"}, p.Type):
		fmt.Fprintf(b, `{"type":%q}`, p.Type)
	default:
		b.WriteString(`{"type":"string"}`)
	}
}

// ForcedInstructions are what a Forced model's system prompt ends with. The
// grammar makes the form right; they say what it means.
func ForcedInstructions(specs []*toolkit.Spec) string {
	var b strings.Builder
	b.WriteString("\nAnswer with one JSON object and nothing else. When the request is done, or needs no tool:\n")
	b.WriteString(final("your answer") + "\n")
	if len(specs) == 0 {
		return b.String()
	}
	b.WriteString("To call a tool:\n")
	for _, e := range examples(specs) {
		b.WriteString(e.object("tool", "arguments") + "\n")
	}
	signatures(&b, specs)
	return b.String()
}

func final(answer string) string { return `{"tool": "final", "answer": ` + quoted(answer) + `}` }

// RenderForced writes a history as a Forced model would have: an answer is a
// final object, a call an object, results as [Render] has them. What a model
// said beside a call has no place in the form and is left out.
func RenderForced(history []api.Message) []api.Message {
	return render(history, func(text string, calls []call) string {
		if len(calls) == 0 {
			return final(text)
		}
		lines := make([]string, len(calls))
		for i, c := range calls {
			lines[i] = c.object("tool", "arguments")
		}
		return strings.Join(lines, "\n")
	})
}

// Step is what a Forced model wrote: a call, or with an empty Name the answer.
type Step struct {
	Name   string          // of an offered tool
	Args   json.RawMessage // a JSON object, not validated
	Answer string
}

// ParseForced reads a Forced model's whole output. It may fail though a grammar
// was asked for: the output was cut off, or the server did not apply it (Ollama
// does not for a thinking model with a parser of its own while thinking is
// off). The error says what is wrong with it.
func ParseForced(text string, specs []*toolkit.Spec) (Step, error) {
	fields, err := fields(text)
	if err != nil {
		return Step{}, fmt.Errorf("reading a forced step: %w", err)
	}
	var name string
	if json.Unmarshal(fields["tool"], &name) != nil || name == "" {
		return Step{}, errors.New(`reading a forced step: the object has no "tool": it needs the name of one, or "final"`)
	}
	want := "arguments"
	if name == Final {
		want = "answer"
	}
	for key := range fields {
		if key != "tool" && key != want {
			return Step{}, fmt.Errorf(`reading a forced step: %q is not known beside "tool": %q: only %q is`, key, name, want)
		}
	}
	if name == Final {
		s := Step{}
		if json.Unmarshal(fields["answer"], &s.Answer) != nil {
			return Step{}, errors.New(`reading a forced step: a final one needs "answer" with a string`)
		}
		return s, nil
	}
	if !slices.ContainsFunc(specs, func(s *toolkit.Spec) bool { return s.Name == name }) {
		return Step{}, fmt.Errorf("reading a forced step: there is no tool %q among those that were offered", name)
	}
	args := bytes.TrimSpace(fields["arguments"])
	if len(args) == 0 {
		args = []byte("{}")
	}
	if args[0] != '{' {
		return Step{}, fmt.Errorf(`reading a forced step: the "arguments" of %s are no object`, name)
	}
	return Step{Name: name, Args: args}, nil
}

// fields reads the one object that a text is. A key that is given twice is an
// error: it has two meanings.
func fields(text string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	tok, err := dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil || tok != json.Delim('{'):
		return nil, errors.New("it is no JSON object")
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, broken(err)
		}
		name, _ := key.(string)
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%q is given twice", name)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, broken(err)
		}
		out[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, broken(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the object")
	}
	return out, nil
}

func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut off")
	}
	return fmt.Errorf("it is no JSON: %w", err)
}
