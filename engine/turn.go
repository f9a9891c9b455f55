package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/engine/stall"
	"chela/engine/window"
	"chela/store"
)

// turn runs one prompt until the model stops. It always returns how that
// ended, also when something in it panics.
func (s *Session) turn(ctx context.Context, text string) (turn int, end event.TurnEnded) {
	s.mu.Lock()
	s.rec.Turns++
	turn = s.rec.Turns
	if s.rec.Title == "" {
		s.rec.Title = titleOf(text)
	}
	s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			end = event.TurnEnded{
				Reason: event.EndedError, Error: fmt.Sprintf("the turn failed inside: %v (at %s)", r, firstFrame(debug.Stack())),
				Hint: "This is a fault of chela, please report it. Everything up to here is stored; send the prompt again to go on.",
			}
		}
	}()
	end = s.loop(ctx, turn, text)
	if err := errors.Join(s.save(ctx), s.keepLearnt(ctx)); err != nil && end.Error == "" {
		steps := end.Steps
		end = *failed(err)
		end.Steps = steps
	}
	return turn, end
}

// loop is the agent loop: ask the model, take its calls through the pipeline,
// give it the results, until it answers without a call.
func (s *Session) loop(ctx context.Context, turn int, text string) event.TurnEnded {
	if err := s.openTurn(ctx, turn, text); err != nil {
		return *failed(err)
	}
	limit := s.engine.Settings().Models.Steps
	if limit <= 0 {
		limit = settings.Default().Models.Steps
	}
	w := &watch{session: s, turn: turn, prompt: text, guard: stall.New(nil)}
	for step := 1; step <= limit; step++ {
		if end := s.step(ctx, w); end != nil {
			end.Steps = step
			return *end
		}
	}
	return event.TurnEnded{
		Reason: event.EndedSteps, Steps: limit, Error: fmt.Sprintf("stopped after %d steps", limit),
		Hint: "Send another prompt to go on, or raise models.steps in settings.yml.",
	}
}

// openTurn records and publishes the prompt, and looks at the model that it is
// for.
func (s *Session) openTurn(ctx context.Context, turn int, text string) error {
	id := pipeline.NewID()
	seq, err := s.storeMessage(ctx, store.Message{ID: id, Turn: turn, Role: store.RoleUser, Content: text})
	if err != nil {
		return err
	}
	s.remember(newEntry(window.UserText, turn, seq, api.Message{Role: store.RoleUser, Content: text}))
	s.mu.Lock()
	s.tight, s.retrying = 0, 0
	s.mu.Unlock()
	s.publish(turn, event.TurnStarted{Message: id, Prompt: text, Model: s.modelName(), Mode: s.Mode().String()})
	if turn == 1 {
		s.announce() // it has a title now
	}
	s.refresh(ctx)
	return s.noteModel(ctx)
}

// step asks the model once and takes its calls through the pipeline. It
// returns how the turn ended; nil: it goes on.
func (s *Session) step(ctx context.Context, w *watch) *event.TurnEnded {
	if !s.engine.cfg.Off.Window {
		if end := s.fit(ctx, w.turn, false); end != nil {
			return end
		}
	}
	a, err := s.ask(ctx, w.turn)
	var f found
	switch {
	case err == nil && !a.cut() && a.repeats == nil:
		f = s.read(w.turn, &a)
	case err != nil && ctx.Err() == nil:
		if f = s.unread(&a, err); len(f.calls) > 0 {
			err = nil
		}
	}
	again, end := w.broken(a, err)
	if unkept := s.keep(ctx, w.turn, a, f.calls, !again); unkept != nil {
		return failed(unkept)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return &event.TurnEnded{Reason: event.EndedCancelled}
	case again || end != nil:
		return end
	case err != nil:
		return failed(err)
	case a.cut():
		return cutOff(a.Stats)
	case len(f.calls) > 0:
		return s.act(ctx, w, f)
	}
	s.answered(w.turn)
	return w.answer(a)
}

