package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// CallState is where a call stands.
type CallState string

// The states of a call. Done, failed, denied, interrupted and cancelled are
// final.
const (
	CallEmitted     CallState = "emitted"
	CallValidated   CallState = "validated"
	CallWaiting     CallState = "waiting"
	CallRunning     CallState = "running"
	CallDone        CallState = "done"
	CallFailed      CallState = "failed"
	CallDenied      CallState = "denied"
	CallInterrupted CallState = "interrupted" // the program ended before the call did
	CallCancelled   CallState = "cancelled"
)

// Final reports whether the state cannot change any more.
func (s CallState) Final() bool {
	switch s {
	case CallDone, CallFailed, CallDenied, CallInterrupted, CallCancelled:
		return true
	}
	return false
}

// Call is one tool call with its five steps. JSON fields hold what the engine
// put there; the store does not look inside.
type Call struct {
	ID        string          `json:"id"`
	Session   string          `json:"session"`
	Turn      int             `json:"turn"`
	Seq       int             `json:"seq"` // order within the session; PutCall sets it once
	Tool      string          `json:"tool"`
	Origin    string          `json:"origin"`
	State     CallState       `json:"state"`
	Emitted   string          `json:"emitted"` // arguments as emitted
	Args      string          `json:"args,omitempty"`
	Repairs   []string        `json:"repairs,omitempty"`
	Plan      json.RawMessage `json:"plan,omitempty"`
	PlanHash  string          `json:"plan_hash,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Level     string          `json:"level,omitempty"`
	Decision  string          `json:"decision,omitempty"`
	Reasons   []string        `json:"reasons,omitempty"`
	DecidedBy string          `json:"decided_by,omitempty"` // mode, rule, person, floor, session
	Rule      string          `json:"rule,omitempty"`
	Output    string          `json:"output,omitempty"`      // what the model got
	Full      string          `json:"full_output,omitempty"` // everything, when Output is a part of it
	Data      json.RawMessage `json:"data,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
	Changed   json.RawMessage `json:"changed,omitempty"`

	EmittedAt   time.Time `json:"emitted_at"`
	ValidatedAt time.Time `json:"validated_at,omitzero"`
	JudgedAt    time.Time `json:"judged_at,omitzero"`
	RunAt       time.Time `json:"run_at,omitzero"`
	ReturnedAt  time.Time `json:"returned_at,omitzero"`
}

// PutCall stores a call as it stands and returns it with its place in the
// session. A call whose stored state is final is not changed again.
func (s *Store) PutCall(ctx context.Context, c Call) (Call, error) {
	return s.PutAudited(ctx, c)
}

const putCallSQL = `
		INSERT INTO calls (id, session, turn, seq, tool, origin, state, emitted, args, repairs, plan, plan_hash, summary, level,
			decision, reasons, decided_by, rule, output, full_output, data, error, changed,
			emitted_at, validated_at, judged_at, run_at, returned_at)
		VALUES (?1, ?2, ?3, (SELECT coalesce(max(seq), 0) + 1 FROM calls WHERE session = ?2), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
			?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)
		ON CONFLICT (id) DO UPDATE SET tool=excluded.tool, state=excluded.state, args=excluded.args, repairs=excluded.repairs,
			plan=excluded.plan, plan_hash=excluded.plan_hash, summary=excluded.summary, level=excluded.level, decision=excluded.decision,
			reasons=excluded.reasons, decided_by=excluded.decided_by, rule=excluded.rule, output=excluded.output,
			full_output=excluded.full_output, data=excluded.data, error=excluded.error, changed=excluded.changed,
			validated_at=excluded.validated_at, judged_at=excluded.judged_at, run_at=excluded.run_at, returned_at=excluded.returned_at
		WHERE calls.state NOT IN ('done', 'failed', 'denied', 'interrupted', 'cancelled')
		RETURNING seq`

func (s *Store) putCall(ctx context.Context, tx *sql.Tx, c *Call) error {
	row := s.row(ctx, tx, putCallSQL,
		c.ID, c.Session, c.Turn, c.Tool, c.Origin, string(c.State), c.Emitted, c.Args, list(c.Repairs), string(c.Plan), c.PlanHash, c.Summary, c.Level,
		c.Decision, list(c.Reasons), c.DecidedBy, c.Rule, c.Output, c.Full, string(c.Data), string(c.Error), string(c.Changed),
		nanos(c.EmittedAt), nanos(c.ValidatedAt), nanos(c.JudgedAt), nanos(c.RunAt), nanos(c.ReturnedAt))
	if err := row.Scan(&c.Seq); err != nil {
		if err == sql.ErrNoRows {
			return fmt.Errorf("call %s is finished and cannot change", c.ID)
		}
		return err
	}
	return nil
}

