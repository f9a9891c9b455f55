package headless

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/ollama"
	"chela/engine/ollamatest"
)

type modelList struct {
	Host   string         `json:"host"`
	Models []ollama.Model `json:"models"`
	Error  string         `json:"error"`
}

func TestModelsListsTheServersAndTheBuiltInOne(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName, Loaded: true, Size: 4e9, VRAM: 2e9}, ollamatest.Model{Name: "cloud:120b", Parameters: 120e9, Remote: "ollama.com"})
	b.exit(Models(t.Context(), b.json(), b.setup()), OK)
	got := decode[modelList](t, b.out.Bytes())
	if len(got.Models) != 3 || !got.Models[2].BuiltIn || got.Host != b.srv.Host() || got.Error != "" {
		t.Errorf("%+v", got)
	}
	b.exit(Models(t.Context(), b.term(), b.setup()), OK)
	says(t, "stdout", b.out.String(), "qwen3:8b", "4.0 GB", "32768", "essential", "loaded, 50% on the GPU", "runs elsewhere", "built in")
}

func TestModelsWithoutAServerIsAnErrorAndStillAList(t *testing.T) {
	b := offline(t)
	err := Models(t.Context(), b.json(), b.setup())
	b.exit(err, Failed)
	says(t, "error", err.Error(), "ollama serve")
	if got := decode[modelList](t, b.out.Bytes()); len(got.Models) != 1 || got.Error == "" {
		t.Errorf("%+v", got)
	}
}

func TestNamesFromAServerCannotDrawOnTheTerminal(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: "evil\x1b[2J:8b\nsecond"})
	b.exit(Models(t.Context(), b.screen(), b.setup()), OK)
	if s := b.out.String(); strings.Contains(s, "\x1b") || !strings.Contains(s, "evil<ESC>[2J:8b second") {
		t.Errorf("%q", s)
	}
}

func TestPullWritesALineForEachStage(t *testing.T) {
	b := newBench(t)
	gate := ollamatest.NewGate() // opened when the stage before it was written
	b.srv.Pull(ollamatest.Model{Name: modelName}).Status("pulling manifest").Layer("sha256:aa", 25e8, 5e9).Gate(gate)
	term := b.term()
	term.Err = &signalWriter{w: term.Err, want: "pulling sha256:aa 50% of 5.0 GB", seen: gate.Open}
	b.exit(Pull(t.Context(), term, b.setup(), modelName), OK)
	if b.out.String() != "qwen3:8b is installed\n" {
		t.Errorf("stdout: %q", b.out.String())
	}
	b.exit(Pull(t.Context(), b.json(), b.setup(), modelName), OK)
	type result struct {
		OK    bool
		Model string
		Bytes int64
		Error string
	}
	if got := decode[result](t, b.out.Bytes()); !got.OK || got.Model != modelName {
		t.Errorf("%+v", got)
	}
	b.srv.Pull(ollamatest.Model{Name: "full"}).Fail("no space left on device")
	err := Pull(t.Context(), b.json(), b.setup(), "full")
	b.exit(err, Failed)
	says(t, "error", err.Error(), "no space left")
	if got := decode[result](t, b.out.Bytes()); got.OK || !strings.Contains(got.Error, "no space left") {
		t.Errorf("%+v", got)
	}
	b.exit(Pull(t.Context(), b.term(), b.setup(), "two words"), Usage)
}

func TestCancellingAPullStopsIt(t *testing.T) {
	b := newBench(t)
	gate := ollamatest.NewGate()
	b.srv.Pull(ollamatest.Model{Name: modelName}).Layer("sha256:aa", 1, 100).Gate(gate)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	term := b.term()
	go func() { errs <- Pull(ctx, term, b.setup(), modelName) }()
	<-gate.Reached()
	cancel()
	err := <-errs
	b.exit(err, Cancelled)
	says(t, "error", err.Error(), "goes on from there")
}

func TestTheBarFitsTheTerminal(t *testing.T) {
	b := offline(t)
	term := b.screen()
	term.Width = 40
	bar := &pullBar{t: term, w: &b.err}
	for _, done := range []int64{0, 50, 100} {
		bar.show(pullNews("pulling\x1b sha256:aa", done, 100))
	}
	last := pullNews("success", 100, 100)
	last.Done = true
	bar.show(last)
	var got []string
	for frame := range strings.SplitSeq(b.err.String(), "\r") {
		got = append(got, strings.TrimSuffix(frame, "\x1b[K"))
	}
	want := []string{
		"",
		"░░░░░░░░░░░░░░░░░░░░░░░░   0%  0 kB of…",
		"████████████░░░░░░░░░░░░  50%  1 kB of…",
		"████████████████████████ 100%  1 kB of…",
		"", // wiped at the end
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
