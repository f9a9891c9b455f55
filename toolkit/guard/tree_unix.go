//go:build unix && !linux

package guard

import (
	"os"
	"syscall"
	"time"
)

const killPoll = 20 * time.Millisecond

// tree is the process group of one run; what leaves the group is not followed.
type tree struct{ leader int }

func newTree(leader *os.Process, _ string, _ []*os.File) *tree { return &tree{leader.Pid} }

// kill ends the group: TERM first, KILL after grace.
func (t *tree) kill(grace time.Duration, leaderGone func() bool) int {
	sig := syscall.SIGTERM
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(killPoll)
	defer tick.Stop()
	sent := syscall.Signal(0)
	left := 0
	for {
		gone := leaderGone()
		if gone && syscall.Kill(-t.leader, 0) != nil {
			return left
		}
		if gone {
			left = 1 // at least one; the group's size is not known
		}
		if sent != sig {
			sent = sig
			_ = syscall.Kill(-t.leader, sig)
		}
		<-tick.C
		if time.Now().After(deadline) {
			if sig == syscall.SIGKILL && time.Now().After(deadline.Add(grace)) {
				return left
			}
			sig = syscall.SIGKILL
		}
	}
}
