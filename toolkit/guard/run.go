package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Process limits when the options or the command give none.
const (
	DefaultMaxOutput   = 1 << 20
	DefaultOutputLimit = 64 << 20
	DefaultKillGrace   = 3 * time.Second
	// settle is how long leftovers of a finished command may still write, such as
	// the process substitution of a shell, before they are ended.
	settle = 100 * time.Millisecond
	// pipeWait bounds the wait for output that a process out of reach holds open.
	pipeWait    = 2 * time.Second
	maxFinished = 32 // ended background processes that are remembered
)

// RunnerOptions configures the process door.
type RunnerOptions struct {
	// Environ is the environment that the allow-list picks from; os.Environ() if nil.
	Environ []string
	// PassEnv are further names or patterns (LC_*) that a person lets through.
	PassEnv []string
	// Path are the directories searched for programs; those of PATH in Environ if nil.
	Path []string
	// KillGrace is how long processes have between TERM and KILL; 3 s if 0.
	KillGrace time.Duration
	// Confine puts a command into an OS sandbox, just before it starts. Only the
	// runners that InSandbox returns use it. An error means that the command does
	// not start. The function that it returns, unless nil, is called once, when
	// nothing of the command's tree is left or it could not be started; it may
	// correct the exit and add to it.
	Confine func(ctx context.Context, cmd *exec.Cmd) (after func(*Exit), err error)
	// Level says for people what Confine confines with.
	Level func() string
}

// Runner is the process door of one workspace.
type Runner struct {
	*runs
	confined bool
}

// runs is what a runner and its sandboxed view share.
type runs struct {
	fs        *FS
	opts      RunnerOptions
	workspace string
	path      []string
	ctx       context.Context // ends with Close; every process lives in it
	cancel    context.CancelFunc
	spawn     spawner

	mu     sync.Mutex
	procs  map[string]*Process
	closed bool
	wg     sync.WaitGroup // one per process that has not been cleaned up
}

// NewRunner returns a door for processes whose working directory is inside fs.
// Close it: until then its background processes live on.
func NewRunner(fsys *FS, opts RunnerOptions) *Runner {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.KillGrace <= 0 {
		opts.KillGrace = DefaultKillGrace
	}
	list := opts.Path
	if list == nil {
		for _, kv := range opts.Environ {
			if name, value, _ := strings.Cut(kv, "="); envKey(name) == "PATH" {
				list = filepath.SplitList(value)
			}
		}
	}
	r := &Runner{runs: &runs{
		fs: fsys, opts: opts, workspace: fsys.Dir(), path: searchDirs(list, fsys.Dir()),
		procs: map[string]*Process{},
	}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// InSandbox returns a view of the same runner, with the same processes, whose
// commands run in the OS sandbox or not at all. Closing either closes both.
func (r *Runner) InSandbox() *Runner { return &Runner{runs: r.runs, confined: true} }

// Sandboxed reports whether the commands of this runner run in the OS sandbox,
// or not at all.
func (r *Runner) Sandboxed() bool { return r.confined }

// Level says for people what the commands of this runner are confined with;
// empty: with nothing.
func (r *Runner) Level() string {
	switch {
	case !r.confined:
		return ""
	case r.opts.Level == nil:
		return "none"
	}
	return r.opts.Level()
}

// Command is a program to run. There is no shell in between.
type Command struct {
	Argv    []string          // program and arguments
	Dir     string            // inside the workspace; "" is the workspace itself
	Env     map[string]string // additions, refused if CheckEnv refuses them
	OwnEnv  []string          // NAME=value that chela itself fixes, never from a call's arguments; wins over all others
	Stdin   []byte            // nil is an empty input
	Timeout time.Duration     // 0 is none beside the context's
	// MaxOutput is how many bytes of output are kept, half from the start and
	// half from the end; DefaultMaxOutput if 0.
	MaxOutput int
	// OutputLimit ends the command after so many bytes; DefaultOutputLimit if 0.
	OutputLimit int64
	// OnOutput gets every byte of both streams in order of arrival, one call at a
	// time. It must not keep the slice.
	OnOutput func(chunk []byte)
	// PTY gives the command a terminal of its own, 80 by 24, for programs that
	// insist on one. Both streams are then one.
	PTY bool
	// Interactive keeps the input open for Process.Send, and makes both streams
	// one, so that what is written comes in the order in which it was written.
	Interactive bool
	// BackgroundAfter moves a foreground run to the background after so long.
	BackgroundAfter time.Duration
	// Program, if set, is what LookPath found when the plan was made; the command
	// does not start if it is another file now.
	Program *Program
}

// Reason says why a process ended.
type Reason string

// The ways in which a process ends.
const (
	Exited      Reason = "exited"       // by itself, with Code
	Signaled    Reason = "signaled"     // by a signal that chela did not send
	TimedOut    Reason = "timeout"      // Command.Timeout or the context's deadline
	Cancelled   Reason = "cancelled"    // the context was cancelled
	Killed      Reason = "killed"       // by Process.Kill or Runner.Close
	OutputLimit Reason = "output-limit" // it wrote more than Command.OutputLimit
	Background  Reason = "background"   // it did not end: it runs on in the background
)

// Exit is how a run ended.
type Exit struct {
	Reason   Reason
	Code     int    // exit code; -1 if there is none
	Signal   string // the signal that ended it, if one did
	Program  Program
	Duration time.Duration
	Output   Captured // both streams in order of arrival
	Stdout   Captured
	Stderr   Captured
	Leftover int      // other processes of its tree that had to be ended
	Process  *Process // only for Background

	Sandbox   string      // the level of the OS sandbox that it ran in; empty: in none
	Untrusted []Untrusted // what it left in the workspace for others to run; found in the sandbox only
	Note      string      // what a person should know about the sandbox's check; empty: nothing
	fault     error       // why the sandbox did not start the command
}

// Refuse makes a run fail because the sandbox did not start its command.
func (e *Exit) Refuse(err error) { e.fault = err }

// Refused is why the sandbox did not start the command; nil: it did.
func (e Exit) Refused() error { return e.fault }

// Distrust says in one line a piece what the sandbox noticed about a command's
// effects; empty: nothing.
func (e Exit) Distrust() string {
	var b strings.Builder
	for _, u := range e.Untrusted {
		what := "is new"
		if u.Changed {
			what = "was changed"
		}
		fmt.Fprintf(&b, "[not trusted: %q %s, and %s]\n", u.Path, what, u.Reason)
	}
	if e.Note != "" {
		fmt.Fprintf(&b, "[sandbox: %s]\n", e.Note)
	}
	return b.String()
}

// Untrusted is something that appeared in the workspace, or changed, while a
// sandboxed command ran, and that a program outside the sandbox will run or
// obey later.
type Untrusted struct {
	Path    string // relative to the workspace, with slashes
	Reason  string // what runs or obeys it
	Changed bool   // it was there before, with other content
}

// Run runs a command and waits for it. A non-zero exit code is no error; an
// error means that it did not start. When Run returns, nothing of its process
// tree is left, unless it was moved to the background.
func (r *Runner) Run(ctx context.Context, c Command) (Exit, error) {
	p, err := r.start(ctx, c, false)
	if err != nil {
		return Exit{}, err
	}
	var later <-chan time.Time
	if c.BackgroundAfter > 0 {
		t := time.NewTimer(c.BackgroundAfter)
		defer t.Stop()
		later = t.C
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		reason := Cancelled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			reason = TimedOut
		}
		p.end(reason)
		<-p.done
	case <-later:
		if exit, moved := p.toBackground(); moved {
			return exit, nil
		}
		<-p.done
	}
	exit, _ := p.Exit()
	if exit.fault != nil {
		return Exit{}, fmt.Errorf("run %s: %w", c.Argv[0], exit.fault)
	}
	return exit, nil
}

// Start starts a command in the background, where it outlives ctx: it runs until
// it ends, its timeout passes, or Kill or Runner.Close end it.
func (r *Runner) Start(ctx context.Context, c Command) (*Process, error) {
	return r.start(ctx, c, true)
}

// Processes returns the background processes, running or ended, oldest first.
func (r *Runner) Processes() []*Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*Process
	for _, p := range r.procs {
		if p.background.Load() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Process) int { return a.Started.Compare(b.Started) })
	return out
}

