// Package screentest runs a whole program in a pseudo-terminal and reads its
// screen through a terminal emulator, as a person would see it.
//
// It is used by tests and by the program that draws the pictures of the
// documentation. Waiting is always for something on the screen, never for a
// time to pass.
package screentest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Terminal is a running program with its screen. Its methods are safe for
// concurrent use.
type Terminal struct {
	cmd  *exec.Cmd
	file *os.File

	mu      sync.Mutex
	emu     *vt.Emulator
	alt     bool
	changed chan struct{} // closed and replaced when the screen changed
	raw     []byte        // everything the program wrote, up to maxRaw

	wg     sync.WaitGroup
	exited chan struct{}
	err    error // how the program ended
}

const maxRaw = 4 << 20

// Start runs the command in a terminal of w by h cells. The command ends when
// the context does.
func Start(ctx context.Context, cmd *exec.Cmd, w, h int) (*Terminal, error) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=", "TERM_PROGRAM=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
	if err != nil {
		return nil, fmt.Errorf("starting %s in a terminal: %w", cmd.Path, err)
	}
	t := &Terminal{cmd: cmd, file: f, emu: vt.NewEmulator(w, h), changed: make(chan struct{}), exited: make(chan struct{})}
	t.emu.SetCallbacks(vt.Callbacks{
		AltScreen: func(on bool) { t.alt = on },
	})
	t.wg.Go(t.readProgram)
	t.wg.Go(t.answerQueries)
	go func() {
		t.err = cmd.Wait()
		f.Close() // the reader may still be waiting
		t.wg.Wait()
		close(t.exited)
		t.touch()
	}()
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may have ended already
	return t, nil
}

// readProgram feeds what the program writes into the emulator.
func (t *Terminal) readProgram() {
	buf := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(buf)
		if n > 0 {
			t.mu.Lock()
			_, _ = t.emu.Write(buf[:n]) // an emulator cannot fail to take bytes
			if len(t.raw) < maxRaw {
				t.raw = append(t.raw, buf[:n]...)
			}
			t.mu.Unlock()
			t.touch()
		}
		if err != nil {
			// Ends answerQueries. The emulator's own Close would write a flag
			// that its Read reads without a lock.
			if pipe, ok := t.emu.InputPipe().(io.Closer); ok {
				_ = pipe.Close() // a pipe in memory cannot fail to close
			}
			return
		}
	}
}

// answerQueries sends the terminal's answers (its background colour, what it
// supports) back to the program.
func (t *Terminal) answerQueries() {
	_, err := io.Copy(t.file, emulatorReader{t.emu})
	_ = err // the program ended
}

// emulatorReader reads without the lock: the emulator's pipe is safe for that.
type emulatorReader struct{ emu *vt.Emulator }

func (r emulatorReader) Read(p []byte) (int, error) { return r.emu.Read(p) }

func (t *Terminal) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
}

// Send writes bytes as if they were typed. Special keys are their sequences;
// see the Key constants.
func (t *Terminal) Send(keys ...string) error {
	for _, k := range keys {
		if _, err := t.file.WriteString(k); err != nil {
			return fmt.Errorf("typing %q: %w", k, err)
		}
	}
	return nil
}

// Sequences of keys that are no characters.
const (
	KeyEnter  = "\r"
	KeyEsc    = "\x1b"
	KeyTab    = "\t"
	KeyCtrlC  = "\x03"
	KeyCtrlP  = "\x10"
	KeyUp     = "\x1b[A"
	KeyDown   = "\x1b[B"
	KeyPgUp   = "\x1b[5~"
	KeyPgDown = "\x1b[6~"
)

// Alt is a key pressed with alt.
func Alt(key string) string { return "\x1b" + key }

// ErrExited is in the chain when the program ended while it was waited for.
var ErrExited = errors.New("the program ended")

// WaitFor waits until the condition holds for the screen's text. Its error
// shows the screen as it was.
func (t *Terminal) WaitFor(ctx context.Context, what string, cond func(screen string) bool) error {
	for {
		t.mu.Lock()
		changed := t.changed
		text := t.text()
		t.mu.Unlock()
		if cond(text) {
			return nil
		}
		select {
		case <-changed:
		case <-t.exited:
			if cond(t.Text()) {
				return nil
			}
			return fmt.Errorf("waiting for %s: %w (%w); screen:\n%s", what, ErrExited, t.err, t.Text())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; screen:\n%s", what, ctx.Err(), text)
		}
	}
}

// WaitText waits until all the texts are on the screen.
func (t *Terminal) WaitText(ctx context.Context, texts ...string) error {
	return t.WaitFor(ctx, fmt.Sprintf("%q", texts), func(screen string) bool {
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				return false
			}
		}
		return true
	})
}

// WaitGone waits until a text is not on the screen.
func (t *Terminal) WaitGone(ctx context.Context, text string) error {
	return t.WaitFor(ctx, fmt.Sprintf("%q to go", text), func(s string) bool { return !strings.Contains(s, text) })
}

// Text is the screen as text: h lines without trailing blanks.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text()
}

func (t *Terminal) text() string {
	lines := strings.Split(t.emu.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// Raw is everything the program has written to the terminal.
func (t *Terminal) Raw() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.raw)
}

// AltScreen reports whether the alternate screen is on.
func (t *Terminal) AltScreen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.alt
}

// Resize changes the terminal's size.
func (t *Terminal) Resize(w, h int) error {
	t.mu.Lock()
	t.emu.Resize(w, h)
	t.mu.Unlock()
	return pty.Setsize(t.file, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)})
}

// Kill ends the program at once, as kill -9 does.
func (t *Terminal) Kill() error { return t.cmd.Process.Kill() }

// PID is the program's process id.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Wait waits for the program to end and returns how it ended.
func (t *Terminal) Wait(ctx context.Context) error {
	select {
	case <-t.exited:
		return t.err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the program to end: %w; screen:\n%s", ctx.Err(), t.Text())
	}
}
