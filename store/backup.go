package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrExists is in the chain when a backup would replace a file.
var ErrExists = errors.New("there is a file of that name")

// Backup writes a sound copy of everything to a new file that only its owner can
// read, while others read and write. A copy that did not become whole does not
// stay. Its error wraps [ErrExists] if there is such a file: a backup never
// replaces one.
func (s *Store) Backup(ctx context.Context, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("backing up to %s: %w", to, err)
	}
	// Made first and exclusively, so that it has the right mode from the first
	// byte; SQLite takes an empty file for a new database.
	f, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("backing up to %s: %w: give another name, or remove it", to, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("backing up to %s: %w", to, err)
	}
	defer func() {
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("backing up to %s: %w", to, errors.Join(explain(err), os.Remove(to)))
		}
	}()
	if _, err = s.write.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return err
	}
	return sound(ctx, to)
}

// sound has SQLite look through a database that nobody has open.
func sound(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+escaped(path)+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	switch err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); {
	case err != nil:
		return fmt.Errorf("%s is no sound database: %w", path, err)
	case verdict != "ok":
		return fmt.Errorf("%s is no sound database: %s", path, verdict)
	}
	var n int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&n); err != nil {
		return fmt.Errorf("%s is no database of chela: %w", path, err)
	}
	return nil
}

// Restore puts a backup in the place of the database at path, brings its schema
// up to date, and returns where the one that was there is now; empty if there
// was none. Nothing changes if the backup is not sound, is of a newer chela, or
// another program has the database open: the last error wraps [ErrInUse].
func Restore(ctx context.Context, from, path string) (aside string, err error) {
	wrap := func(err error) error { return fmt.Errorf("restoring %s: %w", from, err) }
	if err := sound(ctx, from); err != nil {
		return "", wrap(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", wrap(err)
	}
	release, err := lockOpening(ctx, path)
	if err != nil {
		return "", wrap(err)
	}
	defer release()
	// A copy is made ready beside the database: what can fail has failed before
	// anything is moved.
	made := path + ".restoring"
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(made + suffix) // absent when all went well
		}
	}()
	if err := copyFile(from, made); err != nil {
		return "", wrap(err)
	}
	s, err := open(ctx, made) // migrates
	if err != nil {
		return "", wrap(err)
	}
	if err := s.Close(); err != nil {
		return "", wrap(err)
	}
	if aside, err = moveAside(ctx, path); err != nil {
		return "", wrap(err)
	}
	if err := os.Rename(made, path); err != nil {
		if aside != "" {
			err = errors.Join(err, os.Rename(aside, path))
		}
		return "", wrap(err)
	}
	return aside, nil
}

// moveAside gives the database at path another name, if nobody has it open.
func moveAside(ctx context.Context, path string) (aside string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err := alone(ctx, path); err != nil {
		return "", err
	}
	aside = fmt.Sprintf("%s.before-restore-%s", path, time.Now().UTC().Format("20060102-150405.000"))
	for _, suffix := range []string{"-wal", "-shm", ""} { // the database last: until then it is whole
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// alone makes sure that no other program has the database open, and that all of
// it is in the one file. One that is damaged is nobody's.
func alone(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+escaped(path)+"?_pragma=locking_mode(exclusive)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	// Leaving the write-ahead log takes the whole database for oneself.
	_, err = db.ExecContext(ctx, `PRAGMA journal_mode=delete`)
	if isDamaged(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the database %s: %w: end the other chela first (%w)", path, ErrInUse, err)
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}
