package ollamatest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"chela/engine/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const name = "qwen3:8b"

func connect(t *testing.T, models ...Model) (*Server, *ollama.Client) {
	t.Helper()
	s := New(t, models...)
	c, err := ollama.New(s.Host())
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func ask(ctx context.Context, c *ollama.Client, sink ollama.Sink) (ollama.Reply, error) {
	return c.Chat(ctx, ollama.Request{
		Model: name, Window: 8192, Think: &api.ThinkValue{Value: false}, Messages: []api.Message{{Role: "user", Content: "hello"}},
	}, sink)
}

func TestRepliesArriveInTheirScriptedOrderAndForm(t *testing.T) {
	s, c := connect(t, Model{Name: name})
	s.Reply().Thinking("let ", "me").Text("I will ", "look.").Calls(ToolCall{"read_file", `{"path":"a","limit":5}`}, ToolCall{"grep", `{"pattern":"x"}`}).Tokens(321, 7)
	s.Reply().Text("Done.")
	var pieces []string
	got, err := ask(t.Context(), c, ollama.Sink{Text: func(p string) { pieces = append(pieces, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"I will ", "look."}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	if got.Thinking != "let me" || got.Stats.PromptTokens != 321 || got.Stats.Tokens != 7 || got.Stats.DoneReason != "stop" {
		t.Errorf("reply: %+v", got)
	}
	var calls []string
	for _, call := range got.Calls {
		calls = append(calls, call.Name+" "+string(call.Args))
	}
	if diff := cmp.Diff([]string{`read_file {"path":"a","limit":5}`, `grep {"pattern":"x"}`}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got, err = ask(t.Context(), c, ollama.Sink{}); err != nil || got.Text != "Done." {
		t.Errorf("second reply: %+v, %v", got, err)
	}
	chats := s.Chats()
	if len(chats) != 2 || chats[0].Options["num_ctx"] != float64(8192) || chats[0].Messages[0].Content != "hello" {
		t.Errorf("recorded: %+v", chats)
	}
	if s.Unused() != 0 {
		t.Errorf("%d replies unused", s.Unused())
	}
}

func TestBadDaysAreToldApartByTheClient(t *testing.T) {
	for what, tc := range map[string]struct {
		script func(*Reply)
		kind   ollama.Kind
		text   string // what arrived before
	}{
		"cut connection":      {func(r *Reply) { r.Text("half").Cut() }, ollama.Lost, "half"},
		"no done":             {func(r *Reply) { r.Text("half").NoDone() }, ollama.Lost, "half"},
		"error line":          {func(r *Reply) { r.Text("half").Error("llama runner process has terminated") }, ollama.MidStream, "half"},
		"malformed line":      {func(r *Reply) { r.Text("half").Line(`{"message": {`) }, ollama.MidStream, "half"},
		"no tools":            {func(r *Reply) { r.NoTools(name) }, ollama.NoTools, ""},
		"no thinking":         {func(r *Reply) { r.NoThinking(name) }, ollama.NoThinking, ""},
		"too long":            {func(r *Reply) { r.TooLong() }, ollama.TooLong, ""},
		"missing":             {func(r *Reply) { r.ModelMissing(name) }, ollama.ModelMissing, ""},
		"any other status":    {func(r *Reply) { r.Status(503, "server busy") }, ollama.Refused, ""},
		"cut before anything": {func(r *Reply) { r.Cut() }, ollama.Lost, ""},
	} {
		t.Run(what, func(t *testing.T) {
			s, c := connect(t, Model{Name: name})
			tc.script(s.Reply())
			got, err := ask(t.Context(), c, ollama.Sink{})
			var oe *ollama.Error
			if !errors.As(err, &oe) || oe.Kind != tc.kind {
				t.Errorf("error %v (%T), want kind %s", err, err, tc.kind)
			}
			if got.Text != tc.text || got.Done {
				t.Errorf("got %q, done %v; want %q", got.Text, got.Done, tc.text)
			}
		})
	}
}

func TestAFullWindowEndsWithReasonLength(t *testing.T) {
	s, c := connect(t, Model{Name: name})
	s.Reply().Text("and so on and").Length()
	got, err := ask(t.Context(), c, ollama.Sink{})
	if err != nil || got.Stats.DoneReason != "length" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAGateHoldsWhatFollows(t *testing.T) {
	s, c := connect(t, Model{Name: name})
	g := NewGate()
	s.Reply().Text("before").Gate(g).Text(" after")
	before := make(chan struct{})
	var got string
	errs := make(chan error, 1)
	go func() {
		_, err := ask(t.Context(), c, ollama.Sink{Text: func(p string) {
			if got += p; got == "before" {
				close(before)
			}
		}})
		errs <- err
	}()
	<-before
	<-g.Reached()
	g.Open()
	if err := <-errs; err != nil || got != "before after" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCancellingTheClientReleasesAGatedReply(t *testing.T) {
	s, c := connect(t, Model{Name: name})
	g := NewGate()
	s.Reply().Gate(g).Text("never")
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() {
		_, err := ask(ctx, c, ollama.Sink{})
		errs <- err
	}()
	<-g.Reached()
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancelled", err)
	}
}

func TestModelsAreListedWithTheirFacts(t *testing.T) {
	s, c := connect(t,
		Model{Name: "big:70b", Parameters: 70e9, Context: 131072, Family: "llama", Capabilities: []string{"completion"}, Loaded: true, Window: 8192, Size: 40e9, VRAM: 10e9},
		Model{Name: "plain:latest"})
	models, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(models) != 2 {
		t.Fatalf("%d models, want 2", len(models))
	}
	m := models[0]
	if m.Name != "big:70b" || m.Parameters != 70e9 || m.ContextLength != 131072 || m.Has("tools") || !m.Loaded || m.Window != 8192 || m.OnGPU != 0.25 {
		t.Errorf("%+v", m)
	}
	if m := models[1]; !m.Has("tools") || m.ContextLength != 32768 || m.Loaded {
		t.Errorf("%+v", m)
	}
	if _, err := c.Model(t.Context(), "plain"); err != nil {
		t.Errorf("without its tag: %v", err)
	}
	if v, err := c.Version(t.Context()); err != nil || v != Version {
		t.Errorf("version %q, %v", v, err)
	}
	s.Break("/api/tags", 500, "disk failure")
	if _, err := c.Models(t.Context()); err == nil {
		t.Error("a broken list gave no error")
	}
	s.Break("/api/tags", 0, "")
	if _, err := c.Models(t.Context()); err != nil {
		t.Errorf("mended: %v", err)
	}
}

func TestLoadingTakesNoReply(t *testing.T) {
	s, c := connect(t, Model{Name: name})
	s.Reply().Text("hi")
	if err := c.Load(t.Context(), name, 4096); err != nil {
		t.Fatal(err)
	}
	if s.Unused() != 1 {
		t.Error("loading used up a reply")
	}
}

func TestPullReportsProgressAndInstalls(t *testing.T) {
	s, c := connect(t)
	s.Pull(Model{Name: name}).Status("pulling manifest").Layer("sha256:aa", 50, 100).Layer("sha256:bb", 10, 20).Layer("sha256:aa", 100, 100)
	type news struct {
		Status           string
		Completed, Total int64
	}
	var got []news
	err := c.Pull(t.Context(), name, func(status string, completed, total int64) { got = append(got, news{status, completed, total}) })
	if err != nil {
		t.Fatal(err)
	}
	want := []news{
		{"pulling manifest", 0, 0},
		{"pulling sha256:aa", 50, 100},
		{"pulling sha256:bb", 60, 120},
		{"pulling sha256:aa", 110, 120},
		{"success", 110, 120},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if _, err := c.Model(t.Context(), name); err != nil {
		t.Errorf("after the pull: %v", err)
	}
}

func TestPullsFailAsTheyAreScripted(t *testing.T) {
	s, c := connect(t)
	s.Pull(Model{Name: "full"}).Layer("sha256:aa", 1, 100).Fail("no space left on device")
	s.Pull(Model{Name: "cut"}).Layer("sha256:aa", 1, 100).Cut()
	for _, n := range []string{"full", "cut", "unknown"} {
		if err := c.Pull(t.Context(), n, func(string, int64, int64) {}); err == nil {
			t.Errorf("pulling %s gave no error", n)
		}
		if _, err := c.Model(t.Context(), n); err == nil {
			t.Errorf("%s is installed", n)
		}
	}
}
