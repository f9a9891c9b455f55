//go:build unix

package guard

import "syscall"

// interrupt sends INT to a process group. The leader of a run leads its group.
func interrupt(leader int) error { return syscall.Kill(-leader, syscall.SIGINT) }

// killGroup sends KILL to a process group; who is left is found by the tree.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }
