package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit"
)

// loop is the agent loop: ask the model, take its calls through the pipeline,
// give it the results, until it answers without a call.
func (s *Session) loop(ctx context.Context, turn int, text string) event.TurnEnded {
	user, err := s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), store.Message{
		ID: pipeline.NewID(), Session: s.rec.ID, Turn: turn, Role: store.RoleUser, Content: text, Created: s.engine.cfg.Now(),
	})
	if err != nil {
		return event.TurnEnded{Reason: event.EndedError, Error: err.Error()}
	}
	s.remember(api.Message{Role: "user", Content: text})
	s.publish(turn, event.TurnStarted{Message: user.ID, Prompt: text, Model: s.modelName(), Mode: s.Mode().String()})
	if turn == 1 {
		s.announce() // it has a title now
	}
	s.refresh(ctx)
	if err := s.noteModel(ctx); err != nil {
		return event.TurnEnded{Reason: event.EndedError, Error: err.Error()}
	}
	limit := s.engine.cfg.Settings.Models.Steps
	if limit <= 0 {
		limit = settings.Default().Models.Steps
	}
	for step := 1; step <= limit; step++ {
		calls, end := s.step(ctx, turn, step)
		if end != nil {
			return *end
		}
		end, err := s.act(ctx, turn, step, calls)
		if err != nil {
			return event.TurnEnded{Reason: event.EndedError, Error: err.Error(), Steps: step}
		}
		if end != nil {
			return *end
		}
	}
	return event.TurnEnded{
		Reason: event.EndedSteps, Steps: limit, Error: fmt.Sprintf("stopped after %d steps", limit),
		Hint: "Send another prompt to go on, or raise models.steps in settings.yml.",
	}
}

// empty ends a turn in which the model said nothing: never silently, or the
// person waits for what will not come.
func empty(model string, r ollama.Reply) event.TurnEnded {
	end := event.TurnEnded{
		Reason: event.EndedError, Error: fmt.Sprintf("%s gave an empty answer (%d tokens, none of them text or a call)", model, r.Stats.Tokens),
		Hint: "Send the prompt again, in other words or smaller steps, or pick another model.",
	}
	if r.Thinking != "" {
		end.Error = fmt.Sprintf("%s only thought and gave no answer", model)
	}
	return end
}

// cutOff ends a turn whose answer did not fit. What it holds may be half a
// call, so nothing of it is run.
func cutOff(st event.Stats) event.TurnEnded {
	end := event.TurnEnded{
		Reason: event.EndedError, Error: "the answer was cut off: the model's window is full, so nothing of it was run",
		Hint: "Start a new session with /new, or ask for a smaller piece.",
	}
	if used := st.PromptTokens + st.Tokens; st.Window > 0 && used < st.Window*9/10 {
		end.Error = fmt.Sprintf("the answer was cut off at the model's own limit of %d tokens, so nothing of it was run", st.Tokens)
		end.Hint = "Ask for a smaller piece, or send the prompt in other words."
	}
	return end
}

// step asks the model once. It returns the calls to make, or how the turn ended.
func (s *Session) step(ctx context.Context, turn, step int) ([]pipeline.Call, *event.TurnEnded) {
	reply, from, err := s.ask(ctx, turn)
	ended := func(e event.TurnEnded) ([]pipeline.Call, *event.TurnEnded) {
		e.Steps = step
		return nil, &e
	}
	var calls []pipeline.Call
	if err == nil && reply.Stats.DoneReason != "length" {
		for _, c := range reply.Calls {
			calls = append(calls, pipeline.Call{ID: pipeline.NewID(), Name: c.Name, Args: c.Args, Origin: toolkit.FromModel})
		}
		if len(calls) == 0 {
			calls = s.rescue(&reply)
		}
	}
	if serr := s.keep(ctx, turn, from, reply, calls, err != nil); serr != nil {
		return ended(event.TurnEnded{Reason: event.EndedError, Error: serr.Error()})
	}
	var oe *ollama.Error
	switch {
	case err == nil && reply.Stats.DoneReason == "length":
		return ended(cutOff(reply.Stats))
	case err == nil && len(calls) == 0 && strings.TrimSpace(reply.Text) == "":
		return ended(empty(from.model, reply))
	case err == nil && len(calls) == 0:
		return ended(event.TurnEnded{Reason: event.EndedDone})
	case err == nil:
		return calls, nil
	case ctx.Err() != nil:
		return ended(event.TurnEnded{Reason: event.EndedCancelled})
	case errors.As(err, &oe):
		end := event.TurnEnded{Reason: event.EndedError, Error: oe.Cause(), Hint: oe.Hint(), Action: oe.Action()}
		if end.Action == "pull" {
			end.Action = "pull " + oe.Model
		}
		return ended(end)
	}
	return ended(event.TurnEnded{Reason: event.EndedError, Error: err.Error()})
}

