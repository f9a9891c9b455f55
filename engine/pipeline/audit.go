package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

// CodeAudit is the failure of a call that was refused because the audit could
// not be written. What has no effect runs all the same.
const CodeAudit toolkit.Code = "AUDIT_UNAVAILABLE"

// Limits on what the audit says of a call. Its whole arguments are with the
// call; the audit must stay small enough to be kept.
const (
	auditArgs    = 2000 // characters of the arguments
	auditText    = 400  // characters of the summary and of each reason
	auditReasons = 8
	auditFiles   = 50
)

// intent is the audit's row about a call that is about to run.
func (p *Pipeline) intent(s *step) store.AuditEntry {
	e := p.entry(s, store.AuditIntent)
	p.tell(s, &e)
	return e
}

// tell adds what was asked for, and why it was decided so.
func (p *Pipeline) tell(s *step, e *store.AuditEntry) {
	args := cmp.Or(s.rec.Args, s.rec.Emitted) // without secrets already, as all of rec
	e.Args, e.Summary, e.Reasons = s.brief(args, auditArgs), s.brief(s.rec.Summary, auditText), s.reasons()
}

// outcome is the audit's row about how a call ended. One that was not even
// begun has no intent, so its outcome says what it was and why.
func (p *Pipeline) outcome(s *step, fault *toolkit.Error, changed []toolkit.Change) store.AuditEntry {
	e := p.entry(s, store.AuditOutcome)
	e.Outcome = string(s.rec.State)
	if !s.intended {
		p.tell(s, &e)
	}
	if fault != nil {
		e.Code = string(fault.Code)
	}
	if !s.rec.RunAt.IsZero() {
		e.Took = s.rec.ReturnedAt.Sub(s.rec.RunAt).Nanoseconds()
	}
	for i, c := range changed {
		if i == auditFiles {
			e.Changed = append(e.Changed, fmt.Sprintf("and %d more", len(changed)-i))
			break
		}
		e.Changed = append(e.Changed, s.brief(c.Kind+" "+c.Path, auditText))
	}
	return e
}

func (p *Pipeline) entry(s *step, kind string) store.AuditEntry {
	return store.AuditEntry{
		Kind: kind, At: p.now().UnixNano(), Session: s.rec.Session, Turn: s.rec.Turn, Call: s.rec.ID, Tool: s.brief(s.rec.Tool, auditText),
		Origin: s.rec.Origin, PlanHash: s.rec.PlanHash, Level: s.rec.Level, Decision: s.rec.Decision, DecidedBy: s.rec.DecidedBy, Rule: s.rec.Rule,
	}
}

func (s *step) reasons() []string {
	var out []string
	for _, r := range s.rec.Reasons[:min(len(s.rec.Reasons), auditReasons)] {
		out = append(out, s.brief(r, auditText))
	}
	return out
}

// brief cuts a text that was redacted before, so that no part of a secret is
// left by the cut.
func (s *step) brief(text string, limit int) string {
	n := 0
	for i := range text {
		if n++; n > limit {
			return fmt.Sprintf("%s… (%d bytes in all)", text[:i], len(text))
		}
	}
	return text
}

// saveIntent stores the call with the audit's row that it is about to run. If
// only the audit fails, a call that changes nothing goes on, and one that does
// is ended: s.final is set.
func (p *Pipeline) saveIntent(ctx context.Context, s *step) error {
	err := p.saveWith(ctx, s, p.intent(s))
	if !errors.Is(err, store.ErrAudit) {
		s.intended = err == nil
		return err
	}
	if s.tool.Spec().ReadOnly {
		p.unaudited(s, err)
		return p.save(ctx, s)
	}
	return p.finish(ctx, s, store.CallDenied, toolkit.Result{}, toolkit.Errorf(CodeAudit, "denied: %s was not run: %w.", s.rec.Tool, err).
		WithHint("Only reading is possible until the user repaired it: chela audit verify and chela doctor say more."))
}

// saveOutcome stores the finished call with the audit's row about it. The call
// has happened, so it is stored even if the audit fails.
func (p *Pipeline) saveOutcome(ctx context.Context, s *step, fault *toolkit.Error, changed []toolkit.Change) error {
	err := p.saveWith(ctx, s, p.outcome(s, fault, changed))
	if !errors.Is(err, store.ErrAudit) {
		return err
	}
	p.unaudited(s, err)
	return p.save(ctx, s)
}

// unaudited tells once that the audit fails.
func (p *Pipeline) unaudited(s *step, err error) {
	p.auditFailed.Do(func() {
		s.env.Publish(event.Notice{
			Level: "error", Text: s.redact(err.Error()), Hint: "Until it can be, only calls that change nothing run. chela audit verify and chela doctor say more.",
		})
	})
}

// saveWith stores the call as it stands, with rows of the audit. It must work
// while a turn is being cancelled, so the store gets a context of its own.
func (p *Pipeline) saveWith(ctx context.Context, s *step, entries ...store.AuditEntry) error {
	rec, err := p.Store.PutAudited(context.WithoutCancel(ctx), s.rec, entries...)
	if err != nil {
		return fmt.Errorf("recording a call of %s: %w", s.rec.Tool, err)
	}
	s.rec = rec
	return nil
}