// Process returns the background process with this ID.
func (r *Runner) Process(id string) (*Process, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.procs[id]
	return p, ok && p.background.Load()
}

// Close ends every process and waits until all are gone. Nothing can be started
// afterwards.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	all := slices.Collect(maps.Values(r.procs))
	r.mu.Unlock()
	for _, p := range all {
		p.end(Killed)
	}
	r.wg.Wait()
	r.cancel()
	r.spawn.stop()
	return nil
}

// prepare checks a command and builds it.
func (r *Runner) prepare(c Command, id string) (*exec.Cmd, Program, func(), error) {
	if len(c.Argv) == 0 {
		return nil, Program{}, nil, errors.New("command is empty: give a program and its arguments")
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return nil, Program{}, nil, fmt.Errorf("argument %q contains a NUL byte", a)
		}
	}
	prog, err := r.LookPath(c.Argv[0])
	if err != nil {
		return nil, Program{}, nil, err
	}
	if c.Program != nil && !prog.Same(*c.Program) {
		return nil, Program{}, nil, &Changed{Path: prog.Path, Want: "the program of the plan", Have: "another file"}
	}
	env, err := cleanEnv(r.opts.Environ, r.opts.PassEnv, strings.Join(r.path, string(filepath.ListSeparator)), c.Env, c.PTY)
	if err != nil {
		return nil, Program{}, nil, err
	}
	dir := c.Dir
	if dir == "" {
		dir = "."
	}
	handle, loc, fi, err := r.fs.openVerified("run in", dir)
	if err != nil {
		return nil, Program{}, nil, err
	}
	done := func() { _ = handle.Close() }
	if !fi.IsDir() {
		done()
		return nil, Program{}, nil, fmt.Errorf("run in %s: not a directory", dir)
	}
	real := filepath.Join(r.workspace, filepath.FromSlash(loc.rel))
	cmd := exec.Command(prog.Path, c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Dir = dirOf(handle, real)
	cmd.Env = append(append(env, "PWD="+real, markerName+"="+id), c.OwnEnv...)
	return cmd, prog, done, nil
}

// markerName is the variable by which the members of a process tree are found,
// wherever they moved in the process table.
const markerName = "CHELA_RUN"

func newID() string { return strings.ToLower(rand.Text()[:12]) }
