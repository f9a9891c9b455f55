package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/store"
	"chela/tiers"
	"chela/toolkit"
)

// ErrEmpty is returned for a prompt without text.
var ErrEmpty = errors.New("the prompt is empty: write what you want done")

// Submit hands a prompt to the session. If a turn runs, the prompt waits in
// the queue, where it can be edited and dropped, and starts when the turn ends.
func (s *Session) Submit(text string) error {
	if strings.TrimSpace(text) == "" {
		return ErrEmpty
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("the session is closed")
	case s.client == nil:
		return errors.New("no model is picked yet: pick one first")
	case s.cancel != nil:
		s.queue = append(s.queue, event.Queued{ID: newID(), Text: text})
		s.publishQueue()
		return nil
	}
	s.start(text)
	return nil
}

// start runs a turn and then the queued ones. The caller holds mu.
func (s *Session) start(text string) {
	ctx, cancel := context.WithCancel(s.engine.ctx)
	s.cancel = cancel
	s.idle = make(chan struct{})
	s.engine.goRun("a turn", func(context.Context) {
		done := false
		defer func() { // a panic must not leave the session busy for ever
			if !done {
				s.mu.Lock()
				s.cancel = nil
				close(s.idle)
				s.mu.Unlock()
			}
		}()
		for {
			s.turn(ctx, text)
			cancel()
			s.mu.Lock()
			if len(s.queue) == 0 || s.closed || s.engine.ctx.Err() != nil {
				s.cancel = nil
				done = true
				close(s.idle)
				s.mu.Unlock()
				return
			}
			text = s.queue[0].Text
			s.queue = slices.Delete(s.queue, 0, 1)
			ctx, cancel = context.WithCancel(s.engine.ctx)
			s.cancel = cancel
			s.publishQueue()
			s.mu.Unlock()
		}
	})
}

// Cancel stops the running turn; false if none runs. Queued prompts stay.
func (s *Session) Cancel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		return false
	}
	s.cancel()
	return true
}

// EditQueued changes a waiting prompt; an empty text drops it.
func (s *Session) EditQueued(id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.queue, func(q event.Queued) bool { return q.ID == id })
	if i < 0 {
		return errors.New("that prompt is not waiting any more")
	}
	if strings.TrimSpace(text) == "" {
		s.queue = slices.Delete(s.queue, i, i+1)
	} else {
		s.queue[i].Text = text
	}
	s.publishQueue()
	return nil
}

// publishQueue tells what waits. The caller holds mu.
func (s *Session) publishQueue() { s.publish(0, event.QueueChanged{Prompts: slices.Clone(s.queue)}) }

// turn runs one prompt until the model stops.
func (s *Session) turn(ctx context.Context, text string) {
	s.mu.Lock()
	s.rec.Turns++
	turn := s.rec.Turns
	if s.rec.Title == "" {
		s.rec.Title = titleOf(text)
	}
	s.mu.Unlock()
	// Stored before anything else of the turn, so that a session that is killed
	// in its first turn is found again.
	if err := s.save(ctx); err != nil {
		s.publish(turn, event.TurnEnded{Reason: event.EndedError, Error: err.Error()})
		return
	}
	end := s.loop(ctx, turn, text)
	if err := s.save(ctx); err != nil && end.Error == "" {
		end = event.TurnEnded{Reason: event.EndedError, Error: err.Error(), Steps: end.Steps}
	}
	s.publish(turn, end)
}

// loop is the agent loop: ask the model, take its calls through the pipeline,
// give it the results, until it answers without a call.
func (s *Session) loop(ctx context.Context, turn int, text string) event.TurnEnded {
	user, err := s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), store.Message{
		ID: newID(), Session: s.rec.ID, Turn: turn, Role: store.RoleUser, Content: text, Created: s.engine.cfg.Now(),
	})
	if err != nil {
		return event.TurnEnded{Reason: event.EndedError, Error: err.Error()}
	}
	s.remember(api.Message{Role: "user", Content: text})
	s.publish(turn, event.TurnStarted{Message: user.ID, Prompt: text, Model: s.modelName(), Mode: s.Mode().String()})
	if turn == 1 {
		s.announce() // it has a title now
	}
	limit := s.engine.cfg.Settings.Models.Steps
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

// step asks the model once. It returns the calls to make, or how the turn ended.
func (s *Session) step(ctx context.Context, turn, step int) ([]pipeline.Call, *event.TurnEnded) {
	reply, id, err := s.ask(ctx, turn)
	ended := func(e event.TurnEnded) ([]pipeline.Call, *event.TurnEnded) {
		e.Steps = step
		return nil, &e
	}
	var calls []pipeline.Call
	if err == nil && reply.Stats.DoneReason != "length" {
		for _, c := range reply.Calls {
			calls = append(calls, pipeline.Call{ID: newID(), Name: c.Name, Args: c.Args, Origin: toolkit.FromModel})
		}
	}
	if serr := s.keep(ctx, turn, id, reply, calls, err != nil); serr != nil {
		return ended(event.TurnEnded{Reason: event.EndedError, Error: serr.Error()})
	}
	var oe *ollama.Error
	switch {
	case err == nil && reply.Stats.DoneReason == "length":
		return ended(event.TurnEnded{
			Reason: event.EndedError, Error: "the answer was cut off: the model's window is full, so nothing of it was run",
			Hint: "Start a new session with /new, or ask for a smaller piece.",
		})
	case err == nil && len(calls) == 0:
		return ended(event.TurnEnded{Reason: event.EndedDone})
	case err == nil:
		return calls, nil
	case ctx.Err() != nil:
		return ended(event.TurnEnded{Reason: event.EndedCancelled})
	case errors.As(err, &oe):
		end := event.TurnEnded{Reason: event.EndedError, Error: oe.Error(), Hint: oe.Hint(), Action: oe.Action()}
		if end.Action == "pull" {
			end.Action = "pull " + oe.Model
		}
		end.Error = strings.TrimSpace(strings.TrimSuffix(end.Error, oe.Hint()))
		return ended(end)
	}
	return ended(event.TurnEnded{Reason: event.EndedError, Error: err.Error()})
}

