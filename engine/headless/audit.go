package headless

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chela/store"
)

// AuditOptions choose rows of the audit.
type AuditOptions struct {
	Setup
	Session string // an id, its beginning, or last; empty: all, also of sessions that were deleted
	Tool    string
	Since   string // how long ago (36h, 7d), a day, or a time in RFC 3339; empty: all
	Limit   int    // of AuditList: the last so many; 0: all
}

// auditRow is a row as JSON shows it.
type auditRow struct {
	Time time.Time `json:"time"`
	store.AuditRow
}

func (o AuditOptions) filter(ctx context.Context, a *App) (store.AuditFilter, error) {
	f := store.AuditFilter{Session: o.Session, Tool: o.Tool, Last: o.Limit}
	if o.Limit < 0 {
		return f, Usagef("--limit %d: give how many rows, or 0 for all", o.Limit)
	}
	if o.Session == "last" {
		v, err := FindSession(ctx, a.Store, a.Engine.Workspace(), o.Session)
		if err != nil {
			return f, err
		}
		f.Session = v.ID
	}
	var err error
	f.Since, err = since(o.Since, time.Now())
	return f, err
}

// since reads a moment in the past.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Usagef("--since %q is no time: write how long ago (36h, 7d), a day (2026-03-04) or a time (2026-03-04T09:30:00Z)", text)
}

// rows collects what the options choose.
func (o AuditOptions) rows(ctx context.Context, a *App) ([]auditRow, error) {
	f, err := o.filter(ctx, a)
	if err != nil {
		return nil, err
	}
	out := []auditRow{}
	err = a.Store.Audit(ctx, f, func(r store.AuditRow) error {
		out = append(out, auditRow{r.Time(), r})
		return nil
	})
	return out, err
}

// AuditList lists rows of the audit, the newest last.
func AuditList(ctx context.Context, t Terminal, o AuditOptions) error {
	return with(ctx, o.Setup, t, func(a *App) error {
		rows, err := o.rows(ctx, a)
		if err != nil {
			return err
		}
		if t.JSON {
			return t.print(rows)
		}
		if len(rows) == 0 {
			t.note("the audit has no such rows")
			return nil
		}
		tb := &table{}
		tb.add("ROW", "TIME", "SESSION", "BY", "TOOL", "WHAT", "DETAIL")
		for _, r := range rows {
			tb.add(strconv.FormatInt(r.Seq, 10), r.Time.Format(time.DateTime), t.line(short(r.Session)), t.line(r.Origin), t.line(r.Tool), t.line(r.what()), t.line(r.detail()))
		}
		return tb.write(t, true)
	})
}

// what says what a row is about: an intent by its decision, an outcome by how
// the call ended.
func (r auditRow) what() string {
	switch r.Kind {
	case store.AuditIntent:
		return fmt.Sprintf("runs (%s by %s)", r.Decision, r.DecidedBy)
	case store.AuditOutcome:
		if r.Code != "" {
			return r.Outcome + " " + r.Code
		}
		return r.Outcome
	}
	return r.Kind
}

func (r auditRow) detail() string {
	switch {
	case r.Kind == store.AuditPruned:
		return fmt.Sprintf("rows up to %d were deleted, as security.audit_days says", r.UpTo)
	case r.Kind == store.AuditOutcome && len(r.Changed) > 0:
		return strings.Join(r.Changed, ", ")
	case r.Kind == store.AuditOutcome && len(r.Reasons) > 0:
		return r.Summary + ": " + strings.Join(r.Reasons, "; ")
	case r.Kind == store.AuditOutcome && r.Took > 0:
		return time.Duration(r.Took).Round(time.Millisecond).String()
	}
	return r.Summary
}

// auditColumns are those of the CSV, in this order.
var auditColumns = []string{
	"seq", "time", "kind", "session", "turn", "call", "tool", "origin", "summary", "args", "plan_hash", "level", "decision", "decided_by",
	"reasons", "rule", "outcome", "code", "took_ms", "changed", "prev", "hash",
}

