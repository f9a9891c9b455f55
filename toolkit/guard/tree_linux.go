package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killPoll is how often the process table is read while a tree is being ended.
const killPoll = 20 * time.Millisecond

// tree is the process tree of one run. Its members are found by any of: the
// marker in their environment, the session or group of the leader, a member as
// parent, or one of the run's pipes among their files. A process that drops all
// of these at once can only be held by a PID namespace or cgroup.
type tree struct {
	leader int
	marker []byte
	pipes  map[string]bool // "pipe:[inode]"
	known  map[int]string  // members seen so far, with their start time
}

func newTree(leader *os.Process, id string, readers []*os.File) *tree {
	t := &tree{leader: leader.Pid, marker: []byte(markerName + "=" + id), pipes: map[string]bool{}, known: map[int]string{}}
	for _, f := range readers {
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fdOf(f))); err == nil && strings.HasPrefix(link, "pipe:") {
			t.pipes[link] = true
		}
	}
	return t
}

// fdOf reads the descriptor without making the file blocking, as Fd does.
func fdOf(f *os.File) int {
	fd := -1
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(v uintptr) { fd = int(v) })
	}
	return fd
}

// proc is one line of the process table.
type proc struct {
	pid, ppid, pgrp, session int
	state                    byte
	start                    string
}

func readProc(pid int) (proc, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// The name is in parentheses and may itself contain anything.
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return proc{}, false
	}
	f := strings.Fields(string(data[i+1:]))
	if len(f) < 20 {
		return proc{}, false
	}
	num := func(s string) int { n, _ := strconv.Atoi(s); return n }
	return proc{pid: pid, state: f[0][0], ppid: num(f[1]), pgrp: num(f[2]), session: num(f[3]), start: f[19]}, true
}

func processTable() []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var out []proc
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProc(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// members returns the living members other than the leader.
func (t *tree) members() []proc {
	self := os.Getpid()
	table := processTable()
	in := map[int]bool{t.leader: true}
	for _, p := range table {
		if p.pid == self || p.pid == 1 {
			continue
		}
		if start, seen := t.known[p.pid]; (seen && start == p.start) || p.session == t.leader || p.pgrp == t.leader ||
			t.marked(p.pid) || t.holdsPipe(p) {
			in[p.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range table {
			if !in[p.pid] && p.pid != self && in[p.ppid] {
				in[p.pid], grown = true, true
			}
		}
	}
	var out []proc
	for _, p := range table {
		if !in[p.pid] || p.pid == t.leader {
			continue
		}
		t.known[p.pid] = p.start
		if p.state == 'Z' || p.state == 'X' {
			if p.ppid == self {
				// Only pids of this tree are reaped: others belong to their own waiters.
				_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
			}
			continue
		}
		out = append(out, p)
	}
	return out
}

func (t *tree) marked(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for len(env) > 0 {
		kv, rest, _ := bytes.Cut(env, []byte{0})
		if bytes.Equal(kv, t.marker) {
			return true
		}
		env = rest
	}
	return false
}

// holdsPipe looks at orphans only, which is where the other signs can be lost.
func (t *tree) holdsPipe(p proc) bool {
	if len(t.pipes) == 0 || (p.ppid != os.Getpid() && p.ppid != 1) {
		return false
	}
	for fd := range 3 {
		link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", p.pid, fd))
		if err == nil && t.pipes[link] {
			return true
		}
	}
	return false
}

// kill ends the leader, unless leaderGone says that it was waited for, and every
// other member: TERM first, KILL after grace, until none is left. It returns how
// many others there were. The leader is reaped by whoever waits for it.
func (t *tree) kill(grace time.Duration, leaderGone func() bool) int {
	signal := unix.SIGTERM
	deadline := time.Now().Add(grace)
	sent := map[int]unix.Signal{}
	others := map[int]bool{}
	send := func(pid int) {
		if sent[pid] != signal {
			sent[pid] = signal
			_ = unix.Kill(pid, signal)
			// A stopped process handles its signal only when it goes on.
			_ = unix.Kill(pid, unix.SIGCONT)
		}
	}
	tick := time.NewTicker(killPoll)
	defer tick.Stop()
	for {
		gone := leaderGone()
		members := t.members()
		if gone && len(members) == 0 {
			return len(others)
		}
		if !gone {
			send(t.leader)
		}
		for _, m := range members {
			others[m.pid] = true
			send(m.pid)
		}
		<-tick.C
		if time.Now().After(deadline) {
			if signal == unix.SIGKILL && time.Now().After(deadline.Add(grace)) {
				return len(others) // unkillable: stuck in the kernel
			}
			signal = unix.SIGKILL
			if !gone {
				// The group at once, so that a fork bomb cannot outrun the list.
				if err := unix.Kill(-t.leader, signal); err != nil && errors.Is(err, unix.ESRCH) {
					continue
				}
			}
		}
	}
}
