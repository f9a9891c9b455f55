package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrInUse is in the chain when another program has the session open.
var ErrInUse = errors.New("session is open in another chela")

// Lock marks a session as open in this program, so that no other one runs it
// or takes its calls for interrupted. The operating system ends the lock with
// the process, however that dies. release may be called more than once.
func (s *Store) Lock(session string) (release func(), err error) {
	dir := filepath.Join(filepath.Dir(s.path), "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the lock folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, session+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking session %s: %w", session, err)
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("session %s: %w", session, err)
	}
	// The file stays: removing it would let two programs lock two files of
	// the same name.
	return func() { f.Close() }, nil
}

// lockOpening waits until no other program is opening the database at path. The
// operating system ends the lock with the process. It gives up after
// [busyTimeout], or when ctx ends.
func lockOpening(ctx context.Context, path string) (release func(), err error) {
	f, err := os.OpenFile(path+".opening", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w (set CHELA_DATA_DIR to a folder you can write)", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		err := flock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, ErrInUse) {
			f.Close()
			return nil, fmt.Errorf("opening the database %s: locking %s: %w", path, f.Name(), err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("opening the database %s: another chela has been opening it for over %s (end that one, or try again): %w", path, busyTimeout, context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}
