package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// emit is step 1: the call is recorded as it came, with its name repaired.
func (p *Pipeline) emit(ctx context.Context, env Env, c Call) (*step, error) {
	if c.ID == "" {
		c.ID = NewID()
	}
	s := &step{env: env, doubt: c.Doubt, refuse: c.Refuse, sent: c.Args}
	tool, repaired, known := p.Tools.Resolve(c.Name)
	if p.Strict && repaired != "" {
		tool, repaired, known = nil, "", false
	}
	if c.Tool != nil {
		tool, repaired, known = c.Tool, "", true
	}
	name := c.Name
	if known {
		s.tool, name = tool, tool.Spec().Name
	}
	s.out = Outcome{Call: c.ID, Tool: name, Args: c.Args}
	s.rec = store.Call{
		ID: c.ID, Session: env.Session, Turn: env.Turn, Tool: s.redact(name), Origin: string(c.Origin),
		State: store.CallEmitted, Emitted: string(s.redactRaw(c.Args)), EmittedAt: p.now(),
	}
	for _, note := range []string{c.Note, repaired} {
		if note != "" {
			s.rec.Repairs = append(s.rec.Repairs, s.redact(note))
		}
	}
	if err := p.save(ctx, s); err != nil {
		return nil, err
	}
	emitted := c.Args
	if !json.Valid(emitted) {
		emitted, _ = json.Marshal(string(c.Args)) // a string always marshals
	}
	env.Publish(event.CallEmitted{Call: c.ID, Tool: name, Args: emitted, Origin: c.Origin, Repair: strings.Join(s.rec.Repairs, "; ")})
	if !known {
		return s, p.invalid(ctx, s, p.unknown(c.Name))
	}
	if env.Given != nil {
		if given, why := env.Given(name); !given {
			return s, p.invalid(ctx, s, toolkit.Errorf(toolkit.CodeNotFound, "the tool %q is not available now: %s.", name, why).
				WithHint("Use the tools you were given."))
		}
	}
	return s, nil
}

// unknown is the answer to a name that no tool has.
func (p *Pipeline) unknown(name string) *toolkit.Error {
	return toolkit.Errorf(toolkit.CodeNotFound, "there is no tool %q.", name).
		WithHint("The nearest are %s. Use one of these names.", strings.Join(p.Tools.Nearest(name, 3), ", "))
}

// validate is step 2.
func (p *Pipeline) validate(ctx context.Context, s *step) error {
	args, repairs, fault := validate(s.tool.Spec(), s.sent)
	if p.Strict && fault == nil && len(repairs) > 0 {
		fault = complain(s.tool.Spec(), nil, toolkit.CodeInvalid, strings.Join(repairs, "; "))
	}
	for _, note := range repairs {
		s.rec.Repairs = append(s.rec.Repairs, s.redact(note))
	}
	if fault == nil && s.env.Before != nil {
		s.out.Args = args
		fault = s.env.Before(s.tool.Spec().Name, args)
	}
	if fault != nil {
		return p.invalid(ctx, s, fault)
	}
	s.args, s.out.Args, s.rec.Args = args, args, string(s.redactRaw(args))
	// Stored together with the judgement that follows at once.
	s.rec.State, s.rec.ValidatedAt = store.CallValidated, p.now()
	s.env.Publish(event.CallValidated{Call: s.rec.ID, Args: args, Repairs: s.rec.Repairs})
	return nil
}

// invalid ends a call that cannot be understood. Nothing ran.
func (p *Pipeline) invalid(ctx context.Context, s *step, fault *toolkit.Error) error {
	s.rec.ValidatedAt = p.now()
	s.env.Publish(event.CallValidated{Call: s.rec.ID, Repairs: s.rec.Repairs, Error: fault})
	return p.finish(ctx, s, store.CallFailed, toolkit.Result{}, fault)
}

// judge is step 3: the tool plans, the judge decides.
func (p *Pipeline) judge(ctx context.Context, s *step) error {
	d, err := p.decide(ctx, s)
	if err != nil || s.final {
		return err
	}
	return p.apply(ctx, s, d)
}

// decide plans the call and asks the judge. A plan that fails for a reason
// other than the floor ends the call here.
func (p *Pipeline) decide(ctx context.Context, s *step) (Decision, error) {
	c := considered{tool: s.tool, args: s.args, origin: toolkit.Origin(s.rec.Origin), doubt: s.doubt}
	fault, err := p.consider(ctx, s.env, &c)
	switch {
	case err != nil:
		return Decision{}, err
	case fault != nil && ctx.Err() != nil:
		return Decision{}, p.cancel(ctx, s)
	case fault != nil:
		return Decision{}, p.finish(ctx, s, store.CallFailed, toolkit.Result{}, fault)
	}
	s.in = c.in
	s.plan, s.out.Plan, s.out.Level = c.plan, c.plan, c.plan.Level
	return c.decision, nil
}

