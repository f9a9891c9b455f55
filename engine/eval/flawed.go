package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/tools"

	"chela/engine/callmode"
	"chela/engine/ollamatest"
)

// Exchange is one request to the flawed model with its right answer. A [Flaw]
// spoils it.
type Exchange struct {
	View
	Move        // the right one
	Request int // so many came before it in this run
	reply   *ollamatest.Reply
	req     api.ChatRequest
}

// Flaw is a way of failing. It reports whether it answered; false: the right
// answer is given, in the form that was asked for.
type Flaw func(*Exchange) bool

// defaultModel is the flawed model where a task names none.
const defaultModel = "qwen3:8b"

// model is the flawed model's details.
func (t *Task) model() ollamatest.Model {
	m := t.Model
	m.Name = cmp.Or(m.Name, defaultModel)
	return m
}

// serve starts the flawed model for one task.
func serve(t *Task, tb ollamatest.T) *ollamatest.Server {
	srv := ollamatest.New(tb, t.model())
	n := 0 // one answer at a time: the engine's queue lets one request through
	srv.Answer(func(req api.ChatRequest) *ollamatest.Reply {
		x := &Exchange{View: look(t, req), Request: n, reply: ollamatest.NewReply(), req: req}
		n++
		if x.tooLong() {
			return x.reply.TooLong()
		}
		if x.summary() {
			return x.reply.Text(notes(t, x.View))
		}
		x.Move = t.next(x.View)
		if t.Flaw == nil || !t.Flaw(x) {
			x.right()
		}
		return x.reply
	})
	return srv
}

// tooLong reports whether the request does not fit the window that it asks for,
// at four bytes a token.
func (x *Exchange) tooLong() bool {
	n := 0
	for _, part := range []any{x.req.Messages, x.req.Tools} {
		b, err := json.Marshal(part)
		if err != nil {
			panic(fmt.Sprintf("eval: %v", err)) // it came as JSON
		}
		n += len(b) / 4
	}
	window, ok := x.req.Options["num_ctx"].(float64)
	return ok && n > int(window)
}

// summary reports whether notes are asked for, and no next step.
func (x *Exchange) summary() bool {
	last := x.req.Messages[len(x.req.Messages)-1]
	return strings.HasPrefix(last.Content, "Summarise the conversation")
}

// notes are what the model sums up: what it can see that it did.
func notes(t *Task, v View) string {
	out := "- the files are read one after the other, and what they say is used at once\n"
	for _, s := range t.Turns[v.Turn].Steps {
		if s.Known != nil && s.Known(v) {
			out += "- " + s.Note + "\n"
		}
	}
	return out
}

// right answers as it should be, in the form that was asked for.
func (x *Exchange) right() {
	switch x.Mode {
	case callmode.Forced:
		m := x.message()
		m.ToolCalls = m.ToolCalls[:min(len(m.ToolCalls), 1)]
		x.reply.Text(callmode.RenderForced([]api.Message{m})[0].Content)
	case callmode.Prompted:
		if len(x.Calls) > 0 && !strings.Contains(x.req.Messages[0].Content, "exactly in this form") {
			x.reply.Text("I have no tools for that.") // it was told of none
			return
		}
		markup := callmode.MarkupFor(callmode.Facts{Name: x.req.Model})
		x.reply.Text(callmode.Render([]api.Message{x.message()}, markup)[0].Content)
	default:
		x.reply.Text(pieces(x.Say)...)
		x.native(x.Calls...)
	}
}

// native sends calls as a server does that understood them.
func (x *Exchange) native(calls ...Call) {
	var out []ollamatest.ToolCall
	for _, c := range calls {
		out = append(out, ollamatest.ToolCall{Name: c.Tool, Args: c.Args})
	}
	if len(out) > 0 {
		x.reply.Calls(out...)
	}
}

// write sends an output through Ollama's generic parser, with the tag that the
// model's template has.
func (x *Exchange) write(tag, output string) {
	p := tools.NewParserWithTag(x.req.Tools, tag)
	x.stream(output, func(piece string, last bool) (string, []api.ToolCall, error) {
		calls, text := p.Add(piece)
		if last && len(calls) == 0 {
			text += p.Content()
		}
		return text, calls, nil
	})
}

// writeOwn sends an output through one of Ollama's parsers for a family.
func (x *Exchange) writeOwn(parser, output string) {
	p := parsers.ParserForName(parser)
	p.Init(x.req.Tools, nil, nil)
	x.stream(output, func(piece string, last bool) (string, []api.ToolCall, error) {
		text, _, calls, err := p.Add(piece, last)
		return text, calls, err
	})
}

// stream sends an output token by token, as a server's chat handler does: each
// as the parser has it, and with logprobs as it was written.
func (x *Exchange) stream(output string, parse func(piece string, last bool) (string, []api.ToolCall, error)) {
	x.reply.Tokens(0, len(output)/4+1)
	all := pieces(output)
	for i, piece := range all {
		text, calls, err := parse(piece, i == len(all)-1)
		if err != nil {
			x.reply.Error(err.Error()) // the last token is not sent
			return
		}
		x.reply.Raw(piece)
		if text != "" {
			x.reply.Text(text)
		}
		for _, c := range calls {
			args, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				panic(errors.Join(errors.New("eval: a parser made arguments that are no JSON"), err))
			}
			x.reply.Call(c.Function.Name, string(args))
		}
	}
}

// pieces cuts a text into tokens of about four characters.
func pieces(text string) []string {
	var out []string
	rest := []rune(text)
	for len(rest) > 0 {
		n := min(4, len(rest))
		out = append(out, string(rest[:n]))
		rest = rest[n:]
	}
	return out
}
