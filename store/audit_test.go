package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chela/store"
)

// audited stores n calls with an intent and an outcome each: 2n rows.
func audited(t *testing.T, s *store.Store, session string, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		c := store.Call{ID: fmt.Sprintf("%s-%d", session, i), Session: session, Tool: []string{"exec", "write_file"}[i%2], State: store.CallRunning, EmittedAt: time.Now()}
		e := store.AuditEntry{Kind: store.AuditIntent, At: time.Now().UnixNano(), Session: session, Call: c.ID, Tool: c.Tool, Args: `{"a":"<1>"}`}
		var err error
		if c, err = s.PutAudited(t.Context(), c, e); err != nil {
			t.Fatal(err)
		}
		c.State, e.Kind, e.Outcome = store.CallDone, store.AuditOutcome, "done"
		if _, err = s.PutAudited(t.Context(), c, e); err != nil {
			t.Fatal(err)
		}
	}
}

func verify(t *testing.T, s *store.Store) store.AuditReport {
	t.Helper()
	r, err := s.VerifyAudit(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// raw opens the file past the store, as somebody with an editor would.
func raw(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.Path()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, q string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), q, args...); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func withoutTriggers(t testing.TB, db *sql.DB) {
	t.Helper()
	execute(t, db, `DROP TRIGGER audit_is_not_changed`)
	execute(t, db, `DROP TRIGGER audit_is_not_deleted`)
}

func TestTheAuditIsOneChain(t *testing.T) {
	s := fresh(t)
	if r := verify(t, s); !r.OK || r.Rows != 0 {
		t.Errorf("the empty audit: %+v", r)
	}
	put(t, s, session("a"))
	audited(t, s, "a", 0, 5)
	r := verify(t, s)
	if !r.OK || r.Rows != 10 || r.First != 1 || r.Last != 10 || len(r.Head) != 64 || len(r.Open) != 0 {
		t.Errorf("report: %+v", r)
	}
	for known, want := range map[string]bool{strings.ToUpper(r.Head): true, strings.Repeat("0", 64): false} {
		again, err := s.VerifyAudit(t.Context(), known)
		if err != nil || again.OK != want || again.Known == nil || *again.Known != want {
			t.Errorf("known hash %s: %+v, %v", known, again, err)
		}
	}
}

func TestTheAuditRefusesToBeChanged(t *testing.T) {
	s := fresh(t)
	put(t, s, session("a"))
	audited(t, s, "a", 0, 2)
	db := raw(t, s)
	for _, q := range []string{
		`UPDATE audit SET body = '{}' WHERE seq = 1`, `UPDATE audit SET seq = 100 WHERE seq = 4`, `DELETE FROM audit`, `DELETE FROM audit WHERE seq = 4`,
		`INSERT OR REPLACE INTO audit (seq, body, prev, hash) VALUES (2, '{}', '', '')`,
	} {
		_, err := db.ExecContext(t.Context(), q)
		if q[0] != 'I' && (err == nil || !strings.Contains(err.Error(), "append-only")) {
			t.Errorf("%s: %v", q, err)
		}
	}
	// REPLACE deletes without the trigger; the chain shows it.
	if r := verify(t, s); r.OK || r.Broken != 2 {
		t.Errorf("after a replaced row: %+v", r)
	}
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, s); r.Rows != 4 {
		t.Errorf("a deleted session took its audit along: %+v", r)
	}
}

