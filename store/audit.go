package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The kinds of audit rows.
const (
	AuditIntent  = "intent"  // a call is about to run
	AuditOutcome = "outcome" // a call ended, whether or not it ran
	AuditPruned  = "pruned"  // older rows were deleted, by retention
)

// AuditEntry is what one row of the audit says. The store writes it as it is
// given: who makes it takes secrets out and bounds its texts first. Its JSON
// form, with the keys in this order, is what the hash covers.
type AuditEntry struct {
	Seq       int64    `json:"seq"` // the store sets it
	Kind      string   `json:"kind"`
	At        int64    `json:"at"` // unix nanoseconds
	Session   string   `json:"session,omitempty"`
	Turn      int      `json:"turn,omitempty"`
	Call      string   `json:"call,omitempty"`
	Tool      string   `json:"tool,omitempty"`
	Origin    string   `json:"origin,omitempty"` // who asked
	Args      string   `json:"args,omitempty"`
	Summary   string   `json:"summary,omitempty"`
	PlanHash  string   `json:"plan_hash,omitempty"`
	Level     string   `json:"level,omitempty"`
	Decision  string   `json:"decision,omitempty"`
	DecidedBy string   `json:"decided_by,omitempty"`
	Reasons   []string `json:"reasons,omitempty"`
	Rule      string   `json:"rule,omitempty"`
	Outcome   string   `json:"outcome,omitempty"` // the call's final state
	Code      string   `json:"code,omitempty"`    // of its error
	Took      int64    `json:"took_ns,omitempty"`
	Changed   []string `json:"changed,omitempty"` // files

	UpTo     int64  `json:"upto,omitempty"`      // of a pruned row: the last that was deleted
	UpToHash string `json:"upto_hash,omitempty"` // and its hash
}

// Time is when the row was written.
func (e AuditEntry) Time() time.Time { return at(e.At) }

// AuditRow is a row with its place in the chain.
type AuditRow struct {
	AuditEntry
	Prev string `json:"prev"`
	Hash string `json:"hash"`
}

// ErrAudit is in the chain when the audit could not be written. Nothing else of
// the same write was stored either.
var ErrAudit = errors.New("the audit cannot be written")

// auditHead is the setting that holds number and hash of the last row, as
// "number:hash". Without it a chain whose end was cut off would look whole.
const auditHead = "audit.head"

// chain computes the hash of a row.
func chain(prev, body string) string {
	h := sha256.New()
	h.Write([]byte(prev + "\n" + body))
	return hex.EncodeToString(h.Sum(nil))
}

// link is a place in the chain. The zero value is its beginning.
type link struct {
	seq  int64
	hash string
}

func (l link) String() string { return fmt.Sprintf("%d:%s", l.seq, l.hash) }

func parseLink(s string) (link, error) {
	n, hash, ok := strings.Cut(s, ":")
	seq, err := strconv.ParseInt(n, 10, 64)
	if !ok || err != nil || len(hash) != 2*sha256.Size {
		return link{}, fmt.Errorf("the audit's last place is stored as %q, which is none", s)
	}
	return link{seq, hash}, nil
}

