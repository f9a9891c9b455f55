package engine_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/ollamatest"
	"chela/store"
	"chela/tiers"
)

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func TestTheModelToStartWithIsChosenInOrder(t *testing.T) {
	words := []string{"completion"}
	models := []ollamatest.Model{
		{Name: "nomic-embed-text:latest", Capabilities: []string{"embedding"}, Family: "nomic-bert", Modified: day(9)},
		{Name: "gemma3:4b", Capabilities: words, Modified: day(8)},
		{Name: "qwen3:8b", Modified: day(7)},
		{Name: "llama3.2:latest", Modified: day(6)},
	}
	for what, tc := range map[string]struct {
		models             []ollamatest.Model
		wanted, last, conf string
		want               string
		reason             string
	}{
		"asked for":                    {models, "gemma3:4b", "qwen3:8b", "", "gemma3:4b", "asked for"},
		"asked for without its tag":    {models, "llama3.2", "", "", "llama3.2:latest", "asked for"},
		"the last used":                {models, "", "llama3.2:latest", "gemma3:4b", "llama3.2:latest", "last used"},
		"the last used is gone":        {models, "", "mistral:7b", "gemma3:4b", "gemma3:4b", "models.default"},
		"the default is gone too":      {models, "", "mistral:7b", "phi4", "qwen3:8b", "newest"},
		"the newest that calls tools":  {models, "", "", "", "qwen3:8b", "newest"},
		"none calls tools":             {models[:2], "", "", "", "gemma3:4b", "newest"},
		"an embedder is never chosen":  {models[:1], "", "nomic-embed-text:latest", "nomic-embed-text", engine.PocketModel, "no model"},
		"the built-in one by its name": {models, engine.PocketModel, "qwen3:8b", "", engine.PocketModel, "asked for"},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, tc.models, func(c *engine.Config) { c.Settings.Models.Default = tc.conf })
			if tc.last != "" {
				if err := r.st.Remember(t.Context(), store.LastModel, tc.last); err != nil {
					t.Fatal(err)
				}
			}
			c, err := r.eng.Choose(t.Context(), tc.wanted)
			if err != nil || c.Model != tc.want || !strings.Contains(c.Reason, tc.reason) {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestWhatCannotBeChosenSaysWhy(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: "nomic-embed-text", Capabilities: []string{"embedding"}}})
	_, err := r.eng.Choose(t.Context(), "mistral:7b")
	var oe *ollama.Error
	if !errors.As(err, &oe) || oe.Kind != ollama.ModelMissing {
		t.Errorf("a missing one: %v", err)
	}
	if _, err := r.eng.Choose(t.Context(), "nomic-embed-text"); err == nil || !strings.Contains(err.Error(), "cannot chat") {
		t.Errorf("an embedder: %v", err)
	}
}

func TestWithoutAServerTheBuiltInModelIsChosen(t *testing.T) {
	gone, err := newClosedAddress()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil, func(c *engine.Config) { c.Server = client(t, gone) })
	c, err := r.eng.Choose(t.Context(), "")
	if err != nil || c.Model != engine.PocketModel || c.Server == nil || c.Empty {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := r.eng.Choose(t.Context(), "qwen3:8b"); err == nil || c.Server == nil {
		t.Errorf("a wanted one: %+v, %v", c, err)
	}
	models, err := r.eng.Models(t.Context())
	if err == nil || len(models) != 1 || !models[0].BuiltIn {
		t.Errorf("%+v, %v", models, err)
	}
	bare := newRig(t, nil, func(c *engine.Config) { c.Server, c.Pocket = client(t, gone), nil })
	if c, err := bare.eng.Choose(t.Context(), ""); err == nil || c.Model != "" {
		t.Errorf("no server and no built-in model: %+v, %v", c, err)
	}
	empty := newRig(t, []ollamatest.Model{}, func(c *engine.Config) { c.Pocket = nil })
	if c, err := empty.eng.Choose(t.Context(), ""); err != nil || c.Model != "" || !c.Empty {
		t.Errorf("an empty server and no built-in model: %+v, %v", c, err)
	}
}

func TestTheBuiltInModelAnswersThroughTheWholeEngine(t *testing.T) {
	r := newRig(t, nil)
	r.file("go.mod", "module example.com/thing\n")
	s := r.open(engine.OpenOptions{Model: engine.PocketModel})
	end, all := r.turn(s, "read go.mod")
	if end.Reason != event.EndedDone || len(bodies[event.CallReturned](all)) == 0 {
		t.Errorf("ended %+v after %s", end, types(all))
	}
}

