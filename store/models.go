package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Profile is what was learnt about a model.
type Profile struct {
	Digest  string          `json:"digest"` // of its weights
	Name    string          `json:"name"`   // as it was last called
	Learnt  json.RawMessage `json:"profile"`
	Updated time.Time       `json:"updated"`
}

// PutProfile keeps what was learnt about a model, in place of what was known.
func (s *Store) PutProfile(ctx context.Context, p Profile) error {
	return s.tx(ctx, "keeping what was learnt about "+p.Name, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO models (digest, name, profile, updated_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (digest) DO UPDATE SET name = excluded.name, profile = excluded.profile, updated_at = excluded.updated_at`,
			p.Digest, p.Name, string(p.Learnt), nanos(p.Updated))
		return err
	})
}

// Profile returns what was learnt about the model with this digest. Its error
// wraps ErrNotFound when nothing was.
func (s *Store) Profile(ctx context.Context, digest string) (Profile, error) {
	p, err := scanProfile(s.read.QueryRowContext(ctx, `SELECT digest, name, profile, updated_at FROM models WHERE digest = ?`, digest))
	if errors.Is(err, sql.ErrNoRows) {
		return Profile{}, fmt.Errorf("what was learnt about model %.12s: %w", digest, ErrNotFound)
	}
	if err != nil {
		return Profile{}, fmt.Errorf("reading what was learnt about model %.12s: %w", digest, explain(err))
	}
	return p, nil
}

// Profiles returns all that was learnt, the newest first.
func (s *Store) Profiles(ctx context.Context) ([]Profile, error) {
	return query(ctx, s.read, "listing what was learnt about models", scanProfile, `SELECT digest, name, profile, updated_at FROM models ORDER BY updated_at DESC, digest`)
}

func scanProfile(row interface{ Scan(...any) error }) (Profile, error) {
	var p Profile
	var learnt string
	var updated int64
	err := row.Scan(&p.Digest, &p.Name, &learnt, &updated)
	p.Learnt, p.Updated = json.RawMessage(learnt), at(updated)
	return p, err
}
