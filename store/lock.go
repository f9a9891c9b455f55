package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
