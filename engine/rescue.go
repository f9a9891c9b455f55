package engine

import (
	"fmt"
	"strings"

	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/rescue"
	"chela/toolkit"
)

// rescue finds calls that the model wrote as text. What it takes it also takes
// out of the reply: the conversation goes on with the calls in their proper
// form, from which the model learns it.
func (s *Session) rescue(reply *ollama.Reply) []pipeline.Call {
	s.mu.Lock()
	tools := s.offered()
	s.mu.Unlock()
	r := rescue.Parse(reply.Text, rescue.Options{Tools: tools, Done: reply.Stats.DoneReason, Thinking: reply.Thinking})
	if len(r.Calls) == 0 {
		return nil
	}
	calls := make([]pipeline.Call, len(r.Calls))
	for i, c := range r.Calls {
		calls[i] = pipeline.Call{
			ID: pipeline.NewID(), Name: c.Name, Args: c.Args, Origin: toolkit.FromRescue,
			Doubt: fmt.Sprintf("found in the model's text (%s), not a native call", c.Family),
			Note:  fmt.Sprintf("found in the model's text (%s): %s", c.Family, excerpt(c.Raw)),
		}
	}
	reply.Text = r.Text
	if t := strings.TrimSpace(r.Thinking); t != "" && reply.Thinking == "" {
		reply.Thinking = t
	}
	return calls
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
