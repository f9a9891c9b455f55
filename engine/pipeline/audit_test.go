package pipeline_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
)

func (r *rig) audit() []store.AuditRow {
	r.t.Helper()
	var rows []store.AuditRow
	err := r.store.Audit(r.t.Context(), store.AuditFilter{}, func(row store.AuditRow) error {
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if report, err := r.store.VerifyAudit(r.t.Context(), ""); err != nil || !report.OK {
		r.t.Fatalf("the chain: %+v, %v", report, err)
	}
	return rows
}

func kinds(rows []store.AuditRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Kind+" "+r.Outcome)
	}
	return out
}

func TestTheAuditTellsIntentAndOutcome(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode { return pipeline.Standard }
	out := r.do(t.Context(), call("put", `{"path":"f","text":"new"}`), call("look", `{"text":"a"}`))
	rows := r.audit()
	want := []string{"intent ", "intent ", "outcome done", "outcome done"} // the read's is stored with its permission
	if got := kinds(rows); !slices.Equal(got, want) {
		t.Fatalf("rows %v", got)
	}
	in := rows[slices.IndexFunc(rows, func(r store.AuditRow) bool { return r.Kind == store.AuditIntent && r.Tool == "put" })]
	if in.Session != "s1" || in.Call != out[0].Call || in.Origin != string(toolkit.FromModel) || in.PlanHash != out[0].Plan.Hash ||
		in.Decision != "allow" || in.DecidedBy != pipeline.ByMode || len(in.Reasons) == 0 || in.Level != "moderate" || !strings.Contains(in.Args, `"path":"f"`) {
		t.Errorf("intent %+v", in)
	}
	end := rows[2]
	if end.Call != out[0].Call || !slices.Equal(end.Changed, []string{"changed f"}) || end.Took <= 0 || end.Code != "" {
		t.Errorf("outcome %+v", end)
	}
}

func TestTheAuditTellsWhatNeverRan(t *testing.T) {
	for name, tc := range map[string]struct {
		mode    pipeline.Mode
		call    pipeline.Call
		outcome string
		code    toolkit.Code
		by      string
	}{
		"the floor":       {pipeline.Unlimited, call("put", `{"path":"../out","text":"x"}`), "denied", toolkit.CodeDenied, pipeline.ByFloor},
		"the mode":        {pipeline.Deny, call("look", `{"text":"a"}`), "denied", toolkit.CodeDenied, pipeline.ByMode},
		"nobody there":    {pipeline.Ask, call("put", `{"path":"a","text":"x"}`), "denied", toolkit.CodeApproval, pipeline.ByMode},
		"wrong arguments": {pipeline.Unlimited, call("look", `{}`), "failed", toolkit.CodeMissing, ""},
		"no such tool":    {pipeline.Unlimited, call("none", `{}`), "failed", toolkit.CodeNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.env.Attended = false
			r.env.Mode = func() pipeline.Mode { return tc.mode }
			r.do(t.Context(), tc.call)
			rows := r.audit()
			if len(rows) != 1 || rows[0].Kind != store.AuditOutcome || rows[0].Outcome != tc.outcome || rows[0].Code != string(tc.code) || rows[0].DecidedBy != tc.by {
				t.Errorf("rows %+v", rows)
			}
			if tc.outcome == "denied" && len(rows[0].Reasons) == 0 {
				t.Error("it does not say why")
			}
		})
	}
}

func TestTheAuditTellsWhoApproved(t *testing.T) {
	r := newRig(t)
	go func() {
		id := <-r.asked
		for _, p := range r.pipe.Queue.Pending() {
			if p.ID == id {
				if err := r.pipe.Queue.Answer("s1", id, p.Plan.Hash, pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	r.do(t.Context(), call("put", `{"path":"a","text":"x"}`))
	rows := r.audit()
	if len(rows) != 2 || rows[0].Decision != "ask" || rows[0].DecidedBy != pipeline.ByPerson || rows[1].Outcome != "done" {
		t.Errorf("rows %+v", rows)
	}
}

func TestTheAuditHoldsNoSecretsAndStaysSmall(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode { return pipeline.Unlimited }
	secret := "hunter2-hunter2"
	long := strings.Repeat("x", 1990-len(`{"path":"f","text":"`)) + secret + strings.Repeat("y", 100_000)
	r.do(t.Context(), call("put", `{"path":"f","text":"`+long+`"}`), call("put", `{"path":"../`+secret+`","text":"`+secret+`"}`), call(secret, `{}`), call("look", `{"`+secret+`":1}`))
	for _, row := range r.audit() {
		text := row.Args + row.Summary + row.Tool + strings.Join(row.Reasons, " ") + strings.Join(row.Changed, " ")
		if strings.Contains(text, "hunter2") {
			t.Errorf("row %d: %s", row.Seq, text)
		}
		if len(text) > 8000 {
			t.Errorf("row %d has %d bytes", row.Seq, len(text))
		}
	}
}

func TestWithoutAnAuditOnlyReadsGoOn(t *testing.T) {
	r := newRig(t)
	r.env.Mode = func() pipeline.Mode { return pipeline.Unlimited }
	db, err := sql.Open("sqlite", "file:"+r.store.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `DROP TABLE audit`); err != nil {
		t.Fatal(err)
	}
	out := r.do(t.Context(), call("put", `{"path":"f","text":"x"}`), call("look", `{"text":"a"}`), call("look", `{"text":"b"}`))
	if out[0].OK || out[0].Error.Code != pipeline.CodeAudit || out[0].Error.Hint == "" {
		t.Errorf("the write: %+v", out[0])
	}
	if _, err := os.Stat(filepath.Join(r.dir, "f")); err == nil {
		t.Error("it was written")
	}
	if !out[1].OK || !out[2].OK {
		t.Errorf("the reads: %+v, %+v", out[1], out[2])
	}
	if got := r.stored(out[1].Call); got.State != store.CallDone {
		t.Errorf("the read is stored as %s", got.State)
	}
	notices := 0
	for _, e := range r.events {
		if n, ok := e.(event.Notice); ok && strings.Contains(n.Text, "audit") && n.Hint != "" {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices", notices)
	}
}
