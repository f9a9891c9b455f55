package engine_test

import (
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/ollamatest"
)

// twoHosts is an engine with a second server beside the rig's own.
func twoHosts(t *testing.T, first, second []ollamatest.Model) (*rig, *ollamatest.Server) {
	t.Helper()
	other := ollamatest.New(t, second...)
	r := newRig(t, first, func(c *engine.Config) { c.Servers = []*ollama.Client{client(t, other.Host())} })
	if _, err := r.eng.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, other
}

func TestASessionRunsWhereItsModelIs(t *testing.T) {
	r, other := twoHosts(t, []ollamatest.Model{{Name: qwen}}, []ollamatest.Model{{Name: "only:7b"}})
	other.Reply().Text("from the second")
	end, all := r.turn(r.open(engine.OpenOptions{Model: "only:7b"}), "hello")
	if end.Reason != event.EndedDone || bodies[event.MessageDone](all)[0].Text != "from the second" {
		t.Errorf("it ended %+v", end)
	}
	if st := bodies[event.ModelState](all); len(st) == 0 || st[0].Host != other.Host() {
		t.Errorf("the states name %+v", st)
	}
}

func TestAServerThatGoesAwayIsReplacedBeforeItsFirstToken(t *testing.T) {
	m := []ollamatest.Model{{Name: qwen}}
	r, other := twoHosts(t, m, m)
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text("one")
	r.turn(s, "first")
	r.srv.Reply().Cut() // the connection ends before anything came
	other.Reply().Text("two")
	other.Reply().Text("three")
	end, all := r.turn(s, "second")
	if end.Reason != event.EndedDone {
		t.Fatalf("it ended %+v", end)
	}
	notices := bodies[event.Notice](all)
	if len(notices) != 1 {
		t.Fatalf("%d notices", len(notices))
	}
	says(t, "the notice", notices[0].Text, "was lost", other.Host())
	r.turn(s, "third") // it stays there
	if got := len(other.Chats()); got != 2 {
		t.Errorf("the second server was asked %d times", got)
	}
}

func TestWhatWasSaidIsNotSaidAgainElsewhere(t *testing.T) {
	m := []ollamatest.Model{{Name: qwen}}
	r, other := twoHosts(t, m, m)
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text("Half an ans").Cut()
	r.srv.Reply().Text("Half an ans").Cut()
	end, all := r.turn(s, "go")
	if end.Reason != event.EndedError || len(other.Chats()) != 0 {
		t.Errorf("it ended %+v; the second server was asked %d times", end, len(other.Chats()))
	}
	if done := bodies[event.MessageDone](all); len(done) != 2 || !done[0].Partial {
		t.Errorf("what came is %+v", done)
	}
}

func TestAPickedModelIsLoadedBeforeTheFirstPrompt(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen, VRAM: 2e9}}, func(c *engine.Config) { c.Preload = true })
	s := r.open(engine.OpenOptions{})
	loaded := func(want string) {
		t.Helper()
		r.until(want, func(e event.Event) bool {
			b, ok := e.Body.(event.ModelState)
			return ok && b.State == want
		})
	}
	loaded(event.ModelLoading)
	loaded(event.ModelReady)
	if m := s.State().Model; !m.Loaded || m.Window != s.State().Window || m.OnGPU != 0.5 {
		t.Errorf("the state says %+v", m)
	}
	if c := r.chats(); len(c) != 1 || len(c[0].Messages) != 0 {
		t.Errorf("%d requests were sent", len(c))
	}
}

func TestAModelThatCannotBeLoadedSaysSoAtOnce(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen, LoadFault: "model requires more system memory (12 GiB) than is available (4 GiB)"}},
		func(c *engine.Config) { c.Preload = true })
	r.open(engine.OpenOptions{})
	r.until("the failure", func(e event.Event) bool {
		b, ok := e.Body.(event.ModelState)
		if ok && b.State == event.ModelFailed {
			says(t, "it", b.Error, "more system memory", "Pick a smaller model")
			return true
		}
		return false
	})
}
