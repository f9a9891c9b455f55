package pocket

import (
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/template"
)

// generate answers POST /api/generate; the order of its checks is that of
// Ollama's GenerateHandler.
func (s *Server) generate(out *reply, r *http.Request) error {
	start := time.Now()
	req, err := decode[api.GenerateRequest](out.w, r)
	if err != nil {
		return err
	}
	if err := checkTop(req.TopLogprobs); err != nil {
		return err
	}
	if _, found := known(req.Model); !found {
		return errUnknownModel(req.Model)
	}
	answer := func(reason string) api.GenerateResponse {
		return api.GenerateResponse{Model: req.Model, CreatedAt: time.Now().UTC(), Done: reason != "", DoneReason: reason}
	}
	if req.Prompt == "" && req.KeepAlive != nil && req.KeepAlive.Duration == 0 {
		if err := s.residence.unload(r.Context()); err != nil {
			return err
		}
		return out.one(answer(doneUnload))
	}
	switch {
	case req.Raw && (req.Template != "" || req.System != "" || len(req.Context) > 0):
		return badRequest("raw mode does not support template, system, or context")
	case req.Suffix != "":
		return refuse(req.Model, "insert")
	case len(req.Images) > 0:
		return refuse(req.Model, "images")
	}
	if err := checkAbilities(req.Model, req.Think, req.Format); err != nil {
		return err
	}
	p, err := prepare(req.Options)
	if err != nil {
		return err
	}
	if req.Prompt == "" {
		if err := s.load(r.Context(), p, req.KeepAlive); err != nil {
			return err
		}
		return out.one(answer(doneLoad))
	}
	prompt, err := generatePrompt(p, &req)
	if err != nil {
		return err
	}
	if req.DebugRenderOnly {
		res := answer("")
		res.DebugInfo = &api.DebugInfo{RenderedTemplate: prompt}
		return out.one(res)
	}

	c := completion{
		prompt: p.file.tok.encode(prompt), opts: p.opts, truncate: isTrue(req.Truncate), shift: isTrue(req.Shift),
		logprobs: req.Logprobs, topLogprobs: req.TopLogprobs,
	}
	var text strings.Builder
	var lps []api.Logprob
	stream := isTrue(req.Stream)
	done, err := s.complete(r.Context(), p, c, req.KeepAlive, func(t piece) error {
		text.WriteString(t.text)
		if !stream {
			lps = append(lps, t.logprobs...)
			return nil
		}
		res := answer("")
		res.Response, res.Logprobs = t.text, t.logprobs
		return out.line(res)
	})
	if err != nil {
		return err
	}
	res := answer(done.reason)
	res.Metrics = done.Metrics
	res.TotalDuration = time.Since(start)
	if !req.Raw {
		res.Context = p.file.tok.encode(prompt + text.String())
	}
	if stream {
		return out.line(res)
	}
	res.Response, res.Logprobs = text.String(), lps
	return out.one(res)
}

// generatePrompt renders the one-message conversation of a generate request.
func generatePrompt(p prepared, req *api.GenerateRequest) (string, error) {
	if req.Raw {
		return req.Prompt, nil
	}
	before, err := p.file.tok.decode(req.Context)
	if err != nil {
		return "", badRequest("context: %w", err)
	}
	var msgs []api.Message
	if req.System != "" {
		msgs = append(msgs, api.Message{Role: "system", Content: req.System})
	}
	msgs = append(msgs, api.Message{Role: "user", Content: req.Prompt})
	var prompt string
	if req.Template == "" {
		prompt, err = chatPrompt(p.mf.template, p.file.tok, p.opts.NumCtx, msgs, nil, isTrue(req.Truncate))
	} else {
		t, perr := template.Parse(req.Template)
		if perr != nil {
			return "", badRequest("template: %w", perr)
		}
		prompt, err = render(t, template.Values{Messages: msgs})
	}
	return before + prompt, err
}
