package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// hurryGrace bounds the wait for processes that were sent KILL at once.
const hurryGrace = 100 * time.Millisecond

// input is the open input of an interactive process.
type input struct {
	mu   sync.Mutex // one message at a time
	file *os.File   // nil: there is none
}

func (i *input) close() {
	if i.file != nil {
		_ = i.file.Close() // lets a writer that waits return
	}
}

// Send writes a message to the input of an interactive process. It fails when
// the process ended, or did not read the message before ctx ended.
func (p *Process) Send(ctx context.Context, message []byte) error {
	if p.input.file == nil {
		return fmt.Errorf("process %s has no open input", p.ID)
	}
	p.input.mu.Lock()
	defer p.input.mu.Unlock()
	if err := p.input.file.SetWriteDeadline(time.Time{}); err != nil {
		return fmt.Errorf("process %s takes no input: %w", p.ID, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.input.file.SetWriteDeadline(time.Now()) })
	defer stop()
	if _, err := p.input.file.Write(message); err != nil {
		return fmt.Errorf("process %s takes no input: %w", p.ID, errors.Join(err, ctx.Err()))
	}
	return nil
}

// news tells those who wait that something happened.
type news struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}

// News returns a channel that is closed when the process writes something after
// this call, or ends. Look at the process after taking it, then wait.
func (p *Process) News() <-chan struct{} {
	p.news.mu.Lock()
	defer p.news.mu.Unlock()
	if p.news.next == nil {
		p.news.next = make(chan struct{})
		if !p.Running() {
			close(p.news.next)
			defer func() { p.news.next = nil }()
		}
	}
	return p.news.next
}

// Interrupt sends the process and its group what ctrl+c sends. Where there is no
// such signal, or the process has ended, it says so.
func (p *Process) Interrupt() error {
	if p.reaped.Load() {
		return fmt.Errorf("process %s has ended", p.ID)
	}
	if err := interrupt(p.cmd.Process.Pid); err != nil {
		return fmt.Errorf("process %s could not be interrupted: %w", p.ID, err)
	}
	return nil
}

// KillNow is Kill without a chance to clean up.
func (p *Process) KillNow(ctx context.Context) error {
	p.hurry.Store(true)
	if !p.reaped.Load() {
		killGroup(p.cmd.Process.Pid)
	}
	return p.Kill(ctx)
}

// grace is how long its tree has between TERM and KILL.
func (p *Process) grace() time.Duration {
	if p.hurry.Load() {
		return hurryGrace
	}
	return p.runner.opts.KillGrace
}
