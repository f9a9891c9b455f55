package engine

import (
	"context"
	"encoding/json"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
)

// remember appends to the conversation as the model sees it. Nothing in it is
// changed afterwards, so that the prefix stays the same. An answer without text
// and calls (one that broke off while thinking) is no part of it.
func (s *Session) remember(m api.Message) {
	if m.Role == store.RoleAssistant && m.Content == "" && len(m.ToolCalls) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, m)
}

// storeMessage appends a message to the conversation on disk, also while the
// turn is being cancelled. It fills in session and time.
func (s *Session) storeMessage(ctx context.Context, m store.Message) error {
	m.Session, m.Created = s.rec.ID, s.engine.cfg.Now()
	_, err := s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), m)
	return err
}

// addResult appends the result of a call to the conversation, for the model
// and on disk.
func (s *Session) addResult(ctx context.Context, turn int, call, tool, text string) error {
	s.remember(toolResult(call, tool, text))
	return s.storeMessage(ctx, store.Message{ID: pipeline.NewID(), Turn: turn, Role: store.RoleTool, Content: text, Call: call, Tool: tool})
}

// toolResult is the result of a call as the model sees it.
func toolResult(call, tool, text string) api.Message {
	return api.Message{Role: store.RoleTool, Content: text, ToolName: tool, ToolCallID: call}
}

// measure notes how much of the window was used, if the server counted it.
func (s *Session) measure(st event.Stats) {
	if st.PromptTokens <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = st.PromptTokens + st.Tokens
}

// repairHistory puts repaired names and arguments into the calls of the last
// answer, before it is sent for the first time: a model learns the right form
// from its own history. The last message is the answer that made the calls.
func (s *Session) repairHistory(outcomes []pipeline.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := &s.history[len(s.history)-1]
	for i := range last.ToolCalls {
		for _, o := range outcomes {
			if last.ToolCalls[i].ID == o.Call {
				last.ToolCalls[i] = apiCall(o.Call, o.Tool, o.Args)
			}
		}
	}
}

// apiCall makes a call in Ollama's form. Arguments that are no JSON object
// (the validator refused them) are sent as an empty one.
func apiCall(id, tool string, args json.RawMessage) api.ToolCall {
	c := api.ToolCall{ID: id, Function: api.ToolCallFunction{Name: tool, Arguments: api.NewToolCallFunctionArguments()}}
	parsed := api.NewToolCallFunctionArguments()
	if json.Unmarshal(args, &parsed) == nil {
		c.Function.Arguments = parsed
	}
	return c
}

// interruptedText is what the model reads about a call that the program did
// not live to finish.
const interruptedText = "error: chela was stopped before this call finished. It may have had an effect; look before you repeat it."

// restore rebuilds the conversation of a resumed session from the store, and
// closes what was left open when the program ended.
func (s *Session) restore(ctx context.Context) error {
	st := s.engine.cfg.Store
	if _, err := st.Interrupt(ctx, s.rec.ID, s.engine.cfg.Now()); err != nil {
		return err
	}
	messages, err := st.Messages(ctx, s.rec.ID)
	if err != nil {
		return err
	}
	stored, err := st.Calls(ctx, s.rec.ID)
	if err != nil {
		return err
	}
	calls := make(map[string]store.Call, len(stored))
	for _, c := range stored {
		calls[c.ID] = c
	}
	results := map[string]store.Message{}
	for _, m := range messages {
		if m.Role == store.RoleTool {
			results[m.Call] = m
		}
	}
	for _, m := range messages {
		s.rec.Turns = max(s.rec.Turns, m.Turn)
		var stats event.Stats
		if len(m.Stats) > 0 && json.Unmarshal(m.Stats, &stats) == nil {
			s.measure(stats)
		}
		if m.Role == store.RoleTool {
			continue // follows the message that made the call
		}
		s.remember(restored(m, calls))
		for _, id := range m.Calls {
			c, known := calls[id]
			if !known {
				continue
			}
			if r, ok := results[id]; ok {
				s.remember(restored(r, calls))
				continue
			}
			// A result that was recorded but not yet appended is appended now; a
			// call that never returned says that it was interrupted.
			text := c.Output
			if c.State == store.CallInterrupted || text == "" {
				text = interruptedText
			}
			if err := s.addResult(ctx, m.Turn, id, c.Tool, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// restored turns a stored message into the form the model sees.
func restored(m store.Message, calls map[string]store.Call) api.Message {
	out := api.Message{Role: m.Role, Content: m.Content, ToolName: m.Tool, ToolCallID: m.Call}
	for _, id := range m.Calls {
		c, ok := calls[id]
		if !ok {
			continue // the program ended before the call was even recorded
		}
		args := c.Args
		if args == "" {
			args = c.Emitted
		}
		out.ToolCalls = append(out.ToolCalls, apiCall(id, c.Tool, json.RawMessage(args)))
	}
	return out
}

// Transcript is everything stored about a session, for the screen.
type Transcript struct {
	Messages  []store.Message
	Calls     []store.Call
	Approvals []store.Approval
}

// Transcript reads the session as it is stored.
func (s *Session) Transcript(ctx context.Context) (Transcript, error) {
	var t Transcript
	var err error
	st := s.engine.cfg.Store
	if t.Messages, err = st.Messages(ctx, s.rec.ID); err != nil {
		return t, err
	}
	if t.Calls, err = st.Calls(ctx, s.rec.ID); err != nil {
		return t, err
	}
	t.Approvals, err = st.Approvals(ctx, s.rec.ID)
	return t, err
}
