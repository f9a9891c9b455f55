package guard

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// setDeathSignal has the kernel kill the child when the thread that started it
// ends, hence also when chela is killed.
func setDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// becomeReaper makes orphans of children our children, so that a process that
// detached itself can still be found and reaped.
var becomeReaper = sync.OnceFunc(func() {
	// Without it trees are still found by their marker and groups.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

// dirOf names a directory by its open handle: the child changes to the directory
// that was verified, whatever its path means by then.
func dirOf(h *os.File, _ string) string { return fmt.Sprintf("/proc/self/fd/%d", h.Fd()) }

// spawner starts processes from one thread that lives as long as the runner,
// because a death signal follows the thread that started the child.
type spawner struct {
	mu   sync.Mutex
	work chan func()
	done chan struct{}
}

func (s *spawner) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		s.work, s.done = make(chan func()), make(chan struct{})
		go func() {
			defer close(s.done)
			runtime.LockOSThread()
			// Unlocked at the end so that the thread itself goes on living.
			defer runtime.UnlockOSThread()
			for f := range s.work {
				f()
			}
		}()
	}
	result := make(chan error, 1)
	s.work <- func() { result <- cmd.Start() }
	return <-result
}

func (s *spawner) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work != nil {
		close(s.work)
		<-s.done
		s.work = nil
	}
}
