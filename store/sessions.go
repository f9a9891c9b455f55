package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Session is one conversation with its model, mode and workspace.
type Session struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Workspace string          `json:"workspace"`
	Model     string          `json:"model"`
	Mode      string          `json:"mode"`
	Tier      string          `json:"tier,omitempty"`     // the session's own choice; empty: detected
	Promoted  []string        `json:"promoted,omitempty"` // by the person
	Loaded    []string        `json:"loaded,omitempty"`   // by the model's own search, the least recently used first
	Summary   json.RawMessage `json:"summary,omitempty"`  // what of the conversation is no longer sent, and what stands for it
	Turns     int             `json:"turns"`
	Created   time.Time       `json:"created"`
	Updated   time.Time       `json:"updated"`
}

// PutSession stores a session, new or changed.
func (s *Store) PutSession(ctx context.Context, v Session) error {
	return s.tx(ctx, "storing session "+v.ID, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO sessions (id, title, workspace, model, mode, tier, promoted, loaded, summary, turns, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET title=excluded.title, workspace=excluded.workspace, model=excluded.model,
				mode=excluded.mode, tier=excluded.tier, promoted=excluded.promoted, loaded=excluded.loaded, summary=excluded.summary, turns=excluded.turns, updated_at=excluded.updated_at`,
			v.ID, v.Title, v.Workspace, v.Model, v.Mode, v.Tier, list(v.Promoted), list(v.Loaded), string(v.Summary), v.Turns, nanos(v.Created), nanos(v.Updated))
		return err
	})
}

const sessionColumns = `id, title, workspace, model, mode, tier, promoted, loaded, summary, turns, created_at, updated_at`

func scanSession(row interface{ Scan(...any) error }) (Session, error) {
	var v Session
	var promoted, loaded, summary string
	var created, updated int64
	err := row.Scan(&v.ID, &v.Title, &v.Workspace, &v.Model, &v.Mode, &v.Tier, &promoted, &loaded, &summary, &v.Turns, &created, &updated)
	if summary != "" {
		v.Summary = json.RawMessage(summary)
	}
	v.Promoted, v.Loaded, v.Created, v.Updated = unlist(promoted), unlist(loaded), at(created), at(updated)
	return v, err
}

// Session returns the session with this id, or with the only id that starts
// with it (at least four characters). Its error wraps ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	v, err := scanSession(s.read.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM sessions WHERE id = ?`, id))
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return v, err
	}
	if len(id) >= 4 {
		rows, err := s.sessions(ctx, `WHERE substr(id, 1, ?) = ? LIMIT 2`, len(id), id)
		if err != nil {
			return Session{}, err
		}
		switch len(rows) {
		case 1:
			return rows[0], nil
		case 2:
			return Session{}, fmt.Errorf("session %q: several ids start so; give more of it", id)
		}
	}
	return Session{}, fmt.Errorf("session %q: %w; `chela sessions` lists what there is", id, ErrNotFound)
}

// Sessions returns the newest sessions first, of one workspace or, if it is
// empty, of all. limit 0 means no limit.
func (s *Store) Sessions(ctx context.Context, workspace string, limit int) ([]Session, error) {
	if limit <= 0 {
		limit = -1
	}
	return s.sessions(ctx, `WHERE ?1 = '' OR workspace = ?1 ORDER BY updated_at DESC, id LIMIT ?2`, workspace, limit)
}

func (s *Store) sessions(ctx context.Context, where string, args ...any) ([]Session, error) {
	return query(ctx, s.read, "listing sessions", scanSession, `SELECT `+sessionColumns+` FROM sessions `+where, args...)
}

// DeleteSession removes a session with everything that belongs to it.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.tx(ctx, "deleting session "+id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id)
		return err
	})
}

// query runs a select and scans every row.
func query[T any](ctx context.Context, db *sql.DB, what string, scan func(interface{ Scan(...any) error }) (T, error), q string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, explain(err))
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, explain(err))
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, explain(err))
	}
	return out, nil
}

// Times are stored as unix nanoseconds; the zero time as 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func at(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// Lists of strings are stored as JSON arrays.
func list(v []string) string {
	if len(v) == 0 {
		return "[]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

func unlist(s string) []string {
	var v []string
	if json.Unmarshal([]byte(s), &v) != nil || len(v) == 0 {
		return nil
	}
	return v
}
