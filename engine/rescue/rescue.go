// Package rescue finds the tool calls that a model wrote as text: small local
// models use the markup of their training, and the server that should have
// understood it passes it on as an answer.
//
// What it takes for a call will run, after a question, so precision comes
// before recall. Guarantees:
//
//   - A call names a tool that was offered, and its required arguments are
//     there after the aliases and repairs of package pipeline.
//   - Text is read from left to right. The first envelope owns its span:
//     nothing inside its strings is looked at again.
//   - Envelopes with marks of their own may follow prose. A code fence counts
//     only if it is json, tool_code, tool_call or has no language, is the last
//     thing in the message and has at most three lines before it. Bare JSON and
//     Python calls must start a line and reach the end of the message.
//   - Block quotes, inline code, other fences, indented code, the middle of a
//     sentence and whatever follows an invented tool response are never looked
//     at.
//   - Thinking is split off first. It is looked at only if it never closed and
//     there is nothing else.
//   - If the answer did not end by itself, nothing that writes or runs is taken,
//     and nothing that is cut off.
//   - Arguments are always a valid JSON object.
//
// All functions are pure and take time linear in the text: reading that goes
// back and forth draws on a budget, and when it is used up the rest is text.
package rescue

import (
	"encoding/json"
	"strings"

	"chela/toolkit"
)

// Options say what a text is the answer to.
type Options struct {
	// Tools are those that the model was offered. With none there is no call.
	Tools []*toolkit.Spec

	// Done is the server's reason for the end of the answer. Anything but
	// "stop" means that the text may be cut off.
	Done string

	// Thinking is what the server delivered apart from the text. It is looked
	// at only if the text is blank.
	Thinking string
}

// Call is one call found in a text.
type Call struct {
	Name   string          // of an offered tool
	Args   json.RawMessage // a JSON object; repaired, unless the tool's validator must refuse it
	Family string          // whose markup it was; see the Family constants
	Raw    string          // the envelope as it was written

	// Start and End are the envelope's bytes in the text (or, with InThinking
	// and a blank text, in Options.Thinking). Calls are in order; their spans
	// are apart, or the same for the calls of one envelope.
	Start, End int

	InThinking bool // it was written in thinking that never closed
}

// The families of markup.
const (
	Hermes    = "hermes"    // <tool_call>{...}</tool_call>
	JSON      = "json"      // a bare or fenced object, or a list of them
	XML       = "xml"       // <function=NAME><parameter=KEY>
	Mistral   = "mistral"   // [TOOL_CALLS]
	Llama     = "llama"     // <|python_tag|>
	Pythonic  = "pythonic"  // [NAME(key="value")]
	ToolCode  = "tool_code" // print(default_api.NAME(key="value"))
	Gemma     = "gemma"     // call:NAME{key:value}
	DeepSeek  = "deepseek"  // <|tool_call_begin|>NAME<|tool_sep|>, with its own bars
	Harmony   = "harmony"   // commentary to=functions.NAME
	GLM       = "glm"       // <arg_key>key</arg_key><arg_value>value</arg_value>
	Kimi      = "kimi"      // functions.NAME:0
	Cline     = "cline"     // <NAME><key>value</key></NAME>
	Anthropic = "anthropic" // <invoke name="NAME">
)

// Result is what became of a text.
type Result struct {
	Calls    []Call
	Text     string   // what is left for the reader: no calls, no thinking; without calls nothing else is missing
	Thinking string   // what was split off as thinking
	Notes    []string // why something was taken or not, for people
}

// Parse finds the calls in a text. It must be asked only when no native call
// came with it.
func Parse(text string, o Options) Result {
	if len(o.Tools) == 0 {
		return Result{Text: text, Notes: []string{"no tools were offered, so nothing is a call"}}
	}
	if strings.TrimSpace(text) == "" && strings.TrimSpace(o.Thinking) != "" {
		s := newScanner(o.Thinking, o)
		s.inThinking = true
		s.run()
		r := s.result()
		r.Text = text
		return r
	}
	s := newScanner(text, o)
	s.run()
	return s.result()
}
