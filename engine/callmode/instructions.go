package callmode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"chela/toolkit"
)

// Instructions are what a Prompted model's system prompt ends with: the tools,
// one line each, and two examples in the markup. The same input gives the same
// bytes. Without tools they are empty.
func Instructions(m Markup, specs []*toolkit.Spec) string {
	if len(specs) == 0 {
		return ""
	}
	var b strings.Builder
	signatures(&b, specs)
	b.WriteString("\nTo call a tool, write the call exactly in this form, as the last thing in your answer. ")
	b.WriteString("Then stop: the next message brings the result. If no tool is needed, just answer.\n")
	for i, e := range examples(specs) {
		fmt.Fprintf(&b, "\nExample %d:\n%s\n", i+1, m.write([]call{e}))
	}
	return b.String()
}

// signatures lists the tools.
func signatures(b *strings.Builder, specs []*toolkit.Spec) {
	b.WriteString("\nTools (? marks what may be left out):\n")
	for _, s := range specs {
		b.WriteString("- " + signature(s) + "\n")
	}
}

// signature is a tool in one line.
func signature(s *toolkit.Spec) string {
	params := make([]string, len(s.Schema.PropertyOrder))
	for i, name := range s.Schema.PropertyOrder {
		mark := "?"
		if slices.Contains(s.Schema.Required, name) {
			mark = ""
		}
		p := s.Schema.Properties[name]
		params[i] = name + mark + ": " + typeName(p)
		if p.Description != "" && p.Items == nil {
			params[i] += " (" + oneLine(p.Description) + ")"
		}
	}
	return s.Name + "(" + strings.Join(params, ", ") + "): " + oneLine(s.Summary)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// typeName is a type in as few tokens as it takes: the allowed values, or a
// word.
func typeName(p *jsonschema.Schema) string {
	if len(p.Enum) > 0 {
		values := make([]string, len(p.Enum))
		for i, e := range p.Enum {
			values[i] = fmt.Sprint(e)
		}
		return strings.Join(values, "|")
	}
	switch p.Type {
	case "integer":
		return "int"
	case "boolean":
		return "bool"
	case "array":
		if p.Items != nil && p.Items.Type != "" {
			return "list of " + typeName(p.Items)
		}
		return "list"
	case "":
		return "any"
	}
	return p.Type
}

// examples are two calls of the tools: one with a single argument, and one with
// several, a text of two lines among them if a tool takes one. The smallest
// models copy them to the letter, so they show how lines are written.
func examples(specs []*toolkit.Spec) []call {
	first, second := specs[0], specs[len(specs)-1]
	for _, s := range slices.Backward(specs) {
		if len(s.Schema.Required) == 1 {
			first = s
		}
	}
	best := 0
	for _, s := range specs {
		n := len(s.Schema.Required)
		if slices.Contains(s.Schema.Required, "content") {
			n += 10
		}
		if n > best && s != first {
			second, best = s, n
		}
	}
	return []call{example(first, 0), example(second, 1)}
}

func example(s *toolkit.Spec, n int) call {
	names := s.Schema.Required
	if len(names) == 0 {
		names = s.Schema.PropertyOrder[:min(n, len(s.Schema.PropertyOrder))]
	}
	c := call{name: s.Name}
	for _, name := range names {
		value, err := json.Marshal(sample(name, s.Schema.Properties[name], n))
		if err != nil {
			continue // samples are strings, numbers and lists of them
		}
		c.args = append(c.args, argument{name, value})
	}
	return c
}

// sample is a plausible value.
func sample(name string, p *jsonschema.Schema, n int) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[min(n, len(p.Enum)-1)]
	case p.Type == "integer", p.Type == "number":
		return n + 1
	case p.Type == "boolean":
		return true
	case p.Type == "array":
		if p.Items == nil || p.Items.Type == "" {
			return []any{}
		}
		return []any{sample("", p.Items, n)}
	case p.Type == "object":
		return map[string]any{}
	case name == "content":
		return "first line\nsecond line\n"
	case name == "command":
		return "ls -la"
	case name == "url":
		return "https://example.com"
	case isPath(name):
		return []string{"src/main.go", "notes.txt"}[n]
	}
	return "some text"
}
