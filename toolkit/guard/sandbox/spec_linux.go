package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
)

// identity tells one file from another, and one state of it from the next.
type identity struct {
	Dev, Ino uint64
	change   int64 // of its content or its attributes, in nanoseconds; nobody can set it
}

func identify(info fs.FileInfo) identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{Dev: uint64(st.Dev), Ino: st.Ino, change: st.Ctim.Nano()}
}

// same reports whether both are the same file.
func (i identity) same(o identity) bool { return i.Dev == o.Dev && i.Ino == o.Ino }

// marker is the first argument of this program when it is to be the inside of a
// sandbox, the description is the second, then follow the program to run and its
// arguments from argv[0] on.
const marker = "__sandbox"

// The stages of the inside.
const (
	stageEnter = "enter" // in new namespaces: builds the layout, gives up all capabilities, goes on as stageInit
	stageInit  = "init"  // restricts itself, starts the command, waits for all of it
	stageLimit = "limit" // of a command with little memory: takes the limit that the first process could not live with
	stageProbe = "probe" // the command of a probe: tries to break out
)

// spec describes to the inside what it is to do.
type spec struct {
	Stage    string
	Mounts   []mount
	Dir      string   // the working directory
	DirID    identity // and what it must be
	Status   int      // the descriptor for the report
	Landlock int
	Writable []string // what Landlock lets it write to
	Seccomp  bool
	Network  bool
	Limits   Limits
	PIDMax   bool // bound the processes by the namespace's own number
	Orphan   bool // the parent is bubblewrap, which may end first
	Probe    *trial
}

// report is what the inside says at the end, on its own descriptor.
type report struct {
	Error  string `json:"error,omitempty"`  // why the command was not started
	Code   int    `json:"code"`             // its exit code
	Signal int    `json:"signal,omitempty"` // the signal that ended it
	Left   int    `json:"left,omitempty"`   // processes that were ended with it
}

// armed says that this program's main calls Main, so that it can be its own
// inside.
var armed atomic.Bool

func inside() bool { return len(os.Args) > 2 && os.Args[1] == marker }

func init() {
	if inside() {
		// Landlock, seccomp and capabilities belong to a thread, and so does the
		// signal at the end of the parent, which is set on the first one.
		runtime.LockOSThread()
	}
}

// Main must be the first thing that main does. In a process that is to be the
// inside of a sandbox it does that, and does not return.
func Main() {
	armed.Store(true)
	if !inside() {
		return
	}
	var s spec
	if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
		fmt.Fprintln(os.Stderr, "chela: this command is for chela's own use")
		os.Exit(failed)
	}
	argv := os.Args[3:]
	switch s.Stage {
	case stageEnter:
		s.fail(enter(s, argv))
	case stageInit:
		s.fail(runInit(s, argv))
	case stageLimit:
		s.fail(s.limit(argv))
	case stageProbe:
		os.Exit(s.Probe.run())
	}
	s.fail(errors.New("unknown stage " + s.Stage))
}

// failed is the exit code of an inside that did not start its command.
const failed = 125

// fail reports why the command was not started, and ends.
func (s spec) fail(err error) {
	s.report(report{Error: err.Error(), Code: failed})
	os.Exit(failed)
}

func (s spec) report(r report) {
	data, err := json.Marshal(r)
	if err != nil || s.Status <= 0 {
		return
	}
	_, _ = syscall.Write(s.Status, data) // nobody is left to tell
}

// args are the arguments that make this program the inside.
func (s spec) args(argv []string) ([]string, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("describing the sandbox: %w", err)
	}
	// The kernel's own limit for one argument is 128 KiB.
	if len(data) > 120<<10 {
		return nil, fmt.Errorf("the workspace has too many repositories and secret files to protect: work in a folder further down")
	}
	return append([]string{marker, string(data)}, argv...), nil
}

// self is the file of this program.
func self() (string, error) {
	name, err := os.Executable()
	if err == nil {
		name, err = filepath.EvalSymlinks(name)
	}
	if err != nil {
		return "", fmt.Errorf("finding chela's own program: %w", err)
	}
	return name, nil
}
