package event

import (
	"encoding/json"
	"fmt"
	"time"
)

// ModelState says what the model is doing; State is one of the Model
// constants.
type ModelState struct {
	Model string `json:"model"`
	State string `json:"state"`
	Host  string `json:"host,omitempty"`
	Ahead int    `json:"ahead,omitempty"` // state queued: requests that come first
	Error string `json:"error,omitempty"` // state failed

	Reading  int           `json:"reading,omitempty"`     // state waiting: tokens of the prompt that the server has yet to read, estimated
	Expected time.Duration `json:"expected_ns,omitempty"` // how long that takes, by how long it took before; 0: unknown
}

// What a model is doing.
const (
	ModelQueued  = "queued"  // its server is busy with others
	ModelLoading = "loading" // it is being brought into memory
	ModelReady   = "ready"   // it is in memory
	ModelFailed  = "failed"  // it could not be brought into memory
	ModelWaiting = "waiting" // a request was sent and its first token is awaited

	ModelSummarising = "summarising" // it writes what stands for turns that no longer fit
)

// ContextCompacted says that the window was nearly full and what gave way. What
// the person wrote stays; everything stays in the store.
type ContextCompacted struct {
	Folded     int    `json:"folded"`     // tool outputs that were replaced by a line
	Summarised int    `json:"summarised"` // messages that a summary stands for
	Before     int    `json:"before"`     // tokens, estimated
	After      int    `json:"after"`
	Window     int    `json:"window"`
	ByModel    bool   `json:"by_model,omitempty"` // the model wrote notes
	Reason     string `json:"reason"`
}

// CallModeChanged says that a model is asked for calls in another way from now
// on: native, prompted or forced.
type CallModeChanged struct {
	Model string `json:"model"`
	From  string `json:"from"`
	To    string `json:"to"`
	Why   string `json:"why"`
}

// Stalled says that a model does not get on, and what is done about it. State
// and Action are words of package stall.
type Stalled struct {
	State  string `json:"state"`
	Action string `json:"action"`
	Text   string `json:"text,omitempty"` // what the model is told
	Note   string `json:"note,omitempty"` // what the person should know
}

// NoteChanged says that something which belongs to the session changed, such as
// its work list.
type NoteChanged struct {
	Kind string          `json:"kind"`
	ID   string          `json:"id"`
	Body json.RawMessage `json:"body"`
}

// Type names, stable words of --json.
func (ModelState) Type() string       { return "model" }
func (ContextCompacted) Type() string { return "context.compacted" }
func (CallModeChanged) Type() string  { return "call_mode" }
func (Stalled) Type() string          { return "stalled" }
func (NoteChanged) Type() string      { return "note" }

// Notice says it in a sentence for people.
func (b CallModeChanged) Notice() Notice {
	n := Notice{Level: "info", Text: fmt.Sprintf("%s: %s. Calls are asked for in %s mode now (%s before).", b.Model, b.Why, b.To, b.From)}
	switch b.To {
	case "prompted":
		n.Hint = "The tools are described in the prompt, and calls are read from the text. That is remembered for this model."
	case "forced":
		n.Hint = "The server lets it write nothing but one call or its answer."
	}
	return n
}

// Notice says it in a sentence for people.
func (b ContextCompacted) Notice() Notice {
	what := fmt.Sprintf("%d old outputs were folded", b.Folded)
	if b.Summarised > 0 {
		what += fmt.Sprintf(" and %d messages summarised", b.Summarised)
	}
	return Notice{
		Level: "info", Text: fmt.Sprintf("The window was nearly full (%d of %d tokens): %s, which leaves %d in use.", b.Before, b.Window, what, b.After),
		Hint: "All of it is still stored and shown here; what you wrote is kept word for word.",
	}
}

// Notice says it in a sentence for people. Of a stop the end of the turn says
// it; then the text is empty.
func (b Stalled) Notice() Notice {
	n := Notice{Level: "info", Text: b.Note}
	words := map[string]string{
		"same_call": "the same call again, and nothing changed since", "cycle": "the model goes in circles", "repeating_text": "the answer repeated itself",
		"empty": "an empty answer", "announced_only": "the model announced a call and made none", "closed_without_done": "the answer broke off",
		"claimed_without_doing": "the model says that it changed something, and called nothing that does", "refused_after_error": "the model gave up",
	}[b.State]
	switch b.Action {
	case "nudge":
		n.Text = words + "; it was told so"
	case "retry":
		n.Text = words + "; it is asked again"
	case "answer":
		n.Text = words + "; it was not run again"
	case "stop":
		n.Text = ""
	case "pass":
		n.Level = "warn"
	}
	return n
}