func TestTheModelOfATurnIsRememberedButNotTheBuiltIn(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen}, {Name: "llama3.2:3b"}})
	last := func() string {
		v, err := r.st.Recall(t.Context(), store.LastModel)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	s := r.open(engine.OpenOptions{})
	if last() != "" {
		t.Error("opening alone is no use")
	}
	r.srv.Reply().Text("ok")
	r.turn(s, "hello")
	if last() != qwen {
		t.Errorf("after a turn: %q", last())
	}
	if err := s.SetModel(t.Context(), "llama3.2:3b"); err != nil || last() != "llama3.2:3b" {
		t.Errorf("after a choice: %q, %v", last(), err)
	}
	if err := s.SetModel(t.Context(), engine.PocketModel); err != nil || last() != "llama3.2:3b" {
		t.Errorf("after the built-in: %q, %v", last(), err)
	}
}

func TestRouteKnowsAModelWithAndWithoutAServer(t *testing.T) {
	const name = "qwen2.5-coder:7b-instruct-q4_K_M"
	gone, err := newClosedAddress()
	if err != nil {
		t.Fatal(err)
	}
	up := newRig(t, []ollamatest.Model{{Name: name, Parameters: 7.6e9}, {Name: "odd-name", Parameters: 32e9}})
	down := newRig(t, nil, func(c *engine.Config) { c.Server = client(t, gone) })
	for _, r := range []*rig{up, down} {
		d, sel := r.eng.Route(t.Context(), name)
		if d.Tier != tiers.Essential || len(sel.Given()) != 10 || d.Reason == "" {
			t.Errorf("%+v with %d tools", d, len(sel.Given()))
		}
	}
	if d, _ := up.eng.Route(t.Context(), "odd-name"); d.Tier != tiers.Standard {
		t.Errorf("by the server's word: %+v", d)
	}
	if d, _ := down.eng.Route(t.Context(), "odd-name"); d.Tier != tiers.Essential {
		t.Errorf("unknown: %+v", d)
	}
}

func TestWhatIsKnownOfAModelIsNotStale(t *testing.T) {
	small := ollamatest.Model{Name: "thing:latest", Parameters: 4e9, Context: 8192, Capabilities: []string{"completion"}}
	r := newRig(t, []ollamatest.Model{small})
	s := r.open(engine.OpenOptions{Model: "thing"})
	if st := s.State(); st.Tier != tiers.Essential || st.Window != 8192 {
		t.Fatalf("state: %+v", st)
	}
	// The same name is pulled anew and is another model now.
	large := ollamatest.Model{Name: "thing:latest", Parameters: 14e9}
	r.srv.Replace(large)
	r.srv.Pull(large)
	if err := r.eng.Pull("thing"); err != nil {
		t.Fatal(err)
	}
	r.pulled()
	r.srv.Reply().Text("ok")
	r.turn(s, "hello")
	if st := s.State(); st.Tier != tiers.Standard || st.Window != 16384 {
		t.Errorf("state: %+v", st)
	}
	if c := r.chats()[0]; len(c.Tools) == 0 || c.Options["num_ctx"] != 16384.0 {
		t.Errorf("sent: %s, %v", c.Tools, c.Options)
	}
	// The picker asks each time what is loaded.
	for _, loaded := range []bool{true, false} {
		m := large
		m.Loaded, m.Window, m.VRAM = loaded, 4096, 7e9
		r.srv.Replace(m)
		models, err := r.eng.Models(t.Context())
		if err != nil || models[0].Loaded != loaded {
			t.Errorf("loaded %v: %+v, %v", loaded, models[0], err)
		}
	}
}

func TestASessionOpenedBeforeItsServerLearnsTheModelLater(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: "odd-name:latest", Parameters: 32e9}})
	r.srv.Break("/api/show", 503, "starting")
	s := r.open(engine.OpenOptions{Model: "odd-name"})
	if st := s.State(); st.Tier != tiers.Essential {
		t.Errorf("unknown: %+v", st)
	}
	r.srv.Break("/api/show", 0, "")
	r.srv.Reply().Text("ok")
	_, all := r.turn(s, "hello")
	if st := s.State(); st.Tier != tiers.Standard {
		t.Errorf("known: %+v", st)
	}
	if len(bodies[event.SessionChanged](all)) == 0 {
		t.Error("nothing tells the screen")
	}
}

