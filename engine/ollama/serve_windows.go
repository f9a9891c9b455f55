package ollama

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives the server a console of its own, so that it does not get the
// terminal's signals.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
