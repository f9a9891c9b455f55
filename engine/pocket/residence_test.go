package pocket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"
)

// evaluated returns how many tokens passed through the network since it was
// loaded, -1 if it is not loaded.
func evaluated(s *Server) int {
	s.residence.turn <- struct{}{}
	defer func() { <-s.residence.turn }()
	if s.residence.state == nil {
		return -1
	}
	return s.residence.state.evaluated
}

func TestNothingIsLoadedBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	client := s.Client()
	if _, err := client.Show(t.Context(), &api.ShowRequest{Model: ModelName}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Embed(t.Context(), &api.EmbedRequest{Model: ModelName, Input: "a"}); err != nil {
		t.Fatal(err)
	}
	if n := evaluated(s); n != -1 {
		t.Errorf("the network was loaded and saw %d tokens", n)
	}
	if ps, err := client.ListRunning(t.Context()); err != nil || len(ps.Models) != 0 {
		t.Errorf("running: %+v, %v", ps, err)
	}
}

func TestASharedPrefixIsComputedOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	client := s.Client()
	first, _, calls := talk(t, client, with(ask("read main.go"), func(r *api.ChatRequest) { r.Tools = toolList() }))
	before := evaluated(s)
	again, _, _ := talk(t, client, with(ask("read main.go"), func(r *api.ChatRequest) { r.Tools = toolList() }))
	a, b := first[len(first)-1], again[len(again)-1]
	if a.PromptEvalCount != b.PromptEvalCount || a.EvalCount != b.EvalCount {
		t.Errorf("counts %d+%d, then %d+%d: the cache must not show in them", a.PromptEvalCount, a.EvalCount, b.PromptEvalCount, b.EvalCount)
	}
	// The last prompt token is computed again, for its logits; each generated
	// token but the end mark is, too.
	if got, want := evaluated(s)-before, b.EvalCount; got != want {
		t.Errorf("the same prompt again: %d tokens computed, want %d", got, want)
	}
	if a.LoadDuration == 0 || b.LoadDuration != 0 {
		t.Errorf("load durations %v, then %v", a.LoadDuration, b.LoadDuration)
	}

	// The next turn begins with the prompt and the call that was generated.
	before = evaluated(s)
	next := &api.ChatRequest{Model: ModelName, Messages: []api.Message{
		{Role: "user", Content: "read main.go"},
		{Role: "assistant", ToolCalls: calls},
		{Role: "tool", Content: "package main", ToolName: "read_file"},
	}}
	chunks, text, _ := talk(t, client, next)
	last := chunks[len(chunks)-1]
	if text != "Done: read_file returned: package main" {
		t.Errorf("%q", text)
	}
	// <|end|><|tool|>package main<|assistant|> is new in the prompt.
	if got, want := evaluated(s)-before, 2+len("package main")+1+last.EvalCount-1; got != want {
		t.Errorf("the next turn: %d tokens computed, want %d", got, want)
	}
}

func TestKeepAliveDecidesWhenTheModelGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		defer s.Close()
		client := s.Client()
		running := func() *api.ProcessModelResponse {
			t.Helper()
			ps, err := client.ListRunning(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(ps.Models) == 0 {
				return nil
			}
			return &ps.Models[0]
		}
		load := func(keepAlive *api.Duration) string {
			chunks, _, _ := talk(t, client, &api.ChatRequest{Model: ModelName, KeepAlive: keepAlive})
			return chunks[0].DoneReason
		}

		if reason := load(nil); reason != doneLoad {
			t.Errorf("done_reason %q, want load", reason)
		}
		m := running()
		if m == nil || m.ContextLength != 4096 || m.SizeVRAM != 0 || m.Size < 6_000_000 || !m.ExpiresAt.Equal(time.Now().Add(5*time.Minute)) {
			t.Fatalf("running %+v", m)
		}
		<-time.After(4 * time.Minute) // the bubble's clock jumps
		load(nil)
		<-time.After(4 * time.Minute)
		if running() == nil {
			t.Error("a request within the time does not extend it")
		}
		<-time.After(time.Minute + time.Second)
		synctest.Wait()
		if m := running(); m != nil {
			t.Errorf("still running after keep_alive: %+v", m)
		}

		load(&api.Duration{Duration: -1})
		<-time.After(365 * 24 * time.Hour)
		if running() == nil {
			t.Error("a negative keep_alive does not keep the model")
		}
		if reason := load(&api.Duration{}); reason != doneUnload || running() != nil {
			t.Errorf("keep_alive 0: %q, running %+v", reason, running())
		}

		talk(t, client, with(ask("hello"), func(r *api.ChatRequest) { r.KeepAlive = &api.Duration{} }))
		if m := running(); m != nil {
			t.Errorf("a request with keep_alive 0 left the model loaded: %+v", m)
		}
	})
}

func TestRequestsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		defer s.Close()
		s.residence.turn <- struct{}{} // as if a request were running
		ctx, cancel := context.WithCancel(t.Context())
		queued := make(chan error, maxQueue)
		for range maxQueue {
			go func() {
				queued <- s.Client().Chat(ctx, ask("hello"), func(api.ChatResponse) error { return nil })
			}()
		}
		synctest.Wait()
		err := s.Client().Chat(t.Context(), ask("hello"), func(api.ChatResponse) error { return nil })
		var status api.StatusError
		if !errors.As(err, &status) || status.StatusCode != http.StatusServiceUnavailable || !strings.HasPrefix(status.ErrorMessage, "server busy") {
			t.Errorf("a full queue: %v", err)
		}
		cancel()
		for range maxQueue {
			if err := <-queued; !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled request in the queue: %v", err)
			}
		}
		<-s.residence.turn
		if _, text, _ := talk(t, s.Client(), ask("hello")); text != help {
			t.Errorf("after the queue was left: %q", text)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		client := s.Client()
		running, waiting := make(chan bool, 1), make(chan error, 1)
		begun := make(chan struct{})
		go func() {
			chunks, finished := 0, false
			// The client does not report a stream that is cut off.
			_ = client.Chat(context.Background(), ask("hello"), func(r api.ChatResponse) error {
				if chunks++; chunks == 1 {
					close(begun)
					<-s.base.Done()
				}
				finished = r.Done
				return nil
			})
			running <- finished
		}()
		<-begun
		go func() {
			waiting <- client.Chat(context.Background(), ask("hello"), func(api.ChatResponse) error { return nil })
		}()
		synctest.Wait()
		s.Close()
		s.Close()
		if <-running {
			t.Error("the running answer was finished")
		}
		if err := <-waiting; !errors.Is(err, errClosed) {
			t.Errorf("a waiting request: %v", err)
		}
		if n := evaluated(s); n != -1 {
			t.Errorf("the network is still loaded and saw %d tokens", n)
		}
		if err := client.Chat(t.Context(), ask("hello"), func(api.ChatResponse) error { return nil }); !errors.Is(err, errClosed) {
			t.Errorf("a request after Close: %v", err)
		}
		if w := do(t, s, http.MethodPost, "/api/chat", `{"model":"pocket","messages":[{"role":"user","content":"hi"}]}`); w.Code != http.StatusServiceUnavailable {
			t.Errorf("a request after Close, over a socket: %d %s", w.Code, w.Body)
		}
	})
}
