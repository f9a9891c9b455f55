package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/callmode"
)

// View is what the flawed model knows: what stands in the request.
type View struct {
	Mode    callmode.Mode
	Turn    int      // the running one's place in the task
	Results []Result // of the running turn, the oldest first
	Told    string   // the last message, if it is the program's own
	Nudges  int      // messages of the program's own in this turn
	Again   bool     // it is asked a second time
	Text    string   // all messages
	Wrote   string   // the arguments of the calls in them
}

// Result is a tool's result as it was sent.
type Result struct {
	Tool   string
	Text   string
	Failed bool
}

// look reads a request.
func look(t *Task, req api.ChatRequest) View {
	v := View{}
	switch {
	case len(req.Format) > 0:
		v.Mode = callmode.Forced
	case len(req.Tools) == 0:
		v.Mode = callmode.Prompted
	}
	_, v.Again = req.Options["seed"]
	var all, wrote strings.Builder
	for i, m := range req.Messages {
		all.WriteString(m.Content + "\n")
		r, isResult := result(m)
		switch {
		case isResult:
			v.Results, v.Told = append(v.Results, r), ""
		case m.Role == "assistant":
			v.Told = ""
			if v.Mode != callmode.Native {
				wrote.WriteString(m.Content + "\n")
			}
			for _, c := range m.ToolCalls {
				wrote.WriteString(c.Function.Arguments.String() + "\n")
			}
		case m.Role != "user":
		default:
			if at := slices.IndexFunc(t.Turns, func(tn Turn) bool { return tn.Prompt == m.Content }); at >= 0 {
				v.Turn, v.Results, v.Nudges, v.Told = at, nil, 0, ""
				continue
			}
			if i > 1 { // a summary stands first
				v.Told = m.Content
				v.Nudges++
			}
		}
	}
	v.Text, v.Wrote = all.String(), wrote.String()
	return v
}

// result reads a tool's result in any of the forms in which one is sent.
func result(m api.Message) (Result, bool) {
	r := Result{Tool: m.ToolName, Text: m.Content}
	if m.Role == "user" {
		body, ok := strings.CutPrefix(m.Content, callmode.ResultHeader)
		if !ok {
			return r, false
		}
		head, text, _ := strings.Cut(body, ">\n")
		_, name, _ := strings.Cut(head, "tool=")
		r.Tool, r.Text = strings.Trim(name, `"`), strings.TrimSuffix(text, "</tool_response>")
	} else if m.Role != "tool" {
		return r, false
	}
	for line := range strings.Lines(r.Text) {
		for _, word := range []string{"error:", "denied", "same call", "The same call again"} {
			r.Failed = r.Failed || strings.HasPrefix(line, word)
		}
		r.Failed = r.Failed || strings.HasPrefix(line, "[folded: ") && strings.Contains(line, " failed")
	}
	return r, true
}

// Last is the newest result; ok is false before the first.
func (v View) Last() (r Result, ok bool) {
	if len(v.Results) == 0 {
		return r, false
	}
	return v.Results[len(v.Results)-1], true
}

// Failed counts the results that are errors or denials.
func (v View) Failed() int {
	n := 0
	for _, r := range v.Results {
		if r.Failed {
			n++
		}
	}
	return n
}

// find returns the first text after a word, up to the end of its line, in all
// that was sent; it is how the model "knows" a fact.
func (v View) find(after string) string {
	_, rest, ok := strings.Cut(v.Text, after)
	if !ok {
		return "unknown"
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(strings.TrimSpace(line), `.,";`)
}

// Move is what a model does next: calls, or without any the answer.
type Move struct {
	Say   string
	Calls []Call
}

// next is the right move: the first step that is not done.
func (t *Task) next(v View) Move {
	turn := t.Turns[v.Turn]
	at := 0
	for _, s := range turn.Steps {
		if s.Known != nil {
			if !s.Known(v) {
				return Move{s.Say, s.Calls}
			}
			continue
		}
		var open []Call
		for _, c := range s.Calls {
			if i := slices.IndexFunc(v.Results[at:], func(r Result) bool { return r.Tool == c.Tool && r.Failed == s.Fails }); i >= 0 {
				at += i + 1
				continue
			}
			open = append(open, c)
		}
		if len(open) > 0 {
			return Move{s.Say, open}
		}
	}
	if turn.Answer == nil {
		return Move{Say: "Done."}
	}
	return Move{Say: turn.Answer(v)}
}

// message is a move in Ollama's form.
func (m Move) message() api.Message {
	out := api.Message{Role: "assistant", Content: m.Say}
	for _, c := range m.Calls {
		args := api.NewToolCallFunctionArguments()
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			panic(fmt.Sprintf("eval: the arguments of %s are no JSON object: %v", c.Tool, err)) // a mistake in the task
		}
		out.ToolCalls = append(out.ToolCalls, api.ToolCall{Function: api.ToolCallFunction{Name: c.Tool, Arguments: args}})
	}
	return out
}
