package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// AuditReport is what a look through the whole chain found.
type AuditReport struct {
	OK     bool       `json:"ok"`
	Rows   int        `json:"rows"`
	First  int64      `json:"first"`  // number of the oldest row; more than 1: older ones were deleted by retention
	Last   int64      `json:"last"`   // number of the newest row
	Head   string     `json:"head"`   // hash of the newest row; noted elsewhere, it proves all rows up to it
	Broken int64      `json:"broken"` // number of the first row that is not as it was written, or missing; 0: none
	Fault  string     `json:"fault,omitempty"`
	Open   []AuditRow `json:"open"`            // intents without an outcome: running now, or interrupted
	Known  *bool      `json:"known,omitempty"` // whether the hash that was asked for is a row's
}

// VerifyAudit computes the chain again. Each row must have the hash of its
// content and of the row before, numbers must follow one another, the first row
// must be number 1 or follow what retention deleted, and the last must be the
// one that the anchor names. known is a hash that the chain must hold, as it was
// noted at another time; empty: none. An error is the database's; what is wrong
// with the chain is in the report.
//
// The chain shows what was changed by somebody who did not compute it anew. Who
// can write the file can do that; a hash noted elsewhere shows it.
func (s *Store) VerifyAudit(ctx context.Context, known string) (AuditReport, error) {
	r := AuditReport{Open: []AuditRow{}}
	// One transaction: rows and anchor of the same moment.
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return r, fmt.Errorf("verifying the audit: %w", explain(err))
	}
	defer func() { _ = tx.Rollback() }() // it only read
	v := verifier{report: &r, open: map[string]AuditRow{}, known: strings.ToLower(known)}
	if err := v.rows(ctx, tx); err != nil {
		return r, fmt.Errorf("verifying the audit: %w", explain(err))
	}
	if err := v.anchor(ctx, tx); err != nil {
		return r, fmt.Errorf("verifying the audit: %w", explain(err))
	}
	for _, call := range v.order {
		if row, ok := v.open[call]; ok {
			r.Open = append(r.Open, row)
		}
	}
	if v.known != "" {
		r.Known = &v.found
		if !v.found {
			v.broke(r.Last, "no row has the hash %s: the chain is not the one that it was noted of, or the row was deleted by retention", known)
		}
	}
	r.OK = r.Fault == ""
	return r, nil
}

type verifier struct {
	report *AuditReport
	last   link
	pruned link // as the newest row about it says
	first  *link
	open   map[string]AuditRow
	order  []string
	known  string
	found  bool
}

// broke notes the first fault.
func (v *verifier) broke(seq int64, format string, args ...any) {
	if v.report.Fault == "" {
		v.report.Broken, v.report.Fault = seq, fmt.Sprintf(format, args...)
	}
}

func (v *verifier) rows(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT seq, body, prev, hash FROM audit ORDER BY seq`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var body string
		var r AuditRow
		if err := rows.Scan(&seq, &body, &r.Prev, &r.Hash); err != nil {
			return err
		}
		v.row(seq, body, r)
	}
	return rows.Err()
}

func (v *verifier) row(seq int64, body string, r AuditRow) {
	if v.report.Rows++; v.first == nil {
		v.first = &link{seq - 1, r.Prev}
		v.report.First = seq
		v.last = *v.first // what is before it is checked against the anchor of retention
	}
	parsed := json.Unmarshal([]byte(body), &r.AuditEntry)
	switch {
	case seq != v.last.seq+1:
		v.broke(v.last.seq+1, "row %d is missing: row %d follows row %d", v.last.seq+1, seq, v.last.seq)
	case r.Prev != v.last.hash:
		v.broke(seq, "row %d does not follow row %d as it is now: one of them was changed or replaced", seq, v.last.seq)
	case r.Hash != chain(r.Prev, body):
		v.broke(seq, "row %d was changed after it was written", seq)
	case parsed != nil || r.Seq != seq:
		v.broke(seq, "row %d does not hold what belongs there", seq)
	}
	v.found = v.found || v.known != "" && r.Hash == v.known
	v.last = link{seq, r.Hash}
	switch r.Kind {
	case AuditIntent:
		if _, twice := v.open[r.Call]; !twice {
			v.order = append(v.order, r.Call)
		}
		v.open[r.Call] = r
	case AuditOutcome:
		delete(v.open, r.Call)
	case AuditPruned:
		v.pruned = link{r.UpTo, r.UpToHash}
	}
}

// anchor checks both ends of the chain.
func (v *verifier) anchor(ctx context.Context, tx *sql.Tx) error {
	v.report.Last, v.report.Head = v.last.seq, v.last.hash
	switch {
	case v.first == nil || *v.first == v.pruned:
	case v.first.seq == v.pruned.seq:
		v.report.Fault = "" // what is wrong at the beginning comes first
		v.broke(v.report.First, "row %d does not follow what was there before it", v.report.First)
	default:
		v.report.Fault = ""
		v.broke(v.pruned.seq+1, "the rows from %d to %d are missing, and retention did not delete them", v.pruned.seq+1, v.first.seq)
	}
	var text string
	err := tx.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, auditHead).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		if v.first != nil {
			v.broke(v.last.seq, "it is not known which row is the last: the setting %s is gone", auditHead)
		}
		return nil
	}
	if err != nil {
		return err
	}
	end, err := parseLink(text)
	switch {
	case err != nil:
		v.broke(v.last.seq, "%v", err)
	case end.seq > v.last.seq:
		v.broke(v.last.seq+1, "the rows from %d to %d are missing at the end", v.last.seq+1, end.seq)
	case end != v.last:
		v.broke(v.last.seq, "row %d is not the last that was written, which is %d", v.last.seq, end.seq)
	}
	return nil
}
