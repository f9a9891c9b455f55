// Package toolkit holds the tools a model can call, and the contract they all
// share.
//
// A tool is declared once, from a typed argument struct: [Define] derives its
// JSON Schema, and the same schema validates. Every call goes through the same
// five steps (engine/pipeline drives them), of which a tool implements two:
//
//   - Plan says, without any effect, exactly what the call would do: what the
//     person sees, which files and hosts it touches, how dangerous these
//     arguments are, and the facts that must still hold when it runs.
//   - Run executes that plan and nothing else. If a fact changed in between it
//     refuses.
//
// Tools reach files, network and processes only through the guards that their
// [Workspace] carries (package toolkit/guard); a test over the source forbids
// any other way.
//
// All exported values are safe for concurrent use unless they say otherwise.
package toolkit

import (
	"context"
	"encoding/json"

	"chela/tiers"
)

// Tool is one function a model can call.
type Tool interface {
	// Spec returns the tool's fixed facts. The result must not be changed.
	Spec() *Spec

	// Available returns nil, or why the tool cannot work in this workspace
	// (a missing program, a setting that is not set). It is cheap: it is asked
	// for every tool whenever a model's tools are chosen.
	Available(ctx context.Context, w *Workspace) error

	// Plan states what the call would do. It has no effects. args are valid
	// by the tool's schema. A *guard.Denied in the error's chain means that the
	// hard floor forbids the call, in every mode.
	Plan(ctx context.Context, w *Workspace, args json.RawMessage) (Plan, error)

	// Run executes a plan that this tool made. progress may be nil and must not
	// be called after Run returned. A failure the model should read is an
	// *Error; the result may carry output even then.
	Run(ctx context.Context, w *Workspace, p Plan, progress func(Progress)) (Result, error)
}

// Progress is one piece of news from a running tool.
type Progress struct {
	Text string // new output since the last piece; complete lines where possible
}

// Spec is what is fixed about a tool. Names, parameters, levels and tiers are
// those of the public catalogue.
type Spec struct {
	Name     string
	Summary  string // one sentence, sent to the model with every request
	Category string

	// Guide is what a model with room for it reads after the summary: when to
	// use the tool and what to beware of. Models of the Essential tier lose
	// long descriptions and do not get it.
	Guide string

	// Synonyms are further words that people look for the tool by.
	Synonyms string

	Level Level // of a call whose plan does not say otherwise
	Tier  tiers.Tier

	// ReadOnly tools change nothing anywhere; several of one turn run side by
	// side. The others run one after the other, in the order of the calls.
	ReadOnly bool

	// Idempotent tools may be retried after a failure.
	Idempotent bool

	// Foreign tools return text that somebody else wrote: a page, a file, what a
	// program printed. The model is shown it as data, and what is sent or kept
	// after it is a question.
	Foreign bool

	// EndsTurn marks the tool whose success ends the agent loop.
	EndsTurn bool

	// Schema of the arguments; Define fills it from the argument struct.
	Schema *Schema
}
