package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/store"
)

// Check is the outcome of a model check.
type Check struct {
	Model    string         `json:"model"`
	Grade    string         `json:"grade"` // A to D, or F
	Words    string         `json:"words"` // what the grade means, and what stood out
	Tasks    []CheckedTask  `json:"tasks"`
	Speed    float64        `json:"tokens_per_second"` // while answering; 0: not known
	Load     time.Duration  `json:"load_ns"`           // to bring it into memory
	Thinking string         `json:"thinking"`          // what it does about thinking, in words
	CallMode callmode.Mode  `json:"call_mode"`         // how it is asked for calls from now on
	Helped   int            `json:"helped"`            // times a call had to be found, repaired, or asked for again
	When     time.Time      `json:"when"`
	lost     int            // calls that were written as text or lost by the server
	counts   map[string]int // of the events that are help, by what they are
}

// CheckedTask is one task of a check.
type CheckedTask struct {
	Name string        `json:"name"`
	OK   bool          `json:"ok"`
	Why  string        `json:"why,omitempty"` // it is not
	Took time.Duration `json:"took_ns"`
}

// How long a check may take: to load the model, as long as Ollama itself waits,
// and then for all tasks together. A model that needs longer for eight short
// answers is no use at a keyboard.
const (
	checkLoad  = 5 * time.Minute
	checkTasks = 5 * time.Minute
	checkSteps = 6 // answers of one task
)

// lostDown is how many calls of a check must be written as text, or lost, for
// the model to be asked for calls in its prompt from then on.
const lostDown = 2

var errCheckTime = errors.New("it took too long")

// CheckModel has a model do four small tasks in a scratch folder, through an
// engine of its own with the real tools, and grades it: a call, an answer
// without one, the recovery from an error, an edit. Nothing of the project is
// touched, no command is run, and nothing of it is in the history. What it
// learnt is kept under the model's digest and holds at once, for open sessions
// too. progress is told each step as one line, by the caller's goroutine; it may
// be nil.
//
// It takes as long as eight short answers, and at most ten minutes. When ctx
// ends, or the server fails, that is the error and nothing is kept.
func (e *Engine) CheckModel(ctx context.Context, name string, progress func(line string)) (Check, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if e.cfg.Store == nil {
		return Check{}, errors.New("a model check needs the store, to keep what it learns")
	}
	m, err := e.model(ctx, name)
	if err != nil {
		return Check{}, err
	}
	if m.OnlyEmbeds() {
		return Check{}, fmt.Errorf("%s makes embeddings and cannot chat: check another model", name)
	}
	known, err := e.recall(ctx, m)
	if err != nil {
		return Check{}, err
	}
	c := Check{Model: m.Name, When: e.cfg.Now(), counts: map[string]int{}}
	if c.Load, err = e.loadForCheck(ctx, m, known, progress); err != nil {
		return Check{}, err
	}
	scratch, err := e.scratch(ctx, m, known)
	if err != nil {
		return Check{}, err
	}
	before := known.Calls.Mode
	err = c.run(ctx, scratch.eng, m.Name, progress)
	if err == nil {
		known, err = scratch.eng.recall(ctx, m)
	}
	if err = errors.Join(err, scratch.close()); err != nil {
		return Check{}, err
	}
	c.grade(m, &known, before)
	if err := e.adopt(ctx, m, known); err != nil {
		return Check{}, err
	}
	progress(fmt.Sprintf("grade %s: %s", c.Grade, c.Words))
	return c, nil
}

// loadForCheck brings a model into memory, with the window that sessions use.
func (e *Engine) loadForCheck(ctx context.Context, m ollama.Model, known learnt, progress func(string)) (time.Duration, error) {
	if m.BuiltIn || m.Remote {
		return 0, nil
	}
	progress("loading " + m.Name)
	f, err := e.fleet(m.Name)
	if err != nil {
		return 0, err
	}
	host := f.Place(m.Name)
	defer host.Leave()
	limited, cancel := context.WithTimeoutCause(ctx, checkLoad, errCheckTime)
	defer cancel()
	begun := e.cfg.Now()
	if err := host.Load(limited, m.Name, e.window(m, known)); err != nil {
		var oe *ollama.Error
		switch {
		case ctx.Err() == nil && context.Cause(limited) == errCheckTime:
			return 0, fmt.Errorf("loading %s took longer than %s: pick a smaller model", m.Name, checkLoad)
		case errors.As(err, &oe) && oe.Kind == ollama.NoMemory:
			return 0, nil // the tasks step the window down, and remember it
		}
		return 0, err
	}
	return e.cfg.Now().Sub(begun), nil
}

// scratchpad is an engine on folders of its own.
type scratchpad struct {
	root string
	eng  *Engine
	db   *store.Store
}

