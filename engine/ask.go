package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/stall"
	"chela/engine/window"
)

// answer is what a model said to one request.
type answer struct {
	ollama.Reply
	outgoing
	id      string      // of the message
	model   string      // who said it: the person may pick another one meanwhile
	partial bool        // it broke off, by an error or because it was cancelled
	repeats *stall.Loop // it was broken off because it repeated itself; nil: it was not
}

// cut reports whether the answer ends where no more fitted.
func (a answer) cut() bool { return a.Stats.DoneReason == "length" }

// errRepeats breaks an answer off that repeats itself.
var errRepeats = errors.New("the answer repeats itself")

// ask sends the conversation and streams the answer. What a model or a server
// cannot do (tools, thinking, the window) is done without and remembered, and
// said once. An answer that comes with an error is what arrived before it.
func (s *Session) ask(ctx context.Context, turn int) (answer, error) {
	var tried []*fleet.Host
	roomy := false
	for id := pipeline.NewID(); ; {
		s.mu.Lock()
		o, host := s.request(), s.pick.host
		s.mu.Unlock()
		a := answer{outgoing: o, id: id, model: o.req.Model, partial: true}
		if host == nil {
			return a, ErrClosed
		}
		var err error
		a.Reply, a.repeats, err = s.chat(ctx, turn, id, o, host)
		s.learn(turn, o, &a.Stats)
		s.notePrefix(&a)
		if err == nil || a.repeats != nil {
			a.partial = err != nil
			return a, nil
		}
		var oe *ollama.Error
		if errors.As(err, &oe) && a.Text == "" && a.Thinking == "" {
			if s.without(turn, o, oe) {
				continue
			}
			if oe.Kind == ollama.TooLong && !roomy && !s.engine.cfg.Off.Window {
				if end := s.fit(ctx, turn, true); end == nil {
					roomy = true
					continue
				}
			}
			tried = append(tried, host)
			if s.failOver(turn, o.req.Model, host, tried, err) {
				continue
			}
		}
		return a, err
	}
}

// chat sends one request and publishes what arrives. It breaks an answer off
// that repeats itself.
func (s *Session) chat(ctx context.Context, turn int, id string, o outgoing, host *fleet.Host) (reply ollama.Reply, repeats *stall.Loop, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var stream stall.Stream
	watch := func(t string) {
		if s.engine.cfg.Off.Guards {
			return
		}
		if l, found := stream.Write(t); found {
			repeats = &l
			cancel(errRepeats)
		}
	}
	text := func(t string) { s.publish(turn, event.TextDelta{Message: id, Text: t}) }
	var final callmode.FinalDelta
	sink := ollama.Sink{
		Text: func(t string) {
			watch(t)
			if o.mode == callmode.Forced {
				t = final.Add(t) // the answer's own words, without the object around them
			}
			if t != "" {
				text(t)
			}
		},
		Thinking: func(t string) {
			watch(t)
			s.publish(turn, event.ThinkingDelta{Message: id, Text: t})
		},
	}
	s.publish(turn, s.waiting(o, host))
	reply, err = host.Chat(ctx, o.req, sink, func(ahead int) {
		s.publish(turn, event.ModelState{Model: o.req.Model, State: event.ModelQueued, Host: host.Client().Host(), Ahead: ahead})
	})
	return reply, repeats, err
}

// waiting says that a request was sent, and how long its prompt will be read,
// as far as that is known.
func (s *Session) waiting(o outgoing, host *fleet.Host) event.ModelState {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := event.ModelState{Model: o.req.Model, State: event.ModelWaiting, Host: host.Client().Host()}
	fresh := s.learnt.Meter.Estimate(o.sent)
	if window.Compare(s.chain, o.chain).Kept {
		fresh = max(fresh-s.learnt.Prefill.Cached, 0)
	}
	st.Reading = fresh
	st.Expected = time.Duration(s.learnt.Prefill.PerToken * float64(fresh))
	return st
}

// notePrefix compares a request with the one before: what the server had
// computed of it could be used only as far as both are the same.
func (s *Session) notePrefix(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chain.Len() > 0 {
		r := window.Compare(s.chain, a.chain)
		a.Stats.Prefix = event.PrefixKept
		if !r.Kept {
			a.Stats.Prefix, a.Stats.PrefixReason = event.PrefixBroken, r.Reason
		}
	}
	s.chain = a.chain
}

// without notes what a model or a server turns out not to do. It reports
// whether the request is worth sending again.
func (s *Session) without(turn int, o outgoing, fault *ollama.Error) bool {
	name := o.req.Model
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rec.Model != name {
		return false
	}
	switch {
	case fault.Kind == ollama.NoTools && len(o.req.Tools) > 0:
		if s.engine.cfg.Off.Modes {
			return false
		}
		s.changeMode(turn, callmode.NoTools, "")
		return true
	case fault.Kind == ollama.NoThinking && o.req.Think.Value != false:
		s.pick.thinkless = true
		s.pick.ladder.Learned().RefusesThinking = true
		s.publish(turn, event.Notice{Level: "info", Text: name + " cannot think: it answers without.", Hint: "Set models.think to off in settings.yml to send it so at once."})
		return true
	case fault.Kind == ollama.NoMemory && window.StepDown(s.pick.window) > 0:
		s.learnt.Failed = s.pick.window
		s.pick.window = window.StepDown(s.pick.window)
		s.publish(turn, event.Notice{
			Level: "warn", Text: fmt.Sprintf("%s does not fit the memory with a window of %d tokens: %d are tried.", name, s.learnt.Failed, s.pick.window),
			Hint: "That is remembered for this model. models.window in settings.yml sets it for all.",
		})
		return true
	}
	return false
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
