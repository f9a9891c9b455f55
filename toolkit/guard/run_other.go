//go:build !linux

package guard

import (
	"os"
	"os/exec"
)

func becomeReaper() {}

func dirOf(_ *os.File, real string) string { return real }

// spawner starts processes; only Linux ties them to a thread.
type spawner struct{}

func (*spawner) start(cmd *exec.Cmd) error { return cmd.Start() }

func (*spawner) stop() {}
