// Package calls is what the screen knows about tool calls: one record per call,
// kept current by the engine's events or read from the store. The conversation,
// the timeline, the approval queue and the page of one call all read the same
// record, so they cannot disagree.
//
// It is not safe for concurrent use; it belongs to the screen's goroutine.
package calls

import (
	"encoding/json"
	"slices"
	"time"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

// Call is one tool call as the screen shows it.
type Call struct {
	ID       string
	Turn     int
	Tool     string
	Origin   string
	State    store.CallState
	Emitted  string // arguments as emitted
	Args     string // after repair
	Repairs  []string
	Summary  string // one line: the effect; before there is a plan, the arguments
	Level    string
	Decision string
	By       string
	Reasons  []string
	Rule     string
	Plan     toolkit.Plan
	Output   string // what the model got; while it runs, the tail of what came so far
	Full     string // everything, when Output is a part of it and it is known here
	Error    *toolkit.Error
	Changed  []toolkit.Change
	Data     json.RawMessage
	Reason   string // the person's, with an approval or denial

	EmittedAt, ValidatedAt, JudgedAt, RunAt, ReturnedAt time.Time

	version uint64
}

// Version changes whenever anything in the call does.
func (c *Call) Version() uint64 { return c.version }

// Finished reports whether the call cannot change any more.
func (c *Call) Finished() bool { return c.State.Final() }

// Bad reports whether the call failed, was denied or was interrupted.
func (c *Call) Bad() bool {
	switch c.State {
	case store.CallFailed, store.CallDenied, store.CallInterrupted:
		return true
	}
	return false
}

// Duration is how long it ran: until now if it still does. It is 0 for a call
// that never ran.
func (c *Call) Duration(now time.Time) time.Duration {
	switch {
	case c.RunAt.IsZero():
		return 0
	case c.ReturnedAt.IsZero():
		return now.Sub(c.RunAt)
	}
	return c.ReturnedAt.Sub(c.RunAt)
}

// maxLive bounds the output kept of a running call; the store has all of it.
const maxLive = 64 << 10

// Calls holds the calls of one session in the order they were emitted.
type Calls struct {
	byID  map[string]*Call
	order []*Call
}

// New returns an empty set.
func New() *Calls { return &Calls{byID: map[string]*Call{}} }

// Len is the number of calls.
func (c *Calls) Len() int { return len(c.order) }

// All returns the calls in order. The slice must not be changed.
func (c *Calls) All() []*Call { return c.order }

// Get returns the call with this id, or nil.
func (c *Calls) Get(id string) *Call { return c.byID[id] }

// Failed counts the calls that failed or were interrupted.
func (c *Calls) Failed() int { return c.count(store.CallFailed, store.CallInterrupted) }

// Denied counts the calls that were denied.
func (c *Calls) Denied() int { return c.count(store.CallDenied) }

// Running counts the calls that run now.
func (c *Calls) Running() int { return c.count(store.CallRunning) }

func (c *Calls) count(states ...store.CallState) int {
	n := 0
	for _, x := range c.order {
		if slices.Contains(states, x.State) {
			n++
		}
	}
	return n
}

func (c *Calls) add(x *Call) {
	c.byID[x.ID] = x
	c.order = append(c.order, x)
}

// Apply takes an event into account and returns the call it was about, or nil
// if it was about none.
func (c *Calls) Apply(e event.Event) *Call {
	var x *Call
	switch b := e.Body.(type) {
	case event.CallEmitted:
		x = &Call{ID: b.Call, Turn: e.Turn, Tool: b.Tool, Origin: string(b.Origin), State: store.CallEmitted, Emitted: string(b.Args), Summary: string(b.Args), EmittedAt: e.At}
		if b.Repair != "" {
			x.Repairs = []string{b.Repair}
		}
		c.add(x)
	case event.CallValidated:
		if x = c.byID[b.Call]; x != nil {
			x.ValidatedAt, x.Repairs, x.Error = e.At, b.Repairs, b.Error
			if b.Error == nil {
				x.State, x.Args, x.Summary = store.CallValidated, string(b.Args), string(b.Args)
			}
		}
	case event.CallJudged:
		if x = c.byID[b.Call]; x != nil {
			x.JudgedAt, x.Decision, x.Level, x.Reasons, x.Rule, x.Plan = e.At, b.Decision, b.Level.String(), b.Reasons, b.Rule, b.Plan
			if b.Plan.Summary != "" {
				x.Summary = b.Plan.Summary
			}
			if b.Decision == "ask" {
				x.State = store.CallWaiting
			}
		}
	case event.ApprovalResolved:
		if x = c.byID[b.Call]; x != nil {
			x.By, x.Reason = "you", b.Reason
			if b.Rule != "" {
				x.Rule = b.Rule
			}
		}
	case event.CallRunning:
		if x = c.byID[b.Call]; x != nil {
			x.State, x.RunAt = store.CallRunning, e.At
		}
	case event.CallProgress:
		if x = c.byID[b.Call]; x != nil {
			x.Output += b.Text
			if over := len(x.Output) - maxLive; over > 0 {
				x.Output = x.Output[over:]
			}
		}
	case event.CallReturned:
		if x = c.byID[b.Call]; x != nil {
			x.ReturnedAt, x.Output, x.Error, x.Changed = e.At, b.Output, b.Error, b.Changed
			x.State = finalState(b)
			if b.Data != nil {
				x.Data, _ = json.Marshal(b.Data) // it was JSON when it was stored
			}
		}
	}
	if x != nil {
		x.version++
	}
	return x
}

// finalState says how a call ended, from its error's code.
func finalState(b event.CallReturned) store.CallState {
	if b.OK {
		return store.CallDone
	}
	if b.Error != nil {
		switch b.Error.Code {
		case toolkit.CodeDenied, toolkit.CodeUserDenied, toolkit.CodeApproval:
			return store.CallDenied
		case toolkit.CodeCancelled:
			return store.CallCancelled
		}
	}
	return store.CallFailed
}

// Load replaces everything by stored calls.
func (c *Calls) Load(stored []store.Call) {
	c.byID, c.order = make(map[string]*Call, len(stored)), make([]*Call, 0, len(stored))
	for _, s := range stored {
		c.add(FromStore(s))
	}
}

// FromStore makes the record of a stored call.
func FromStore(s store.Call) *Call {
	x := &Call{
		ID: s.ID, Turn: s.Turn, Tool: s.Tool, Origin: s.Origin, State: s.State, Emitted: s.Emitted, Args: s.Args, Repairs: s.Repairs,
		Summary: s.Summary, Level: s.Level, Decision: s.Decision, By: s.DecidedBy, Reasons: s.Reasons, Rule: s.Rule,
		Output: s.Output, Full: s.Full, Data: s.Data,
		EmittedAt: s.EmittedAt, ValidatedAt: s.ValidatedAt, JudgedAt: s.JudgedAt, RunAt: s.RunAt, ReturnedAt: s.ReturnedAt, version: 1,
	}
	if x.Summary == "" {
		if x.Summary = s.Args; x.Summary == "" {
			x.Summary = s.Emitted
		}
	}
	if x.By == "person" {
		x.By = "you"
	}
	// The engine wrote these; what cannot be read is shown as absent.
	_ = json.Unmarshal(s.Plan, &x.Plan)
	if len(s.Error) > 0 {
		_ = json.Unmarshal(s.Error, &x.Error)
	}
	_ = json.Unmarshal(s.Changed, &x.Changed)
	return x
}
