package ollama_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"

	"chela/engine/ollama"
)

// replay answers with a recorded stream, cut into network writes of n bytes.
func replay(t *testing.T, file string, n int) *ollama.Client {
	body := read(t, "testdata/"+file)
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for rest := body; rest != ""; {
			piece := rest[:min(n, len(rest))]
			rest = rest[len(piece):]
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
}

func TestStreamsOfARealServerAreRead(t *testing.T) {
	type want struct {
		Text, Thinking, Reason string
		Calls                  []string
		Prompt, Tokens         int
		Kind                   ollama.Kind
	}
	for file, want := range map[string]want{
		"text.ndjson":                   {Text: "The sky is blue <&> ✓.", Reason: "stop", Prompt: 26, Tokens: 5},
		"thinking.ndjson":               {Text: "Hello!", Thinking: "The user greets.", Reason: "stop", Prompt: 30, Tokens: 9},
		"calls.ndjson":                  {Calls: []string{`read_file {"path":"main.go","limit":20}`, `grep {"pattern":"\\bTODO\\b","glob":"*.go"}`}, Reason: "stop", Prompt: 312, Tokens: 58},
		"call-without-arguments.ndjson": {Text: "I will look.", Calls: []string{"git_status {}"}, Reason: "stop", Prompt: 300, Tokens: 20},
		"length.ndjson":                 {Text: "one two", Reason: "length", Prompt: 4000, Tokens: 96},
		"error.ndjson":                  {Text: "Let me", Kind: ollama.MidStream},
	} {
		for _, n := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s in pieces of %d", file, n), func(t *testing.T) {
				var text, thinking strings.Builder
				r, err := ask(t.Context(), replay(t, file, n), ollama.Sink{
					Text:     func(s string) { text.WriteString(s) },
					Thinking: func(s string) { thinking.WriteString(s) },
				})
				got := want
				got.Text, got.Thinking, got.Reason, got.Prompt, got.Tokens, got.Kind, got.Calls = r.Text, r.Thinking, r.Stats.DoneReason, r.Stats.PromptTokens, r.Stats.Tokens, kind(err), nil
				for _, c := range r.Calls {
					got.Calls = append(got.Calls, c.Name+" "+string(c.Args))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("reply (-want +got):\n%s", diff)
				}
				if text.String() != r.Text || thinking.String() != r.Thinking || r.Done != (err == nil) {
					t.Errorf("streamed %q and %q, done %v", text.String(), thinking.String(), r.Done)
				}
			})
		}
	}
}

func TestTheBuiltInModelsStreamIsRead(t *testing.T) {
	r, err := ask(t.Context(), replay(t, "pocket-call.ndjson", 64), ollama.Sink{})
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Name != "read_file" || string(r.Calls[0].Args) != `{"path":"go.mod"}` {
		t.Errorf("%+v, %v", r, err)
	}
	if r.Stats.PromptTokens == 0 || r.Stats.Tokens == 0 || r.Stats.Generate == 0 || r.Stats.DoneReason != "stop" {
		t.Errorf("stats: %+v", r.Stats)
	}
}

func TestAStreamCutAnywhereIsLostButNothingOfItIs(t *testing.T) {
	body := read(t, "testdata/text.ndjson")
	end := strings.LastIndex(strings.TrimSpace(body), "\n")
	for cut := 0; cut < end; cut += 13 {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body[:cut])
		})
		r, err := ask(t.Context(), c, ollama.Sink{})
		if err == nil || r.Done || !strings.HasPrefix("The sky is blue <&> ✓.", r.Text) {
			t.Fatalf("cut at %d: %+v, %v", cut, r, err)
		}
		if whole := strings.Count(body[:cut], "\n"); whole > 0 && r.Text == "" {
			t.Fatalf("cut at %d: what arrived is lost", cut)
		}
	}
}

