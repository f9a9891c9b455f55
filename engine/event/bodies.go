package event

import (
	"encoding/json"
	"time"

	"chela/toolkit"
)

// TurnStarted opens a turn with what the person asked.
type TurnStarted struct {
	Message string `json:"message"` // id of the stored prompt
	Prompt  string `json:"prompt"`
	Model   string `json:"model"`
	Mode    string `json:"mode"`
}

// TextDelta is the next piece of the answer.
type TextDelta struct {
	Message string `json:"message"`
	Text    string `json:"text"`
}

// ThinkingDelta is the next piece of the model's thinking.
type ThinkingDelta struct {
	Message string `json:"message"`
	Text    string `json:"text"`
}

// MessageDone closes a message of the model; it is stored.
type MessageDone struct {
	Message  string   `json:"message"`
	Text     string   `json:"text"`
	Thinking string   `json:"thinking,omitempty"`
	Calls    []string `json:"calls,omitempty"` // ids of the calls it makes
	Partial  bool     `json:"partial,omitempty"`
	Stats    Stats    `json:"stats"`
}

// Stats are the server's own numbers for one answer.
type Stats struct {
	PromptTokens int           `json:"prompt_tokens"`
	Tokens       int           `json:"tokens"`
	Window       int           `json:"window"` // num_ctx in force
	Load         time.Duration `json:"load_ns"`
	Prefill      time.Duration `json:"prefill_ns"`
	Generate     time.Duration `json:"generate_ns"`
	DoneReason   string        `json:"done_reason,omitempty"`

	// Prefix says whether the request began with all of the one before, so that
	// the server could go on from what it had computed; empty for the first.
	Prefix       string `json:"prefix,omitempty"`
	PrefixReason string `json:"prefix_reason,omitempty"` // what changed
	CacheHit     *bool  `json:"cache_hit,omitempty"`     // whether it did, judged by the time it took; nil: cannot be told
}

// What became of a prefix.
const (
	PrefixKept   = "kept"
	PrefixBroken = "broken"
)

// TokensPerSecond is the speed of generation, 0 when nothing was generated.
func (s Stats) TokensPerSecond() float64 {
	if s.Generate <= 0 {
		return 0
	}
	return float64(s.Tokens) / s.Generate.Seconds()
}

// CallEmitted is step 1: a call came out of the model (or a person).
type CallEmitted struct {
	Call   string          `json:"call"`
	Tool   string          `json:"tool"` // after name repair; as written if unknown
	Args   json.RawMessage `json:"args"` // as emitted
	Origin toolkit.Origin  `json:"origin"`
	Repair string          `json:"repair,omitempty"`
}

// CallValidated is step 2: the arguments fit the schema, or why not.
type CallValidated struct {
	Call    string          `json:"call"`
	Args    json.RawMessage `json:"args,omitempty"` // repaired
	Repairs []string        `json:"repairs,omitempty"`
	Error   *toolkit.Error  `json:"error,omitempty"`
}

// CallJudged is step 3: the decision and its reasons.
type CallJudged struct {
	Call     string        `json:"call"`
	Decision string        `json:"decision"` // allow, ask, deny
	Level    toolkit.Level `json:"level"`
	Reasons  []string      `json:"reasons"`
	Rule     string        `json:"rule,omitempty"` // id of the rule that decided
	Plan     toolkit.Plan  `json:"plan"`
}

// ApprovalAsked puts a call into the approval queue.
type ApprovalAsked struct {
	Approval string        `json:"approval"`
	Call     string        `json:"call"`
	Tool     string        `json:"tool"`
	Level    toolkit.Level `json:"level"`
	Reasons  []string      `json:"reasons"`
	Plan     toolkit.Plan  `json:"plan"`
}

// ApprovalResolved takes a call out of the queue.
type ApprovalResolved struct {
	Approval string `json:"approval"`
	Call     string `json:"call"`
	State    string `json:"state"` // approved, denied, expired, superseded, cancelled
	Scope    string `json:"scope,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Rule     string `json:"rule,omitempty"`
}

// CallRunning is step 4: the plan is being executed.
type CallRunning struct {
	Call string `json:"call"`
}

// CallProgress is new output of a running call.
type CallProgress struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// CallReturned is step 5: the result is recorded and goes back to the model.
type CallReturned struct {
	Call     string           `json:"call"`
	OK       bool             `json:"ok"`
	Output   string           `json:"output"` // as the model gets it
	Data     any              `json:"data,omitempty"`
	Error    *toolkit.Error   `json:"error,omitempty"`
	Changed  []toolkit.Change `json:"changed,omitempty"`
	Total    int              `json:"total,omitempty"` // characters before the output was bounded
	Duration time.Duration    `json:"duration_ns"`
}

// TurnEnded closes a turn. Reason is one of the Ended constants.
type TurnEnded struct {
	Reason  string `json:"reason"`
	Summary string `json:"summary,omitempty"`
	Error   string `json:"error,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Action  string `json:"action,omitempty"` // what would help: "pull NAME", "start", "pick"
	Steps   int    `json:"steps"`
}

// Why a turn ended.
const (
	EndedDone      = "done"       // the model answered without a call
	EndedCompleted = "completed"  // complete_task succeeded
	EndedCancelled = "cancelled"  // by the person
	EndedSteps     = "step_limit" // the step limit was reached
	EndedError     = "error"
)

// Notice is something a person should know that is no result.
type Notice struct {
	Level string `json:"level"` // info, warn, error
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// QueueChanged lists the prompts that wait for the turn to end, oldest first.
type QueueChanged struct {
	Prompts []Queued `json:"prompts"`
}

// Queued is one waiting prompt.
type Queued struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// PullProgress is news of a download. Done is true once, at the end.
type PullProgress struct {
	Model     string `json:"model"`
	Status    string `json:"status"`
	Completed int64  `json:"completed"` // bytes over all layers seen so far
	Total     int64  `json:"total"`
	Done      bool   `json:"done,omitempty"`
	Error     string `json:"error,omitempty"`
}

// SessionChanged states a session's settings after any of them changed.
type SessionChanged struct {
	Title      string `json:"title"`
	Model      string `json:"model"`
	Mode       string `json:"mode"`
	Tier       string `json:"tier"`
	TierReason string `json:"tier_reason"`
	Tools      int    `json:"tools"`    // given to the model
	Promoted   int    `json:"promoted"` // of them above the tier
	ToolTokens int    `json:"tool_tokens"`
	Window     int    `json:"window"`
}

// Type names, stable words of --json.
func (TurnStarted) Type() string      { return "turn.started" }
func (TextDelta) Type() string        { return "text" }
func (ThinkingDelta) Type() string    { return "thinking" }
func (MessageDone) Type() string      { return "message" }
func (CallEmitted) Type() string      { return "call.emitted" }
func (CallValidated) Type() string    { return "call.validated" }
func (CallJudged) Type() string       { return "call.judged" }
func (ApprovalAsked) Type() string    { return "approval.asked" }
func (ApprovalResolved) Type() string { return "approval.resolved" }
func (CallRunning) Type() string      { return "call.running" }
func (CallProgress) Type() string     { return "call.progress" }
func (CallReturned) Type() string     { return "call.returned" }
func (TurnEnded) Type() string        { return "turn.ended" }
func (Notice) Type() string           { return "notice" }
func (QueueChanged) Type() string     { return "queue" }
func (PullProgress) Type() string     { return "pull" }
func (SessionChanged) Type() string   { return "session" }