// Whatever is done to the rows behind the store's back, the first row that is
// concerned is named.
func TestEveryTamperingIsFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		s, err := store.Open(t.Context(), filepath.Join(dir, "chela.db"))
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		if err := s.PutSession(t.Context(), session("a")); err != nil {
			rt.Fatal(err)
		}
		n := rapid.IntRange(2, 6).Draw(rt, "calls")
		audited(t, s, "a", 0, n)
		db, err := sql.Open("sqlite", "file:"+s.Path())
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		withoutTriggers(t, db)
		row := rapid.IntRange(1, 2*n).Draw(rt, "row")
		broken := int64(row)
		switch rapid.SampledFrom([]string{"edit", "hash", "prev", "remove", "swap", "insert", "cut", "empty"}).Draw(rt, "tampering") {
		case "edit":
			execute(t, db, `UPDATE audit SET body = replace(body, '"tool":"', '"tool":"x') WHERE seq = ?`, row)
		case "hash":
			execute(t, db, `UPDATE audit SET hash = ? WHERE seq = ?`, strings.Repeat("1", 64), row)
		case "prev":
			execute(t, db, `UPDATE audit SET prev = ? WHERE seq = ?`, strings.Repeat("1", 64), row)
		case "remove":
			execute(t, db, `DELETE FROM audit WHERE seq = ?`, row)
		case "swap": // with the next, or the one before if it is the last
			row = min(row, 2*n-1)
			broken = int64(row)
			execute(t, db, `UPDATE audit SET seq = -1 WHERE seq = ?`, row)
			execute(t, db, `UPDATE audit SET seq = ? WHERE seq = ?`, row, row+1)
			execute(t, db, `UPDATE audit SET seq = ? WHERE seq = -1`, row+1)
		case "insert":
			broken = int64(2*n) + 1
			execute(t, db, `INSERT INTO audit (seq, body, prev, hash) SELECT seq + 1, body, hash, hash FROM audit ORDER BY seq DESC LIMIT 1`)
		case "cut":
			execute(t, db, `DELETE FROM audit WHERE seq >= ?`, row)
		case "empty":
			broken = 1
			execute(t, db, `DELETE FROM audit`)
		}
		r, err := s.VerifyAudit(t.Context(), "")
		if err != nil {
			rt.Fatal(err)
		}
		if r.OK || r.Broken != broken || r.Fault == "" {
			rt.Errorf("want row %d broken: %+v", broken, r)
		}
		// What is written afterwards does not hide it.
		audited(t, s, "a", n, 1)
		if r, err = s.VerifyAudit(t.Context(), ""); err != nil || r.OK {
			rt.Errorf("after a further call: %+v, %v", r, err)
		}
	})
}

func TestAnAnchorThatIsGoneIsFound(t *testing.T) {
	s := fresh(t)
	put(t, s, session("a"))
	audited(t, s, "a", 0, 2)
	execute(t, raw(t, s), `DELETE FROM settings WHERE key = 'audit.head'`)
	if r := verify(t, s); r.OK || !strings.Contains(r.Fault, "audit.head") {
		t.Errorf("report: %+v", r)
	}
}

func TestRetentionKeepsTheChain(t *testing.T) {
	s := fresh(t)
	put(t, s, session("a"))
	now := time.Now()
	audited(t, s, "a", 0, 3)
	if n, err := s.PruneAudit(t.Context(), now.Add(-time.Hour), now); n != 0 || err != nil {
		t.Errorf("nothing is old, yet %d rows went, %v", n, err)
	}
	cut := time.Now()
	audited(t, s, "a", 3, 2)
	if n, err := s.PruneAudit(t.Context(), cut, now); n != 6 || err != nil {
		t.Errorf("%d rows went, %v", n, err)
	}
	if r := verify(t, s); !r.OK || r.First != 7 || r.Last != 11 || r.Rows != 5 {
		t.Errorf("after the first: %+v", r)
	}
	audited(t, s, "a", 5, 1)
	if n, err := s.PruneAudit(t.Context(), time.Now().Add(time.Hour), time.Now().Add(time.Hour)); n != 7 || err != nil {
		t.Errorf("%d rows went, %v", n, err)
	}
	audited(t, s, "a", 6, 1)
	if r := verify(t, s); !r.OK || r.First != 14 || r.Rows != 3 {
		t.Errorf("after the second: %+v", r)
	}
	db := raw(t, s)
	if _, err := db.ExecContext(t.Context(), `DELETE FROM audit WHERE seq >= 14`); err == nil {
		t.Error("what retention did not name can be deleted")
	}
	withoutTriggers(t, db)
	execute(t, db, `DELETE FROM audit WHERE seq = 14`)
	if r := verify(t, s); r.OK || r.Broken != 1 {
		t.Errorf("the row that says what was deleted is gone: %+v", r)
	}
}

