package callmode

import (
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"
)

// Render writes a history for a Prompted model: the calls of an answer become
// text in the markup, behind what else it said, and each tool's result becomes
// a user message of its own. Servers that want user and assistant to alternate
// join neighbours themselves (Ollama's templates with an empty line). Nothing
// else is changed, and the history itself not at all.
//
// It appends only: Render of the first n messages is the first n messages of
// Render. A result is given as it is, also if it holds the header's text, as
// the server's own templates do.
func Render(history []api.Message, m Markup) []api.Message {
	return render(history, func(text string, calls []call) string {
		if len(calls) == 0 {
			return text
		}
		written := m.write(calls)
		if strings.TrimSpace(text) == "" {
			return written
		}
		// An empty line ends a block quote or a list, which the markup would
		// otherwise be part of.
		return strings.TrimRight(text, "\n") + "\n\n" + written
	})
}

// render makes assistant messages of what said returns.
func render(history []api.Message, said func(text string, calls []call) string) []api.Message {
	out := make([]api.Message, len(history))
	for i, m := range history {
		switch m.Role {
		case "assistant":
			m.Content = said(m.Content, callsOf(m))
			m.ToolCalls = nil
		case "tool":
			m = api.Message{Role: "user", Content: result(m), Images: m.Images}
		}
		out[i] = m
	}
	return out
}

// ResultHeader begins each result that a Prompted or Forced model reads. As a
// stop sequence it keeps a model from inventing results: what it would write
// after that is nobody's words. Package rescue cuts it off too.
const ResultHeader = "<tool_response"

// result is a tool's result as a user message.
func result(m api.Message) string {
	var b strings.Builder
	b.WriteString(ResultHeader)
	if m.ToolName != "" {
		b.WriteString(` tool=` + quoted(m.ToolName))
	}
	b.WriteString(">\n" + m.Content)
	if !strings.HasSuffix(m.Content, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("</tool_response>")
	return b.String()
}

func callsOf(m api.Message) []call {
	calls := make([]call, 0, len(m.ToolCalls))
	for _, c := range m.ToolCalls {
		args, err := json.Marshal(c.Function.Arguments)
		if err != nil {
			args = nil // only what JSON was read from comes here
		}
		calls = append(calls, callOf(c.Function.Name, args))
	}
	return calls
}
