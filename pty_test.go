package main_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chela/ui/screentest"
)

// binary builds the program once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "chela-binary-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "chela")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	if err != nil {
		return "", &buildError{err, string(out)}
	}
	return bin, nil
})

type buildError struct {
	err error
	out string
}

func (e *buildError) Error() string { return e.err.Error() + ": " + e.out }

// desk is a project folder with chela's own folders beside it.
type desk struct {
	t                         *testing.T
	ctx                       context.Context
	dir, data, config, server string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return &desk{t: t, ctx: ctx, dir: t.TempDir(), data: t.TempDir(), config: t.TempDir(), server: "127.0.0.1:1"}
}

func (d *desk) start(w, h int, args ...string) *screentest.Terminal {
	d.t.Helper()
	bin, err := binary()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.CommandContext(d.ctx, bin, append([]string{"-C", d.dir}, args...)...)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+d.server, "CHELA_DATA_DIR="+d.data, "CHELA_CONFIG_DIR="+d.config)
	term, err := screentest.Start(d.ctx, cmd, w, h)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = term.Kill() // it may have ended already
		_ = term.Wait(context.Background())
	})
	return term
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// review opens the queue and waits until the call may be decided.
func (d *desk) approve(term *screentest.Terminal) {
	d.t.Helper()
	d.must(term.Send(screentest.Alt("3")))
	// The key is void until the call was visible for 400 ms, so it is pressed
	// until it counts, as a person would after reading.
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for strings.Contains(term.Text(), "Approvals · 1") {
		d.must(term.Send("a"))
		select {
		case <-ticker.C:
		case <-d.ctx.Done():
			d.t.Fatalf("never approved; screen:\n%s", term.Text())
		}
	}
}

func TestTheWholeProgram(t *testing.T) {
	d := newDesk(t)
	term := d.start(120, 34)
	d.must(term.WaitText(d.ctx, "pocket", "Message", "Approvals"))
	d.must(term.Send("write notes.txt containing hello" + screentest.KeyEnter))
	d.must(term.WaitText(d.ctx, "Approvals · 1", "write_file"))
	if _, err := os.Stat(filepath.Join(d.dir, "notes.txt")); err == nil {
		t.Fatal("written before the approval")
	}
	d.approve(term)
	d.must(term.WaitText(d.ctx, "✓ write_file", "Done: write_file"))
	d.must(term.WaitGone(d.ctx, "working")) // until then ctrl+c stops the turn
	b, err := os.ReadFile(filepath.Join(d.dir, "notes.txt"))
	if err != nil || !strings.Contains(string(b), "hello") {
		t.Errorf("notes.txt holds %q, %v", b, err)
	}
	d.must(term.Resize(80, 24))
	d.must(term.WaitText(d.ctx, "1 Chat", "2 Timeline 1"))
	d.must(term.Resize(40, 10))
	d.must(term.WaitText(d.ctx, "3 Appr"))
	d.must(term.Send(screentest.KeyCtrlC))
	d.must(term.WaitText(d.ctx, "again"))
	d.must(term.Send(screentest.KeyCtrlC))
	d.must(term.Wait(d.ctx))
	if term.AltScreen() {
		t.Error("the alternate screen was left on")
	}
	for _, mode := range []string{"?1049", "?2004", "?1004", "?1002", "?1006"} {
		on, off := strings.LastIndex(term.Raw(), "\x1b["+mode+"h"), strings.LastIndex(term.Raw(), "\x1b["+mode+"l")
		if on > off {
			t.Errorf("mode %s was left on", mode)
		}
	}
}

// Killed in the middle of a turn, with a call waiting: after the restart the
// conversation is there, the call says that it was interrupted, the old
// approval cannot be answered, and work goes on.
func TestKilledInATurnAndResumed(t *testing.T) {
	d := newDesk(t)
	term := d.start(120, 34)
	d.must(term.WaitText(d.ctx, "pocket", "Message"))
	d.must(term.Send("write notes.txt containing hello" + screentest.KeyEnter))
	d.must(term.WaitText(d.ctx, "Approvals · 1"))
	d.must(term.Kill())
	_ = term.Wait(d.ctx) // killed

	term = d.start(120, 34, "--session", "last")
	d.must(term.WaitText(d.ctx, "write notes.txt containing hello", "interrupted", "✗ write_file"))
	if strings.Contains(term.Text(), "Approvals · 1") {
		t.Error("the old approval still waits")
	}
	if _, err := os.Stat(filepath.Join(d.dir, "notes.txt")); err == nil {
		t.Error("the interrupted call ran")
	}
	d.must(term.Send("write notes.txt containing hello" + screentest.KeyEnter))
	d.must(term.WaitText(d.ctx, "Approvals · 1"))
	d.approve(term)
	d.must(term.WaitText(d.ctx, "Done: write_file"))
}

// The end of the terminal is an orderly end: the screen is left as it was, and
// a call that waits is on record as cancelled.
func TestHangingUpEndsInOrder(t *testing.T) {
	d := newDesk(t)
	term := d.start(120, 34)
	d.must(term.WaitText(d.ctx, "pocket", "Message"))
	d.must(term.Send("write notes.txt containing hello" + screentest.KeyEnter))
	d.must(term.WaitText(d.ctx, "Approvals · 1"))
	p, err := os.FindProcess(term.PID())
	d.must(err)
	d.must(p.Signal(syscall.SIGHUP))
	_ = term.Wait(d.ctx) // it may say that it was cancelled
	if term.AltScreen() {
		t.Error("the alternate screen was left on")
	}
	term = d.start(120, 34, "--session", "last")
	d.must(term.WaitText(d.ctx, "write notes.txt containing hello", "cancelled"))
}

// What answers at OLLAMA_HOST may be anything. What net/http has to say about
// it must not be written over the screen.
func TestAServerThatTalksNonsenseLeavesTheScreenAlone(t *testing.T) {
	d := newDesk(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	d.must(err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096)) // whatever is asked
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}and more than that")
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	d.server = l.Addr().String()
	term := d.start(120, 34)
	d.must(term.WaitText(d.ctx, "Message", "ask"))
	d.must(term.Send(screentest.KeyCtrlC))
	d.must(term.WaitText(d.ctx, "again"))
	d.must(term.Send(screentest.KeyCtrlC))
	d.must(term.Wait(d.ctx))
	if strings.Contains(term.Raw(), "Unsolicited response") {
		t.Errorf("a log line was written over the screen:\n%q", term.Raw())
	}
}
