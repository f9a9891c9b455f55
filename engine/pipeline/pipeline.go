// Package pipeline takes tool calls through the five steps: emitted,
// validated, judged, run, returned.
//
// Guarantees:
//
//   - Every call, whoever asks for it, passes all the steps in this order, and
//     nothing else executes a tool. One function, [Judge], decides.
//   - What was judged and shown is what runs: the plan is sealed before the
//     question and checked before it is executed; if a file it relies on
//     changed, it does not run.
//   - What is stored holds no secret that the workspace's redactor knows, also
//     not in arguments and plans.
//   - Decision and result are in the store before their events are published,
//     and before a call with an effect runs.
//   - Before a call runs the audit says that it will, and afterwards what became
//     of it, both without secrets. Without an audit only what changes nothing runs.
//   - With nobody to answer, a question is a denial.
//   - Safe calls of one turn run side by side; those that change something run
//     one at a time in the order of the calls, and nothing overtakes them.
//   - A tool that panics fails its call and nothing else.
package pipeline

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

// DefaultTimeout is how long a call may run unless POOL_TIMEOUT_MS says
// otherwise.
const DefaultTimeout = 5 * time.Minute

// maxParallel bounds the safe calls that run side by side.
const maxParallel = 8

// Pipeline drives calls. Its fields are set once; it is safe for concurrent
// use by several sessions.
type Pipeline struct {
	// Book keeps the rules that outlive a session; nil: the store keeps all.
	Book RuleBook

	Strict  bool // arguments are checked and not repaired; for measuring what repair is worth
	Tools   *toolkit.Registry
	Store   *store.Store
	Queue   *Queue
	Timeout time.Duration // 0: DefaultTimeout
	Now     func() time.Time

	auditFailed sync.Once // the notice that the audit cannot be written
}

// RuleBook keeps rules. What cannot be read is an error, never fewer rules.
type RuleBook interface {
	InForce(workspace string, now time.Time) ([]store.Rule, error)
	Add(store.Rule) error
}

// Env is what is particular to the session that makes the calls.
type Env struct {
	Workspace *toolkit.Workspace
	Session   string
	Turn      int
	Mode      func() Mode                      // asked for each decision: a person may change it meanwhile
	Given     func(tool string) (bool, string) // whether the model was given the tool, and why not; nil: all are

	// Before is asked about each call that is understood, before it is judged.
	// An error is the answer to the call, which then goes no further; nil: all
	// go on.
	Before   func(tool string, args json.RawMessage) *toolkit.Error
	Attended bool // a person can answer questions
	// Sandbox says whether processes run in an OS sandbox in a mode, and whether
	// there is one that works; nil: neither.
	Sandbox  func(Mode) (boxed, works bool)
	Policies []Policy
	Origins  map[toolkit.Origin]Mode // the most that calls of an origin may, whatever the session's mode
	Tainted  func() string           // foreign text that the model has read in this turn; nil or "": none
	Publish  func(event.Body)
}

// Call is one call as it came out of the model, or from a person.
type Call struct {
	ID     string       // empty: a new one is made
	Tool   toolkit.Tool // one that is in no registry, such as undo; nil: that of the name
	Name   string
	Args   json.RawMessage
	Origin toolkit.Origin
	Doubt  string // why it must ask before it writes, runs or dials; empty: no doubt
	Note   string // how it was found, recorded with its repairs; empty: as usual
	Refuse string // why it must not run at all, for the model: it ends after step 1; empty: it may
}

// Outcome is what goes back to the model.
type Outcome struct {
	Call     string
	Tool     string          // the tool's real name, or as emitted if unknown
	Args     json.RawMessage // repaired, or as emitted
	OK       bool
	Text     string // for the model: output, or the error with its hint
	Result   toolkit.Result
	Error    *toolkit.Error
	EndsTurn bool // the tool ends the agent loop
	Decision string
	Level    toolkit.Level
	Plan     toolkit.Plan
}

// step is one call on its way.
type step struct {
	env    Env
	in     *toolkit.Workspace // what the call was planned in and runs in: its processes are sandboxed or not, as it was judged
	tool   toolkit.Tool
	rec    store.Call      // as it is stored: without secrets
	sent   json.RawMessage // the arguments as emitted
	args   json.RawMessage // the arguments as validated: what is planned
	plan   toolkit.Plan
	doubt  string
	refuse string
	ticket *ticket // waiting for a person
	note   string  // what the person said with the approval
	out    Outcome
	final  bool

	intended bool // the audit says that it is about to run
}

func (p *Pipeline) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// Do takes the calls of one answer through the steps and returns their
// outcomes in the same order. When the context ends, open calls are cancelled
// and recorded so. The error is only ever the store's: then nothing further
// was run.
func (p *Pipeline) Do(ctx context.Context, env Env, calls []Call) ([]Outcome, error) {
	steps := make([]*step, len(calls))
	defer func() { // only after a store's error is anything left
		for _, s := range steps {
			if s != nil && s.ticket != nil {
				p.Queue.drop(s.ticket)
			}
		}
	}()
	for i, c := range calls {
		s, err := p.emit(ctx, env, c)
		if err != nil {
			return nil, err
		}
		steps[i] = s
	}
	for _, s := range steps {
		if err := p.prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	if err := p.runAll(ctx, steps); err != nil {
		return nil, err
	}
	out := make([]Outcome, len(steps))
	for i, s := range steps {
		out[i] = s.out
	}
	return out, nil
}

// prepare takes a call through validation and judgement.
func (p *Pipeline) prepare(ctx context.Context, s *step) error {
	if s.final {
		return nil
	}
	if ctx.Err() != nil {
		return p.cancel(ctx, s)
	}
	if s.refuse != "" {
		return p.invalid(ctx, s, &toolkit.Error{Code: toolkit.CodeDoubtful, Message: s.refuse})
	}
	if err := p.validate(ctx, s); err != nil || s.final {
		return err
	}
	return p.judge(ctx, s)
}

// runAll executes what was allowed, in order: reads between two writers side
// by side, each writer alone.
func (p *Pipeline) runAll(ctx context.Context, steps []*step) error {
	changed := false // something ran that may have changed what later plans rely on
	for i := 0; i < len(steps); {
		j := i
		for j < len(steps) && !steps[j].final && steps[j].ticket == nil && steps[j].tool.Spec().ReadOnly {
			j++
		}
		if j > i {
			if err := p.runSide(ctx, steps[i:j]); err != nil {
				return err
			}
			i = j
			continue
		}
		s := steps[i]
		i++
		if s.final {
			continue
		}
		if changed {
			if err := p.replan(ctx, s); err != nil {
				return err
			}
		}
		if err := p.await(ctx, s); err != nil {
			return err
		}
		if s.final {
			continue
		}
		if err := p.run(ctx, s); err != nil {
			return err
		}
		changed = changed || !s.tool.Spec().ReadOnly
	}
	return nil
}

// runSide runs safe calls side by side.
func (p *Pipeline) runSide(ctx context.Context, steps []*step) error {
	if len(steps) == 1 {
		return p.run(ctx, steps[0])
	}
	slots := make(chan struct{}, maxParallel)
	errs := make(chan error, len(steps))
	var wg sync.WaitGroup
	for _, s := range steps {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs <- p.run(ctx, s)
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// save stores the call as it stands.
func (p *Pipeline) save(ctx context.Context, s *step) error { return p.saveWith(ctx, s) }
