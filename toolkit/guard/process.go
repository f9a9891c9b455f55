package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Process is a started command.
type Process struct {
	ID      string
	Argv    []string
	Program Program
	Dir     string // as the command gave it
	Started time.Time

	runner     *Runner
	cmd        *exec.Cmd
	tree       *tree
	background atomic.Bool
	done       chan struct{}
	stopOnce   sync.Once
	stop       chan struct{} // closed when somebody wants the end
	why        Reason        // set before stop is closed
	exit       Exit          // set before done is closed
	after      func(*Exit)   // of the sandbox, when nothing is left of the tree

	out, stdout, stderr *ring
	deliver             sync.Mutex // one OnOutput call at a time
	onOutput            func([]byte)
	limit               int64
	got                 int64 // guarded by deliver
	input               input
	news                news
	hurry               atomic.Bool // no grace: KILL at once
	reaped              atomic.Bool // the leader's number may belong to another process
}

func (r *Runner) start(ctx context.Context, c Command, background bool) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("not started: %w", err)
	}
	p := &Process{
		ID: newID(), Argv: slices.Clone(c.Argv), Dir: c.Dir, runner: r,
		done: make(chan struct{}), stop: make(chan struct{}), onOutput: c.OnOutput, limit: c.OutputLimit,
	}
	p.background.Store(background)
	keep := c.MaxOutput
	if keep <= 0 {
		keep = DefaultMaxOutput
	}
	if p.limit <= 0 {
		p.limit = DefaultOutputLimit
	}
	p.out, p.stdout, p.stderr = newRing(keep), newRing(keep), newRing(keep)
	cmd, prog, cleanup, err := r.prepare(c, p.ID)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	p.cmd, p.Program = cmd, prog
	cmd.SysProcAttr = sysProcAttr(c.PTY)
	// Only an input that somebody keeps open is waited for, and not for long.
	cmd.WaitDelay = pipeWait
	if c.Stdin != nil && !c.PTY && !c.Interactive {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	streams, err := openStreams(cmd, c)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	p.input.file = streams.input
	if p.after, err = r.confine(ctx, cmd); err != nil {
		streams.close()
		return nil, fmt.Errorf("run %s: it could not be confined: %w", c.Argv[0], err)
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		streams.close()
		p.after(&Exit{})
		return nil, errors.New("run: chela is closing")
	}
	r.wg.Add(1)
	r.procs[p.ID] = p
	r.mu.Unlock()
	p.Started = time.Now()
	becomeReaper()
	if err := r.spawn.start(cmd); err != nil {
		streams.close()
		p.after(&Exit{})
		r.forget(p)
		r.wg.Done()
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	streams.closeChild()
	p.tree = newTree(cmd.Process, p.ID, streams.readers())
	go p.supervise(c.Timeout, streams)
	return p, nil
}

// confine puts the command of a sandboxed runner into the sandbox. There is no
// way around it: without a sandbox the command does not start.
func (r *Runner) confine(ctx context.Context, cmd *exec.Cmd) (func(*Exit), error) {
	nothing := func(*Exit) {}
	if !r.confined {
		return nothing, nil
	}
	if r.opts.Confine == nil {
		return nil, errors.New("there is no OS sandbox here")
	}
	after, err := r.opts.Confine(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = nothing
	}
	return after, nil
}

// supervise waits for the end of a process, ends its tree, and collects the
// output. It is the only goroutine that changes p.exit.
func (p *Process) supervise(timeout time.Duration, s *streams) {
	defer p.runner.wg.Done()
	var readers sync.WaitGroup
	for i, f := range s.readers() {
		own := p.stdout
		if i == 1 {
			own = p.stderr
		}
		readers.Go(func() { p.pump(f, own) })
	}
	drained := make(chan struct{})
	go func() {
		readers.Wait()
		close(drained)
	}()
	waited := make(chan error, 1)
	go func() {
		err := p.cmd.Wait()
		p.reaped.Store(true)
		waited <- err
	}()
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	reason, gone := Exited, false
	var waitErr error
	select {
	case waitErr = <-waited:
		gone = true
	case <-late:
		reason = TimedOut
	case <-p.stop:
		reason = p.why
	}
	if gone {
		waitBriefly(drained, settle)
	}
	leftover := p.tree.kill(p.grace(), func() bool {
		if !gone {
			select {
			case waitErr = <-waited:
				gone = true
			default:
			}
		}
		return gone
	})
	if !gone {
		waitErr = <-waited
	}
	// Nothing of the tree is left, but a process out of reach may hold the pipe.
	if !waitBriefly(drained, pipeWait) {
		s.expire()
		<-drained
	}
	p.input.close()
	s.close()
	p.finish(reason, waitErr, leftover)
}

func waitBriefly(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

func (p *Process) finish(reason Reason, waitErr error, leftover int) {
	e := Exit{
		Reason: reason, Code: -1, Program: p.Program, Duration: time.Since(p.Started), Leftover: leftover,
		Output: p.out.captured(), Stdout: p.stdout.captured(), Stderr: p.stderr.captured(),
	}
	if state := p.cmd.ProcessState; state != nil {
		e.Code = state.ExitCode()
		if e.Signal = signalName(state); e.Signal != "" && reason == Exited {
			e.Reason = Signaled
		}
	} else if waitErr != nil {
		e.Signal = waitErr.Error()
	}
	p.after(&e)
	p.exit = e
	close(p.done)
	p.news.tell()
	if !p.background.Load() {
		p.runner.forget(p)
	}
	p.runner.trim()
}

func (r *Runner) forget(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.procs, p.ID)
}

// trim forgets the oldest ended processes beyond maxFinished.
func (r *Runner) trim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []*Process
	for _, p := range r.procs {
		if !p.Running() {
			ended = append(ended, p)
		}
	}
	slices.SortFunc(ended, func(a, b *Process) int { return a.Started.Compare(b.Started) })
	for len(ended) > maxFinished {
		delete(r.procs, ended[0].ID)
		ended = ended[1:]
	}
}

