// Package eval measures how well a model works through the engine, by small
// tasks whose result on disk or in words can be checked.
//
// A task runs in a real engine with the real tools, on a folder and a store of
// its own, and a stand-in answers its approvals. The model is the built-in one,
// any of an Ollama server, or the flawed one of this package: a small program
// that knows the right next step of each task and writes it as models do that
// fail, behind Ollama's own parsers. It sees what the engine sends and nothing
// else, so that it succeeds only where the engine helps it.
//
// Guarantees: with the flawed model a run is the same each time, and needs no
// network. Nothing outside the task's own folders is written. Every server,
// engine and store that a run opens is closed when it returns.
package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"chela/engine/ollamatest"
)

// Call is one tool call as it should be.
type Call struct {
	Tool string
	Args string // a JSON object
}

// Step is one answer with calls that a task needs.
type Step struct {
	Say   string // beside the calls
	Calls []Call
	Fails bool            // the calls are to fail, or to be denied: that is what the task is about
	Note  string          // what the model says of the step in a summary
	Known func(View) bool // what is sent tells that the step is done; nil: its results do
}

// Turn is one prompt with the steps that answer it.
type Turn struct {
	Prompt string
	Steps  []Step
	Answer func(View) string // in the end, from what was sent
}

// Task is one task.
type Task struct {
	Name  string
	About string            // what it measures, in a few words
	Files map[string]string // of the project, by slashed path
	Turns []Turn
	Check func(*Run) error // nil: done right

	Flaw   Flaw             // how the flawed model fails; nil: it does not
	Model  ollamatest.Model // the flawed model's details; without a name it is qwen3:8b
	Window int              // models.window; 0: chosen as always
	Deny   string           // the stand-in denies calls whose plan says this; empty: none
	Marks  []string         // files that only a call would make that must never run

	Stops  bool // it is right that the turn ends with an error
	Pocket bool // the built-in model was trained for it
}

// Plain reports whether a task means the same for any model: it is hard or easy
// by itself, and not by a flaw that is made for it.
func (t *Task) Plain() bool { return t.Flaw == nil }

// Ran is one call that came back.
type Ran struct {
	Tool string
	Args string
	OK   bool
	Text string // as the model read it
}

// Run is what came of a task.
type Run struct {
	Task *Task
	Dir  string // the project; gone when [Execute] has returned

	Answer string // the last words of the model
	Calls  []Ran
	Ended  string // of the last turn: done, completed, step_limit, error
	Error  string // why it ended, or what the person was told

	Steps       int // answers of the model
	Prompt      int // tokens of all prompts, as the server counted
	Tokens      int // tokens of all answers
	Rescues     int // calls that were found in text
	Repairs     int // calls whose name or arguments were repaired, or that were audited
	Nudges      int // times the model was told, asked again, or answered in place of a call
	Modes       int // changes of how calls are asked for
	Compactions int
	Denied      int // calls that the stand-in denied

	Fault  error    // why it failed; nil: it succeeded
	Marked []string // of Marks, those that exist
}

// File reads a file of the project; "" if there is none.
func (r *Run) File(name string) string {
	b, err := os.ReadFile(filepath.Join(r.Dir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(b)
}

// has checks that a file is what it should be, but for white space at its end.
func has(name, want string) func(*Run) error {
	return func(r *Run) error {
		if got := r.File(name); strings.TrimRight(got, " \n") != strings.TrimRight(want, " \n") {
			return fmt.Errorf("%s holds %q, want %q", name, got, want)
		}
		return nil
	}
}

// says checks that the last answer holds a word.
func says(want string) func(*Run) error {
	return func(r *Run) error {
		if !strings.Contains(strings.ToLower(r.Answer), strings.ToLower(want)) {
			return fmt.Errorf("the answer does not say %q: %q", want, r.Answer)
		}
		return nil
	}
}

// saw checks that a tool came back with a text.
func saw(tool, want string) func(*Run) error {
	return func(r *Run) error {
		for _, c := range r.Calls {
			if c.Tool == tool && c.OK && strings.Contains(c.Text, want) {
				return nil
			}
		}
		return fmt.Errorf("no call of %s came back with %q", tool, want)
	}
}

// all joins checks.
func all(checks ...func(*Run) error) func(*Run) error {
	return func(r *Run) error {
		for _, c := range checks {
			if err := c(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// Tasks are all tasks. Those that are [Task.Plain] come first.
func Tasks() []Task {
	out := plain()
	out = append(out, forms()...)
	out = append(out, loops()...)
	return append(out, windows()...)
}
