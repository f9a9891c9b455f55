package toolkit

import "context"

// Shelf is the catalogue as one session has it: what its model was given, what
// it could have, and the way to get that. A session provides it.
type Shelf interface {
	// Entries are all tools, in catalogue order.
	Entries() []ShelfEntry

	// Load gives the model tools for the rest of the session, from its next
	// answer on. Where the schema budget is spent, the tools that were loaded
	// before and used least recently make room. It is all or nothing: the error
	// says which tool cannot be had and why.
	Load(ctx context.Context, names []string) (Loaded, error)

	// Budget is what the schemas cost and may cost, in tokens; a limit of 0 is
	// none.
	Budget() (used, limit int)
}

// ShelfEntry is one tool of the catalogue.
type ShelfEntry struct {
	Spec      *Spec
	Given     bool
	Available bool   // it can work here
	Reason    string // why it is given, or why not
}

// Loaded says what a Load changed.
type Loaded struct {
	Added   []string // now given, and were not before
	Already []string // were given before
	Dropped []string // made room
}
