package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Note is something that belongs to a session, such as its work list.
type Note struct {
	Session string
	Kind    string
	ID      string
	Body    json.RawMessage
	Updated time.Time
}

// PutNote stores a note in place of the one with its kind and id.
func (s *Store) PutNote(ctx context.Context, n Note) error {
	return s.tx(ctx, "storing the "+n.Kind+" of session "+n.Session, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO notes (session, kind, id, body, updated_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (session, kind, id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`,
			n.Session, n.Kind, n.ID, string(n.Body), nanos(n.Updated))
		return err
	})
}

// Notes returns a session's notes of a kind, the newest first.
func (s *Store) Notes(ctx context.Context, session, kind string) ([]Note, error) {
	return query(ctx, s.read, "reading the "+kind+" of session "+session, func(row interface{ Scan(...any) error }) (Note, error) {
		var n Note
		var body string
		var updated int64
		err := row.Scan(&n.Session, &n.Kind, &n.ID, &body, &updated)
		n.Body, n.Updated = json.RawMessage(body), at(updated)
		return n, err
	}, `SELECT session, kind, id, body, updated_at FROM notes WHERE session = ? AND kind = ? ORDER BY updated_at DESC, id`, session, kind)
}
