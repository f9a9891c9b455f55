package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// sysProcAttr gives the child its own console group and no window.
func sysProcAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func signalName(*os.ProcessState) string { return "" }

// tree is the leader and what the system still counts as its children.
type tree struct{ leader *os.Process }

func newTree(leader *os.Process, _ string, _ []*os.File) *tree { return &tree{leader} }

// kill ends the leader with its children, by the system's own taskkill. There is
// no gentle signal for programs without a window.
func (t *tree) kill(grace time.Duration, leaderGone func() bool) int {
	if leaderGone() {
		return 0
	}
	dir, err := windows.GetSystemDirectory()
	if err == nil {
		err = exec.Command(filepath.Join(dir, "taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(t.leader.Pid)).Run()
	}
	if err != nil {
		_ = t.leader.Kill()
	}
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !leaderGone() && time.Now().Before(deadline) {
		<-tick.C
	}
	return 0
}
