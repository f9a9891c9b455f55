package pocket

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/tools"
)

// chat answers POST /api/chat; the order of its checks is that of Ollama's
// ChatHandler.
func (s *Server) chat(out *reply, r *http.Request) error {
	start := time.Now()
	req, err := decode[api.ChatRequest](out.w, r)
	if err != nil {
		return err
	}
	if err := checkTop(req.TopLogprobs); err != nil {
		return err
	}
	switch valid, found := known(req.Model); {
	case !valid:
		return badRequest("model is required")
	case !found:
		return errUnknownModel(req.Model)
	}
	answer := func(reason string) api.ChatResponse {
		return api.ChatResponse{
			Model: req.Model, CreatedAt: time.Now().UTC(), Message: api.Message{Role: "assistant"},
			Done: reason != "", DoneReason: reason,
		}
	}
	if len(req.Messages) == 0 && req.KeepAlive != nil && req.KeepAlive.Duration == 0 {
		if err := s.residence.unload(r.Context()); err != nil {
			return err
		}
		return out.one(answer(doneUnload))
	}
	if err := checkAbilities(req.Model, req.Think, req.Format); err != nil {
		return err
	}
	p, err := prepare(req.Options)
	if err != nil {
		return err
	}
	if len(req.Messages) == 0 {
		if err := s.load(r.Context(), p, req.KeepAlive); err != nil {
			return err
		}
		return out.one(answer(doneLoad))
	}
	for _, m := range req.Messages {
		if len(m.Images) > 0 {
			return refuse(req.Model, "images")
		}
	}
	truncate := isTrue(req.Truncate)
	prompt, err := chatPrompt(p.mf.template, p.file.tok, p.opts.NumCtx, req.Messages, req.Tools, truncate)
	if err != nil {
		return err
	}
	if req.DebugRenderOnly {
		res := answer("")
		res.DebugInfo = &api.DebugInfo{RenderedTemplate: prompt}
		return out.one(res)
	}

	c := completion{
		prompt: p.file.tok.encode(prompt), opts: p.opts, truncate: truncate, shift: isTrue(req.Shift),
		logprobs: req.Logprobs, topLogprobs: req.TopLogprobs,
	}
	sink := chatSink{out: out, stream: isTrue(req.Stream)}
	if len(req.Tools) > 0 {
		sink.parser = tools.NewParser(p.mf.template.Template, req.Tools)
	}
	done, err := s.complete(r.Context(), p, c, req.KeepAlive, func(t piece) error {
		res := answer("")
		res.Message.Content, res.Logprobs = t.text, t.logprobs
		return sink.add(res)
	})
	if err != nil {
		return err
	}
	res := answer(done.reason)
	res.Metrics = done.Metrics
	res.TotalDuration = time.Since(start)
	return sink.finish(res)
}

// isTrue reads an optional flag whose default is true.
func isTrue(b *bool) bool { return b == nil || *b }

func checkTop(n int) error {
	if n < 0 || n > 20 {
		return badRequest("top_logprobs must be between 0 and 20")
	}
	return nil
}

// checkAbilities refuses what the model cannot do. Ollama has a grammar for
// format; this runtime has not, and a model of this size would only fill it
// with nonsense.
func checkAbilities(name string, think *api.ThinkValue, format []byte) error {
	if think != nil && think.Bool() {
		return refuse(name, "thinking")
	}
	switch f := string(format); f {
	case "", "null", `""`: // Ollama takes these as not set
		return nil
	default:
		return refuse(name, "format")
	}
}

// chatSink turns generated text into chat responses: it takes tool calls out of
// the text when the request has tools, and sends or collects the result.
type chatSink struct {
	out    *reply
	stream bool
	parser *tools.Parser // nil without tools

	text     strings.Builder
	calls    []api.ToolCall
	logprobs []api.Logprob
}

// add passes on one response that is not the last.
func (k *chatSink) add(res api.ChatResponse) error {
	if k.parser != nil && !k.parse(&res) {
		// The parser holds the text back. Ollama sends its log-probabilities.
		if len(res.Logprobs) == 0 {
			return nil
		}
		res.Message.Content = ""
	}
	return k.send(res)
}

// finish sends the last response, or everything when not streaming.
func (k *chatSink) finish(res api.ChatResponse) error {
	if k.parser != nil && !k.parse(&res) {
		res.Message.Content = k.parser.Content()
	}
	if k.stream {
		return k.out.line(res)
	}
	k.text.WriteString(res.Message.Content)
	res.Message.Content = k.text.String()
	res.Message.ToolCalls = append(k.calls, res.Message.ToolCalls...)
	res.Logprobs = k.logprobs
	return k.out.one(res)
}

// parse feeds the text of res to the parser and reports whether there is
// something to send. Where a chunk yields both, text wins and the calls are
// lost, as in Ollama.
func (k *chatSink) parse(res *api.ChatResponse) bool {
	calls, text := k.parser.Add(res.Message.Content)
	switch {
	case text != "":
		res.Message.Content = text
	case len(calls) > 0:
		for i := range calls {
			calls[i].ID = newCallID()
		}
		res.Message.Content, res.Message.ToolCalls = "", calls
	default:
		return false
	}
	return true
}

func (k *chatSink) send(res api.ChatResponse) error {
	if k.stream {
		return k.out.line(res)
	}
	k.text.WriteString(res.Message.Content)
	k.calls = append(k.calls, res.Message.ToolCalls...)
	k.logprobs = append(k.logprobs, res.Logprobs...)
	return nil
}

// newCallID returns an id in Ollama's form: call_ and eight letters or digits.
func newCallID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 8)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return "call_" + string(b)
}
