//go:build unix

package ollama

import (
	"os/exec"
	"syscall"
)

// detach gives the server a session of its own, so that it does not get the
// terminal's signals.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