// pump copies one stream to the rings and the callback until it ends.
func (p *Process) pump(f *os.File, own *ring) {
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			p.take(buf[:n], own)
		}
		if err != nil {
			return // io.EOF; EIO from a terminal whose last user went; a deadline
		}
	}
}

func (p *Process) take(chunk []byte, own *ring) {
	p.deliver.Lock()
	defer p.deliver.Unlock()
	p.got += int64(len(chunk))
	if p.got > p.limit {
		p.end(OutputLimit)
		if p.got-int64(len(chunk)) >= p.limit {
			return // the kill is on its way; what still comes is not kept
		}
	}
	own.write(chunk)
	p.out.write(chunk)
	if p.onOutput != nil {
		p.onOutput(chunk)
	}
	p.news.tell()
}

// end asks the supervisor to end the process; the first reason counts.
func (p *Process) end(why Reason) {
	p.stopOnce.Do(func() {
		p.why = why
		close(p.stop)
	})
}

// toBackground keeps a running process and says so; false if it ended already.
func (p *Process) toBackground() (Exit, bool) {
	p.background.Store(true)
	if !p.Running() {
		p.background.Store(false)
		p.runner.forget(p)
		return Exit{}, false
	}
	return Exit{
		Reason: Background, Code: -1, Program: p.Program, Duration: time.Since(p.Started), Process: p,
		Output: p.out.captured(), Stdout: p.stdout.captured(), Stderr: p.stderr.captured(),
	}, true
}

// PID returns the process ID of the command itself.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Running reports whether the process or its tree is still there.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Done is closed when the process and its tree are gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended; false while it runs.
func (p *Process) Exit() (Exit, bool) {
	if p.Running() {
		return Exit{}, false
	}
	return p.exit, true
}

// Output returns what is kept so far of both streams.
func (p *Process) Output() Captured { return p.out.captured() }

// OutputFrom returns the output at and after a byte offset, the offset to ask
// for next, and how many bytes in between were not kept.
func (p *Process) OutputFrom(offset int64) (data []byte, next, lost int64) { return p.out.from(offset) }

// Kill ends the process and its tree, and waits until they are gone.
func (p *Process) Kill(ctx context.Context) error {
	p.end(Killed)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("process %s is being ended: %w", p.ID, ctx.Err())
	}
}
