package toolkit

import (
	"context"
	"encoding/json"
)

// Notebook keeps what belongs to a session beside its messages: its work list,
// its plans. What Put stored survives the end of the program.
type Notebook interface {
	// Put stores a note in place of the one with its kind and id.
	Put(ctx context.Context, kind, id string, body json.RawMessage) error
	// List returns the notes of a kind, the newest first.
	List(ctx context.Context, kind string) ([]Note, error)
}

// Note is one entry of a notebook.
type Note struct {
	ID   string
	Body json.RawMessage
}
