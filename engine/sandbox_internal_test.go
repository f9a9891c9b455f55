package engine

import (
	"os/exec"
	"testing"

	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/toolkit/guard"
)

func TestCommandsAreSandboxedWhereTheSettingsSaySo(t *testing.T) {
	for _, c := range []struct {
		setting string
		mode    pipeline.Mode
		boxed   bool
	}{
		{"auto", pipeline.Sandbox, true},
		{"auto", pipeline.Ask, false},
		{"auto", pipeline.Unlimited, false},
		{"on", pipeline.Ask, true},
		{"on", pipeline.Unlimited, true},
		{"off", pipeline.Sandbox, true}, // and so, as there is none, nothing runs
		{"off", pipeline.Ask, false},
	} {
		e := &Engine{cfg: Config{Settings: settings.Settings{Security: settings.Security{Sandbox: c.setting}}}}
		if got := e.Boxed(c.mode); got != c.boxed {
			t.Errorf("sandbox %s, mode %s: boxed = %v", c.setting, c.mode, got)
		}
	}
}

// TestWithoutASandboxNoCommandRuns switches it off; that a machine without one
// refuses likewise is tested where boxes are.
func TestWithoutASandboxNoCommandRuns(t *testing.T) {
	files, err := guard.OpenFS(t.TempDir(), guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	e := &Engine{files: files, cfg: Config{Settings: settings.Settings{Security: settings.Security{Sandbox: sandboxOff}}}}
	e.ctx = t.Context()
	if after, err := e.confine(t.Context(), exec.Command("true")); err == nil || after != nil {
		t.Errorf("a command may run: %v", err)
	}
	if got := e.sandboxLevel(); got != "none" {
		t.Errorf("level %q", got)
	}
	if got := e.SandboxStatus(pipeline.Sandbox); got != "sandbox: none" {
		t.Errorf("status %q", got)
	}
}
