package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/files"
)

// undoDays is how long what files held is kept.
const undoDays = 30

// UndoPlan says what undoing calls would do, the newest call first; nothing is
// changed. Its error says why it cannot be done.
func (s *Session) UndoPlan(ctx context.Context, calls []string) (toolkit.Plan, error) {
	args, err := json.Marshal(map[string][]string{"calls": calls})
	if err != nil {
		return toolkit.Plan{}, err
	}
	return files.Undo().Plan(ctx, s.env(0).Workspace, args)
}

// Undo puts the files of calls back to what they held before, the newest call
// first. It is a person's call: it passes the steps and is recorded, and can be
// undone itself. How it went is in the outcome; the error is only ever the
// store's, or ErrClosed.
func (s *Session) Undo(ctx context.Context, calls []string) (pipeline.Outcome, error) {
	args, err := json.Marshal(map[string][]string{"calls": calls})
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return s.call(ctx, pipeline.Call{Tool: files.Undo(), Name: files.UndoName, Args: args, Origin: toolkit.FromPerson})
}

// UndoableOf returns the calls that undoing a whole turn covers, the newest
// first.
func (s *Session) UndoableOf(ctx context.Context, turn int) ([]string, error) {
	calls, err := s.engine.cfg.Store.Undoable(ctx, s.rec.ID, turn)
	if err == nil && len(calls) == 0 {
		err = fmt.Errorf("turn %d changed no file that could be put back: %w", turn, store.ErrNotFound)
	}
	return calls, err
}

// forgetOld drops what was kept for undoing long ago.
func (e *Engine) forgetOld(ctx context.Context) error {
	if e.cfg.Store == nil {
		return nil
	}
	return e.cfg.Store.PruneSnapshots(ctx, e.cfg.Now().Add(-undoDays*24*time.Hour))
}
