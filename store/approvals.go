package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Approval is a person's answer to one call, or the wait for it. It is bound
// to session, call and plan hash, and can be answered once.
type Approval struct {
	ID       string    `json:"id"`
	Call     string    `json:"call"`
	Session  string    `json:"session"`
	PlanHash string    `json:"plan_hash"`
	State    string    `json:"state"`
	Scope    string    `json:"scope,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Asked    time.Time `json:"asked"`
	Decided  time.Time `json:"decided,omitzero"`
}

// The states of an approval.
const (
	ApprovalPending    = "pending"
	ApprovalApproved   = "approved"
	ApprovalDenied     = "denied"
	ApprovalExpired    = "expired"
	ApprovalSuperseded = "superseded"
	ApprovalCancelled  = "cancelled"
)

// AskApproval stores a pending approval.
func (s *Store) AskApproval(ctx context.Context, a Approval) error {
	return s.tx(ctx, "storing approval "+a.ID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO approvals (id, call, session, plan_hash, state, asked_at) VALUES (?, ?, ?, ?, 'pending', ?)`,
			a.ID, a.Call, a.Session, a.PlanHash, nanos(a.Asked))
		return err
	})
}

// DecideApproval answers a pending approval, once: a second answer, or one
// with another session, call or plan hash, is an error.
func (s *Store) DecideApproval(ctx context.Context, a Approval) error {
	return s.tx(ctx, "deciding approval "+a.ID, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE approvals SET state = ?, scope = ?, reason = ?, rule = ?, decided_at = ?
			WHERE id = ? AND state = 'pending' AND session = ? AND call = ? AND plan_hash = ?`,
			a.State, a.Scope, a.Reason, a.Rule, nanos(a.Decided), a.ID, a.Session, a.Call, a.PlanHash)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("it is not pending for this session, call and plan (%w)", ErrNotFound)
		}
		return nil
	})
}

// Approvals returns a session's approvals, the oldest first.
func (s *Store) Approvals(ctx context.Context, session string) ([]Approval, error) {
	return query(ctx, s.read, "reading approvals", func(row interface{ Scan(...any) error }) (Approval, error) {
		var a Approval
		var asked, decided int64
		err := row.Scan(&a.ID, &a.Call, &a.Session, &a.PlanHash, &a.State, &a.Scope, &a.Reason, &a.Rule, &asked, &decided)
		a.Asked, a.Decided = at(asked), at(decided)
		return a, err
	}, `SELECT id, call, session, plan_hash, state, scope, reason, rule, asked_at, decided_at FROM approvals WHERE session = ? ORDER BY asked_at, id`, session)
}