// considered is a validated call, and what consider made of it.
type considered struct {
	tool   toolkit.Tool
	args   json.RawMessage
	origin toolkit.Origin
	doubt  string

	in       *toolkit.Workspace // with its processes sandboxed or not
	plan     toolkit.Plan
	decision Decision
}

// consider makes the plan of a call and asks the judge. It records and runs
// nothing. fault is why there is no plan; err is the store's.
func (p *Pipeline) consider(ctx context.Context, env Env, c *considered) (fault *toolkit.Error, err error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	spec := c.tool.Spec()
	// Read once: what is planned in one mode is judged in the same, and runs so.
	mode, boxed, works := env.modeFor(c.origin), false, false
	in := *env.Workspace
	if env.Sandbox != nil && in.Proc != nil {
		if boxed, works = env.Sandbox(mode); boxed {
			in.Proc = in.Proc.InSandbox()
		}
	}
	c.in = &in
	if err := c.tool.Available(limited, c.in); err != nil {
		return toolkit.Errorf(toolkit.CodeUnavailable, "%s cannot work here: %w.", spec.Name, err), nil
	}
	plan, err := planSafely(limited, c.tool, c.in, c.args)
	var floor *guard.Denied
	switch {
	case errors.As(err, &floor):
		plan = toolkit.Plan{Tool: spec.Name, Args: c.args, Level: spec.Level, Summary: floor.Path}
	case err != nil:
		return toolkit.AsError(err), nil
	}
	var rules []store.Rule
	if p.Store != nil {
		// Not with the turn's context: that it ends is no fault of the store.
		if rules, err = p.Store.Rules(context.WithoutCancel(ctx), env.Workspace.Root, env.Session); err != nil {
			return nil, err
		}
	}
	c.plan = plan
	if p.Book != nil {
		more, err := p.Book.InForce(env.Workspace.Root, p.now())
		if err != nil && plan.Level != toolkit.Safe && floor == nil {
			c.decision = Decision{Denied, []string{err.Error()}, ByRule, ""} // a deny rule may be among those that are not known
			return nil, nil
		}
		rules = append(rules, more...)
	}
	c.decision = Judge(Question{
		Mode: mode, Origin: c.origin, Plan: plan, Rules: rules, Policies: env.Policies, Floor: floor, Doubt: c.doubt,
		Taint: env.taint(c.origin), Boxed: boxed, Sandbox: boxed && works,
	})
	return nil, nil
}

// apply records a decision and acts on it: denied calls end, asked ones go
// into the queue.
func (p *Pipeline) apply(ctx context.Context, s *step, d Decision) error {
	unanswered := d.Verdict == Asks && !s.env.Attended
	if unanswered {
		d.Verdict = Denied
		d.Reasons = append([]string{"nobody is here to answer, so a question is a denial"}, d.Reasons...)
	}
	plan, err := json.Marshal(s.plan)
	if err != nil {
		return fmt.Errorf("recording the plan of %s: %w", s.rec.Tool, err)
	}
	s.rec.Plan, s.rec.PlanHash, s.rec.Summary, s.rec.Level = s.redactRaw(plan), s.plan.Hash, s.redact(s.plan.Summary), s.plan.Level.String()
	s.rec.Decision, s.rec.Reasons, s.rec.DecidedBy, s.rec.Rule = d.Verdict.String(), s.redactAll(d.Reasons), d.By, d.Rule
	s.rec.JudgedAt, s.out.Decision = p.now(), d.Verdict.String()
	if d.Verdict == Asks {
		s.rec.State = store.CallWaiting
	}
	save := p.save
	if d.Verdict == Allowed && s.tool.Spec().ReadOnly {
		save = p.saveIntent // it is not stored again before it runs
	}
	if err := save(ctx, s); err != nil {
		return err
	}
	s.env.Publish(event.CallJudged{Call: s.rec.ID, Decision: d.Verdict.String(), Level: s.plan.Level, Reasons: d.Reasons, Rule: d.Rule, Plan: s.plan})
	switch d.Verdict {
	case Allowed:
		return nil
	case Asks:
		return p.ask(ctx, s, d)
	}
	e := toolkit.Errorf(toolkit.CodeDenied, "denied: %s was not run: %s.", s.rec.Tool, strings.Join(d.Reasons, "; "))
	if unanswered {
		e.Code = toolkit.CodeApproval
	}
	return p.finish(ctx, s, store.CallDenied, toolkit.Result{}, e.WithHint("Do not try to get around this. Do what is possible without it, or say what you would need."))
}

// planSafely keeps a panic in a tool's planner from ending the program.
func planSafely(ctx context.Context, t toolkit.Tool, w *toolkit.Workspace, args json.RawMessage) (plan toolkit.Plan, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = toolkit.Errorf(toolkit.CodeExecution, "%s failed inside while planning: %v.", t.Spec().Name, r)
		}
	}()
	return t.Plan(ctx, w, args)
}