// keep stores and publishes what the model said. An answer that broke off is
// kept as partial, without its calls: half a call must not run.
func (s *Session) keep(ctx context.Context, turn int, from answer, reply ollama.Reply, calls []pipeline.Call, partial bool) error {
	if reply.Text == "" && reply.Thinking == "" && len(calls) == 0 && partial {
		return nil
	}
	ids := make([]string, len(calls))
	msg := api.Message{Role: "assistant", Content: reply.Text}
	for i, c := range calls {
		ids[i] = c.ID
		msg.ToolCalls = append(msg.ToolCalls, apiCall(c.ID, c.Name, c.Args))
	}
	stats, err := json.Marshal(reply.Stats)
	if err != nil {
		return fmt.Errorf("recording an answer: %w", err)
	}
	_, err = s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), store.Message{
		ID: from.id, Session: s.rec.ID, Turn: turn, Role: store.RoleAssistant, Content: reply.Text, Thinking: reply.Thinking,
		Model: from.model, Calls: ids, Partial: partial, Stats: stats, Created: s.engine.cfg.Now(),
	})
	if err != nil {
		return err
	}
	s.remember(msg)
	if reply.Stats.PromptTokens > 0 {
		s.mu.Lock()
		s.used = reply.Stats.PromptTokens + reply.Stats.Tokens
		s.mu.Unlock()
	}
	s.publish(turn, event.MessageDone{Message: from.id, Text: reply.Text, Thinking: reply.Thinking, Calls: ids, Partial: partial, Stats: reply.Stats})
	return nil
}

// act takes calls through the five steps and appends their results.
func (s *Session) act(ctx context.Context, turn, step int, calls []pipeline.Call) (*event.TurnEnded, error) {
	ws := s.engine.newWorkspace(s.rec.ID)
	ws.Budget = s.outputBudget(len(calls))
	outcomes, err := s.engine.pipe.Do(ctx, pipeline.Env{
		Workspace: ws, Session: s.rec.ID, Turn: turn, Mode: s.Mode, Given: s.given, Attended: s.engine.cfg.Attended,
		Publish: func(b event.Body) { s.publish(turn, b) },
	}, calls)
	if err != nil {
		// The model's view stays well-formed: each call has one result. On disk
		// a later start closes what is open.
		for _, c := range calls {
			s.remember(api.Message{Role: "tool", Content: interruptedText, ToolName: c.Name, ToolCallID: c.ID})
		}
		return nil, err
	}
	s.repairHistory(outcomes)
	var end *event.TurnEnded
	var failed error
	for _, o := range outcomes {
		failed = errors.Join(failed, s.answer(ctx, turn, o.Call, o.Tool, o.Text))
		if o.EndsTurn {
			end = &event.TurnEnded{Reason: event.EndedCompleted, Steps: step, Summary: o.Result.Text}
		}
	}
	switch {
	case failed != nil:
		return nil, failed
	case ctx.Err() != nil:
		return &event.TurnEnded{Reason: event.EndedCancelled, Steps: step}, nil
	}
	return end, nil
}

// answer appends the result of a call to the conversation.
func (s *Session) answer(ctx context.Context, turn int, call, tool, text string) error {
	s.remember(api.Message{Role: "tool", Content: text, ToolName: tool, ToolCallID: call})
	_, err := s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), store.Message{
		ID: pipeline.NewID(), Session: s.rec.ID, Turn: turn, Role: store.RoleTool, Content: text, Call: call, Tool: tool, Created: s.engine.cfg.Now(),
	})
	return err
}

// outputBudget is the characters that each of n results of one answer may
// take: a fifth of the free context, at about four characters a token, and all
// of them together no more than three fifths. It is never so little that a
// result says nothing.
func (s *Session) outputBudget(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.pick.window - s.used
	return max(min(free/5, free*3/5/max(n, 1))*4, 1000)
}
