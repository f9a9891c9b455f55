package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Rule is a decision kept for later calls.
type Rule struct {
	ID        string    `json:"id"`
	Decision  string    `json:"decision"` // allow, ask, deny
	Tool      string    `json:"tool"`
	Scope     string    `json:"scope"` // exact, prefix, folder, tool
	Pattern   string    `json:"pattern"`
	Workspace string    `json:"workspace,omitempty"` // empty: everywhere
	Session   string    `json:"session,omitempty"`   // not empty: only there
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"` // zero: never
}

// PutRule stores a rule.
func (s *Store) PutRule(ctx context.Context, r Rule) error {
	return s.tx(ctx, "storing rule "+r.ID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO rules (id, decision, tool, scope, pattern, workspace, session, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Decision, r.Tool, r.Scope, r.Pattern, r.Workspace, r.Session, nanos(r.Created))
		return err
	})
}

// RevokeRule ends a rule. It stays in the file, since calls refer to it.
func (s *Store) RevokeRule(ctx context.Context, id string, now time.Time) error {
	return s.tx(ctx, "revoking rule "+id, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE rules SET revoked_at = ? WHERE id = ? AND revoked_at = 0`, nanos(now), id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("rule %q: %w", id, ErrNotFound)
		}
		return nil
	})
}

// Rules returns the rules in force for a session in a workspace, the oldest
// first. Empty arguments match only rules that are not bound to either.
func (s *Store) Rules(ctx context.Context, workspace, session string) ([]Rule, error) {
	return query(ctx, s.read, "reading rules", scanRule,
		`SELECT id, decision, tool, scope, pattern, workspace, session, created_at FROM rules
		WHERE revoked_at = 0 AND workspace IN ('', ?) AND session IN ('', ?) ORDER BY created_at, id`, workspace, session)
}

// AllRules returns every rule in force.
func (s *Store) AllRules(ctx context.Context) ([]Rule, error) {
	return query(ctx, s.read, "reading rules", scanRule,
		`SELECT id, decision, tool, scope, pattern, workspace, session, created_at FROM rules WHERE revoked_at = 0 ORDER BY created_at, id`)
}

func scanRule(row interface{ Scan(...any) error }) (Rule, error) {
	var r Rule
	var created int64
	err := row.Scan(&r.ID, &r.Decision, &r.Tool, &r.Scope, &r.Pattern, &r.Workspace, &r.Session, &created)
	r.Created = at(created)
	return r, err
}
