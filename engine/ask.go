package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/tiers"
)

// answer is what a model said to one request.
type answer struct {
	ollama.Reply
	id      string // of the message
	model   string // who said it: the person may pick another one meanwhile
	partial bool   // it broke off, by an error or because it was cancelled
}

// cut reports whether the answer ends where no more fitted.
func (a answer) cut() bool { return a.Stats.DoneReason == "length" }

// ask sends the conversation and streams the answer. A model that turns out
// not to take tools, or not to think, is asked again without; that is
// remembered, and said once. An answer that comes with an error is what
// arrived before it.
func (s *Session) ask(ctx context.Context, turn int) (answer, error) {
	var tried []*fleet.Host
	for id := pipeline.NewID(); ; {
		s.mu.Lock()
		req, host := s.request(), s.pick.host
		s.mu.Unlock()
		if host == nil {
			return answer{id: id, model: req.Model, partial: true}, ErrClosed
		}
		s.publish(turn, event.ModelState{Model: req.Model, State: event.ModelWaiting, Host: host.Client().Host()})
		reply, err := host.Chat(ctx, req, ollama.Sink{
			Text:     func(t string) { s.publish(turn, event.TextDelta{Message: id, Text: t}) },
			Thinking: func(t string) { s.publish(turn, event.ThinkingDelta{Message: id, Text: t}) },
		}, func(ahead int) {
			s.publish(turn, event.ModelState{Model: req.Model, State: event.ModelQueued, Host: host.Client().Host(), Ahead: ahead})
		})
		var oe *ollama.Error
		if errors.As(err, &oe) {
			if s.without(turn, req, oe.Kind) {
				continue
			}
			tried = append(tried, host)
			if reply.Text == "" && reply.Thinking == "" && s.failOver(turn, req.Model, host, tried, err) {
				continue
			}
		}
		return answer{Reply: reply, id: id, model: req.Model, partial: err != nil}, err
	}
}

// failOver asks another server when one is gone before its first token, so
// that nothing is said twice. It reports whether there is one.
func (s *Session) failOver(turn int, model string, from *fleet.Host, tried []*fleet.Host, fault error) bool {
	to, ok := s.moveHost(model, from, tried, fault)
	if ok {
		s.publish(turn, event.Notice{
			Level: "warn", Text: fmt.Sprintf("%s; %s is asked instead.", cause(fault), to.Client().Host()),
			Hint: "The session stays there; its prompt is computed anew once.",
		})
	}
	return ok
}

// cause is what failed, without the remedy.
func cause(err error) string {
	var oe *ollama.Error
	if errors.As(err, &oe) {
		return oe.Cause()
	}
	return err.Error()
}

// without notes that a model refuses tools or thinking. It reports whether the
// request is worth sending again.
func (s *Session) without(turn int, req ollama.Request, kind ollama.Kind) bool {
	var n event.Notice
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case kind == ollama.NoTools && len(req.Tools) > 0:
		if req.Model == s.rec.Model {
			s.pick.toolless = true
		}
		n = event.Notice{Level: "warn", Text: req.Model + " cannot call tools: it can only answer.", Hint: "Pick a model with the tools capability to let it act."}
	case kind == ollama.NoThinking && req.Think.Value != false:
		if req.Model == s.rec.Model {
			s.pick.thinkless = true
		}
		n = event.Notice{Level: "info", Text: req.Model + " cannot think: it answers without.", Hint: "Set models.think to off in settings.yml to send it so at once."}
	default:
		return false
	}
	s.publish(turn, n)
	return true
}

// request builds what is sent. The caller holds mu. Everything before the last
// messages is the same bytes as in the request before.
func (s *Session) request() ollama.Request {
	req := ollama.Request{Model: s.rec.Model, Window: s.pick.window, Think: &api.ThinkValue{Value: false}}
	if !s.pick.thinkless && s.pick.model.Has("thinking") {
		req.Think = &api.ThinkValue{Value: s.thinks()}
		if strings.HasPrefix(s.pick.model.Family, "gptoss") || strings.Contains(s.rec.Model, "gpt-oss") {
			req.Think.Value = "low" // takes levels only, and never stops thinking wholly
		}
	}
	req.Messages = append([]api.Message{{Role: "system", Content: s.system()}}, s.history...)
	for _, spec := range s.offered() {
		req.Tools = append(req.Tools, spec.Wire())
	}
	return req
}

// thinks applies models.think. By default models under 12B do not think: with
// tools they put their calls into the thinking, where they are lost. The caller
// holds mu.
func (s *Session) thinks() bool {
	switch s.engine.cfg.Settings.Models.Think {
	case "on":
		return true
	case "off":
		return false
	}
	return s.pick.decision.Tier > tiers.Essential
}
