package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/window"
	"chela/store"
	"chela/toolkit"
)

// interruptedText is what the model reads about a call that the program did
// not live to finish.
const interruptedText = "error: chela was stopped before this call finished. It may have had an effect; look before you repeat it."

// restore rebuilds the conversation of a resumed session from the store, and
// closes what was left open when the program ended. What was summarised before
// stays so.
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
	if err := s.restoreSummary(); err != nil {
		return err
	}
	for _, c := range stored {
		if c.State == store.CallDone && s.engine.isForeign(c.Tool) && s.foreign == "" {
			s.foreign = strings.TrimSpace(c.Tool + " " + c.Summary)
		}
	}
	for _, m := range messages {
		s.rec.Turns = max(s.rec.Turns, m.Turn)
		var stats event.Stats
		if len(m.Stats) > 0 && json.Unmarshal(m.Stats, &stats) == nil {
			s.measure(stats)
		}
		if m.Role == store.RoleTool || s.summary.covers(m) {
			continue // a result follows the message that made the call
		}
		s.remember(restored(m, calls))
		for _, id := range m.Calls {
			c, known := calls[id]
			if !known {
				continue
			}
			if r, ok := results[id]; ok {
				s.remember(resultEntry(r.Turn, r.Seq, id, r.Tool, r.Content, restoredDid(c, r.Content)))
				continue
			}
			// A result that was recorded but not yet appended is appended now; a
			// call that never returned says that it was interrupted.
			text := c.Output
			if c.State == store.CallInterrupted || text == "" {
				text = interruptedText
			}
			if err := s.addResult(ctx, m.Turn, id, c.Tool, text, c.State == store.CallDone, restoredDid(c, text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// restored turns a stored message into the form the model sees.
func restored(m store.Message, calls map[string]store.Call) entry {
	out := api.Message{Role: m.Role, Content: m.Content}
	for _, id := range m.Calls {
		c, ok := calls[id]
		if !ok {
			continue // the program ended before the call was even recorded
		}
		out.ToolCalls = append(out.ToolCalls, apiCall(id, c.Tool, argsOf(c)))
	}
	kind := window.AssistantText
	if m.Role == store.RoleUser {
		kind = window.UserText
	}
	return newEntry(kind, m.Turn, m.Seq, out)
}

func argsOf(c store.Call) json.RawMessage {
	if c.Args == "" {
		return json.RawMessage(c.Emitted)
	}
	return json.RawMessage(c.Args)
}

// restoredDid is whatDid of a stored call.
func restoredDid(c store.Call, text string) did {
	denied := ""
	if c.State == store.CallDenied {
		denied = firstLine(text)
	}
	var changes []toolkit.Change
	_ = json.Unmarshal(c.Changed, &changes) // none, or of another version
	var changed []string
	for _, ch := range changes {
		changed = append(changed, ch.Path)
	}
	return whatDid(c.Tool, argsOf(c), text, c.State == store.CallDone, denied, changed)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
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