func TestAKilledCallIsReportedAndClosed(t *testing.T) {
	s := fresh(t)
	put(t, s, session("a"))
	c := store.Call{ID: "c1", Session: "a", Tool: "exec", State: store.CallRunning, PlanHash: "p", EmittedAt: time.Now()}
	if _, err := s.PutAudited(t.Context(), c, store.AuditEntry{Kind: store.AuditIntent, At: 1, Session: "a", Call: "c1", Tool: "exec"}); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, s); !r.OK || len(r.Open) != 1 || r.Open[0].Call != "c1" {
		t.Errorf("the intent without an outcome: %+v", r)
	}
	if _, err := s.Interrupt(t.Context(), "a", time.Now()); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, s); !r.OK || len(r.Open) != 0 || r.Rows != 2 {
		t.Errorf("after the restart: %+v", r)
	}
	var last store.AuditRow
	if err := s.Audit(t.Context(), store.AuditFilter{}, func(r store.AuditRow) error { last = r; return nil }); err != nil {
		t.Fatal(err)
	}
	if last.Kind != store.AuditOutcome || last.Outcome != "interrupted" || last.PlanHash != "p" {
		t.Errorf("the outcome: %+v", last)
	}
}

func TestAuditFilters(t *testing.T) {
	s := fresh(t)
	put(t, s, session("abc"))
	put(t, s, session("xyz"))
	audited(t, s, "abc", 0, 4)
	middle := time.Now()
	audited(t, s, "xyz", 0, 2)
	for name, tc := range map[string]struct {
		filter store.AuditFilter
		want   int
	}{
		"all":               {store.AuditFilter{}, 12},
		"a session":         {store.AuditFilter{Session: "xyz"}, 4},
		"its beginning":     {store.AuditFilter{Session: "ab"}, 8},
		"a tool":            {store.AuditFilter{Tool: "exec"}, 6},
		"since":             {store.AuditFilter{Since: middle}, 4},
		"the last":          {store.AuditFilter{Last: 3}, 3},
		"the last of some":  {store.AuditFilter{Session: "abc", Last: 5}, 5},
		"nothing":           {store.AuditFilter{Session: "none"}, 0},
		"no pattern either": {store.AuditFilter{Session: "%"}, 0},
	} {
		var seqs []int64
		err := s.Audit(t.Context(), tc.filter, func(r store.AuditRow) error {
			seqs = append(seqs, r.Seq)
			return nil
		})
		if err != nil || len(seqs) != tc.want {
			t.Errorf("%s: rows %v, %v; want %d", name, seqs, err, tc.want)
		}
		for i := 1; i < len(seqs); i++ {
			if seqs[i] <= seqs[i-1] {
				t.Errorf("%s: out of order: %v", name, seqs)
			}
		}
	}
	stop := errors.New("enough")
	if err := s.Audit(t.Context(), store.AuditFilter{}, func(store.AuditRow) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the reader's error came back as %v", err)
	}
}

func TestACallWithoutItsAuditIsNotStored(t *testing.T) {
	s := fresh(t)
	put(t, s, session("a"))
	execute(t, raw(t, s), `DROP TABLE audit`)
	c := store.Call{ID: "c1", Session: "a", Tool: "exec", State: store.CallRunning, EmittedAt: time.Now()}
	if _, err := s.PutAudited(t.Context(), c, store.AuditEntry{Kind: store.AuditIntent, At: 1}); !errors.Is(err, store.ErrAudit) {
		t.Errorf("the error is %v", err)
	}
	if calls, err := s.Calls(t.Context(), "a"); err != nil || len(calls) != 0 {
		t.Errorf("stored all the same: %v, %v", calls, err)
	}
}

// The first writes of several goroutines prepare the statements that the others
// are about to run.
func TestTheFirstCallsMayComeAtOnce(t *testing.T) {
	for range 20 {
		s := fresh(t)
		put(t, s, session("a"))
		done := make(chan error, 8)
		for i := range cap(done) {
			go func() {
				c := store.Call{ID: fmt.Sprint(i), Session: "a", Tool: "exec", State: store.CallRunning, EmittedAt: time.Now()}
				_, err := s.PutAudited(t.Context(), c, store.AuditEntry{Kind: store.AuditIntent, At: 1, Call: c.ID})
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if r := verify(t, s); !r.OK || r.Rows != cap(done) {
			t.Fatalf("%+v", r)
		}
	}
}
