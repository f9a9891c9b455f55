package engine

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/callmode"
	"chela/engine/ollama"
	"chela/engine/prompt"
	"chela/engine/window"
	"chela/tiers"
	"chela/toolkit"
)

// outgoing is a request with what is needed to understand its answer.
type outgoing struct {
	req    ollama.Request
	mode   callmode.Mode
	markup callmode.Markup // mode Prompted
	specs  []*toolkit.Spec // the tools that were offered, in whatever form
	sent   window.Size     // all of it, to compare with what the server counts
	chain  window.Chain    // all of it, to compare with the request before
}

// request builds what is sent. The caller holds mu. Everything before the last
// messages is the same bytes as in the request before, as long as mode, tools
// and model stay.
func (s *Session) request() outgoing {
	o := outgoing{mode: s.pick.mode(), specs: s.offered(), markup: s.pick.markup}
	o.req = ollama.Request{Model: s.rec.Model, Window: s.pick.window, Think: s.think(o.mode), Options: s.sampling(o.mode), Tap: s.tap(o.mode)}
	var history []api.Message
	for _, e := range s.sent() {
		history = append(history, e.msg)
		o.sent = o.sent.Plus(e.size)
	}
	system := s.system(o.mode, o.specs)
	switch o.mode {
	case callmode.Prompted:
		history = callmode.Render(history, o.markup)
		o.req.Options["stop"] = []string{callmode.ResultHeader}
	case callmode.Forced:
		history = callmode.RenderForced(history)
		o.req.Format = callmode.Schema(o.specs)
	default:
		for _, spec := range o.specs {
			o.req.Tools = append(o.req.Tools, spec.WireFor(s.pick.decision.Tier))
		}
	}
	o.req.Messages = append([]api.Message{{Role: "system", Content: system}}, history...)
	o.sent = o.sent.Plus(s.prefixSize())
	o.chain = chainOf(o.req)
	return o
}

// system is the system prompt of this session. The caller holds mu.
func (s *Session) system(mode callmode.Mode, specs []*toolkit.Spec) string {
	text := prompt.System(prompt.Facts{Workspace: s.engine.cfg.Workspace, Tier: s.pick.decision.Tier, Notes: s.notes})
	switch {
	case len(specs) == 0:
	case mode == callmode.Prompted:
		text += "\n" + callmode.Instructions(s.pick.markup, specs)
	case mode == callmode.Forced:
		text += "\n" + callmode.ForcedInstructions(specs)
	}
	return text
}

// prefixSize is what every request begins with: system prompt and tools. The
// caller holds mu.
func (s *Session) prefixSize() window.Size {
	mode, specs := s.pick.mode(), s.offered()
	size := window.Measure(s.system(mode, specs))
	size.Messages = 1
	if mode == callmode.Native {
		for _, spec := range specs {
			size = size.Plus(window.Measure(string(spec.WireFor(s.pick.decision.Tier))))
		}
	}
	return size
}

// chainOf hashes a request in the order in which a server's template writes it.
func chainOf(r ollama.Request) window.Chain {
	var c window.Chain
	c.Add("the model or its window", r.Model, fmt.Sprint(r.Window, r.Think.Value))
	h := fnv.New64a()
	for _, t := range r.Tools {
		h.Write(t)
	}
	c.Add("the system prompt", r.Messages[0].Content)
	c.Add("the tools", string(h.Sum(nil)))
	for i, m := range r.Messages[1:] {
		calls, err := json.Marshal(m.ToolCalls)
		if err != nil {
			panic(err) // they were made from JSON
		}
		c.Add(fmt.Sprintf("message %d (%s)", i+1, m.Role), m.Role, m.Content, m.ToolName, m.ToolCallID, string(calls))
	}
	return c
}

// think says whether the model thinks before it answers. gpt-oss takes levels
// only and never stops wholly. The caller holds mu.
func (s *Session) think(mode callmode.Mode) *api.ThinkValue {
	switch {
	case s.pick.thinkless || !s.pick.model.Has("thinking") || mode == callmode.Forced:
		return &api.ThinkValue{Value: false}
	case s.isGptOss():
		return &api.ThinkValue{Value: "low"}
	}
	return &api.ThinkValue{Value: s.thinks()}
}

func (s *Session) isGptOss() bool {
	return strings.HasPrefix(s.pick.model.Family, "gptoss") || strings.Contains(s.rec.Model, "gpt-oss")
}

// thinks applies models.think. By default models under 12B do not think: with
// tools they put their calls into the thinking, where they are lost. The caller
// holds mu.
func (s *Session) thinks() bool {
	switch s.engine.Settings().Models.Think {
	case "on":
		return true
	case "off":
		return false
	}
	return s.pick.decision.Tier > tiers.Essential
}

// The temperatures of requests that may call tools. Low ones make weak models
// write calls right; the higher one is for a second try, which must not be the
// first again.
const (
	toolTemperature  = 0.2
	retryTemperature = 0.5
)

// sampling sets the temperature where the model's maker leaves it open. Models
// whose Modelfile states one, and those that think, are made for theirs. The
// caller holds mu.
func (s *Session) sampling(mode callmode.Mode) map[string]any {
	o := map[string]any{}
	own := strings.Contains(s.pick.model.Sampling, "temperature") || s.isGptOss() || s.think(mode).Value != false
	switch {
	case s.retrying > 0:
		o["temperature"], o["seed"] = retryTemperature, s.retrying
	case !own || mode == callmode.Forced:
		o["temperature"] = toolTemperature
	}
	return o
}

// tap reports whether the request asks for the raw tokens: where the server's
// parser stands between what the model wrote and what arrives. The caller holds
// mu.
func (s *Session) tap(mode callmode.Mode) bool {
	return s.engine.Settings().Models.Tap && !s.engine.cfg.Off.Tap && mode == callmode.Native && !s.pick.model.Remote && len(s.pick.selection.Given()) > 0
}
