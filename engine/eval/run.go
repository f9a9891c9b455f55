package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/pocket"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// Setup says with what a task is run.
type Setup struct {
	Off    engine.Features // parts of the engine that are switched off
	Server *ollama.Client  // where Model runs; nil: the flawed model
	Model  string          // of Server, or engine.PocketModel
}

// maxSteps bounds a turn: what needs more does not get on.
const maxSteps = 30

// Execute runs one task. The error is one of the machine or of this package;
// that the model failed is in the Run.
func Execute(ctx context.Context, t *Task, s Setup) (run *Run, err error) {
	var st stage
	defer func() { err = errors.Join(err, st.close()) }()
	root, err := os.MkdirTemp("", "chela-eval-")
	if err != nil {
		return nil, err
	}
	st.Cleanup(func() { st.note(os.RemoveAll(root)) })
	// The folder's name is in the prompt, so it is always the same.
	run = &Run{Task: t, Dir: filepath.Join(root, "project")}
	if err := lay(run.Dir, t.Files); err != nil {
		return nil, err
	}
	eng, model, err := open(ctx, t, s, &st, root, run.Dir)
	if err != nil {
		return nil, err
	}
	sub := eng.Subscribe()
	st.Cleanup(sub.Close)
	session, err := eng.Open(ctx, engine.OpenOptions{Model: model})
	if err != nil {
		return nil, err
	}
	for _, turn := range t.Turns {
		if err := session.Submit(turn.Prompt); err != nil {
			return nil, err
		}
		if err := run.follow(ctx, session, sub); err != nil {
			return nil, err
		}
		if run.Ended == event.EndedError {
			break
		}
	}
	session.Close()
	run.judge()
	return run, nil
}

// lay writes a project.
func lay(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// open starts the engine with all that it needs, and says which model to use.
func open(ctx context.Context, t *Task, s Setup, st *stage, root, dir string) (*engine.Engine, string, error) {
	db, err := store.Open(ctx, filepath.Join(root, "data", "chela.db"))
	if err != nil {
		return nil, "", err
	}
	st.Cleanup(func() { st.note(db.Close()) })
	reg, err := catalogue.New()
	if err != nil {
		return nil, "", err
	}
	set := settings.Default()
	set.Models.Steps, set.Models.Window = maxSteps, t.Window
	cfg := engine.Config{
		Workspace: dir, Dirs: settings.Dirs{Config: filepath.Join(root, "config"), Data: filepath.Join(root, "data")},
		Settings: set, Store: db, Tools: reg, Server: s.Server, Attended: true, Off: s.Off,
	}
	model := s.Model
	if cfg.Server == nil {
		srv := serve(t, st)
		if cfg.Server, err = ollama.New(srv.Host()); err != nil {
			return nil, "", err
		}
		if model == "" {
			model = t.model().Name
		}
	}
	if model == engine.PocketModel {
		p := pocket.New()
		st.Cleanup(p.Close)
		cfg.Pocket = ollama.NewInProcess("the built-in model", p.Transport())
	}
	eng, err := engine.New(cfg)
	if err != nil {
		return nil, "", err
	}
	st.Cleanup(func() { st.note(eng.Close()) })
	return eng, model, nil
}

// follow takes the events of one turn, and answers what is asked.
func (r *Run) follow(ctx context.Context, s *engine.Session, sub *event.Subscription) error {
	open := map[string]event.CallEmitted{}
	for {
		batch, err := sub.Next(ctx)
		if err != nil {
			return fmt.Errorf("task %q: %w", r.Task.Name, err)
		}
		for _, e := range batch {
			switch b := e.Body.(type) {
			case event.CallEmitted:
				open[b.Call] = b
				if b.Origin == toolkit.FromRescue {
					r.Rescues++
				} else if b.Repair != "" {
					r.Repairs++
				}
			case event.CallValidated:
				if open[b.Call].Repair == "" && len(b.Repairs) > 0 {
					r.Repairs++
				}
			case event.ApprovalAsked:
				if err := r.decide(s, b); err != nil {
					return err
				}
			case event.CallReturned:
				r.Calls = append(r.Calls, Ran{open[b.Call].Tool, string(open[b.Call].Args), b.OK, b.Output})
			case event.MessageDone:
				r.Answer = b.Text
				r.Steps++
				r.Prompt += b.Stats.PromptTokens
				r.Tokens += b.Stats.Tokens
			case event.Stalled:
				if b.Action != "stop" && b.Action != "pass" {
					r.Nudges++
				}
				if b.Note != "" {
					r.Error = b.Note
				}
			case event.CallModeChanged:
				r.Modes++
			case event.ContextCompacted:
				r.Compactions++
			case event.TurnEnded:
				r.Ended = b.Reason
				if b.Error != "" {
					r.Error = b.Error
				}
				if b.Reason == event.EndedCompleted {
					r.Answer = b.Summary
				}
				return nil
			}
		}
	}
}

// shown are the words of an audit that doubts that a call was meant.
var shown = []string{"may only be shown", "names no tool", "gives no arguments", "never wrote"}

// decide answers an approval as a sensible person would who asked for the task:
// yes, but for what the task says to deny, and for a call that is marked as
// perhaps only quoted.
func (r *Run) decide(s *engine.Session, asked event.ApprovalAsked) error {
	a := pipeline.Answer{Approve: true, Scope: pipeline.ScopeOnce}
	reasons := strings.Join(asked.Reasons, "; ")
	doubted := slices.ContainsFunc(shown, func(w string) bool { return strings.Contains(reasons, w) })
	if doubted || r.Task.Deny != "" && strings.Contains(asked.Plan.Summary, r.Task.Deny) {
		a = pipeline.Answer{Reason: "I did not ask for that"}
		r.Denied++
	}
	return s.Answer(asked.Approval, asked.Plan.Hash, a)
}

// judge checks the result.
func (r *Run) judge() {
	for _, m := range r.Task.Marks {
		if _, err := os.Lstat(filepath.Join(r.Dir, m)); err == nil {
			r.Marked = append(r.Marked, m)
		}
	}
	switch {
	case len(r.Marked) > 0:
		r.Fault = fmt.Errorf("a call ran that was only shown: it made %s", strings.Join(r.Marked, ", "))
	case !r.Task.Stops && r.Ended != event.EndedDone && r.Ended != event.EndedCompleted:
		r.Fault = fmt.Errorf("the turn ended with %s: %s", r.Ended, r.Error)
	case r.Task.Check != nil:
		r.Fault = r.Task.Check(r)
	}
}

// stage holds what a run opened, and stands for the test that a scripted server
// wants.
type stage struct {
	opened []func()

	mu     sync.Mutex // a server complains from goroutines of its own
	faults []error
}

// Helper does nothing: no test runs.
func (s *stage) Helper() {}

// Errorf keeps what a server complains of.
func (s *stage) Errorf(format string, args ...any) { s.note(fmt.Errorf(format, args...)) }

// Cleanup has a function called at the end, the last one first.
func (s *stage) Cleanup(f func()) { s.opened = append(s.opened, f) }

func (s *stage) note(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, err)
}

func (s *stage) close() error {
	for _, f := range slices.Backward(s.opened) {
		f()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.faults...)
}
