package engine

import (
	"context"
	"encoding/json"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// Call takes one call of a person through the five steps, outside any turn. It
// is recorded in the session like a model's calls, and judged by the same
// judge, but the model does not see it. Cancelling the context, or closing the
// session, cancels the call, and that is recorded. The error is only ever the
// store's, or ErrClosed; how the call itself went is in the outcome.
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage) (pipeline.Outcome, error) {
	return s.call(ctx, pipeline.Call{Name: tool, Args: args, Origin: toolkit.FromPerson})
}

// CallAs is Call for another origin: a schedule, or another session. A call of
// a model belongs to a turn, and comes through one.
func (s *Session) CallAs(ctx context.Context, origin toolkit.Origin, tool string, args json.RawMessage) (pipeline.Outcome, error) {
	return s.call(ctx, pipeline.Call{Name: tool, Args: args, Origin: origin})
}

func (s *Session) call(ctx context.Context, c pipeline.Call) (pipeline.Outcome, error) {
	s.mu.Lock()
	if s.life.closing() {
		s.mu.Unlock()
		return pipeline.Outcome{}, ErrClosed
	}
	s.life.calls.Add(1)
	s.mu.Unlock()
	defer s.life.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life.ctx, cancel)() // closing the session cancels it too
	out, err := s.engine.pipe.Do(ctx, s.env(0), []pipeline.Call{c})
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return out[0], s.save(ctx)
}

// Check says how a person's call would be judged in a mode. Nothing runs, asks
// or is recorded; see pipeline.Check.
func (e *Engine) Check(ctx context.Context, tool string, args json.RawMessage, mode pipeline.Mode) (pipeline.Checked, error) {
	security := e.Settings().Security
	return e.pipe.Check(ctx, pipeline.Env{
		Policies: security.Policies, Origins: security.Origins,
		Workspace: e.newWorkspace(""), Mode: func() pipeline.Mode { return mode }, Sandbox: e.box,
	}, pipeline.Call{Name: tool, Args: args, Origin: toolkit.FromPerson})
}
