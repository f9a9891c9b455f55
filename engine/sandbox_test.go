package engine_test

import (
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
)

// In sandbox mode commands run without a question, confined; where the machine
// has no sandbox they do not run, and say why.
func TestSandboxModeConfinesCommandsOrRunsNone(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Sandbox))
	r.file("a.txt", "one\n")
	support := r.eng.Sandbox(t.Context())
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Calls(
		ollamatest.ToolCall{Name: "exec", Args: `{"command":"cat a.txt; echo made > b.txt; d=..; echo out > $d/outside.txt; echo done"}`},
		ollamatest.ToolCall{Name: "web_fetch", Args: `{"url":"https://8.8.8.8/"}`})
	r.srv.Reply().Text("ok")
	_, all := r.turn(s, "go")
	got := bodies[event.CallReturned](all)
	if len(got) == 2 && strings.Contains(got[0].Output, "web_fetch") { // independent calls return in any order
		got[0], got[1] = got[1], got[0]
	}
	if len(got) != 2 || got[1].OK || !strings.Contains(got[1].Output, "no network") {
		t.Fatalf("got %+v", got)
	}
	if len(bodies[event.ApprovalAsked](all)) != 0 {
		t.Error("sandbox mode asked")
	}
	if !support.Works() {
		t.Logf("no sandbox on this machine: %s", support.Reason)
		if got[0].OK || !strings.Contains(got[0].Output, "sandbox") {
			t.Errorf("without a sandbox it ran: %+v", got[0])
		}
		return
	}
	if !strings.Contains(got[0].Output, "one") || !strings.Contains(got[0].Output, "done") || r.content("b.txt") != "made\n" {
		t.Errorf("in the sandbox: %s", got[0].Output)
	}
	if r.content("../outside.txt") != "(absent)" {
		t.Error("it wrote outside the workspace")
	}
	if st := r.eng.SandboxStatus(pipeline.Sandbox); !strings.HasPrefix(st, "sandbox: ") {
		t.Errorf("the status says %q", st)
	}
}
