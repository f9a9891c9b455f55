package engine

import (
	"encoding/json"
	"errors"

	"github.com/ollama/ollama/api"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/stall"
	"chela/engine/window"
	"chela/store"
	"chela/toolkit"
)

// watch notices, for one turn, that the model does not get on, and does what
// package stall says.
type watch struct {
	session *Session
	turn    int
	prompt  string
	guard   *stall.Guard
	stop    *stall.Verdict // a call ended the turn
	writer  bool           // one that changes something came before in this answer
}

func (w *watch) off() bool { return w.session.engine.cfg.Off.Guards }

// before answers a call that is the same as one before, in place of running it.
func (w *watch) before(tool string, args json.RawMessage) *toolkit.Error {
	if w.off() {
		return nil
	}
	if w.writer && !w.changes(tool) {
		return nil // it looks again at what is changed in between
	}
	w.writer = w.writer || w.changes(tool)
	v := w.guard.Before(stall.Call{Tool: tool, Args: string(args)})
	switch v.Action {
	case stall.Answer:
		w.tell(v)
		return &toolkit.Error{Code: toolkit.CodeRepeated, Message: v.Text}
	case stall.Stop:
		w.stop = &v
		return &toolkit.Error{Code: toolkit.CodeRepeated, Message: "The same call again: it was not run, and this ends the turn."}
	}
	return nil
}

// after judges a round of calls. It returns how the turn ended; nil: it goes on.
func (w *watch) after(outcomes []pipeline.Outcome) *event.TurnEnded {
	w.writer = false
	if w.off() {
		return nil
	}
	if w.stop != nil {
		return w.apply(*w.stop)
	}
	for _, o := range outcomes {
		if o.Error != nil && o.Error.Code == toolkit.CodeRepeated {
			continue
		}
		v := w.guard.After(stall.Call{Tool: o.Tool, Args: string(o.Args)}, stall.Outcome{
			Result: o.Text, Failed: !o.OK, Denied: wasDenied(o), Retry: o.Error != nil && o.Error.Retryable, Changed: o.OK && w.changes(o.Tool),
		})
		if v.Action == stall.Pass {
			continue
		}
		return w.apply(v) // what follows in this round does not matter any more
	}
	return nil
}

func (w *watch) changes(tool string) bool {
	t, ok := w.session.engine.cfg.Tools.Get(tool)
	return !ok || !t.Spec().ReadOnly
}

// answer judges an answer without calls. It returns how the turn ended; nil: it
// goes on.
func (w *watch) answer(a answer) *event.TurnEnded {
	if w.off() {
		return &event.TurnEnded{Reason: event.EndedDone}
	}
	if a.Text == "" && a.mode == callmode.Native && w.session.State().CallMode != a.mode {
		return nil // it was lost, and is asked for in another way now
	}
	v := w.guard.Answer(stall.Reply{
		Text: a.Text, Thinking: a.Thinking, Tokens: a.Stats.Tokens, DoneReason: a.Stats.DoneReason, Tools: len(a.specs) > 0, Prompt: w.prompt,
	})
	if v.Action == stall.Pass {
		if v.State != stall.Fine {
			w.tell(v)
		}
		return &event.TurnEnded{Reason: event.EndedDone}
	}
	return w.apply(v)
}

// broken judges an answer that did not arrive whole. again: it is asked for
// once more; end: how the turn ended.
func (w *watch) broken(a answer, err error) (again bool, end *event.TurnEnded) {
	if w.off() {
		return false, nil
	}
	var oe *ollama.Error
	var v stall.Verdict
	switch {
	case a.repeats != nil:
		v = w.guard.Repeated(*a.repeats)
	case errors.As(err, &oe) && (oe.Kind == ollama.Lost || oe.Kind == ollama.BadCall):
		v = w.guard.Lost(a.Text != "")
		if v.Action == stall.Stop {
			return false, nil // the server's own fault says more
		}
	default:
		return false, nil
	}
	end = w.apply(v)
	return end == nil, end
}

// apply does what a verdict says. It returns how the turn ended; nil: it goes
// on.
func (w *watch) apply(v stall.Verdict) *event.TurnEnded {
	s := w.session
	switch v.Action {
	case stall.Nudge:
		w.tell(v)
		s.remember(nudge(w.turn, v.Text))
	case stall.Retry:
		w.tell(v)
		s.mu.Lock()
		s.retrying++
		s.mu.Unlock()
	case stall.Stop:
		w.tell(v)
		return &event.TurnEnded{Reason: event.EndedError, Error: v.Error, Hint: v.Hint}
	}
	return nil
}

// nudge is what the model is told and the person is not shown as a message. It
// stays in what the model is sent, so that the prefix does, and is not stored.
func nudge(turn int, text string) entry {
	e := newEntry(window.AssistantText, turn, 0, api.Message{Role: store.RoleUser, Content: text})
	e.nudge = true
	return e
}

func (w *watch) tell(v stall.Verdict) {
	w.session.publish(w.turn, event.Stalled{State: string(v.State), Action: v.Action.String(), Text: v.Text, Note: v.Note + v.Error})
}
