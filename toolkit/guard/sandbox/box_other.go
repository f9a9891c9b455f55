//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"chela/toolkit/guard"
)

// Main does nothing here; see the one for Linux.
func Main() {}

// Probe says that there is no sandbox.
func Probe(context.Context) Support {
	return Support{Reason: "chela has none for " + runtime.GOOS}
}

// Known is what Probe says.
func Known() (Support, bool) { return Probe(context.Background()), true }

// Box refuses every command here.
type Box struct {
	Support Support
	Policy  Policy
}

// Confine returns an error: the command must not run.
func (b Box) Confine(context.Context, *exec.Cmd) (func(*guard.Exit), error) {
	return nil, fmt.Errorf("there is no OS sandbox here: %s", Probe(context.Background()).Reason)
}
