package engine

import (
	"context"
	"encoding/json"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

// notebook keeps a session's notes in the store: [toolkit.Notebook].
type notebook struct{ s *Session }

// Put stores a note and then tells that it changed.
func (n notebook) Put(ctx context.Context, kind, id string, body json.RawMessage) error {
	e := n.s.engine
	err := e.cfg.Store.PutNote(context.WithoutCancel(ctx), store.Note{Session: n.s.rec.ID, Kind: kind, ID: id, Body: body, Updated: e.cfg.Now()})
	if err == nil {
		n.s.publish(0, event.NoteChanged{Kind: kind, ID: id, Body: body})
	}
	return err
}

// List returns the notes of a kind, the newest first.
func (n notebook) List(ctx context.Context, kind string) ([]toolkit.Note, error) {
	if n.s == nil {
		return nil, nil
	}
	list, err := n.s.engine.cfg.Store.Notes(ctx, n.s.rec.ID, kind)
	out := make([]toolkit.Note, len(list))
	for i, v := range list {
		out[i] = toolkit.Note{ID: v.ID, Body: v.Body}
	}
	return out, err
}

// Notes is the session's notebook: its work list, its plans.
func (s *Session) Notes() toolkit.Notebook { return notebook{s} }
