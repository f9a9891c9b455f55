package headless

import (
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela/store"
)

// used is a bench where two calls ran and one was denied.
func used(t *testing.T) *bench {
	t.Helper()
	b := offline(t)
	for _, c := range []struct{ tool, args, mode string }{
		{"read_file", `{"path":"go.mod"}`, ""}, {"read_file", `{"path":"../out"}`, ""}, {"write_file", `{"path":"=cmd|'C calc'!A1","content":"x"}`, "full"},
	} {
		// How it ends is in the audit.
		_ = ToolRun(t.Context(), b.term(), CallOptions{Setup: b.setup(), Name: c.tool, Args: c.args, Mode: c.mode})
	}
	return b
}

func TestAuditListsWhatWasDone(t *testing.T) {
	b := used(t)
	o := AuditOptions{Setup: b.setup(), Limit: 100}
	b.exit(AuditList(t.Context(), b.screen(), o), OK)
	says(t, "the list", b.out.String(), "read_file", "person", "runs (allow by mode)", "done", "denied DENIED")
	b.exit(AuditList(t.Context(), b.json(), o), OK)
	rows := decode[[]auditRow](t, b.out.Bytes())
	if len(rows) != 5 || rows[0].Kind != store.AuditIntent || time.Since(rows[0].Time) > time.Hour || len(rows[0].Hash) != 64 {
		t.Fatalf("rows %+v", rows)
	}
	for name, tc := range map[string]struct {
		session, tool, since string
		limit, want          int
	}{
		"a session":         {session: rows[0].Session[:6], want: 5},
		"no such session":   {session: "nothing", want: 0},
		"a tool":            {tool: "exec", want: 0},
		"since an hour":     {since: "1h", want: 5},
		"since a day":       {since: "7d", want: 5},
		"since tomorrow":    {since: time.Now().Add(24 * time.Hour).Format(time.DateOnly), want: 0},
		"the last two":      {limit: 2, want: 2},
		"all, with no more": {limit: 0, want: 5},
	} {
		b.exit(AuditList(t.Context(), b.json(), AuditOptions{Setup: b.setup(), Session: tc.session, Tool: tc.tool, Since: tc.since, Limit: tc.limit}), OK)
		if got := decode[[]auditRow](t, b.out.Bytes()); len(got) != tc.want {
			t.Errorf("%s: %d rows, want %d", name, len(got), tc.want)
		}
	}
	b.exit(AuditList(t.Context(), b.term(), AuditOptions{Setup: b.setup(), Since: "yesterday"}), Usage)
	b.exit(AuditList(t.Context(), b.term(), AuditOptions{Setup: b.setup(), Limit: -1}), Usage)
	b.exit(AuditList(t.Context(), b.term(), AuditOptions{Setup: b.setup(), Session: "last"}), Usage) // calls of the command line are no conversation
}

func TestAuditExportHasNoFormulas(t *testing.T) {
	b := used(t)
	b.exit(AuditExport(t.Context(), b.term(), AuditOptions{Setup: b.setup(), Limit: 1}), OK)
	rows, err := csv.NewReader(strings.NewReader(b.out.String())).ReadAll()
	if err != nil || len(rows) != 6 || len(rows[0]) != len(auditColumns) {
		t.Fatalf("%d rows, %v:\n%s", len(rows), err, b.out.String())
	}
	said := false
	for _, r := range rows {
		for _, c := range r {
			said = said || strings.Contains(c, "=cmd|")
			if c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") {
				t.Errorf("a cell is a formula: %q", c)
			}
		}
	}
	if !said {
		t.Errorf("the file's name is nowhere:\n%s", b.out.String())
	}
	for cell, want := range map[string]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": "'\t=1", " =1": "' =1", "\r": "'\r", "＝1": "'＝1", "plain": "plain", "": "", "a=1": "a=1",
	} {
		if got := harmless(cell); got != want {
			t.Errorf("%q is written as %q, want %q", cell, got, want)
		}
	}
	b.exit(AuditExport(t.Context(), b.json(), AuditOptions{Setup: b.setup()}), OK)
	for line := range strings.Lines(b.out.String()) {
		var r auditRow
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Seq == 0 {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAuditVerifyFindsAChange(t *testing.T) {
	b := used(t)
	b.exit(AuditVerify(t.Context(), b.json(), b.setup(), ""), OK)
	report := decode[store.AuditReport](t, b.out.Bytes())
	if !report.OK || report.Rows != 5 {
		t.Errorf("report %+v", report)
	}
	b.exit(AuditVerify(t.Context(), b.term(), b.setup(), report.Head), OK)
	says(t, "the answer", b.out.String(), "whole", report.Head)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(os.Getenv("CHELA_DATA_DIR"), "chela.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{`DROP TRIGGER audit_is_not_changed`, `UPDATE audit SET body = replace(body, 'denied', 'done') WHERE seq = 3`} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	b.exit(AuditVerify(t.Context(), b.json(), b.setup(), ""), Failed)
	if r := decode[store.AuditReport](t, b.out.Bytes()); r.OK || r.Broken != 3 {
		t.Errorf("report %+v", r)
	}
	err = AuditVerify(t.Context(), b.term(), b.setup(), "")
	b.exit(err, Failed)
	says(t, "the error", err.Error(), "row 3", "changed after it was written", "chela.db")
}

func TestAuditRetention(t *testing.T) {
	b := used(t)
	st := b.store()
	old := store.AuditEntry{Kind: store.AuditOutcome, At: time.Now().AddDate(0, 0, -40).UnixNano(), Call: "x", Outcome: "done"}
	if err := st.PutSession(t.Context(), store.Session{ID: "x", Workspace: "/w", Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PutAudited(t.Context(), store.Call{ID: "x", Session: "x", State: store.CallDone}, old); err != nil {
		t.Fatal(err)
	}
	rows := func() int {
		t.Helper()
		b.exit(AuditVerify(t.Context(), b.json(), b.setup(), ""), OK)
		return decode[store.AuditReport](t, b.out.Bytes()).Rows
	}
	if n := rows(); n != 6 {
		t.Errorf("without a limit %d rows are kept", n)
	}
	if _, err := st.PruneAudit(t.Context(), time.Now().Add(time.Minute), time.Now().AddDate(0, 0, -35)); err != nil {
		t.Fatal(err)
	}
	b.settings("security:\n  audit_days: 30\n")
	if n := rows(); n != 1 { // the row about the earlier deletion was old, too
		t.Errorf("%d rows are left", n)
	}
	b.settings("security:\n  audit_days: -1\n")
	b.exit(AuditVerify(t.Context(), b.term(), b.setup(), ""), OK)
	says(t, "the complaint", b.err.String(), "security.audit_days", "-1")
}
