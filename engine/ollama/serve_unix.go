//go:build unix

package ollama

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach gives the server a session of its own, so that it does not get the
// terminal's signals.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// ended reports how a child ended, or nil while it runs. It does not wait: a
// goroutine that did would live as long as the server.
func ended(p *os.Process) error {
	var status unix.WaitStatus
	pid, err := unix.Wait4(p.Pid, &status, unix.WNOHANG, nil)
	switch {
	case err != nil:
		return fmt.Errorf("waiting for it: %w", err)
	case pid == 0:
		return nil
	case status.Signaled():
		return fmt.Errorf("killed by %s", status.Signal())
	}
	return fmt.Errorf("exit status %d", status.ExitStatus())
}