const (
	headSQL   = `SELECT (SELECT value FROM settings WHERE key = ?), max(seq), hash FROM audit`
	appendSQL = `INSERT INTO audit (seq, body, prev, hash) VALUES (?, ?, ?, ?)`
	anchorSQL = `INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
)

// head returns where the chain ends: where the anchor says so, else its last
// row. Rows that are missing before the anchor stay missing; rows behind it,
// which the store did not write, stay and are counted, and break the chain.
func (s *Store) head(ctx context.Context, tx *sql.Tx) (link, error) {
	var anchor, hash sql.NullString
	var seq sql.NullInt64
	if err := s.row(ctx, tx, headSQL, auditHead).Scan(&anchor, &seq, &hash); err != nil {
		return link{}, err
	}
	if !anchor.Valid {
		return link{seq.Int64, hash.String}, nil
	}
	l, err := parseLink(anchor.String)
	l.seq = max(l.seq, seq.Int64)
	return l, err
}

// appendAudit adds rows to the chain, in a transaction that holds the write
// lock: two programs make one chain.
func (s *Store) appendAudit(ctx context.Context, tx *sql.Tx, entries ...AuditEntry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := s.appendChain(ctx, tx, entries); err != nil {
		return fmt.Errorf("%w: %w", ErrAudit, explain(err))
	}
	return nil
}

func (s *Store) appendChain(ctx context.Context, tx *sql.Tx, entries []AuditEntry) error {
	last, err := s.head(ctx, tx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		e.Seq = last.seq + 1
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		hash := chain(last.hash, string(body))
		if err := s.exec(ctx, tx, appendSQL, e.Seq, string(body), last.hash, hash); err != nil {
			return err
		}
		last = link{e.Seq, hash}
	}
	return s.exec(ctx, tx, anchorSQL, auditHead, last.String(), entries[len(entries)-1].At)
}

// PutAudited stores a call as PutCall does, and rows of the audit with it: both
// are stored or neither. When the audit is at fault, the error wraps ErrAudit.
func (s *Store) PutAudited(ctx context.Context, c Call, entries ...AuditEntry) (Call, error) {
	s.ready(ctx, putCallSQL)
	if len(entries) > 0 {
		s.ready(ctx, headSQL, appendSQL, anchorSQL)
	}
	err := s.tx(ctx, "storing call "+c.ID, func(tx *sql.Tx) error {
		if err := s.putCall(ctx, tx, &c); err != nil {
			return err
		}
		return s.appendAudit(ctx, tx, entries...)
	})
	return c, err
}

// interrupted are the outcomes of calls that a killed program left open.
func interrupted(calls []Call, now time.Time) []AuditEntry {
	out := make([]AuditEntry, len(calls))
	for i, c := range calls {
		out[i] = AuditEntry{
			Kind: AuditOutcome, At: nanos(now), Session: c.Session, Turn: c.Turn, Call: c.ID, Tool: c.Tool, Origin: c.Origin,
			PlanHash: c.PlanHash, Level: c.Level, Decision: c.Decision, DecidedBy: c.DecidedBy, Rule: c.Rule, Outcome: string(CallInterrupted),
		}
	}
	return out
}

// AuditFilter chooses rows. What is empty chooses all.
type AuditFilter struct {
	Session string    // its id, or the beginning of it
	Tool    string    // its name
	Since   time.Time // rows of then and later
	Last    int       // the last so many that fit
}

// Audit calls f with the rows that the filter chooses, the oldest first. An
// error of f ends it and is returned.
func (s *Store) Audit(ctx context.Context, f AuditFilter, each func(AuditRow) error) error {
	limit := f.Last
	if limit <= 0 {
		limit = -1 // none
	}
	rows, err := s.read.QueryContext(ctx, `SELECT seq, body, prev, hash FROM (
			SELECT seq, body, prev, hash FROM audit
			WHERE (?1 = '' OR substr(session, 1, length(?1)) = ?1) AND (?2 = '' OR tool = ?2) AND at >= ?3
			ORDER BY seq DESC LIMIT ?4
		) ORDER BY seq`, f.Session, f.Tool, nanos(f.Since), limit)
	if err != nil {
		return fmt.Errorf("reading the audit: %w", explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var r AuditRow
		var seq int64
		var body string
		if err := rows.Scan(&seq, &body, &r.Prev, &r.Hash); err != nil {
			return fmt.Errorf("reading the audit: %w", explain(err))
		}
		if err := json.Unmarshal([]byte(body), &r.AuditEntry); err != nil {
			return fmt.Errorf("row %d of the audit is damaged: %w (chela audit verify says more)", seq, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the audit: %w", explain(err))
	}
	return nil
}

// PruneAudit deletes the rows that are older than a moment, as far as they are
// together at the beginning, and returns how many. The chain stays verifiable:
// a new row says up to where rows were deleted, and which hash the last had.
func (s *Store) PruneAudit(ctx context.Context, before, now time.Time) (int, error) {
	var n int64
	err := s.tx(ctx, "deleting old rows of the audit", func(tx *sql.Tx) error {
		var upto link
		err := tx.QueryRowContext(ctx, `SELECT seq, hash FROM audit
			WHERE seq < coalesce((SELECT min(seq) FROM audit WHERE at >= ?), 1 << 62)
			ORDER BY seq DESC LIMIT 1`, nanos(before)).Scan(&upto.seq, &upto.hash)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.appendAudit(ctx, tx, AuditEntry{Kind: AuditPruned, At: nanos(now), UpTo: upto.seq, UpToHash: upto.hash}); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM audit WHERE seq <= ?`, upto.seq)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return int(n), err
}
