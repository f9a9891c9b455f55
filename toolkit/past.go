package toolkit

import "context"

// Past is what calls changed in a workspace.
type Past interface {
	// Before returns what a call's files held before it, by path; none when it
	// changed no file, or that was forgotten.
	Before(ctx context.Context, call string) ([]Snapshot, error)
}

// Snapshot is a file before a call.
type Snapshot struct {
	Path    string // relative to the workspace
	Existed bool
	Before  []byte
	After   string // hash of what the call left, "absent", or empty when it never returned
}
