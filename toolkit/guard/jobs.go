package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a table of jobs. With DefaultJobOutput for each of its three streams
// a full table holds some 24 MiB.
const (
	MaxJobs          = 16 // that run at the same time
	maxEndedJobs     = 16 // that are remembered
	DefaultJobOutput = 256 << 10
	maxLastLine      = 200 // bytes
)

// JobKind says what a job is.
type JobKind string

// The kinds of jobs.
const (
	JobCommand     JobKind = "command"
	JobInterpreter JobKind = "interpreter"
)

// The states of a job.
const (
	JobRunning   = "running"
	JobCompleted = "completed" // by itself, with exit code 0
	JobFailed    = "failed"    // by itself, with another one, or it could not start
	JobTimedOut  = "timeout"
	JobKilled    = "killed" // by somebody, or a signal
)

// Status is how a run ended, in the words of a job's state.
func (e Exit) Status() string {
	switch {
	case e.fault != nil:
		return JobFailed
	case e.Reason == Exited && e.Code == 0:
		return JobCompleted
	case e.Reason == Exited:
		return JobFailed
	case e.Reason == TimedOut:
		return JobTimedOut
	case e.Reason == Background:
		return JobRunning
	}
	return JobKilled
}

// Jobs is the table of one session's processes that outlive the calls which
// started them. It knows no other session's. It holds at most MaxJobs that run,
// and the newest ended ones. Close ends them all.
type Jobs struct {
	secret  *Redactor
	changed func()

	mu     sync.Mutex
	list   []*Job // oldest first
	closed bool
	wg     sync.WaitGroup
}

// NewJobs returns an empty table. What it says of a job has no secrets that the
// redactor knows, or finds by their form; nil: those only. changed, unless nil, is called after
// a job began or ended, from any goroutine, and must not block.
func NewJobs(secret *Redactor, changed func()) *Jobs {
	if changed == nil {
		changed = func() {}
	}
	if secret == nil {
		secret = NewRedactor(nil, nil)
	}
	return &Jobs{secret: secret, changed: changed}
}

// Job is one process of the table.
type Job struct {
	*Process
	Kind JobKind
	Name string // of an interpreter, by which calls find it; empty for a command
	What string // the command line

	// Turn is held by who talks to an interpreter: one at a time.
	Turn sync.Mutex

	secret *Redactor
	seen   atomic.Int64 // offset up to which somebody looked
}

// JobState is a job at one moment, as a screen shows it.
type JobState struct {
	ID       string        `json:"id"`
	Kind     JobKind       `json:"kind"`
	Command  string        `json:"command"`
	State    string        `json:"state"` // running, completed, failed, timeout, killed
	ExitCode int           `json:"exit_code"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration_ns"`
	LastLine string        `json:"last_line,omitempty"`
}

var errJobsClosed = errors.New("the session is closing")

// Start starts a command that outlives ctx, and keeps it in the table. The job
// needs only Kind, Name and What.
func (t *Jobs) Start(ctx context.Context, r *Runner, c Command, job *Job) error {
	t.mu.Lock()
	running := 0
	for _, j := range t.list {
		if j.Running() {
			running++
		}
	}
	t.mu.Unlock()
	if running >= MaxJobs {
		return fmt.Errorf("%d background processes run already, and no more may: end one with exec_kill", running)
	}
	if c.MaxOutput <= 0 || c.MaxOutput > DefaultJobOutput {
		c.MaxOutput = DefaultJobOutput
	}
	p, err := r.Start(ctx, c)
	if err != nil {
		return err
	}
	job.Process = p
	return t.Keep(job)
}

// Keep takes a process that is in the background into the table. A table that is
// closed ends it.
func (t *Jobs) Keep(job *Job) error {
	job.secret = t.secret
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		job.end(Killed)
		<-job.Done()
		return errJobsClosed
	}
	t.list = append(t.list, job)
	t.wg.Go(func() {
		<-job.Done()
		t.trim()
		t.changed()
	})
	t.mu.Unlock()
	t.changed()
	return nil
}

// trim forgets the ended jobs that are too many, the oldest first.
func (t *Jobs) trim() {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := 0
	for _, j := range slices.Backward(t.list) {
		if j.Running() {
			continue
		}
		if ended++; ended > maxEndedJobs {
			t.list = slices.DeleteFunc(t.list, func(o *Job) bool { return o == j })
		}
	}
}

// List returns the jobs, the oldest first.
func (t *Jobs) List() []*Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// Get returns the job with an ID.
func (t *Jobs) Get(id string) (*Job, bool) {
	return t.find(func(j *Job) bool { return j.ID == id })
}

// Interpreter returns the newest interpreter of a name.
func (t *Jobs) Interpreter(name string) (*Job, bool) {
	return t.find(func(j *Job) bool { return j.Kind == JobInterpreter && j.Name == name })
}

func (t *Jobs) find(is func(*Job) bool) (*Job, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range slices.Backward(t.list) {
		if is(j) {
			return j, true
		}
	}
	return nil, false
}

// Snapshot returns the state of every job, the oldest first.
func (t *Jobs) Snapshot() []JobState {
	jobs := t.List()
	out := make([]JobState, len(jobs))
	for i, j := range jobs {
		out[i] = j.State()
	}
	return out
}

// Close ends every job and waits until they are gone. What is kept afterwards is
// ended at once.
func (t *Jobs) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, j := range t.List() {
		j.end(Killed)
	}
	t.wg.Wait()
}

// State is what the job is doing now.
func (j *Job) State() JobState {
	s := JobState{
		ID: j.ID, Kind: j.Kind, Command: j.secret.Text(j.What), State: JobRunning, ExitCode: -1, Started: j.Started,
		Duration: time.Since(j.Started), LastLine: j.lastLine(),
	}
	if exit, ended := j.Exit(); ended {
		s.State, s.ExitCode, s.Duration = exit.Status(), exit.Code, exit.Duration
		if err := exit.Refused(); err != nil {
			s.LastLine = err.Error()
		}
	}
	return s
}

// Seen is the offset of the output up to which somebody looked.
func (j *Job) Seen() int64 { return j.seen.Load() }

// Look notes that somebody looked up to an offset.
func (j *Job) Look(offset int64) { j.seen.Store(offset) }

// lastLine is the last line with something on it, shortened.
func (j *Job) lastLine() string {
	const look = 4 << 10
	c := j.Output()
	end := c.Head
	if len(c.Tail) > 0 {
		end = c.Tail
	}
	text := j.secret.Text(ToText(end[max(0, len(end)-look):]))
	text = strings.TrimRight(text, " \t\r\n")
	text = text[strings.LastIndexAny(text, "\r\n")+1:]
	return string(TrimPartialRune([]byte(text[:min(len(text), maxLastLine)])))
}

// Stop asks for the end of the job and its tree, and does not wait for it.
func (j *Job) Stop() { j.end(Killed) }
