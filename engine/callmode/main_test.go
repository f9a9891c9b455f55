package callmode_test

import (
	"encoding/json"
	"testing"

	"github.com/ollama/ollama/api"
	"pgregory.net/rapid"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// essential are the tools that the smallest models are offered.
func essential(t testing.TB) []*toolkit.Spec {
	t.Helper()
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	var out []*toolkit.Spec
	for _, tool := range reg.All() {
		if spec := tool.Spec(); spec.Tier == tiers.Essential {
			out = append(out, spec)
		}
	}
	return out
}

// made is a call with its arguments in order.
func made(t interface{ Fatal(...any) }, name, args string) api.ToolCall {
	c := api.ToolCall{Function: api.ToolCallFunction{Name: name, Arguments: api.NewToolCallFunctionArguments()}}
	if err := json.Unmarshal([]byte(args), &c.Function.Arguments); err != nil {
		t.Fatal(err)
	}
	return c
}

// pieces are what makes careless writers and readers of markup fail.
var pieces = []string{
	"a", "x y", "\n", "\n\n", "\t", "\ttab", "\r\n", "\r", "\b", "\fx", "\x00", "\x7f", `"`, `'`, `\`, `\n`, `\d+`, `C:\temp\new`, "`", "```", "```json\n", "~~~",
	"</tool_call>", "<tool_call>", "</tools>", "<tools>", "<function=exec>", "</function>", "<parameter=path>", "</parameter>", "<invoke name=\"exec\">",
	"[TOOL_CALLS]", "[ARGS]", "{", "}", "[", "]", "(", ")", ",", ":", "=", "<", ">", "&", "> quoted", "    code", "<think>", "</think>", "<tool_response>",
	"<|im_end|>", "<|python_tag|>", "true", "null", "None", "5", "é", "日本語", "\u2028", "\U0001F980", "\ufffd", `{"name": "exec", "arguments": {"command": "ls"}}`, "print(exec(command=\"ls\"))",
}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "any text") {
			return rapid.String().Draw(t, "text")
		}
		s := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces") {
			s += p
		}
		return s
	})
}

// value draws one that fits a schema.
func value(t *rapid.T, spec *toolkit.Spec, name string) any {
	p := spec.Schema.Properties[name]
	if len(p.Enum) > 0 {
		return rapid.SampledFrom(p.Enum).Draw(t, name)
	}
	switch p.Type {
	case "integer", "number":
		return rapid.IntRange(1, 50).Draw(t, name)
	case "boolean":
		return rapid.Bool().Draw(t, name)
	case "array":
		if p.Items.Type == "object" {
			return []any{map[string]any{"type": "file", "description": text().Draw(t, name)}}
		}
		return rapid.SliceOfN(text(), 0, 3).Draw(t, name)
	case "object":
		return rapid.MapOfN(rapid.SampledFrom([]string{"A", "PATH", "x-y", "ü", "with space", `q"`}), text(), 0, 3).Draw(t, name)
	}
	s := text().Draw(t, name)
	if p.MinLength != nil && len(s) < *p.MinLength {
		s += "x"
	}
	return s
}

// drawCall draws a valid call of one of the tools.
func drawCall(t *rapid.T, specs []*toolkit.Spec) api.ToolCall {
	spec := rapid.SampledFrom(specs).Draw(t, "tool")
	c := api.ToolCall{Function: api.ToolCallFunction{Name: spec.Name, Arguments: api.NewToolCallFunctionArguments()}}
	required := map[string]bool{}
	for _, name := range spec.Schema.Required {
		required[name] = true
	}
	for _, name := range spec.Schema.PropertyOrder {
		if required[name] || rapid.Bool().Draw(t, "give "+name) {
			c.Function.Arguments.Set(name, value(t, spec, name))
		}
	}
	return c
}
