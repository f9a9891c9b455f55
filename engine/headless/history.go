package headless

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chela/engine"
	"chela/store"
)

// UndoOptions are those of `chela history undo`.
type UndoOptions struct {
	Setup
	Call string // id, or the unique beginning of it
	Turn bool   // the whole turn of the call
	Show bool   // only what would change
}

// HistoryUndo puts back what files held before a call, or before its turn.
func HistoryUndo(ctx context.Context, t Terminal, o UndoOptions) error {
	return with(ctx, o.Setup, t, func(a *App) error {
		c, err := a.Store.FindCall(ctx, o.Call)
		if errors.Is(err, store.ErrNotFound) {
			return &Error{Usage, err}
		}
		if err != nil {
			return err
		}
		s, err := a.Engine.Open(ctx, engine.OpenOptions{ID: c.Session})
		if err != nil {
			return err
		}
		defer s.Close()
		calls := []string{c.ID}
		if o.Turn {
			if calls, err = s.UndoableOf(ctx, c.Turn); err != nil {
				return err
			}
		}
		plan, err := s.UndoPlan(ctx, calls)
		if err != nil {
			return err
		}
		if o.Show {
			if t.JSON {
				return t.print(map[string]any{"calls": calls, "plan": plan})
			}
			return t.write(t.Out, []byte(t.safe(plan.Preview.Text)))
		}
		out, err := s.Undo(ctx, calls)
		switch {
		case err != nil:
			return err
		case t.JSON:
			return t.print(map[string]any{"ok": out.OK, "calls": calls, "data": out.Result.Data, "error": out.Error})
		case !out.OK:
			return errors.New(out.Text)
		}
		return t.write(t.Out, []byte(fmt.Sprintf("%s (call %s undoes that)", t.line(out.Result.Text), short(out.Call))))
	})
}

// HistorySearch finds messages and calls in all that was stored.
func HistorySearch(ctx context.Context, t Terminal, s Setup, text string, all bool, limit int) error {
	q, err := store.ParseHistory(text, time.Now())
	if err != nil {
		return &Error{Usage, err}
	}
	return with(ctx, s, t, func(a *App) error {
		if q.Limit = limit; !all {
			q.Workspace = a.Engine.Workspace()
		}
		hits, err := a.Store.SearchHistory(ctx, q)
		if err != nil {
			return err
		}
		if t.JSON {
			return t.print(map[string]any{"query": text, "results": append([]store.HistoryHit{}, hits...)})
		}
		if len(hits) == 0 {
			t.note("nothing was found: fewer words find more, --all looks in every folder")
			return nil
		}
		tb := &table{}
		tb.add("WHEN", "SESSION", "ID", "WHAT", "FOUND")
		for _, h := range hits {
			what := h.Tool + " " + h.What
			if h.Kind == "message" {
				what = h.Role
			}
			found := h.Snippet
			if found == "" {
				found = h.What
			}
			tb.add(h.At.Format("2006-01-02 15:04"), short(h.Session), short(h.ID), t.line(what), t.line(found))
		}
		return tb.write(t, true)
	})
}