const callColumns = `id, session, turn, seq, tool, origin, state, emitted, args, repairs, plan, plan_hash, summary, level,
	decision, reasons, decided_by, rule, output, full_output, data, error, changed, emitted_at, validated_at, judged_at, run_at, returned_at`

func scanCall(row interface{ Scan(...any) error }) (Call, error) {
	var c Call
	var state, repairs, plan, reasons, data, callErr, changed string
	var t [5]int64
	err := row.Scan(&c.ID, &c.Session, &c.Turn, &c.Seq, &c.Tool, &c.Origin, &state, &c.Emitted, &c.Args, &repairs, &plan, &c.PlanHash,
		&c.Summary, &c.Level, &c.Decision, &reasons, &c.DecidedBy, &c.Rule, &c.Output, &c.Full, &data, &callErr, &changed,
		&t[0], &t[1], &t[2], &t[3], &t[4])
	c.State, c.Repairs, c.Reasons = CallState(state), unlist(repairs), unlist(reasons)
	c.Plan, c.Data, c.Error, c.Changed = raw(plan), raw(data), raw(callErr), raw(changed)
	c.EmittedAt, c.ValidatedAt, c.JudgedAt, c.RunAt, c.ReturnedAt = at(t[0]), at(t[1]), at(t[2]), at(t[3]), at(t[4])
	return c, err
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// Calls returns a session's calls in order.
func (s *Store) Calls(ctx context.Context, session string) ([]Call, error) {
	return query(ctx, s.read, "reading the calls of session "+session, scanCall,
		`SELECT `+callColumns+` FROM calls WHERE session = ? ORDER BY seq`, session)
}

// Call returns one call. Its error wraps ErrNotFound.
func (s *Store) Call(ctx context.Context, id string) (Call, error) {
	c, err := scanCall(s.read.QueryRowContext(ctx, `SELECT `+callColumns+` FROM calls WHERE id = ?`, id))
	if err == sql.ErrNoRows {
		return c, fmt.Errorf("call %q: %w", id, ErrNotFound)
	}
	return c, err
}

// Interrupt closes what a killed program left open in a session: calls become
// interrupted, pending approvals expired, and the audit says so. It returns the
// calls it closed. The caller must hold the session's lock.
func (s *Store) Interrupt(ctx context.Context, session string, now time.Time) ([]Call, error) {
	var open []Call
	err := s.tx(ctx, "closing interrupted calls of session "+session, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE approvals SET state = 'expired', decided_at = ? WHERE session = ? AND state = 'pending'`,
			nanos(now), session); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `UPDATE calls SET state = 'interrupted', returned_at = ?
			WHERE session = ? AND state NOT IN ('done', 'failed', 'denied', 'interrupted', 'cancelled')
			RETURNING `+callColumns, nanos(now), session)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			c, err := scanCall(rows)
			if err != nil {
				return err
			}
			open = append(open, c)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		return s.appendAudit(ctx, tx, interrupted(open, now)...)
	})
	return open, err
}

// Plans returns the plans of the newest calls of a tool in a workspace, the
// newest first, as they were judged. Calls without a plan are left out.
func (s *Store) Plans(ctx context.Context, workspace, tool string, limit int) ([]json.RawMessage, error) {
	return query(ctx, s.read, "reading the plans of "+tool, func(row interface{ Scan(...any) error }) (json.RawMessage, error) {
		var plan string
		err := row.Scan(&plan)
		return json.RawMessage(plan), err
	}, `SELECT c.plan FROM calls c JOIN sessions s ON s.id = c.session
		WHERE s.workspace = ? AND c.tool = ? AND c.plan <> '' ORDER BY c.emitted_at DESC LIMIT ?`, workspace, tool, limit)
}

// FindCall returns the call with this id, or with the only id that begins so
// (at least four characters). Its error wraps ErrNotFound.
func (s *Store) FindCall(ctx context.Context, id string) (Call, error) {
	c, err := s.Call(ctx, id)
	if err == nil || !errors.Is(err, ErrNotFound) || len(id) < 4 {
		return c, err
	}
	found, err := query(ctx, s.read, "looking for call "+id, scanCall, `SELECT `+callColumns+` FROM calls WHERE substr(id, 1, ?) = ? LIMIT 2`, len(id), id)
	switch {
	case err != nil:
		return Call{}, err
	case len(found) == 0:
		return Call{}, fmt.Errorf("call %q: %w", id, ErrNotFound)
	case len(found) > 1:
		return Call{}, fmt.Errorf("call %q: several ids begin so; give more of it: %w", id, ErrNotFound)
	}
	return found[0], nil
}
