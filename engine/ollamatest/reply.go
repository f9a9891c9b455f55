package ollamatest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
)

// Reply is the scripted answer to one chat request. Its methods add what is
// sent next and return the reply itself. Unless the last one says otherwise,
// the answer ends as a good one does: done, reason "stop".
type Reply struct {
	mu    sync.Mutex
	steps []step
	end   func(*out) bool // nil: a good end
	stats api.Metrics
	code  int // an error status instead of an answer; 0: none
	text  string
}

// step sends one piece; false ends the reply.
type step func(*out) bool

// out is one reply on its way.
type out struct {
	ctx   context.Context
	done  <-chan struct{} // the test is over
	w     http.ResponseWriter
	model string
	tap   bool // the request asks for logprobs
	count int  // tokens of the request, roughly
}

// NewReply returns an answer that is not in the script, for [Server.Answer].
func NewReply() *Reply {
	return &Reply{stats: api.Metrics{
		EvalCount: 10, LoadDuration: time.Millisecond, PromptEvalDuration: 10 * time.Millisecond, EvalDuration: 100 * time.Millisecond,
	}}
}

// Reply adds an answer to the script.
func (s *Server) Reply() *Reply {
	r := NewReply()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, r)
	return r
}

func (r *Reply) add(f step) *Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, f)
	return r
}

func (r *Reply) message(m api.Message) *Reply {
	m.Role = "assistant"
	return r.add(func(o *out) bool { return o.line(api.ChatResponse{Model: o.model, CreatedAt: time.Now(), Message: m}) })
}

// Text sends each piece as a chunk of its own.
func (r *Reply) Text(pieces ...string) *Reply {
	for _, p := range pieces {
		r.message(api.Message{Content: p})
	}
	return r
}

// Thinking sends each piece as a chunk of the model's thinking.
func (r *Reply) Thinking(pieces ...string) *Reply {
	for _, p := range pieces {
		r.message(api.Message{Thinking: p})
	}
	return r
}

// ToolCall is one call for [Reply.Calls].
type ToolCall struct {
	Name string
	Args string // a JSON object
}

// Call sends one tool call in a chunk of its own.
func (r *Reply) Call(name, args string) *Reply { return r.Calls(ToolCall{name, args}) }

// Calls sends several tool calls in one chunk.
func (r *Reply) Calls(calls ...ToolCall) *Reply {
	var m api.Message
	for i, c := range calls {
		args := api.NewToolCallFunctionArguments()
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			panic(fmt.Sprintf("ollamatest: the arguments of %s are no JSON object: %v", c.Name, err)) // a mistake of the test
		}
		m.ToolCalls = append(m.ToolCalls, api.ToolCall{
			ID: fmt.Sprintf("call_%d", i+1), Function: api.ToolCallFunction{Index: i, Name: c.Name, Arguments: args},
		})
	}
	return r.message(m)
}

// Raw sends the tokens that the model wrote and the server's parser kept back:
// chunks without content, each with its token's text, as a server sends them to
// a request with logprobs.
func (r *Reply) Raw(tokens ...string) *Reply {
	for _, t := range tokens {
		r.add(func(o *out) bool {
			if !o.tap {
				return true // not asked for
			}
			return o.line(api.ChatResponse{
				Model: o.model, CreatedAt: time.Now(), Message: api.Message{Role: "assistant"},
				Logprobs: []api.Logprob{{TokenLogprob: api.TokenLogprob{Token: t, Logprob: -0.1}}},
			})
		})
	}
	return r
}

// Line sends a line as it is: a malformed one, or one of a later server.
func (r *Reply) Line(text string) *Reply {
	return r.add(func(o *out) bool { return o.raw(text + "\n") })
}

// Gate holds the reply until the gate is opened.
func (r *Reply) Gate(g *Gate) *Reply {
	return r.add(func(o *out) bool { return g.wait(o.ctx, o.done) })
}

// Tokens sets the counts that the end of the answer reports. Without it the
// prompt's is about what the request has.
func (r *Reply) Tokens(prompt, answer int) *Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.PromptEvalCount, r.stats.EvalCount = prompt, answer
	return r
}

// Length ends the answer because the window is full: reason "length".
func (r *Reply) Length() *Reply {
	return r.ends(func(o *out) bool { return o.finish("length", r.stats) })
}

// NoDone ends the stream properly, but without the line that says done.
func (r *Reply) NoDone() *Reply { return r.ends(func(*out) bool { return true }) }

// Cut breaks the connection off in the middle of the stream.
func (r *Reply) Cut() *Reply { return r.ends((*out).cut) }

// Error ends the stream with a line that reports an error, as a server does
// whose runner died while it answered.
func (r *Reply) Error(text string) *Reply {
	return r.ends(func(o *out) bool { return o.line(map[string]string{"error": text}) })
}

func (r *Reply) ends(f func(*out) bool) *Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = f
	return r
}

// Status makes the whole reply an error status with this text.
func (r *Reply) Status(code int, text string) *Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code, r.text = code, text
	return r
}

// The errors that an agent must tell apart, in the words of Ollama 0.17.

// NoTools refuses tools, as for a model whose template has none.
func (r *Reply) NoTools(model string) *Reply {
	return r.Status(http.StatusBadRequest, fmt.Sprintf("%q does not support tools", "registry.ollama.ai/library/"+model))
}

// NoThinking refuses to think.
func (r *Reply) NoThinking(model string) *Reply {
	return r.Status(http.StatusBadRequest, fmt.Sprintf("%q does not support thinking", model))
}

// TooLong refuses a prompt that does not fit the window.
func (r *Reply) TooLong() *Reply {
	return r.Status(http.StatusBadRequest, "the prompt exceeds the context length of the model")
}

// ModelMissing answers as for a model that is not installed.
func (r *Reply) ModelMissing(model string) *Reply {
	return r.Status(http.StatusNotFound, fmt.Sprintf("model %q not found", model))
}

// serve sends the reply.
func (r *Reply) serve(o *out) {
	r.mu.Lock()
	steps, end, stats, code, text := r.steps, r.end, r.stats, r.code, r.text
	r.mu.Unlock()
	for i, f := range steps {
		if i == 0 && code == 0 {
			o.w.Header().Set("Content-Type", "application/x-ndjson")
		}
		if !f(o) {
			return
		}
	}
	switch {
	case code != 0:
		fail(o.w, code, text)
	case end != nil:
		end(o)
	default:
		if stats.PromptEvalCount == 0 {
			stats.PromptEvalCount = o.count
		}
		o.finish("stop", stats)
	}
}

func (o *out) line(v any) bool {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ollamatest: %v", err)) // only plain structs come here
	}
	return o.raw(string(b) + "\n")
}

// raw sends and flushes, so that the client sees each piece by itself.
func (o *out) raw(s string) bool {
	if _, err := o.w.Write([]byte(s)); err != nil {
		return false
	}
	return http.NewResponseController(o.w).Flush() == nil
}

func (o *out) finish(reason string, m api.Metrics) bool {
	m.TotalDuration = m.LoadDuration + m.PromptEvalDuration + m.EvalDuration
	return o.line(api.ChatResponse{
		Model: o.model, CreatedAt: time.Now(), Message: api.Message{Role: "assistant"}, Done: true, DoneReason: reason, Metrics: m,
	})
}

// cut resets the connection: without lingering, closing sends RST.
func (o *out) cut() bool {
	conn, _, err := http.NewResponseController(o.w).Hijack()
	if err != nil {
		return false
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the cut is merely polite
	}
	return conn.Close() == nil
}
