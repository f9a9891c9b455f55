package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/rescue"
	"chela/engine/vet"
	"chela/toolkit"
)

// found is what an answer holds: its calls, and the worst that was wrong with
// how the model or its server gave them.
type found struct {
	calls []pipeline.Call
	fault callmode.Kind // empty: nothing
	tool  string        // the fault's
}

// read finds the calls in an answer, by the way in which it was asked for. What
// it takes out of the text it takes out of the answer too: the conversation
// goes on with the calls in their proper form, from which the model learns it.
func (s *Session) read(turn int, a *answer) found {
	off := s.engine.cfg.Off
	switch {
	case a.mode == callmode.Forced:
		return s.readForced(turn, a)
	case len(a.Calls) > 0:
		return s.audit(a)
	case a.mode == callmode.Prompted:
		return s.rescue(a)
	}
	if !off.Audit {
		if f := s.recover(turn, a); len(f.calls) > 0 || f.fault != "" {
			return f
		}
	}
	if off.Rescue {
		return found{}
	}
	return s.rescue(a)
}

// readForced reads the one object that a Forced model writes. What is no such
// object, because the server did not hold the model to it, is read like any
// text.
func (s *Session) readForced(turn int, a *answer) found {
	step, err := callmode.ParseForced(a.Text, a.specs)
	switch {
	case err != nil && a.Text != "":
		s.publish(turn, event.Notice{Level: "info", Text: fmt.Sprintf("%s was asked for one JSON object and wrote something else: %v", a.model, err)})
		return s.rescue(a)
	case err != nil:
		return found{}
	case step.Name == "":
		a.Text = step.Answer
		return found{}
	}
	a.Text = ""
	return found{calls: []pipeline.Call{{
		ID: pipeline.NewID(), Name: step.Name, Args: step.Args, Origin: toolkit.FromModel, Note: "asked for in forced mode",
	}}}
}

// audit checks the calls that the server found: structured is not the same as
// meant.
func (s *Session) audit(a *answer) found {
	in := s.vetInput(*a)
	for _, c := range a.Calls {
		in.Calls = append(in.Calls, vet.Call{Name: c.Name, Args: c.Args, At: c.At})
	}
	if s.engine.cfg.Off.Audit {
		return found{calls: native(a.Reply)}
	}
	var f found
	for _, v := range vet.Check(in) {
		c := pipeline.Call{ID: pipeline.NewID(), Name: v.Tool, Args: v.Args, Origin: toolkit.FromModel}
		if v.Verdict != vet.Keep {
			c.Doubt, c.Note = v.Reason, v.Reason
		}
		if v.Verdict == vet.Refuse {
			c.Refuse = v.Message
		}
		if v.Phantom {
			f.fault, f.tool = callmode.Phantom, v.Tool
		}
		f.calls = append(f.calls, c)
	}
	return f
}

// native are the calls that the server found in an answer, taken as they are.
func native(r ollama.Reply) []pipeline.Call {
	var calls []pipeline.Call
	for _, c := range r.Calls {
		calls = append(calls, pipeline.Call{ID: pipeline.NewID(), Name: c.Name, Args: c.Args, Origin: toolkit.FromModel})
	}
	return calls
}

func (s *Session) vetInput(a answer) vet.Input {
	in := vet.Input{Specs: a.specs, Text: a.Text, Thinking: a.Thinking, Done: a.Stats.DoneReason, Tokens: a.Stats.Tokens, NonEmpty: s.engine.nonEmpty}
	if len(a.Tokens) > 0 {
		in.Raw, in.RawExact = vet.Raw(a.Tokens)
	}
	return in
}

// nonEmpty reports whether a file of the workspace exists and holds something.
// What cannot be looked at counts as such a file: it must not be emptied by
// mistake.
func (e *Engine) nonEmpty(path string) bool {
	info, err := e.files.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size > 0
}

