package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
)

// Request is one step of a conversation.
type Request struct {
	Model    string
	Messages []api.Message
	Tools    []json.RawMessage // toolkit's wire form, in a fixed order
	Window   int               // num_ctx, always sent: the server's default is 4096 and cuts silently
	Think    *api.ThinkValue   // always explicit: unset means "on" for models that can
	Options  map[string]any    // sampling, on top of Window
	Format   json.RawMessage   // a JSON schema that the answer must fit; never together with Tools, whose calls it forbids
	Tap      bool              // ask for each token's text, also of what the server's parser keeps back: Reply.Tokens
}

// Reply is what came back, also when an error ended it early.
type Reply struct {
	Text     string
	Thinking string
	Calls    []ToolCall
	Tokens   []api.Logprob // with Request.Tap: each token as the model wrote it; empty if the server does not tell
	Stats    event.Stats
	Done     bool // the server said that the answer is complete
}

// ToolCall is a native call. Args keep the order the model wrote.
type ToolCall struct {
	Name string
	Args json.RawMessage
	At   int // bytes of the reply's text that came before it
}

// Sink receives a reply as it arrives. Its functions are called from one
// goroutine; nil ones are skipped.
type Sink struct {
	Text     func(string)
	Thinking func(string)
}

var errIdle = errors.New("no data")

// maxReply bounds the text of one answer in bytes. A window of 256k tokens
// writes about 1 MiB; what sends more never ends.
const maxReply = 16 << 20

// maxTokens bounds the tokens of one answer that are kept: the largest window.
const maxTokens = 1 << 20

var errEndless = fmt.Errorf("an answer of more than %d MiB, which is cut here", maxReply>>20)

// Chat sends one request and streams the reply into the sink. The reply holds
// what was received even when err is not nil. The error is an *Error, or the
// context's.
//
// Nothing is cut silently: truncate and shift are false, so a prompt that does
// not fit is an error and a full window ends the answer with reason "length".
func (c *Client) Chat(ctx context.Context, r Request, sink Sink) (Reply, error) {
	caller := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	no := false
	req := &api.ChatRequest{
		Model: r.Model, Messages: r.Messages, Think: r.Think, Truncate: &no, Shift: &no,
		KeepAlive: &api.Duration{Duration: KeepAlive}, Options: map[string]any{"num_ctx": r.Window}, Format: r.Format, Logprobs: r.Tap,
	}
	for k, v := range r.Options {
		req.Options[k] = v
	}
	for _, t := range r.Tools {
		var tool api.Tool
		if err := json.Unmarshal(t, &tool); err != nil {
			return Reply{}, fmt.Errorf("the schema of a tool cannot be sent: %w", err)
		}
		req.Tools = append(req.Tools, tool)
	}
	var reply Reply
	var text, thinking strings.Builder
	// The watchdog starts with the first chunk: before it the server may be
	// loading the model or reading a long prompt.
	var watchdog *time.Timer
	err := c.api.Chat(ctx, req, func(resp api.ChatResponse) error {
		if watchdog == nil {
			watchdog = time.AfterFunc(c.idle, func() { cancel(errIdle) })
		} else {
			watchdog.Reset(c.idle)
		}
		m := resp.Message
		if text.Len()+thinking.Len()+len(m.Content)+len(m.Thinking) > maxReply {
			return errEndless
		}
		if m.Thinking != "" {
			thinking.WriteString(m.Thinking)
			if sink.Thinking != nil {
				sink.Thinking(m.Thinking)
			}
		}
		if m.Content != "" {
			text.WriteString(m.Content)
			if sink.Text != nil {
				sink.Text(m.Content)
			}
		}
		if len(reply.Tokens)+len(resp.Logprobs) <= maxTokens {
			reply.Tokens = append(reply.Tokens, resp.Logprobs...)
		}
		for _, call := range m.ToolCalls {
			args, err := json.Marshal(call.Function.Arguments)
			if err != nil {
				return err
			}
			reply.Calls = append(reply.Calls, ToolCall{call.Function.Name, args, text.Len()})
		}
		if resp.Done {
			reply.Done = true
			reply.Stats = event.Stats{
				PromptTokens: resp.PromptEvalCount, Tokens: resp.EvalCount, Window: r.Window, DoneReason: resp.DoneReason,
				Load: resp.LoadDuration, Prefill: resp.PromptEvalDuration, Generate: resp.EvalDuration,
			}
		}
		return nil
	})
	if watchdog != nil {
		watchdog.Stop()
	}
	reply.Text, reply.Thinking = text.String(), thinking.String()
	switch {
	case reply.Done:
		err = nil // what happens to the connection afterwards does not matter
	case caller.Err() != nil:
		return reply, caller.Err()
	case errors.Is(context.Cause(ctx), errIdle):
		err = errIdle
	case err == nil:
		err = errLost // the API reports a cut connection as the end of the stream
	}
	return reply, c.explain(caller, "asking "+r.Model, r.Model, err)
}
