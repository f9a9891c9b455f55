package store

import (
	"context"
	"fmt"
)

// Check has SQLite look through the whole file for damage. It takes time in
// proportion to the file's size.
func (s *Store) Check(ctx context.Context) error {
	var verdict string
	if err := s.read.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return fmt.Errorf("checking the database %s: %w", s.path, explain(err))
	}
	if verdict != "ok" {
		return fmt.Errorf("the database %s is damaged: %s (move it away, and a new one is begun)", s.path, verdict)
	}
	return nil
}
