package pocket

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
)

const help = "I am pocket, a tiny demo model. I can list, read, search, find, run, write, edit, fetch, remember, and show git status."

func TestTextStreamsTokenByToken(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	for _, tools := range []api.Tools{nil, toolList()} {
		chunks, text, _ := talk(t, client, with(ask("hello"), func(r *api.ChatRequest) { r.Tools = tools }))
		if text != help {
			t.Errorf("%q", text)
		}
		// One chunk a byte, and the last.
		if len(chunks) != len(help)+1 {
			t.Errorf("%d chunks, want %d", len(chunks), len(help)+1)
		}
		last := chunks[len(chunks)-1]
		if last.DoneReason != doneStop || last.PromptEvalCount != 7 || last.EvalCount != len(help)+1 || last.Message.Role != "assistant" {
			t.Errorf("last chunk %+v", last)
		}
		if last.TotalDuration < last.EvalDuration || last.EvalDuration <= 0 || last.PromptEvalDuration <= 0 {
			t.Errorf("durations %+v", last.Metrics)
		}
	}
}

func TestToolCallsArriveWhole(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	chunks, text, calls := talk(t, client, with(ask("read main.go"), func(r *api.ChatRequest) { r.Tools = toolList() }))
	if text != "" || len(calls) != 1 || calls[0].Function.Name != "read_file" || !strings.HasPrefix(calls[0].ID, "call_") || len(calls[0].ID) != 13 {
		t.Fatalf("text %q, calls %+v", text, calls)
	}
	if len(chunks) != 2 || len(chunks[0].Message.ToolCalls) != 1 {
		t.Errorf("%d chunks, want the call and the end", len(chunks))
	}
	// Without tools in the request the same output is text, as in Ollama.
	_, text, calls = talk(t, client, ask("read main.go"))
	if want := `<tool_call>{"name": "read_file", "arguments": {"path":"main.go"}}</tool_call>`; text != want || len(calls) > 0 {
		t.Errorf("without tools: text %q, calls %+v", text, calls)
	}
}

func TestOptionsEndAGeneration(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	no := false
	for _, c := range []struct {
		name         string
		options      map[string]any
		shift        *bool
		text, reason string
	}{
		{"num_predict", map[string]any{"num_predict": 4}, nil, help[:4], doneLength},
		{"stop", map[string]any{"stop": []string{"tiny", "demo"}}, nil, "I am pocket, a ", doneStop},
		{"a stop sequence that comes second in the list", map[string]any{"stop": []string{"model", "tiny"}}, nil, "I am pocket, a ", doneStop},
		{"num_ctx without shift", map[string]any{"num_ctx": 12}, &no, help[:6], doneLength},
		{"sampling options change nothing", map[string]any{"temperature": 1.5, "seed": 3, "unknown_option": true}, nil, help, doneStop},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, stream := range []bool{true, false} {
				chunks, text, _ := talk(t, client, with(ask("hello"), func(r *api.ChatRequest) { r.Options, r.Shift, r.Stream = c.options, c.shift, &stream }))
				if last := chunks[len(chunks)-1]; text != c.text || last.DoneReason != c.reason {
					t.Errorf("stream %v: %q, %q; want %q, %q", stream, text, last.DoneReason, c.text, c.reason)
				}
			}
		})
	}
}

func TestLogprobsGiveTheRawText(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	for _, stream := range []bool{true, false} {
		chunks, _, _ := talk(t, client, with(ask("read main.go"), func(r *api.ChatRequest) {
			r.Tools, r.Logprobs, r.TopLogprobs, r.Stream = toolList(), true, 2, &stream
		}))
		raw := ""
		for _, ch := range chunks {
			for _, lp := range ch.Logprobs {
				raw += lp.Token
				if lp.Logprob > 0 || len(lp.TopLogprobs) != 2 || lp.TopLogprobs[0].Token != lp.Token {
					t.Errorf("%+v", lp)
				}
			}
		}
		if want := `<tool_call>{"name": "read_file", "arguments": {"path":"main.go"}}</tool_call>`; raw != want {
			t.Errorf("stream %v: %q, want %q", stream, raw, want)
		}
	}
}

