package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

func (p *Pipeline) timeout() time.Duration {
	if p.Timeout > 0 {
		return p.Timeout
	}
	return DefaultTimeout
}

// run is steps 4 and 5.
func (p *Pipeline) run(ctx context.Context, s *step) error {
	if ctx.Err() != nil {
		return p.cancel(ctx, s)
	}
	if s.env.Mode() == Deny { // chosen since the call was judged: it is the brake
		return p.apply(ctx, s, Decision{Denied, []string{"deny mode: nothing runs"}, ByMode, ""})
	}
	s.rec.State, s.rec.RunAt = store.CallRunning, p.now()
	// The intent is stored before the effect. For a call that has none it was
	// stored with the permission; one write less is felt in a turn of many reads.
	if !s.intended {
		if err := p.saveIntent(ctx, s); err != nil || s.final {
			return err
		}
	}
	s.env.Publish(event.CallRunning{Call: s.rec.ID})

	limit := p.timeout()
	rctx, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	paths, err := p.snapshot(ctx, s)
	if err != nil {
		return p.finish(ctx, s, store.CallFailed, toolkit.Result{}, toolkit.Errorf(toolkit.CodeExecution, "%s was not run: what it changes cannot be kept for undoing: %w.", s.rec.Tool, err))
	}
	res, err := runSafely(rctx, s, func(pr toolkit.Progress) {
		s.env.Publish(event.CallProgress{Call: s.rec.ID, Text: s.redact(pr.Text)})
	})
	if kept := p.noteAfter(ctx, s, paths); kept != nil {
		return kept
	}
	var floor *guard.Denied
	switch {
	case err == nil:
		return p.finish(ctx, s, store.CallDone, res, nil)
	case ctx.Err() != nil:
		return p.finish(ctx, s, store.CallCancelled, res, cancelled(s.rec.Tool))
	case context.Cause(rctx) == errDeadline:
		e := toolkit.Errorf(toolkit.CodeTimeout, "%s did not finish within %s and was stopped.", s.rec.Tool, limit).
			WithHint("Do it in smaller pieces, or let the person raise POOL_TIMEOUT_MS.")
		e.Retryable = true
		return p.finish(ctx, s, store.CallFailed, res, e)
	case errors.As(err, &floor):
		return p.finish(ctx, s, store.CallDenied, res, toolkit.Errorf(toolkit.CodeDenied, "denied: %s was stopped: %s.", s.rec.Tool, floor.Reason))
	}
	return p.finish(ctx, s, store.CallFailed, res, toolkit.AsError(err))
}

var errDeadline = errors.New("the call's deadline passed")

func runSafely(ctx context.Context, s *step, progress func(toolkit.Progress)) (res toolkit.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = toolkit.Errorf(toolkit.CodeExecution, "%s failed inside: %v.", s.rec.Tool, r)
		}
	}()
	return s.tool.Run(ctx, s.in, s.plan, progress)
}

// finish is step 5: the result is redacted, bounded, recorded and published.
// It also ends calls that never ran.
func (p *Pipeline) finish(ctx context.Context, s *step, state store.CallState, res toolkit.Result, fault *toolkit.Error) error {
	full := s.redact(res.Text)
	if fault != nil {
		e := *fault
		e.Message, e.Hint = s.redact(e.Message), s.redact(e.Hint)
		fault = &e
	}
	text := full
	if fault != nil {
		text = "error: " + fault.Error()
		if denial(fault.Code) {
			text = fault.Error() // begins with "denied": it is an answer, not a fault to be repaired
		}
		if full != "" {
			text = full + "\n" + text
		}
	}
	shown, cut := toolkit.Bound(text, min(s.env.Workspace.OutputBudget(), toolkit.MaxBudget), "the rest is kept; ask for a smaller part")
	if s.note != "" {
		shown = strings.TrimRight(shown, "\n") + "\n[the user adds: " + s.note + "]" // after the cut: it must not be lost
	}
	if cut != nil && res.Cut == nil {
		res.Cut = cut
	}
	res.Text = full
	if strings.TrimSpace(shown) == "" {
		shown = "(no output)"
	}
	data, err := s.redactJSON(res.Data)
	if err != nil {
		return fmt.Errorf("recording the result of %s: %w", s.rec.Tool, err)
	}
	if data != nil {
		res.Data = data // what the tool made may hold secrets
	}
	for i := range res.Changed {
		res.Changed[i].Path = s.redact(res.Changed[i].Path)
	}
	s.rec.State, s.rec.ReturnedAt, s.rec.Output, s.rec.Data = state, p.now(), shown, data
	if shown != full {
		s.rec.Full = full
	}
	if fault != nil {
		if s.rec.Error, err = json.Marshal(fault); err != nil {
			return fmt.Errorf("recording the error of %s: %w", s.rec.Tool, err)
		}
	}
	if len(res.Changed) > 0 {
		if s.rec.Changed, err = json.Marshal(res.Changed); err != nil {
			return fmt.Errorf("recording the changes of %s: %w", s.rec.Tool, err)
		}
	}
	if err := p.saveOutcome(ctx, s, fault, res.Changed); err != nil {
		return err
	}
	s.final = true
	s.out.OK, s.out.Text, s.out.Result, s.out.Error = fault == nil, shown, res, fault
	s.out.EndsTurn = fault == nil && s.tool != nil && s.tool.Spec().EndsTurn
	var took time.Duration
	if !s.rec.RunAt.IsZero() {
		took = s.rec.ReturnedAt.Sub(s.rec.RunAt)
	}
	returned := event.CallReturned{
		Call: s.rec.ID, OK: fault == nil, Output: shown, Error: fault, Changed: res.Changed, Duration: took, Total: utf8.RuneCountInString(full),
	}
	if data != nil {
		returned.Data = data
	}
	s.env.Publish(returned)
	return nil
}

// cancel ends a call that the person stopped before it ran.
func (p *Pipeline) cancel(ctx context.Context, s *step) error {
	return p.finish(ctx, s, store.CallCancelled, toolkit.Result{}, cancelled(s.rec.Tool))
}

func cancelled(tool string) *toolkit.Error {
	return toolkit.Errorf(toolkit.CodeCancelled, "%s was cancelled by the user.", tool)
}

// denial reports whether the call was refused rather than failed.
func denial(c toolkit.Code) bool {
	return c == toolkit.CodeDenied || c == toolkit.CodeUserDenied || c == toolkit.CodeApproval || c == toolkit.CodeRepeated || c == CodeAudit
}

func (s *step) redact(text string) string {
	if s.env.Workspace == nil || s.env.Workspace.Secret == nil || text == "" {
		return text
	}
	return s.env.Workspace.Secret.Text(text)
}

func (s *step) redactAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = s.redact(t)
	}
	return out
}

// redactJSON redacts a result's data.
func (s *step) redactJSON(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return s.redactRaw(b), nil
}

// redactRaw redacts a JSON text, or any other.
func (s *step) redactRaw(b json.RawMessage) json.RawMessage {
	if s.env.Workspace == nil || s.env.Workspace.Secret == nil {
		return b
	}
	return s.env.Workspace.Secret.JSON(b)
}
