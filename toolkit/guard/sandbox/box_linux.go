package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chela/toolkit/guard"
)

// insideProgram is where bubblewrap puts this program.
const insideProgram = "/run/chela"

// Box puts commands into the sandbox that a machine supports.
type Box struct {
	Support Support // as Probe found it
	Policy  Policy
}

// Confine changes a command so that it runs in the sandbox; it is made for
// guard.RunnerOptions. An error means that it must not run. The function that is
// returned is to be called when the command has ended with all that it started,
// or was not started; it corrects the exit, and says in it what to distrust.
func (b Box) Confine(ctx context.Context, cmd *exec.Cmd) (func(*guard.Exit), error) {
	if !b.Support.Works() {
		return nil, fmt.Errorf("there is no OS sandbox here: %s", b.Support.Reason)
	}
	policy, err := b.Policy.check()
	if err != nil {
		return nil, err
	}
	before := lookAt(ctx, policy.Workspace)
	mounts, writable, err := layout(policy, before)
	if err != nil {
		return nil, fmt.Errorf("preparing the sandbox: %w", err)
	}
	s := spec{
		Stage: stageInit, Mounts: ids(mounts), Landlock: b.Support.Landlock, Writable: writable, Seccomp: b.Support.Seccomp,
		Network: policy.Network, Limits: policy.Limits,
	}
	if !b.Support.Limits {
		s.Limits = Limits{}
	}
	if err := s.findDir(cmd.Dir); err != nil {
		return nil, err
	}
	tells, told, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("preparing the sandbox: %w", err)
	}
	s.Status = 3 + len(cmd.ExtraFiles)
	argv := append([]string{cmd.Path}, cmd.Args...)
	if b.Support.Backend == Bubblewrap {
		err = b.wrap(cmd, s, mounts, argv)
	} else {
		err = b.unshare(cmd, s, mounts, argv)
	}
	if err != nil {
		_, _ = tells.Close(), told.Close()
		return nil, err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, told)
	cmd.Env = insideEnv(cmd.Env, policy)
	return func(e *guard.Exit) {
		b.finish(e, tells, told)
		compare(policy.Workspace, before, e)
	}, nil
}

// findDir notes where the command is to run. A path below /proc/self/fd stands
// for the folder behind that descriptor, which is none of the inside's.
func (s *spec) findDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("preparing the sandbox: the working directory: %w", err)
	}
	s.DirID, s.Dir = identify(info), dir
	if strings.HasPrefix(dir, "/proc/self/fd/") {
		if s.Dir, err = os.Readlink(dir); err != nil {
			return fmt.Errorf("preparing the sandbox: the working directory: %w", err)
		}
	}
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("preparing the sandbox: the working directory %q is no absolute path", s.Dir)
	}
	return nil
}

// wrap has bubblewrap make the namespaces and the layout.
func (b Box) wrap(cmd *exec.Cmd, s spec, mounts []mount, argv []string) error {
	program, err := self()
	if err != nil {
		return err
	}
	s.Orphan = true
	inner, err := s.args(argv)
	if err != nil {
		return err
	}
	args := []string{
		b.Support.Bwrap, "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--as-pid-1",
		"--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
	}
	if cmd.SysProcAttr == nil || !cmd.SysProcAttr.Setctty {
		args = append(args, "--new-session") // a command with a terminal of its own must keep it
	}
	if s.Network {
		args = append(args, "--share-net")
	}
	var sealed []string
	for _, m := range mounts {
		switch m.Kind {
		case write, pin:
			args = append(args, "--bind", m.Path, m.Path)
		case read:
			args = append(args, "--ro-bind", m.Path, m.Path)
		case temp:
			if m.Size > 0 {
				args = append(args, "--size", fmt.Sprint(m.Size))
			}
			mode := "0755"
			if m.Path == "/tmp" {
				mode = "1777"
			}
			args = append(args, "--perms", mode, "--tmpfs", m.Path)
		case hide:
			if !m.Dir {
				args = append(args, "--ro-bind", "/dev/null", m.Path)
				continue
			}
			args = append(args, "--tmpfs", m.Path)
			sealed = append(sealed, "--remount-ro", m.Path)
		}
	}
	args = append(args, "--ro-bind", program, insideProgram)
	// Most of /proc belongs to root, which may write to its own files without any
	// capability: the settings of the whole kernel are among them.
	args = append(append(args, sealed...), "--remount-ro", "/proc")
	args = append(args, "--chdir", s.Dir, "--", insideProgram)
	cmd.Path, cmd.Args = b.Support.Bwrap, append(args, inner...)
	return nil
}

// unshare has this program make the namespaces and the layout.
func (b Box) unshare(cmd *exec.Cmd, s spec, mounts []mount, argv []string) error {
	s.Stage, s.Mounts, s.PIDMax = stageEnter, mounts, b.Support.pidMax
	inner, err := s.args(argv)
	if err != nil {
		return err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if !s.Network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = enterCaps
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"chela"}, inner...)
	return nil
}

// insideEnv points temporary files and caches to where they can be written, and
// takes away the way to the services of the person's session.
func insideEnv(env []string, p Policy) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR":
		default:
			out = append(out, kv)
		}
	}
	out = append(out, "TMPDIR=/tmp")
	if p.Cache != "" {
		out = append(out, "XDG_CACHE_HOME="+p.Cache)
	}
	return out
}

// maxReportWait bounds the wait for a report that nobody will write, should the
// descriptor live on with a process out of reach.
const maxReportWait = time.Second

// finish reads what the inside reported.
func (b Box) finish(e *guard.Exit, tells, told *os.File) {
	_ = told.Close()
	defer func() { _ = tells.Close() }()
	_ = tells.SetReadDeadline(time.Now().Add(maxReportWait)) // without one it ends all the same
	data, err := io.ReadAll(io.LimitReader(tells, 64<<10))
	e.Sandbox = b.Support.String()
	var r report
	if err == nil && len(data) > 0 {
		err = json.NewDecoder(bytes.NewReader(data)).Decode(&r) // what comes after a failure only follows from it
	}
	switch {
	case err != nil || len(data) == 0:
		// It was killed, or never came to life. A command that was started is
		// only ever reported on; so what ended by itself was not started.
		if e.Reason == guard.Exited || e.Reason == guard.Signaled {
			e.Refuse(fmt.Errorf("the sandbox did not start the command, or was ended with it: %s", lastLine(e)))
		}
	case r.Error != "":
		e.Refuse(errors.New("the sandbox could not be made, so the command did not run: " + r.Error))
	case e.Reason == guard.Exited || e.Reason == guard.Signaled:
		e.Reason, e.Code, e.Signal = guard.Exited, r.Code, ""
		if r.Signal != 0 {
			e.Reason, e.Code, e.Signal = guard.Signaled, -1, syscall.Signal(r.Signal).String()
		}
	}
	e.Leftover += r.Left
}

func lastLine(e *guard.Exit) string {
	text := strings.TrimSpace(e.Output.String())
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return "it said nothing"
	}
	return text
}