// recover finds the calls of an answer that the server dropped: tokens were
// generated, and nothing arrived.
func (s *Session) recover(turn int, a *answer) found {
	r, lost := vet.Lost(s.vetInput(*a))
	if !lost {
		return found{}
	}
	f := found{fault: callmode.Lost}
	for _, c := range r.Calls {
		f.calls = append(f.calls, rescued(c, r.Why))
		f.tool = c.Name
	}
	nothing := a.Text == ""
	a.Text = r.Text
	if len(f.calls) == 0 {
		s.unfound(turn, a, &f, nothing)
	}
	if len(f.calls) > 0 || strings.TrimSpace(r.Text) != "" {
		s.publish(turn, event.Notice{Level: "info", Text: fmt.Sprintf("the server dropped an answer of %d tokens; it was read from the raw tokens", a.Stats.Tokens)})
	}
	return f
}

// unread reads the raw tokens of an answer whose calls the server could not
// read and gave up on.
func (s *Session) unread(a *answer, err error) found {
	var oe *ollama.Error
	if !errors.As(err, &oe) || oe.Kind != ollama.BadCall || len(a.Tokens) == 0 || s.engine.cfg.Off.Audit {
		return found{}
	}
	raw, exact := vet.Raw(a.Tokens)
	if !exact {
		return found{} // a call with lost characters must not run
	}
	a.Text, a.partial = raw, false
	f := s.rescue(a)
	f.fault = callmode.ServerParse
	return f
}

// rescue finds calls that the model wrote as text.
func (s *Session) rescue(a *answer) found {
	r := rescue.Parse(a.Text, rescue.Options{Tools: a.specs, Done: a.Stats.DoneReason, Thinking: a.Thinking})
	if len(r.Calls) == 0 {
		return s.misnamed(a)
	}
	f := found{fault: callmode.Rescued}
	for _, c := range r.Calls {
		f.tool = c.Name
		f.calls = append(f.calls, rescued(c, fmt.Sprintf("found in the model's text (%s), not a native call", c.Family)))
	}
	a.Text = r.Text
	if t := strings.TrimSpace(r.Thinking); t != "" && a.Thinking == "" {
		a.Thinking = t
	}
	return f
}

// rescued is a call found in text. It always asks before it writes, runs or
// dials, also where text is how the model was asked to call: nobody can tell
// there what it wrote from what it quotes.
func rescued(c rescue.Call, doubt string) pipeline.Call {
	return pipeline.Call{
		ID: pipeline.NewID(), Name: c.Name, Args: c.Args, Origin: toolkit.FromRescue, Doubt: doubt,
		Note: fmt.Sprintf("found in the model's text (%s): %s", c.Family, excerpt(c.Raw)),
	}
}

// excerpt is enough of a call's markup to know it again, on one line. The
// arguments are recorded whole.
func excerpt(raw string) string {
	const most = 160
	line := []rune(strings.Join(strings.Fields(raw), " "))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most-1]) + "…"
}

// judgeModel tells the ladder how the model did with one answer's calls, and
// changes the way of asking for calls when that is called for.
func (s *Session) judgeModel(turn int, f found, outcomes []pipeline.Outcome) {
	kind, tool := f.fault, f.tool
	for _, o := range outcomes {
		if o.Error == nil {
			continue
		}
		switch o.Error.Code {
		case toolkit.CodeInvalid, toolkit.CodeMissing:
			kind, tool = callmode.Invalid, o.Tool
		case toolkit.CodeNotFound:
			kind, tool = callmode.UnknownTool, o.Tool
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changeMode(turn, kind, tool)
}

// changeMode notes a fault, or that all was well, and publishes what changes.
// The caller holds mu.
func (s *Session) changeMode(turn int, kind callmode.Kind, tool string) {
	if s.engine.cfg.Off.Modes || s.pick.ladder == nil {
		return
	}
	note := s.pick.ladder.Clean
	if kind != "" {
		note = func() (callmode.Change, bool) { return s.pick.ladder.Fault(kind, tool) }
	}
	if c, changed := note(); changed {
		s.publish(turn, event.CallModeChanged{Model: s.rec.Model, From: c.From.String(), To: c.To.String(), Why: c.Why})
	}
}

// answered tells the ladder of an answer without calls.
func (s *Session) answered(turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pick.ladder == nil {
		return
	}
	if c, changed := s.pick.ladder.Answered(); changed {
		s.publish(turn, event.CallModeChanged{Model: s.rec.Model, From: c.From.String(), To: c.To.String(), Why: c.Why})
	}
}
