package engine

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/engine/window"
	"chela/store"
	"chela/toolkit"
)

// entry is one message of the conversation as the model sees it, with what
// decides whether it gives way when the window fills.
type entry struct {
	msg    api.Message
	kind   window.Kind
	turn   int
	seq    int // its place in the store; 0: it is not stored
	size   window.Size
	folded bool
	nudge  bool // the model was told it, and no person said it
	did    did  // of a tool's result
}

// did is a call and what came of it.
type did struct {
	window.Done
	sign string // tool and arguments, to know the same call again
}

// newEntry measures a message.
func newEntry(kind window.Kind, turn, seq int, m api.Message) entry {
	e := entry{msg: m, kind: kind, turn: turn, seq: seq, size: window.Measure(m.Content)}
	e.size.Messages, e.size.Images = 1, len(m.Images)
	for _, c := range m.ToolCalls {
		e.size = e.size.Plus(window.Measure(c.Function.Name + c.Function.Arguments.String()))
	}
	return e
}

// remember appends to the conversation as the model sees it. What is in it
// stays the same bytes until the window fills, so that the prefix does. An
// answer without text and calls (one that broke off while thinking) is no part
// of it.
func (s *Session) remember(e entry) {
	if e.msg.Role == store.RoleAssistant && e.msg.Content == "" && len(e.msg.ToolCalls) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, e)
}

// storeMessage appends a message to the conversation on disk, also while the
// turn is being cancelled, and returns its place. It fills in session and time.
func (s *Session) storeMessage(ctx context.Context, m store.Message) (seq int, err error) {
	m.Session, m.Created = s.rec.ID, s.engine.cfg.Now()
	m, err = s.engine.cfg.Store.AppendMessage(context.WithoutCancel(ctx), m)
	return m.Seq, err
}

// addResult appends the result of a call to the conversation, on disk and for
// the model. The model's view stays well-formed even when the disk fails: each
// call has one result. foreign: the text is what the call gave, not what chela
// says of it.
func (s *Session) addResult(ctx context.Context, turn int, call, tool, text string, foreign bool, d did) error {
	text = s.fenced(tool, text, foreign)
	seq, err := s.storeMessage(ctx, store.Message{ID: pipeline.NewID(), Turn: turn, Role: store.RoleTool, Content: text, Call: call, Tool: tool})
	s.remember(resultEntry(turn, seq, call, tool, text, d))
	return err
}

func resultEntry(turn, seq int, call, tool, text string, d did) entry {
	e := newEntry(window.ToolResult, turn, seq, api.Message{Role: store.RoleTool, Content: text, ToolName: tool, ToolCallID: call})
	e.did = d
	return e
}

// whatDid says what a call was about and what came of it, from its tool and
// arguments alone, so that a resumed session knows the same.
func whatDid(tool string, args json.RawMessage, text string, ok bool, denied string, changed []string) did {
	var a struct {
		Path    string `json:"path"`
		Command string `json:"command"`
	}
	_ = json.Unmarshal(args, &a) // a call whose arguments are something else is about nothing
	return did{
		Done: window.Done{Tool: tool, Path: a.Path, Command: a.Command, Result: text, OK: ok, Denied: denied, Changed: changed},
		sign: tool + " " + string(args),
	}
}

// wasDenied reports whether a call was not allowed, by a person or by the rules.
func wasDenied(o pipeline.Outcome) bool {
	return o.Error != nil && (o.Error.Code == toolkit.CodeDenied || o.Error.Code == toolkit.CodeUserDenied || o.Error.Code == toolkit.CodeApproval)
}

// outcomeDid is whatDid of a call that was just taken through the steps.
func outcomeDid(o pipeline.Outcome) did {
	denied := ""
	if wasDenied(o) {
		denied = firstLine(o.Text)
	}
	var changed []string
	for _, c := range o.Result.Changed {
		changed = append(changed, c.Path)
	}
	return whatDid(o.Tool, o.Args, o.Text, o.OK, denied, changed)
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
	calls := slices.Clone(last.msg.ToolCalls)
	for i := range calls {
		for _, o := range outcomes {
			if calls[i].ID == o.Call {
				calls[i] = apiCall(o.Call, o.Tool, o.Args)
			}
		}
	}
	m := last.msg
	m.ToolCalls = calls
	*last = newEntry(last.kind, last.turn, last.seq, m)
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