func TestLongConversationsLoseTheirOldestMessages(t *testing.T) {
	t.Parallel()
	f, err := openFile()
	if err != nil {
		t.Fatal(err)
	}
	mf, err := parseModelfile("FROM x\nTEMPLATE \"{{ range .Messages }}[{{ .Role }}:{{ .Content }}]{{ end }}\"\n")
	if err != nil {
		t.Fatal(err)
	}
	msgs := []api.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "one"}, {Role: "assistant", Content: "two"}, {Role: "user", Content: "three"}}
	for _, c := range []struct {
		window   int
		truncate bool
		want     string
	}{
		{1000, true, "[system:s][user:one][assistant:two][user:three]"},
		{40, true, "[system:s][assistant:two][user:three]"},
		{30, true, "[system:s][user:three]"},
		{3, true, "[system:s][user:three]"},
		{3, false, "[system:s][user:one][assistant:two][user:three]"},
	} {
		got, err := chatPrompt(mf.template, f.tok, c.window, msgs, nil, c.truncate)
		if err != nil || got != c.want {
			t.Errorf("window %d, truncate %v: %q, %v; want %q", c.window, c.truncate, got, err, c.want)
		}
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	run := func(req *api.GenerateRequest) (chunks []api.GenerateResponse, text string) {
		t.Helper()
		req.Model = ModelName
		if err := client.Generate(t.Context(), req, func(r api.GenerateResponse) error {
			chunks = append(chunks, r)
			text += r.Response
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return chunks, text
	}
	no := false
	for _, req := range []*api.GenerateRequest{
		{Prompt: "hello"},
		{Prompt: "hello", System: "be brief", Stream: &no},
		{Prompt: "<|user|>hello<|assistant|>", Raw: true},
		{Prompt: "hello", Template: "<|user|>{{ .Prompt }}<|assistant|>"},
	} {
		chunks, text := run(req)
		last := chunks[len(chunks)-1]
		if text != help || last.DoneReason != doneStop || last.PromptEvalCount != 7 {
			t.Errorf("%+v: %q, %+v", req, text, last)
		}
		if hasContext := len(last.Context) > 0; hasContext == req.Raw {
			t.Errorf("raw %v: context of %d tokens", req.Raw, len(last.Context))
		}
	}
	if chunks, _ := run(&api.GenerateRequest{}); chunks[0].DoneReason != doneLoad {
		t.Errorf("an empty prompt: %+v", chunks[0])
	}
	if chunks, _ := run(&api.GenerateRequest{KeepAlive: &api.Duration{}}); chunks[0].DoneReason != doneUnload {
		t.Errorf("an empty prompt with keep_alive 0: %+v", chunks[0])
	}
	var prompt string
	if err := client.Generate(t.Context(), &api.GenerateRequest{Model: ModelName, Prompt: "b", Context: []int{258, 'a', 257}, DebugRenderOnly: true}, func(r api.GenerateResponse) error {
		prompt = r.DebugInfo.RenderedTemplate
		return nil
	}); err != nil || prompt != "<|user|>a<|end|><|user|>b<|assistant|>" {
		t.Errorf("prompt with context %q, %v", prompt, err)
	}
}

func TestAnswersOverASocketAreTheSame(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	web := httptest.NewServer(s)
	defer web.Close()
	u, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	chunks, text, _ := talk(t, api.NewClient(u, web.Client()), ask("hello"))
	if text != help || len(chunks) != len(help)+1 {
		t.Errorf("%d chunks, %q", len(chunks), text)
	}
}

func TestConcurrentRequestsDoNotMix(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	var wg sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprintf("file%d.txt", i)
		wg.Go(func() {
			got := map[string]any{}
			err := client.Chat(t.Context(), with(ask("read "+name), func(r *api.ChatRequest) { r.Tools = toolList() }), func(r api.ChatResponse) error {
				for _, c := range r.Message.ToolCalls {
					got = c.Function.Arguments.ToMap()
				}
				return nil
			})
			if d := cmp.Diff(map[string]any{"path": name}, got); err != nil || d != "" {
				t.Errorf("%s: %v\n%s", name, err, d)
			}
		})
	}
	wg.Wait()
}