// scratch makes one that asks the same servers, in the same queues, and knows
// about the model what this one does.
func (e *Engine) scratch(ctx context.Context, m ollama.Model, known learnt) (_ *scratchpad, err error) {
	root, err := os.MkdirTemp("", "chela-check-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the model check: %w", err)
	}
	p := &scratchpad{root: root}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	cfg := e.cfg
	cfg.Workspace = filepath.Join(root, "project")
	cfg.Dirs = settings.Dirs{Config: filepath.Join(root, "config"), Data: filepath.Join(root, "data")}
	cfg.Settings = e.Settings()
	cfg.Settings.Security = settings.Default().Security
	cfg.Settings.Security.Mode = pipeline.Standard
	cfg.Settings.Models.Steps = checkSteps
	cfg.Attended, cfg.Preload = true, false
	for _, t := range checkSet {
		for name, text := range t.files {
			file := filepath.Join(cfg.Workspace, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return nil, fmt.Errorf("laying out the model check: %w", err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return nil, fmt.Errorf("laying out the model check: %w", err)
			}
		}
	}
	if p.db, err = store.Open(ctx, cfg.Dirs.Database()); err != nil {
		return nil, err
	}
	cfg.Store = p.db
	if p.eng, err = New(cfg); err != nil {
		return nil, err
	}
	p.eng.servers, p.eng.pocket = e.servers, e.pocket // one queue in front of each server
	return p, p.eng.keepLearnt(ctx, m, known)
}

func (p *scratchpad) close() error {
	var err error
	if p.eng != nil {
		err = p.eng.Close()
	}
	if p.db != nil {
		err = errors.Join(err, p.db.Close())
	}
	return errors.Join(err, os.RemoveAll(p.root))
}

// adopt keeps what a check learnt, and gives it to the sessions that use the
// model: what they keep at the end of a turn must not undo it.
func (e *Engine) adopt(ctx context.Context, m ollama.Model, known learnt) error {
	if err := e.keepLearnt(ctx, m, known); err != nil {
		return err
	}
	e.mu.Lock()
	var sessions []*Session
	for _, s := range e.sessions {
		sessions = append(sessions, s)
	}
	e.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		if s.pick.ladder != nil && s.pick.model.Digest == m.Digest {
			from := s.pick.mode()
			s.pick.ladder = e.ladder(m, known)
			s.learnt.Speed = known.Speed
			if to := s.pick.mode(); to != from {
				s.publish(0, event.CallModeChanged{Model: s.rec.Model, From: from.String(), To: to.String(), Why: known.Calls.Why})
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// The words of the grades.
var gradeWords = map[string]string{
	"A": "it calls tools right, knows when not to, recovers from errors and edits files",
	"B": "it does all four tasks, but not without help: its calls had to be found, repaired or asked for again",
	"C": "it does three of four tasks: look at what it does",
	"D": "it does half of the tasks: for single, simple steps only",
	"F": "it cannot work with tools here: use it to talk, or pick another model",
}

// grade judges the tasks, and notes it in what was learnt. before is how the
// model was asked for calls until then.
func (c *Check) grade(m ollama.Model, known *learnt, before callmode.Mode) {
	right, tasks, wrong := 0, map[string]bool{}, []string{}
	for _, t := range c.Tasks {
		tasks[t.Name] = t.OK
		if t.OK {
			right++
		} else {
			wrong = append(wrong, t.Name+" ("+t.Why+")")
		}
	}
	for _, n := range c.counts {
		c.Helped += n
	}
	switch {
	case right == len(checkSet) && c.Helped == 0:
		c.Grade = "A"
	case right == len(checkSet):
		c.Grade = "B"
	default:
		c.Grade = []string{"F", "F", "D", "C"}[right]
	}
	words := []string{gradeWords[c.Grade]}
	if len(wrong) > 0 {
		words = append(words, "not done: "+strings.Join(wrong, ", "))
	}
	p := &known.Calls
	if p.Mode == callmode.Native && c.lost >= lostDown {
		p.Mode, p.Why = callmode.Prompted, fmt.Sprintf("the model check saw %d calls written as text or lost by the server", c.lost)
	}
	if before == callmode.Native && p.Mode == callmode.Prompted && m.Has("tools") {
		words = append(words, "from now on it is asked for calls in its prompt")
	}
	c.CallMode = callmode.Start(*p, len(m.Capabilities) > 0 && !m.Has("tools")).Mode()
	if c.Speed > 0 {
		words = append(words, fmt.Sprintf("%.0f tokens a second", c.Speed))
		known.Speed = c.Speed
	}
	switch {
	case !m.Has("thinking"):
		c.Thinking = "it does not think"
	case p.RefusesThinking:
		c.Thinking = "it says that it can think, and refuses to"
	case c.Thinking == "":
		c.Thinking = "it thinks only when told to"
	}
	c.Words = strings.Join(words, "; ")
	p.Check = &callmode.Check{Grade: c.Grade, When: c.When.Format(time.RFC3339), Tasks: tasks, Speed: c.Speed, Detail: c.Words}
}
