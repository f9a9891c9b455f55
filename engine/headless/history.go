package headless

import (
	"context"
	"errors"
	"fmt"

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
