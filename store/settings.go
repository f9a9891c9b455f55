package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Keys of settings that the program remembers by itself. What a person sets is
// in settings.yml, not here.
const (
	LastModel = "last.model"
	LastTheme = "last.theme"
)

// Remember keeps a value of last use.
func (s *Store) Remember(ctx context.Context, key, value string) error {
	return s.tx(ctx, "remembering "+key, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, key, value, nanos(time.Now()))
		return err
	})
}

// Recall returns a remembered value, or "" if there is none.
func (s *Store) Recall(ctx context.Context, key string) (string, error) {
	var v string
	err := s.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("recalling %s: %w", key, explain(err))
	}
	return v, nil
}
