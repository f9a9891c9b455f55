package callmode

import (
	"encoding/json"
	"strings"
)

// call is one call as it is written.
type call struct {
	name string
	args []argument
}

// object writes a call as a JSON object. Arguments that are no JSON are left
// out: a history holds none.
func (c call) object(nameKey, argsKey string) string {
	var l literal
	l.WriteString(`{"` + nameKey + `": `)
	l.text(c.name, false)
	l.WriteString(`, "` + argsKey + `": `)
	l.WriteString(c.arguments())
	l.WriteByte('}')
	return l.String()
}

// arguments writes the arguments as a JSON object.
func (c call) arguments() string {
	var l literal
	l.WriteByte('{')
	wrote := false
	for _, a := range c.args {
		var v literal
		if v.value(a.value, isPath(a.name)) != nil {
			continue
		}
		if wrote {
			l.WriteString(", ")
		}
		wrote = true
		l.text(a.name, false)
		l.WriteString(": " + v.String())
	}
	l.WriteByte('}')
	return l.String()
}

// python writes a call as Python does; ok is false if a name is no identifier.
func (c call) python() (string, bool) {
	l := literal{python: true}
	if !identifier(c.name) {
		return "", false
	}
	l.WriteString(c.name + "(")
	for i, a := range c.args {
		if !identifier(a.name) {
			return "", false
		}
		if i > 0 {
			l.WriteString(", ")
		}
		l.WriteString(a.name + "=")
		if l.value(a.value, isPath(a.name)) != nil {
			return "", false
		}
	}
	l.WriteByte(')')
	return l.String(), true
}

// xmlTags are those that a reader of this markup looks at. A value that holds
// one could end too early.
var xmlTags = []string{"<function", "</function", "<parameter", "</parameter", "<invoke", "</invoke", "<tool_call>", "</tool_call>"}

// xml writes a call in tags. The values stand as they are, so a call whose
// values would be misread has its arguments as JSON, as Llama writes them in
// the same tags.
func (c call) xml() string {
	var b strings.Builder
	b.WriteString("<function=" + c.name + ">\n")
	for _, a := range c.args {
		value, isText := a.text()
		if !isText {
			value = string(a.value)
		}
		if !identifier(a.name) || strings.ContainsRune(value, '\r') || isText && strings.TrimSpace(value) == "" || containsAny(value, xmlTags) {
			return "<function=" + c.name + ">\n" + c.arguments() + "\n</function>"
		}
		if string(a.value) == "null" {
			continue // absent, and not the word
		}
		b.WriteString("<parameter=" + a.name + ">\n" + value + "\n</parameter>\n")
	}
	b.WriteString("</function>")
	return b.String()
}

func containsAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// write is one answer's calls in a markup. There is at least one.
func (m Markup) write(calls []call) string {
	each := func(before, between, after string, f func(call) string) string {
		parts := make([]string, len(calls))
		for i, c := range calls {
			parts[i] = f(c)
		}
		return before + strings.Join(parts, between) + after
	}
	plain := func(c call) string { return c.object("name", "arguments") }
	switch m {
	case Tools:
		return each("<tools>\n", "\n</tools>\n<tools>\n", "\n</tools>", plain)
	case Fenced:
		return each("```json\n", "\n```\n```json\n", "\n```", plain)
	case ToolCode:
		lines := make([]string, len(calls))
		for i, c := range calls {
			line, ok := c.python()
			if !ok { // such a fence may hold objects too, but not both
				return each("```tool_code\n", "\n", "\n```", plain)
			}
			lines[i] = line
		}
		return "```tool_code\n" + strings.Join(lines, "\n") + "\n```"
	case Llama:
		return each("", "\n", "", func(c call) string { return c.object("name", "parameters") })
	case XML:
		return each("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", call.xml)
	case Mistral:
		return each("[TOOL_CALLS][", ", ", "]", plain)
	default:
		return each("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", plain)
	}
}

// callOf makes a call of arguments in JSON.
func callOf(name string, args json.RawMessage) call { return call{name, arguments(args)} }
