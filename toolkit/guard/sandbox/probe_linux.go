package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"chela/toolkit/guard"
)

// maxProbe bounds all of a probe. It takes some tenths of a second.
const maxProbe = 10 * time.Second

var (
	probing sync.Mutex
	probed  atomic.Pointer[Support]
)

// Known is what Probe found, without waiting; false: it has not ended yet.
func Known() (Support, bool) {
	if s := probed.Load(); s != nil {
		return *s, true
	}
	return Support{}, false
}

// Probe finds out what this machine can do, by running trials in each layer and
// in the whole: some tenths of a second the first time, nothing afterwards. It
// leaves no file and no process behind. A probe that its context ended is
// repeated by the next call.
func Probe(ctx context.Context) Support {
	probing.Lock()
	defer probing.Unlock()
	if s, ok := Known(); ok {
		return s
	}
	limited, cancel := context.WithTimeout(ctx, maxProbe)
	defer cancel()
	s := probe(limited, order(os.Geteuid()))
	if ctx.Err() == nil {
		probed.Store(&s)
	}
	return s
}

// order is the backends' preference. Bubblewrap comes first where there is a
// choice, as it is what distributions give the right to make namespaces. Root is
// exempt from the limit on processes; what bounds those of root is a number that
// only this program sets.
func order(uid int) []Backend {
	if uid == 0 {
		return []Backend{Namespaces, Bubblewrap}
	}
	return []Backend{Bubblewrap, Namespaces}
}

func probe(ctx context.Context, backends []Backend) Support {
	if !armed.Load() {
		return Support{Reason: "this program cannot be its own sandbox: its main does not call sandbox.Main"}
	}
	lab, err := newLab()
	if err != nil {
		return Support{Reason: fmt.Sprintf("the trials could not be prepared: %v", err)}
	}
	defer lab.close()
	layers := lab.layers(ctx)
	var reasons []string
	for _, backend := range backends {
		s := layers
		s.Backend = backend
		err := lab.whole(ctx, &s)
		if err == nil {
			s.Reason = strings.Join(reasons, "; ")
			return s
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", backend, err))
	}
	layers.Reason = strings.Join(reasons, "; ")
	return layers
}

// bwrapPaths are where distributions have it. PATH is not searched: what is
// found there may be anybody's.
var bwrapPaths = []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap", "/run/wrappers/bin/bwrap"}

func findBwrap() (string, error) {
	for _, name := range bwrapPaths {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return name, nil
		}
	}
	return "", errors.New("it is not installed")
}

// lab is a folder with an inside and an outside, and somebody who listens.
type lab struct {
	dir       string
	trial     trial
	listeners []net.Listener
}

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "chela-probe-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir}
	l.trial = trial{
		Inside: filepath.Join(dir, "in side"), Outside: filepath.Join(dir, "out"), Hidden: filepath.Join(dir, "in side", "hidden", "file"),
		Unix: filepath.Join(dir, "out", "socket"), PID: os.Getpid(), Size: 1 << 20,
	}
	fail := func(err error) (*lab, error) {
		l.close()
		return nil, err
	}
	for _, sub := range []string{l.trial.Outside, filepath.Dir(l.trial.Hidden)} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return fail(err)
		}
	}
	if err := os.WriteFile(l.trial.Hidden, []byte("x"), 0o600); err != nil {
		return fail(err)
	}
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": l.trial.Unix} {
		ln, err := net.Listen(network, address)
		if err != nil {
			return fail(err)
		}
		l.listeners = append(l.listeners, ln)
		if network == "tcp" {
			l.trial.TCP = ln.Addr().String()
		}
	}
	return l, nil
}

func (l *lab) close() {
	for _, ln := range l.listeners {
		_ = ln.Close()
	}
	_ = os.RemoveAll(l.dir)
}