// ask sends the conversation and streams the answer. A model that turns out
// not to take tools, or not to think, is asked again without.
func (s *Session) ask(ctx context.Context, turn int) (ollama.Reply, string, error) {
	id := newID()
	noThink := false
	for {
		s.mu.Lock()
		req := s.request(noThink)
		client, toolless := s.client, s.toolless
		s.mu.Unlock()
		s.publish(turn, event.ModelState{Model: req.Model, State: "waiting"})
		reply, err := client.Chat(ctx, req, ollama.Sink{
			Text:     func(t string) { s.publish(turn, event.TextDelta{Message: id, Text: t}) },
			Thinking: func(t string) { s.publish(turn, event.ThinkingDelta{Message: id, Text: t}) },
		})
		var oe *ollama.Error
		switch {
		case errors.As(err, &oe) && oe.Kind == ollama.NoTools && !toolless:
			s.mu.Lock()
			s.toolless = true
			s.mu.Unlock()
			s.publish(turn, event.Notice{Level: "warn", Text: req.Model + " cannot call tools: it can only answer.", Hint: "Pick a model with the tools capability to let it act."})
			continue
		case errors.As(err, &oe) && oe.Kind == ollama.NoThinking && !noThink:
			noThink = true
			continue
		}
		return reply, id, err
	}
}

// request builds what is sent. The caller holds mu. Everything before the last
// messages is the same bytes as in the request before.
func (s *Session) request(noThink bool) ollama.Request {
	req := ollama.Request{Model: s.rec.Model, Window: s.window, Think: &api.ThinkValue{Value: false}}
	if !noThink && s.model.Has("thinking") {
		req.Think = &api.ThinkValue{Value: s.thinks()}
		if strings.HasPrefix(s.model.Family, "gptoss") || strings.Contains(s.rec.Model, "gpt-oss") {
			req.Think.Value = "low" // takes levels only, and never stops thinking wholly
		}
	}
	req.Messages = append([]api.Message{{Role: "system", Content: s.system()}}, s.history...)
	if !s.toolless {
		for _, spec := range s.wire() {
			req.Tools = append(req.Tools, spec.Wire())
		}
	}
	return req
}

// thinks applies models.think. By default models under 12B do not think: with
// tools they put their calls into the thinking, where they are lost.
func (s *Session) thinks() bool {
	switch s.engine.cfg.Settings.Models.Think {
	case "on":
		return true
	case "off":
		return false
	}
	return s.decision.Tier > tiers.Essential
}

// keep stores and publishes what the model said. An answer that broke off is
// kept as partial, without its calls: half a call must not run.
func (s *Session) keep(ctx context.Context, turn int, id string, reply ollama.Reply, calls []pipeline.Call, partial bool) error {
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
		ID: id, Session: s.rec.ID, Turn: turn, Role: store.RoleAssistant, Content: reply.Text, Thinking: reply.Thinking,
		Model: s.modelName(), Calls: ids, Partial: partial, Stats: stats, Created: s.engine.cfg.Now(),
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
	s.publish(turn, event.MessageDone{Message: id, Text: reply.Text, Thinking: reply.Thinking, Calls: ids, Partial: partial, Stats: reply.Stats})
	return nil
}

// act takes calls through the five steps and appends their results.
func (s *Session) act(ctx context.Context, turn, step int, calls []pipeline.Call) (*event.TurnEnded, error) {
	ws := s.engine.newWorkspace(s.rec.ID)
	ws.Budget = s.outputBudget()
	outcomes, err := s.engine.pipe.Do(ctx, pipeline.Env{
		Workspace: ws, Session: s.rec.ID, Turn: turn, Mode: s.Mode, Given: s.given, Attended: s.engine.cfg.Attended,
		Publish: func(b event.Body) { s.publish(turn, b) },
	}, calls)
	if err != nil {
		return nil, err
	}
	s.repairHistory(outcomes)
	var end *event.TurnEnded
	for _, o := range outcomes {
		if err := s.answer(ctx, turn, o.Call, o.Tool, o.Text); err != nil {
			return nil, err
		}
		if o.EndsTurn {
			end = &event.TurnEnded{Reason: event.EndedCompleted, Steps: step, Summary: o.Result.Text}
		}
	}
	if ctx.Err() != nil {
		return &event.TurnEnded{Reason: event.EndedCancelled, Steps: step}, nil
	}
	return end, nil
}

// answer appends the result of a call to the conversation.
func (s *Session) answer(ctx context.Context, turn int, call, tool, text string) error {
	_, err := s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), store.Message{
		ID: newID(), Session: s.rec.ID, Turn: turn, Role: store.RoleTool, Content: text, Call: call, Tool: tool, Created: s.engine.cfg.Now(),
	})
	if err != nil {
		return err
	}
	s.remember(api.Message{Role: "tool", Content: text, ToolName: tool, ToolCallID: call})
	return nil
}

// outputBudget is the characters that one result may take: a fifth of the free
// context, at about four characters a token, but never so little that a result
// says nothing.
func (s *Session) outputBudget() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.window - s.used
	return max(free/5*4, 1000)
}