// failed ends a turn with an error. A model server's comes with what to do.
func failed(err error) *event.TurnEnded {
	var oe *ollama.Error
	if !errors.As(err, &oe) {
		return &event.TurnEnded{Reason: event.EndedError, Error: err.Error()}
	}
	end := &event.TurnEnded{Reason: event.EndedError, Error: oe.Cause(), Hint: oe.Hint(), Action: oe.Action()}
	if end.Action == "pull" {
		end.Action = "pull " + oe.Model
	}
	return end
}

// cutOff ends a turn whose answer did not fit. What it holds may be half a
// call, so nothing of it is run.
func cutOff(st event.Stats) *event.TurnEnded {
	end := &event.TurnEnded{
		Reason: event.EndedError, Error: "the answer was cut off: the model's window is full, so nothing of it was run",
		Hint: "Start a new session with /new, or ask for a smaller piece.",
	}
	if used := st.PromptTokens + st.Tokens; st.Window > 0 && used < st.Window*9/10 {
		end.Error = fmt.Sprintf("the answer was cut off at the model's own limit of %d tokens, so nothing of it was run", st.Tokens)
		end.Hint = "Ask for a smaller piece, or send the prompt in other words."
	}
	return end
}

// keep stores and publishes what the model said. An answer that broke off is
// kept as partial, without its calls: half a call must not run. One that is
// asked for again is kept for the person and not sent to the model.
func (s *Session) keep(ctx context.Context, turn int, a answer, calls []pipeline.Call, sent bool) error {
	if a.partial && a.Text == "" && a.Thinking == "" {
		return nil
	}
	ids := make([]string, len(calls))
	msg := api.Message{Role: store.RoleAssistant, Content: a.Text}
	for i, c := range calls {
		ids[i] = c.ID
		msg.ToolCalls = append(msg.ToolCalls, apiCall(c.ID, c.Name, c.Args))
	}
	stats, err := json.Marshal(a.Stats)
	if err != nil {
		return fmt.Errorf("recording an answer: %w", err)
	}
	seq, err := s.storeMessage(ctx, store.Message{
		ID: a.id, Turn: turn, Role: store.RoleAssistant, Content: a.Text, Thinking: a.Thinking,
		Model: a.model, Calls: ids, Partial: a.partial, Stats: stats,
	})
	if err != nil {
		return err
	}
	if sent {
		s.remember(newEntry(window.AssistantText, turn, seq, msg))
	}
	s.measure(a.Stats)
	s.publish(turn, event.MessageDone{Message: a.id, Text: a.Text, Thinking: a.Thinking, Calls: ids, Partial: a.partial, Stats: a.Stats})
	return nil
}

// act takes calls through the five steps and appends their results. It returns
// how the turn ended; nil: it goes on.
func (s *Session) act(ctx context.Context, w *watch, f found) *event.TurnEnded {
	env := s.env(w.turn)
	env.Given, env.Before = s.given, w.before
	env.Workspace.Budget = s.outputBudget(len(f.calls))
	outcomes, err := s.engine.pipe.Do(ctx, env, f.calls)
	if err != nil {
		// The model's view stays well-formed: each call has one result. On disk
		// a later start closes what is open.
		for _, c := range f.calls {
			s.remember(resultEntry(w.turn, 0, c.ID, c.Name, interruptedText, whatDid(c.Name, c.Args, interruptedText, false, "", nil)))
		}
		return failed(err)
	}
	s.repairHistory(outcomes)
	s.judgeModel(w.turn, f, outcomes)
	var end *event.TurnEnded
	var unstored error
	for _, o := range outcomes {
		s.usedTool(o.Tool)
		s.noteForeign(o)
		unstored = errors.Join(unstored, s.addResult(ctx, w.turn, o.Call, o.Tool, o.Text, output(o), outcomeDid(o)))
		if o.EndsTurn {
			end = &event.TurnEnded{Reason: event.EndedCompleted, Summary: o.Result.Text}
		}
	}
	switch {
	case unstored != nil:
		return failed(unstored)
	case ctx.Err() != nil:
		return &event.TurnEnded{Reason: event.EndedCancelled}
	case end != nil:
		return end
	}
	return w.after(outcomes)
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
