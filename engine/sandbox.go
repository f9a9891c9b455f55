package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"chela/engine/pipeline"
	"chela/toolkit/guard"
	"chela/toolkit/guard/sandbox"
)

// The values of security.sandbox beside auto.
const (
	sandboxOn  = "on"
	sandboxOff = "off"
)

// errSandboxOff is why there is no sandbox where the person switched it off.
var errSandboxOff = errors.New("security.sandbox is off in settings.yml")

// Sandbox is what can confine commands on this machine, as far as that was
// shown. The first call of a process takes some tenths of a second.
func (e *Engine) Sandbox(ctx context.Context) sandbox.Support {
	if e.Settings().Security.Sandbox == sandboxOff {
		return sandbox.Support{Reason: errSandboxOff.Error()}
	}
	return sandbox.Probe(ctx)
}

// Boxed reports whether commands run in the sandbox, or not at all, in a mode.
func (e *Engine) Boxed(m pipeline.Mode) bool {
	return m == pipeline.Sandbox || e.Settings().Security.Sandbox == sandboxOn
}

// SandboxStatus is what a status line says in a mode, such as
// "sandbox: bwrap+landlock7"; empty where commands run in none. It does not
// wait: until the first probe has ended it says that it is being looked at. With
// a person at the screen that begins with the engine.
func (e *Engine) SandboxStatus(m pipeline.Mode) string {
	const label = "sandbox: "
	if !e.Boxed(m) {
		return ""
	}
	if e.Settings().Security.Sandbox == sandboxOff {
		return label + sandbox.Support{}.String()
	}
	s, ok := sandbox.Known()
	if !ok {
		return label + "checking"
	}
	return label + s.String()
}

// box is what the pipeline asks; see pipeline.Env. Only where it matters does it
// cost the probe.
func (e *Engine) box(m pipeline.Mode) (boxed, works bool) {
	if !e.Boxed(m) {
		return false, false
	}
	return true, e.Sandbox(e.ctx).Works()
}

// sandboxLevel says for people what a sandboxed command runs in.
func (e *Engine) sandboxLevel() string {
	s := e.Sandbox(e.ctx)
	switch {
	case !s.Works():
		return s.String()
	case e.Settings().Security.SandboxNetwork:
		return s.String() + ", with the network"
	}
	return s.String() + ", no network"
}

// confine puts a command into the sandbox; see guard.RunnerOptions.
func (e *Engine) confine(ctx context.Context, cmd *exec.Cmd) (func(*guard.Exit), error) {
	policy := sandbox.Policy{
		Workspace: e.files.Dir(), Hidden: []string{e.cfg.Dirs.Config, e.cfg.Dirs.Data},
		Network: e.Settings().Security.SandboxNetwork, Limits: sandbox.DefaultLimits(),
	}
	if base, err := os.UserCacheDir(); err == nil {
		policy.Cache = filepath.Join(base, "chela", "sandbox")
	}
	return sandbox.Box{Support: e.Sandbox(ctx), Policy: policy}.Confine(ctx, cmd)
}
