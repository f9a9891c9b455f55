package headless

import (
	"context"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine"
	"chela/engine/ollamatest"
)

// talker knows the answers and calls nothing.
func talker(api.ChatRequest) *ollamatest.Reply { return ollamatest.NewReply().Text("It is 42.") }

func TestACheckPrintsTheGradeAndTheListKeepsIt(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Answer(talker)
	b.exit(ModelCheck(t.Context(), b.term(), b.setup(), modelName), OK)
	says(t, "stdout", b.out.String(), "a call", "it made no call", "no call", "grade F", "native mode", "does not think")
	says(t, "stderr", b.err.String(), "loading qwen3:8b", "4/4 an edit")
	b.exit(ModelCheck(t.Context(), b.json(), b.setup(), modelName), OK)
	got := decode[engine.Check](t, b.out.Bytes())
	if got.Grade != "F" || len(got.Tasks) != 4 || got.Model != modelName {
		t.Errorf("%+v", got)
	}
	b.exit(Models(t.Context(), b.json(), b.setup()), OK)
	type listed struct {
		Models []struct{ Name, Grade string }
	}
	if all := decode[listed](t, b.out.Bytes()); all.Models[0].Grade != "F" || all.Models[1].Grade != "" {
		t.Errorf("%+v", all)
	}
}

func TestACheckOfAMissingModelIsAWrongCommandLine(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	err := ModelCheck(t.Context(), b.term(), b.setup(), "none:1b")
	b.exit(err, Usage)
	says(t, "error", err.Error(), "chela pull none:1b")
}

func TestCancellingACheckKeepsNothing(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	gate := ollamatest.NewGate()
	b.srv.Reply().Gate(gate)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	term := b.term()
	go func() { errs <- ModelCheck(ctx, term, b.setup(), modelName) }()
	<-gate.Reached()
	cancel()
	b.exit(<-errs, Cancelled)
	b.exit(Models(t.Context(), b.json(), b.setup()), OK)
	if strings.Contains(b.out.String(), "grade") {
		t.Errorf("kept: %s", b.out.String())
	}
}
