package toolkit

import (
	"chela/toolkit/guard"
)

// Origin is who asked for a call. Every origin passes the same judge.
type Origin string

// The origins of a call.
const (
	FromModel   Origin = "model"   // a native tool call
	FromRescue  Origin = "rescued" // found in the model's text
	FromPerson  Origin = "person"  // the command line, or run again from the screen
	FromSession Origin = "session" // another session
	FromCron    Origin = "cron"
)

// Origins are all of them.
var Origins = []Origin{FromModel, FromRescue, FromPerson, FromSession, FromCron}

// Workspace is the project folder that the tools may touch, and the guards
// through which they touch it. One workspace serves one session.
type Workspace struct {
	Root    string // absolute, links resolved
	Session string // id of the session the calls belong to

	Files  *guard.FS
	Net    *guard.Net
	Proc   *guard.Runner
	Secret *guard.Redactor

	// Shelf is the catalogue as the session has it; nil outside of one.
	Shelf Shelf

	// Config is what the settings say to tools; never nil in a session.
	Config *Config

	// Ask asks a local model; nil outside of a session.
	Ask Asker

	// Notes is the session's notebook; nil outside of one.
	Notes Notebook

	// Library keeps the feeds, which are one for all sessions; nil outside of one.
	Library Library

	// Terminal is the one that chela runs in; nil when it has no screen.
	Terminal Terminal

	// Jobs are the session's processes that outlive a call; nil outside of one.
	Jobs *guard.Jobs

	// Past is what calls changed here; nil where nothing is recorded.
	Past Past

	// Budget is how many characters of output the model can take now; a tool
	// that can choose what to leave out (a window of a file, the first matches)
	// stays under it. What is still too long is cut by the pipeline.
	Budget int
}

// OutputBudget returns Budget, or a middling size when none is set.
func (w *Workspace) OutputBudget() int {
	if w.Budget <= 0 {
		return DefaultBudget
	}
	return w.Budget
}

// DefaultBudget is the characters of output allowed when nothing is known of
// the context: about 20% of a 16k window at four characters a token.
const DefaultBudget = 12_000

// MaxBudget is the most that one result may put into the context, whatever its
// size (reference value of the design: 30k characters).
const MaxBudget = 30_000