// pulled waits for the end of a download.
func (r *rig) pulled() (event.PullProgress, []event.PullProgress) {
	r.t.Helper()
	all := r.until("the end of the download", func(e event.Event) bool {
		p, ok := e.Body.(event.PullProgress)
		return ok && p.Done
	})
	news := bodies[event.PullProgress](all)
	return news[len(news)-1], news
}

func TestADownloadSumsItsLayersAndEndsOnce(t *testing.T) {
	r := newRig(t, nil)
	gate := ollamatest.NewGate()
	r.srv.Pull(ollamatest.Model{Name: "new:1b"}).Status("pulling manifest").Layer("sha256:a", 50, 100).Layer("sha256:b", 10, 40).Layer("sha256:a", 100, 100).Gate(gate)
	if err := r.eng.Pull(" new:1b "); err != nil {
		t.Fatal(err)
	}
	r.until("the last layer", func(e event.Event) bool {
		p, ok := e.Body.(event.PullProgress)
		return ok && p.Completed == 110 && p.Total == 140
	})
	if err := r.eng.Pull("new:1b"); err != nil { // goes on
		t.Fatal(err)
	}
	gate.Open()
	last, news := r.pulled()
	if last.Error != "" || last.Completed != 110 || last.Total != 140 || last.Status != "success" || last.Model != "new:1b" {
		t.Errorf("the end: %+v of %d", last, len(news))
	}
	if n := len(r.srv.Requests("/api/pull")); n != 1 {
		t.Errorf("%d downloads", n)
	}
	models, err := r.eng.Models(t.Context())
	if err != nil || len(models) != 3 {
		t.Errorf("%+v, %v", models, err)
	}
}

func TestADownloadThatFailsSaysWhatToDo(t *testing.T) {
	r := newRig(t, nil)
	r.srv.Pull(ollamatest.Model{Name: "full"}).Layer("sha256:a", 5, 10).Fail("write /models/blob: no space left on device")
	r.srv.Pull(ollamatest.Model{Name: "cut"}).Layer("sha256:a", 5, 10).Cut()
	for name, want := range map[string][]string{
		"unheard-of": {"file does not exist", "Check the name"},
		"full":       {"no space left", "Free some space"},
		"cut":        {"lost", "Pull again"},
	} {
		if err := r.eng.Pull(name); err != nil {
			t.Fatal(err)
		}
		last, _ := r.pulled()
		says(t, name, last.Error, want...)
		if strings.Contains(last.Error, "prompt") {
			t.Errorf("%s speaks of a prompt: %s", name, last.Error)
		}
	}
	for _, bad := range []string{"", " ", "two words", "a\nb"} {
		if r.eng.Pull(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestADownloadCanBeCancelledAndBegunAgain(t *testing.T) {
	r := newRig(t, nil)
	gate := ollamatest.NewGate()
	r.srv.Pull(ollamatest.Model{Name: "new:latest"}).Layer("sha256:a", 5, 10).Gate(gate)
	if r.eng.CancelPull("new") {
		t.Error("nothing was running")
	}
	if err := r.eng.Pull("new:latest"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the download", gate.Reached())
	if !r.eng.CancelPull("new") {
		t.Error("it was not running")
	}
	last, _ := r.pulled()
	says(t, "end", last.Error, "cancelled")
	gate.Open()
	if err := r.eng.Pull("new:latest"); err != nil {
		t.Fatal(err)
	}
	if last, _ := r.pulled(); last.Error != "" {
		t.Errorf("again: %+v", last)
	}
}

// A port that takes connections and says nothing must not hold up the start.
func TestASilentServerIsGivenUpSoon(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Cleanup(engine.SetGreetTimeout(50 * time.Millisecond))
	server, err := ollama.New(silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil, func(c *engine.Config) { c.Server = server })
	choice, err := r.eng.Choose(t.Context(), "")
	if err != nil || choice.Model != engine.PocketModel {
		t.Fatalf("%+v, %v", choice, err)
	}
	says(t, "the reason", choice.Server.Error(), "does not answer as an Ollama server does", "OLLAMA_HOST")
}

func TestAServerThatIsNoOllamaIsSaidToBeNone(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") }))
	defer web.Close()
	server, err := ollama.New(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil, func(c *engine.Config) { c.Server = server })
	choice, err := r.eng.Choose(t.Context(), "")
	if err != nil || choice.Model != engine.PocketModel {
		t.Fatalf("%+v, %v", choice, err)
	}
	says(t, "the reason", choice.Server.Error(), "is no Ollama server", "Set OLLAMA_HOST")
}