func (r auditRow) cells() []string {
	return []string{
		strconv.FormatInt(r.Seq, 10), r.Time.UTC().Format(time.RFC3339Nano), r.Kind, r.Session, strconv.Itoa(r.Turn), r.Call, r.Tool, r.Origin, r.Summary,
		r.Args, r.PlanHash, r.Level, r.Decision, r.DecidedBy, strings.Join(r.Reasons, "; "), r.Rule, r.Outcome, r.Code,
		strconv.FormatInt(r.Took/int64(time.Millisecond), 10), strings.Join(r.Changed, ", "), r.Prev, r.Hash,
	}
}

// harmless keeps a spreadsheet from taking a cell for a formula: some look
// behind leading blanks and tabs, too.
func harmless(cell string) string {
	if start := strings.TrimLeft(cell, " \t\r\n"); start != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(start)[0]) {
		return "'" + cell
	}
	if strings.HasPrefix(cell, "\t") || strings.HasPrefix(cell, "\r") {
		return "'" + cell
	}
	return cell
}

// AuditExport writes rows as CSV (RFC 4180), the oldest first; with JSON one
// object a line, as they are chained.
func AuditExport(ctx context.Context, t Terminal, o AuditOptions) error {
	return with(ctx, o.Setup, t, func(a *App) error {
		f, err := o.filter(ctx, a)
		if err != nil {
			return err
		}
		f.Last = 0
		var line bytes.Buffer
		w := csv.NewWriter(&line)
		put := func(cells []string) error {
			for i, c := range cells {
				cells[i] = harmless(t.safe(c))
			}
			line.Reset()
			if err := w.Write(cells); err != nil {
				return err
			}
			w.Flush()
			return t.write(t.Out, bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		}
		if !t.JSON {
			if err := put(append([]string{}, auditColumns...)); err != nil {
				return err
			}
		}
		return a.Store.Audit(ctx, f, func(r store.AuditRow) error {
			if t.JSON {
				return t.print(auditRow{r.Time(), r})
			}
			return put(auditRow{r.Time(), r}.cells())
		})
	})
}

// AuditVerify computes the chain again and says whether it is whole. known is a
// hash that was noted earlier and must be in it; empty: none. A chain that is
// not whole is exit code 1.
func AuditVerify(ctx context.Context, t Terminal, s Setup, known string) error {
	return with(ctx, s, t, func(a *App) error {
		r, err := a.Store.VerifyAudit(ctx, known)
		if err != nil {
			return err
		}
		if t.JSON {
			if err := t.print(r); err != nil || r.OK {
				return err
			}
			return &Error{Code: Failed}
		}
		for _, o := range r.Open {
			t.note("row %d: %s was to run and no end of it is known: it runs now, or chela was stopped (%s)", o.Seq, o.Tool, o.Call)
		}
		if !r.OK {
			return &Error{Failed, fmt.Errorf("the audit is broken at row %d: %s. Keep a copy of %s; rows before that one are as they were written", r.Broken, r.Fault, a.Store.Path())}
		}
		text := "the audit is whole: no rows yet"
		if r.Rows > 0 {
			text = fmt.Sprintf("the audit is whole: %s, %d to %d; the last is %s", plural(r.Rows, "row"), r.First, r.Last, r.Head)
		}
		return t.write(t.Out, []byte(text))
	})
}

// pruneAudit deletes what is older than security.audit_days. A fault is told:
// old rows too many harm nothing.
func (a *App) pruneAudit(ctx context.Context) {
	days := a.Settings.Security.AuditDays
	if days <= 0 {
		return
	}
	now := time.Now()
	if _, err := a.Store.PruneAudit(ctx, now.AddDate(0, 0, -days), now); err != nil {
		a.warn("Old rows stay until the next start.", "%v", err)
	}
}
