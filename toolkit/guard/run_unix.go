//go:build unix

package guard

import (
	"os"
	"syscall"
)

// sysProcAttr gives the child its own session: no /dev/tty, own process group.
func sysProcAttr(terminal bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Setctty: terminal}
	setDeathSignal(attr)
	return attr
}

func signalName(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
