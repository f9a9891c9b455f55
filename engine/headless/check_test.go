package headless

import (
	"testing"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// TestCheckForetellsWhatRunDoes holds check to its promise: for every mode,
// what it says is what happens to the same call.
func TestCheckForetellsWhatRunDoes(t *testing.T) {
	b := offline(t)
	for _, mode := range pipeline.Modes() {
		for _, call := range []struct{ name, args string }{
			{"read_file", `{"path":"go.mod"}`},
			{"read_file", `{"path":".env"}`},
			{"write_file", `{"path":"a.txt","content":"x"}`},
			{"write_file", `{"path":".git/hooks/pre-commit","content":"x","createDirs":true}`},
			{"exec", `{"command":"true"}`},
			{"exec", `{"command":"rm -f nothing"}`},
			{"complete_task", `{"summary":"done"}`},
		} {
			b.file(".env", "KEY=value\n")
			err := Check(t.Context(), b.json(), CallOptions{Setup: b.setup(), Name: call.name, Args: call.args, Mode: mode.String()})
			said := decode[checkResult](t, b.out.Bytes())
			if err != nil {
				t.Errorf("%s %s in %s: %v", call.name, call.args, mode, err)
				continue
			}
			// What it returns is told by the JSON too.
			_ = ToolRun(t.Context(), b.json(), CallOptions{Setup: b.setup(), Name: call.name, Args: call.args, Mode: mode.String()})
			did := decode[toolResult](t, b.out.Bytes())
			got := "allow"
			switch {
			case did.Error == nil:
			case did.Error.Code == toolkit.CodeApproval:
				got = "ask"
			case did.Error.Code == toolkit.CodeDenied:
				got = "deny"
			}
			if got != said.Decision {
				t.Errorf("%s %s in %s: check said %s, the run was %s (%+v)", call.name, call.args, mode, said.Decision, got, did.Error)
			}
		}
	}
}
