package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// settle is how long what a finished command left may still write, such as a
	// process substitution of its shell.
	settle = 100 * time.Millisecond
	// orphaned is how long a command has to end after bubblewrap was told to.
	orphaned = 2 * time.Second
)

// runInit is the first process of the sandbox. It restricts itself, starts the
// command, reaps whatever comes to it, and reports. When it ends, the kernel ends
// everything that is left. It returns only if the command was not started.
func runInit(s spec, argv []string) error {
	if len(argv) < 2 {
		return errors.New("no command was given")
	}
	unix.CloseOnExec(s.Status)
	if s.Orphan {
		// Bubblewrap ends at the first signal and would take everything with it.
		// The command gets the chance to clean up that it has elsewhere.
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGHUP), 0, 0, 0); err != nil {
			return fmt.Errorf("watching for the end of chela: %w", err)
		}
	}
	if err := s.atHome(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	// Nothing in the sandbox may look into this process or change it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing the sandbox's first process: %w", err)
	}
	steady()
	if err := s.Limits.set(); err != nil {
		return err
	}
	if err := s.restrict(); err != nil {
		return err
	}
	program, args, files := argv[0], argv[1:], []uintptr{0, 1, 2}
	if s.Limits.AddressSpace > 0 {
		limit := spec{Stage: stageLimit, Status: 3, Limits: Limits{AddressSpace: s.Limits.AddressSpace}}
		own, err := limit.args(argv)
		if err != nil {
			return err
		}
		program, args, files = "/proc/self/exe", append([]string{os.Args[0]}, own...), append(files, uintptr(s.Status))
	}
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		return fmt.Errorf("starting %s: %w", argv[0], err)
	}
	// The command's pipes must end when it does, though this process stays.
	for fd := range 3 {
		_ = unix.Close(fd)
	}
	go s.pass(signals, pid)
	status := reap(pid)
	r := report{Code: status.ExitStatus(), Left: leftovers()}
	if status.Signaled() {
		r.Signal = int(status.Signal())
		r.Code = 128 + r.Signal
	}
	s.report(r)
	os.Exit(r.Code)
	return nil
}

// victimOfMemory has the kernel end this and what it starts first when memory
// runs out. It is a courtesy to the rest of the machine and may fail.
func victimOfMemory() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// spareThreads are more than this process ever uses.
const spareThreads = 8

// limit takes the limit on memory and becomes the command. It returns only if
// that failed.
func (s spec) limit(argv []string) error {
	if len(argv) < 2 {
		return errors.New("no command was given")
	}
	unix.CloseOnExec(s.Status)
	if err := lower(unix.RLIMIT_AS, uint64(s.Limits.AddressSpace)); err != nil {
		return fmt.Errorf("limiting the address space: %w", err)
	}
	return fmt.Errorf("starting %s: %w", argv[0], unix.Exec(argv[0], argv[1:], os.Environ()))
}

// steady makes this process need nothing more from the kernel: the limits that
// are for the command hold for it too, and it must not fail when they are used up.
func steady() {
	debug.SetGCPercent(-1)
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	for range spareThreads {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-release
		})
	}
	ready.Wait() // each holds a thread, which the runtime keeps
	close(release)
	done.Wait()
}

// restrict puts on everything that a thread can put on itself. What this thread
// starts has it too.
func (s spec) restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if s.Landlock > 0 {
		if err := landlocked(s.Landlock, s.Writable); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if s.Seccomp {
		if err := filtered(); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return nil
}

// atHome goes to the working directory by its path inside, and checks that it
// and the writable folders are what they were when the sandbox was planned.
func (s spec) atHome() error {
	for _, m := range s.Mounts {
		if info, err := os.Lstat(m.Path); err != nil || !identify(info).same(m.ID) {
			return fmt.Errorf("%s changed while the sandbox was prepared", m.Path)
		}
	}
	if err := os.Chdir(s.Dir); err != nil {
		return fmt.Errorf("going to the working directory: %w", err)
	}
	info, err := os.Stat(".")
	if err != nil || !identify(info).same(s.DirID) {
		return fmt.Errorf("the working directory %s changed while the sandbox was prepared", s.Dir)
	}
	return nil
}

// pass hands signals on to the command.
func (s spec) pass(signals <-chan os.Signal, pid int) {
	for sig := range signals {
		number, ok := sig.(syscall.Signal)
		if !ok {
			continue
		}
		if s.Orphan && number == unix.SIGHUP {
			number = unix.SIGTERM
			time.AfterFunc(orphaned, func() { os.Exit(failed) })
		}
		_ = unix.Kill(pid, number) // it may have ended
	}
}

// reap waits for everything until the command itself has ended.
func reap(pid int) unix.WaitStatus {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			os.Exit(failed) // the command is our child: this cannot be
		case got == pid:
			return status
		}
	}
}

// leftovers waits briefly for what the command left behind, and counts what then
// still runs.
func leftovers() int {
	for until := time.Now().Add(settle); ; time.Sleep(2 * time.Millisecond) {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if got > 0 {
			continue
		}
		if errors.Is(err, unix.ECHILD) {
			return 0 // all that lost its parent becomes a child of this process
		}
		if time.Now().After(until) {
			return processes()
		}
	}
}

// processes counts the living others. Its own number is 1 with Namespaces, and
// with bubblewrap, which is told not to be it.
func processes() int {
	names, err := readDir("/proc")
	if err != nil {
		return 1 // at least
	}
	n := 0
	for _, e := range names {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			n++
		}
	}
	return n
}

// ownThreads is about how many threads this process has itself.
const ownThreads = spareThreads + 8

// set puts the limits on this process and so on all that it starts, but for the
// one on memory, see limit.
func (l Limits) set() error {
	for _, one := range []struct {
		resource int
		name     string
		value    uint64
	}{
		{unix.RLIMIT_CPU, "processor time", uint64(l.CPU / time.Second)},
		{unix.RLIMIT_FSIZE, "file size", uint64(l.FileSize)},
		{unix.RLIMIT_NPROC, "processes", uint64(l.Processes)},
		{unix.RLIMIT_NOFILE, "open files", uint64(l.OpenFiles)},
	} {
		if one.value == 0 {
			continue
		}
		if one.resource == unix.RLIMIT_NPROC {
			one.value += ownThreads
		}
		if err := lower(one.resource, one.value); err != nil {
			return fmt.Errorf("limiting the %s: %w", one.name, err)
		}
	}
	return nil
}

// lower puts a limit on this process that it cannot raise again. It never raises
// one itself.
func lower(resource int, value uint64) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(resource, &have); err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: min(value, have.Max), Max: min(value, have.Max)}
	return unix.Prlimit(0, resource, &limit, nil)
}