func TestSilenceAfterTheFirstTokenEndsTheWait(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, `{"model":"qwen3:8b","message":{"role":"assistant","content":"Half"},"done":false}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c.SetIdle(20 * time.Millisecond)
	r, err := ask(t.Context(), c, ollama.Sink{})
	if kind(err) != ollama.Idle || r.Text != "Half" {
		t.Errorf("%+v, %v", r, err)
	}
	says(t, "error", err, c.Host()+" sent nothing for 20ms", "again")
}

func TestTheFirstTokenMayTakeLongerThanTheIdleLimit(t *testing.T) {
	// A load is silent. The server answers only after a second, later request,
	// whose own silence was long enough to be noticed.
	loaded := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var req api.ChatRequest
		if json.NewDecoder(r.Body).Decode(&req) != nil {
			return
		}
		if req.Messages[0].Content == "hello" {
			<-loaded
			fmt.Fprintln(w, `{"message":{"role":"assistant","content":"Hi"},"done":true,"done_reason":"stop"}`)
			return
		}
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":"x"},"done":false}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c.SetIdle(20 * time.Millisecond)
	type answer struct {
		r   ollama.Reply
		err error
	}
	slow := make(chan answer, 1)
	go func() {
		r, err := ask(t.Context(), c, ollama.Sink{})
		slow <- answer{r, err}
	}()
	_, err := c.Chat(t.Context(), ollama.Request{Model: qwen, Messages: []api.Message{{Role: "user", Content: "stall"}}}, ollama.Sink{})
	if kind(err) != ollama.Idle {
		t.Errorf("the one that stalls: %v", err)
	}
	close(loaded)
	if got := <-slow; got.err != nil || got.r.Text != "Hi" {
		t.Errorf("the one that loads: %+v", got)
	}
}

func TestAnAnswerWithoutEndIsCut(t *testing.T) {
	chunk := `{"message":{"role":"assistant","content":"` + strings.Repeat("x", 1<<20) + `"},"done":false}` + "\n"
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	r, err := ask(t.Context(), c, ollama.Sink{})
	says(t, "error", err, "16 MiB")
	if len(r.Text) > 16<<20 {
		t.Errorf("%d bytes kept", len(r.Text))
	}
}

func TestADownloadsLayersAreSummed(t *testing.T) {
	var completed, total int64
	var stages []string
	err := replay(t, "pull.ndjson", 50).Pull(t.Context(), "llama3.2", func(status string, c, all int64) {
		completed, total = c, all
		stages = append(stages, status)
	})
	if err != nil || completed != 2019378805 || total != 2019378805 || stages[len(stages)-1] != "success" {
		t.Errorf("%d of %d, %v, %v", completed, total, stages, err)
	}
}

func TestARealServer(t *testing.T) {
	host := os.Getenv("CHELA_TEST_OLLAMA_HOST")
	if host == "" {
		t.Skip("CHELA_TEST_OLLAMA_HOST is not set")
	}
	c, err := ollama.New(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	version, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	models, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := os.Getenv("CHELA_TEST_OLLAMA_MODEL")
	for _, m := range models {
		if name == "" && m.Has("tools") && !m.Remote {
			name = m.Name
		}
	}
	if name == "" {
		t.Skipf("Ollama %s has no local model with tools", version)
	}
	t.Logf("Ollama %s, model %s", version, name)
	if _, err := c.Model(t.Context(), "chela-has-no-such-model"); kind(err) != ollama.ModelMissing {
		t.Errorf("a model that is not there: %v", err)
	}
	if err := c.Load(t.Context(), name, 4096); err != nil {
		t.Fatal(err)
	}
	tool := json.RawMessage(`{"type":"function","function":{"name":"read_file","description":"Read a file.","parameters":{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}}}`)
	request := ollama.Request{
		Model: name, Window: 4096, Think: &api.ThinkValue{Value: false}, Tools: []json.RawMessage{tool}, Options: map[string]any{"temperature": 0, "num_predict": 200},
		Messages: []api.Message{{Role: "user", Content: "Call read_file with the path go.mod. Do nothing else."}},
	}
	r, err := c.Chat(t.Context(), request, ollama.Sink{})
	if err != nil || !r.Done || r.Stats.PromptTokens == 0 || r.Stats.DoneReason == "" {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("it answered %q with calls %+v", r.Text, r.Calls)
	request.Messages[0].Content = strings.Repeat("many words ", 10_000)
	if _, err := c.Chat(t.Context(), request, ollama.Sink{}); kind(err) != ollama.TooLong {
		t.Errorf("a prompt that is too long: %v", err)
	}
}
