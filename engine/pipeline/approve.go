package pipeline

import (
	"context"
	"fmt"
	"slices"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

// ask puts a call into the approval queue. It does not wait.
func (p *Pipeline) ask(ctx context.Context, s *step, d Decision) error {
	// A rule that holds a secret would keep it.
	offers := slices.DeleteFunc(Offers(s.plan), func(r store.Rule) bool { return s.redact(r.Pattern) != r.Pattern })
	pending := Pending{
		ID: NewID(), Session: s.env.Session, Call: s.rec.ID, Turn: s.env.Turn, Plan: s.plan,
		Reasons: d.Reasons, Asked: p.now(), Offers: offers,
	}
	if err := p.Store.AskApproval(context.WithoutCancel(ctx), store.Approval{
		ID: pending.ID, Call: s.rec.ID, Session: s.env.Session, PlanHash: s.plan.Hash, Asked: pending.Asked,
	}); err != nil {
		return err
	}
	t, err := p.Queue.add(pending)
	if err != nil {
		if rerr := p.resolve(ctx, s, pending, store.ApprovalDenied, Answer{Reason: err.Error()}); rerr != nil {
			return rerr
		}
		return p.finish(ctx, s, store.CallDenied, toolkit.Result{}, toolkit.Errorf(toolkit.CodeDenied, "denied: %s was not run: %w.", s.rec.Tool, err))
	}
	s.ticket = t
	s.env.Publish(event.ApprovalAsked{
		Approval: pending.ID, Call: s.rec.ID, Tool: s.rec.Tool, Level: s.plan.Level, Reasons: d.Reasons, Plan: s.plan,
	})
	return nil
}

// await waits for the person's answer to a call in the queue, and acts on it.
func (p *Pipeline) await(ctx context.Context, s *step) error {
	if s.ticket == nil {
		return nil
	}
	t := s.ticket
	s.ticket = nil
	a, err := p.Queue.wait(ctx, t)
	if err != nil {
		if rerr := p.resolve(ctx, s, t.Pending, store.ApprovalCancelled, Answer{}); rerr != nil {
			return rerr
		}
		return p.cancel(ctx, s)
	}
	if !a.Approve {
		if err := p.resolve(ctx, s, t.Pending, store.ApprovalDenied, a); err != nil {
			return err
		}
		e := toolkit.Errorf(toolkit.CodeUserDenied, "denied by the user, %s was not run.", s.rec.Tool)
		if a.Reason != "" {
			e = toolkit.Errorf(toolkit.CodeUserDenied, "denied by the user: %s", a.Reason)
		}
		return p.finish(ctx, s, store.CallDenied, toolkit.Result{}, e.WithHint("Do not repeat this call."))
	}
	if a.Rule != nil {
		r := *a.Rule
		r.ID, r.Created = NewID(), p.now()
		if r.Workspace = s.env.Workspace.Root; a.Scope == ScopeSession {
			r.Session = s.env.Session
		}
		if err := p.putRule(ctx, r); err != nil {
			return err
		}
		s.rec.Rule = r.ID
	}
	s.note = a.Reason
	return p.resolve(ctx, s, t.Pending, store.ApprovalApproved, a)
}

// putRule keeps a rule: one for a session with it, any other in the book.
func (p *Pipeline) putRule(ctx context.Context, r store.Rule) error {
	if r.Session != "" || p.Book == nil {
		return p.Store.PutRule(context.WithoutCancel(ctx), r)
	}
	return p.Book.Add(r)
}

// resolve records and publishes what became of an approval.
func (p *Pipeline) resolve(ctx context.Context, s *step, pending Pending, state string, a Answer) error {
	s.rec.DecidedBy = ByPerson
	err := p.Store.DecideApproval(context.WithoutCancel(ctx), store.Approval{
		ID: pending.ID, Call: pending.Call, Session: pending.Session, PlanHash: pending.Plan.Hash,
		State: state, Scope: a.Scope, Reason: a.Reason, Rule: s.rec.Rule, Decided: p.now(),
	})
	if err != nil {
		return fmt.Errorf("recording the answer to %s: %w", s.rec.Tool, err)
	}
	s.env.Publish(event.ApprovalResolved{
		Approval: pending.ID, Call: pending.Call, State: state, Scope: a.Scope, Reason: a.Reason, Rule: s.rec.Rule,
	})
	return nil
}

// replan plans a call again because an earlier one of the same turn may have
// changed what it relies on. If the plan is another one now, a question that
// was put is superseded and everything is judged anew: an approval never
// covers what was not shown.
func (p *Pipeline) replan(ctx context.Context, s *step) error {
	before := s.plan.Hash
	d, err := p.decide(ctx, s)
	if err != nil {
		return err
	}
	if !s.final && s.plan.Hash == before && d.Verdict != Denied {
		return nil // what was decided stands; a rule that forbids it by now does not
	}
	if t := s.ticket; t != nil {
		s.ticket = nil
		if p.Queue.drop(t) {
			if err := p.resolve(ctx, s, t.Pending, store.ApprovalSuperseded, Answer{}); err != nil {
				return err
			}
		} else if err := p.supersedeAnswered(ctx, s, t); err != nil {
			return err
		}
	}
	if s.final {
		return nil
	}
	return p.apply(ctx, s, d)
}

// supersedeAnswered handles an answer that came while its plan was being
// replaced: a denial stands, an approval was for the old plan and is void.
func (p *Pipeline) supersedeAnswered(ctx context.Context, s *step, t *ticket) error {
	a := <-t.answered
	if !a.Approve && !s.final {
		t.answered <- a
		s.ticket = t
		return p.await(ctx, s)
	}
	return p.resolve(ctx, s, t.Pending, store.ApprovalSuperseded, Answer{})
}