// layers tries the layers that a process can put on itself, without any other:
// all together, and one by one where not all hold.
func (l *lab) layers(ctx context.Context) Support {
	version, limits := landlockVersion(), Limits{FileSize: l.trial.Size}
	if version > 0 {
		if s := l.held(ctx, spec{Landlock: version, Seccomp: true, Limits: limits}); s.Landlock > 0 && s.Seccomp && s.Limits {
			return s
		}
	}
	s := Support{
		Seccomp: l.held(ctx, spec{Seccomp: true}).Seccomp,
		Limits:  l.held(ctx, spec{Limits: limits}).Limits,
	}
	if version > 0 {
		s.Landlock = l.held(ctx, spec{Landlock: version}).Landlock
	}
	return s
}

// held is which layers of a spec held.
func (l *lab) held(ctx context.Context, s spec) Support {
	if s.Landlock > 0 {
		s.Writable = []string{l.trial.Inside}
	}
	o, err := l.alone(ctx, s)
	if err != nil || !o.NoNewPrivs {
		return Support{}
	}
	held := Support{Seccomp: s.Seccomp && o.NoFamily && o.NoUserNS, Limits: s.Limits.FileSize > 0 && o.SizeHolds}
	if s.Landlock > 0 && o.Writes && o.NoWrite {
		held.Landlock = s.Landlock
	}
	return held
}

// alone runs the trial with nothing but what a spec says.
func (l *lab) alone(ctx context.Context, s spec) (outcome, error) {
	s.Stage, s.Dir = stageInit, l.trial.Inside
	info, err := os.Stat(s.Dir)
	if err != nil {
		return outcome{}, err
	}
	s.DirID = identify(info)
	argv, err := l.command()
	if err != nil {
		return outcome{}, err
	}
	args, err := s.args(append([]string{argv[0]}, argv...))
	if err != nil {
		return outcome{}, err
	}
	return l.run(l.cmd(ctx, "/proc/self/exe", append([]string{"chela"}, args...)))
}

// whole runs the trial in a whole sandbox, and completes what it supports.
func (l *lab) whole(ctx context.Context, s *Support) error {
	uid := os.Geteuid()
	s.Processes = s.Limits && uid != 0
	switch s.Backend {
	case Bubblewrap:
		var err error
		if s.Bwrap, err = findBwrap(); err != nil {
			return err
		}
	case Namespaces:
		s.pidMax = s.Limits
		if err := l.tryWhole(ctx, *s); err == nil {
			s.Processes = s.Limits
			return nil
		}
		s.pidMax = false // before Linux 6.14 it is the whole machine's
	}
	return l.tryWhole(ctx, *s)
}

func (l *lab) tryWhole(ctx context.Context, s Support) error {
	argv, err := l.command()
	if err != nil {
		return err
	}
	cmd := l.cmd(ctx, argv[0], argv)
	box := Box{Support: s, Policy: Policy{
		Workspace: l.trial.Inside, Home: "/nonexistent", Hidden: []string{filepath.Dir(l.trial.Hidden)},
		Limits: Limits{FileSize: l.trial.Size, Processes: 256, Temp: 1 << 20},
	}}
	after, err := box.Confine(ctx, cmd)
	if err != nil {
		return err
	}
	o, runErr := l.run(cmd)
	var exit guard.Exit
	exit.Reason = guard.Exited
	after(&exit)
	switch {
	case exit.Refused() != nil:
		return errors.Join(exit.Refused(), runErr)
	case runErr != nil:
		return runErr
	}
	return o.missing(s)
}

// command is this program as the command of the trial.
func (l *lab) command() ([]string, error) {
	args, err := spec{Stage: stageProbe, Probe: &l.trial}.args(nil)
	if err != nil {
		return nil, err
	}
	return append([]string{"/proc/self/exe"}, args...), nil
}

func (l *lab) cmd(ctx context.Context, program string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program)
	cmd.Args, cmd.Dir, cmd.Env = args, l.trial.Inside, []string{"PATH=/usr/bin:/bin"}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// run runs a trial's command. What it prints beside the outcome is the error.
func (l *lab) run(cmd *exec.Cmd) (outcome, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		if text == "" {
			return outcome{}, err
		}
		return outcome{}, fmt.Errorf("%w: %.200s", err, text)
	}
	var o outcome
	if err := json.Unmarshal(out.Bytes(), &o); err != nil {
		return outcome{}, fmt.Errorf("a trial ended without an outcome: %w", err)
	}
	return o, nil
}
