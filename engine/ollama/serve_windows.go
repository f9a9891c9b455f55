package ollama

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives the server a console of its own, so that it does not get the
// terminal's signals.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// ended reports how a child ended, or nil while it runs. It does not wait: a
// goroutine that did would live as long as the server.
func ended(p *os.Process) error {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.Pid))
	if err != nil {
		return fmt.Errorf("waiting for it: %w", err)
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	if err != nil {
		return fmt.Errorf("waiting for it: %w", err)
	}
	if event == uint32(windows.WAIT_TIMEOUT) {
		return nil
	}
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err != nil {
		return fmt.Errorf("asking how it ended: %w", err)
	}
	return fmt.Errorf("exit code %d", code)
}
