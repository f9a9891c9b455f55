package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"io"
	"time"
)

// Snapshot is what a file held before a call changed it.
type Snapshot struct {
	Call    string
	Path    string // relative to the workspace
	Existed bool
	Before  []byte
	After   string // hash of what the call left, or "absent"; empty: it did not return
	Created time.Time
}

// PutSnapshots stores what files held before a call, all of them or none.
func (s *Store) PutSnapshots(ctx context.Context, list []Snapshot) error {
	if len(list) == 0 {
		return nil
	}
	return s.tx(ctx, "keeping what files held before call "+list[0].Call, func(tx *sql.Tx) error {
		for _, v := range list {
			packed, err := pack(v.Before)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots (call, path, existed, before, after, created_at) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (call, path) DO NOTHING`, v.Call, v.Path, v.Existed, packed, v.After, nanos(v.Created)); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetSnapshotsAfter notes what a call left of its files: path to hash.
func (s *Store) SetSnapshotsAfter(ctx context.Context, call string, after map[string]string) error {
	return s.tx(ctx, "noting what call "+call+" left", func(tx *sql.Tx) error {
		for path, hash := range after {
			if _, err := tx.ExecContext(ctx, `UPDATE snapshots SET after = ? WHERE call = ? AND path = ?`, hash, call, path); err != nil {
				return err
			}
		}
		return nil
	})
}

// Snapshots returns what a call's files held before it, by path.
func (s *Store) Snapshots(ctx context.Context, call string) ([]Snapshot, error) {
	return query(ctx, s.read, "reading what files held before call "+call, func(row interface{ Scan(...any) error }) (Snapshot, error) {
		var v Snapshot
		var packed []byte
		var created int64
		if err := row.Scan(&v.Call, &v.Path, &v.Existed, &packed, &v.After, &created); err != nil {
			return v, err
		}
		v.Created = at(created)
		var err error
		v.Before, err = unpack(packed)
		return v, err
	}, `SELECT call, path, existed, before, after, created_at FROM snapshots WHERE call = ? ORDER BY path`, call)
}

// Undoable returns the ids of a turn's calls that have snapshots, the newest
// first.
func (s *Store) Undoable(ctx context.Context, session string, turn int) ([]string, error) {
	return query(ctx, s.read, "looking for what can be undone", func(row interface{ Scan(...any) error }) (string, error) {
		var id string
		err := row.Scan(&id)
		return id, err
	}, `SELECT id FROM calls c WHERE session = ? AND turn = ? AND EXISTS (SELECT 1 FROM snapshots WHERE call = c.id) ORDER BY seq DESC`, session, turn)
}

// PruneSnapshots forgets those made before a time.
func (s *Store) PruneSnapshots(ctx context.Context, before time.Time) error {
	return s.tx(ctx, "forgetting old file contents", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE created_at < ?`, nanos(before))
		return err
	})
}

func pack(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return []byte{}, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return b.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return []byte{}, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return data, z.Close()
}
