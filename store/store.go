// Package store keeps everything that lasts in one SQLite file: sessions,
// messages, calls with their five steps, approvals, rules, settings of last use,
// and the audit.
//
// Guarantees:
//
//   - When a method that writes returns nil, what it wrote survives a kill of
//     the process at any later moment (WAL, synchronous=NORMAL; a power cut may
//     lose the last moments, never the file's soundness).
//   - Writes happen one at a time, each in an immediate transaction; readers
//     are never blocked by a writer. Two programs may use the same file.
//   - The audit only grows, as one chain of hashes whoever writes it; what was
//     changed, removed or put elsewhere in it is found (see VerifyAudit).
//   - The file and its companions can be read by their owner only (0600).
//   - A file that is no database, or is damaged, is moved aside under a name
//     that says so, and a new one begun; Open reports it in [Store.Recovered].
//
// A Store is safe for concurrent use.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the open database.
type Store struct {
	path      string
	write     *sql.DB // one connection
	read      *sql.DB
	recovered string

	mu    sync.Mutex           // guards stmts; nothing waits for a connection under it
	stmts map[string]*sql.Stmt // of the write connection, by their text
}

// busyTimeout is how long a writer waits for another program's write.
const busyTimeout = 10 * time.Second

// Open opens the database at path, creating it and its folder when absent,
// and brings its schema up to date. Its error says what to do: the disk may be
// full, the folder read-only, or the file of a newer version.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder %s: %w (set CHELA_DATA_DIR to a folder you can write)", filepath.Dir(path), err)
	}
	// One program at a time: SQLite does not wait for its turn when the journal
	// mode changes, two must not bring the schema up to date at once, and a
	// damaged file is moved aside once.
	release, err := lockOpening(ctx, path)
	if err != nil {
		return nil, err
	}
	defer release()
	s, err := open(ctx, path)
	if err == nil || !isDamaged(err) {
		return s, err
	}
	aside := fmt.Sprintf("%s.corrupt-%s", path, time.Now().UTC().Format("20060102-150405.000"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if rerr := os.Rename(path+suffix, aside+suffix); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			return nil, fmt.Errorf("the database %s is damaged (%w) and cannot be moved aside: %w", path, err, rerr)
		}
	}
	if s, err = open(ctx, path); err != nil {
		return nil, err
	}
	s.recovered = aside
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	// Created before SQLite sees it, so that the mode is right from the first
	// byte; SQLite gives its companions the mode of the database.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w (set CHELA_DATA_DIR to a folder you can write)", path, err)
	}
	f.Close()

	s := &Store{path: path, stmts: map[string]*sql.Stmt{}}
	dsn := func(extra string) string {
		q := url.Values{}
		q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
		q.Add("_pragma", "foreign_keys(1)")
		q.Add("_pragma", "synchronous(normal)")
		q.Add("_txlock", "immediate")
		return "file:" + escaped(path) + "?" + q.Encode() + extra
	}
	if s.write, err = sql.Open("sqlite", dsn("&_pragma=journal_mode(wal)")); err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", path, err)
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrate(ctx); err != nil {
		s.write.Close()
		return nil, fmt.Errorf("preparing the database %s: %w", path, explain(err))
	}
	if s.read, err = sql.Open("sqlite", dsn("&_pragma=query_only(1)")); err != nil {
		s.write.Close()
		return nil, fmt.Errorf("opening the database %s for reading: %w", path, err)
	}
	s.read.SetMaxOpenConns(4)
	s.read.SetMaxIdleConns(2)
	return s, nil
}

// escaped is a path as SQLite's addresses have it.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

func (s *Store) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.write, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return fmt.Errorf("it was made by a newer chela (schema %d, this one knows %d): update chela", current, target)
	}
	if current == target {
		return nil
	}
	_, err = p.Up(ctx)
	return err
}

// Path is the database's file name.
func (s *Store) Path() string { return s.path }

// Recovered is where a damaged database was moved when this one was opened in
// its place; empty if none was.
func (s *Store) Recovered() string { return s.recovered }

// Close waits for running queries and closes the file.
func (s *Store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// tx runs f in one immediate write transaction.
func (s *Store) tx(ctx context.Context, what string, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, explain(err))
	}
	if err := f(tx); err != nil {
		return fmt.Errorf("%s: %w", what, errors.Join(explain(err), ignoreDone(tx.Rollback())))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", what, explain(err))
	}
	return nil
}

// ready prepares statements that are run again and again: SQLite takes longer to
// read one than to run it. It must be called outside a transaction, which holds
// the only connection. What cannot be prepared fails when it is run.
func (s *Store) ready(ctx context.Context, queries ...string) {
	for _, q := range queries {
		if s.stmt(q) != nil {
			continue
		}
		// Not under mu: who holds the connection may be waiting for mu.
		stmt, err := s.write.PrepareContext(ctx, q)
		if err != nil {
			continue
		}
		s.mu.Lock()
		if s.stmts[q] == nil {
			s.stmts[q], stmt = stmt, nil
		}
		s.mu.Unlock()
		if stmt != nil { // another goroutine was first
			_ = stmt.Close()
		}
	}
}

// stmt is a prepared statement, or nil.
func (s *Store) stmt(q string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stmts[q]
}

// row runs a statement that gives one row, prepared if it is ready.
func (s *Store) row(ctx context.Context, tx *sql.Tx, q string, args ...any) *sql.Row {
	stmt := s.stmt(q)
	if stmt == nil {
		return tx.QueryRowContext(ctx, q, args...)
	}
	return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
}

// exec runs a statement that gives none, prepared if it is ready.
func (s *Store) exec(ctx context.Context, tx *sql.Tx, q string, args ...any) error {
	stmt := s.stmt(q)
	var err error
	if stmt == nil {
		_, err = tx.ExecContext(ctx, q, args...)
	} else {
		_, err = tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	}
	return err
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// ErrNotFound is in the chain when what was asked for is not stored.
var ErrNotFound = errors.New("not found")

// explain adds the remedy to the errors that a person can do something about.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (the disk is full: free some space; nothing stored so far is lost)", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w (the data folder cannot be written: check its permissions, or set CHELA_DATA_DIR)", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w (another chela is writing for over %s: close it, or try again)", err, busyTimeout)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w (the disk reports an error)", err)
	}
	return err
}

// isDamaged reports whether the file is not a sound database.
func isDamaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
