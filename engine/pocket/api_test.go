package pocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// do sends one request to the handler, without a client.
func do(t testing.TB, s *Server, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return w
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const hi = `"messages":[{"role":"user","content":"hello"}]`
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string // the error's text, or a part of it
	}{
		{"no body", "/api/chat", "", 400, "missing request body"},
		{"broken JSON", "/api/chat", `{"model":"pocket",}`, 400, "invalid JSON in the request body: invalid character '}'"},
		{"JSON that ends early", "/api/chat", `{"model":"pock`, 400, "invalid JSON in the request body: it ends too early"},
		{"a field of the wrong type", "/api/chat", `{"model":7}`, 400, "ChatRequest.model"},
		{"a list for the body", "/api/generate", `[]`, 400, "invalid JSON in the request body"},
		{"no model", "/api/chat", `{` + hi + `}`, 400, "model is required"},
		{"another model", "/api/chat", `{"model":"qwen3:8b",` + hi + `}`, 404, "model 'qwen3:8b' not found"},
		{"another tag", "/api/chat", `{"model":"pocket:7b",` + hi + `}`, 404, "model 'pocket:7b' not found"},
		{"thinking", "/api/chat", `{"model":"pocket","think":true,` + hi + `}`, 400, `"pocket" does not support thinking`},
		{"a thinking level", "/api/generate", `{"model":"pocket","think":"high","prompt":"a"}`, 400, `"pocket" does not support thinking`},
		{"a format", "/api/chat", `{"model":"pocket","format":"json",` + hi + `}`, 400, `"pocket" does not support format`},
		{"an image", "/api/chat", `{"model":"pocket","messages":[{"role":"user","content":"a","images":["AAAA"]}]}`, 400, `"pocket" does not support images`},
		{"too many logprobs", "/api/chat", `{"model":"pocket","top_logprobs":21,` + hi + `}`, 400, "top_logprobs must be between 0 and 20"},
		{"an option of the wrong type", "/api/chat", `{"model":"pocket","options":{"num_ctx":"big"},` + hi + `}`, 400, `option "num_ctx" must be of type integer`},
		{"a prompt that is too long", "/api/chat", `{"model":"pocket","truncate":false,"options":{"num_ctx":4},` + hi + `}`, 400, "the input length exceeds the context length"},
		{"a suffix", "/api/generate", `{"model":"pocket","prompt":"a","suffix":"x"}`, 400, `"pocket" does not support insert`},
		{"raw with system", "/api/generate", `{"model":"pocket","raw":true,"prompt":"a","system":"b"}`, 400, "raw mode does not support template, system, or context"},
		{"generate with another model", "/api/generate", `{"model":"x","prompt":"a"}`, 404, "model 'x' not found"},
		{"a broken template", "/api/generate", `{"model":"pocket","prompt":"a","template":"{{"}`, 400, "template: "},
		{"a template that renders nothing", "/api/generate", `{"model":"pocket","prompt":"a","template":"{{ if .Suffix }}{{ .Prompt }}{{ end }}"}`, 400, "no input provided"},
		{"a foreign token", "/api/generate", `{"model":"pocket","prompt":"a","context":[9999]}`, 400, "context: token 9999"},
		{"show without model", "/api/show", `{}`, 400, "model is required"},
		{"show of another model", "/api/show", `{"model":"x"}`, 404, "model 'x' not found"},
		{"embed of a number", "/api/embed", `{"model":"pocket","input":7}`, 400, "want a string or a list of strings"},
		{"embed of numbers", "/api/embed", `{"model":"pocket","input":["a",7]}`, 400, "input[1] is a float64, want a string"},
		{"embed with another model", "/api/embed", `{"model":"x","input":"a"}`, 404, "model 'x' not found"},
		{"embed of a text that is too long", "/api/embed", `{"model":"pocket","truncate":false,"options":{"num_ctx":4},"input":"hello"}`, 400, "the input length exceeds the context length"},
		{"pull", "/api/pull", `{"model":"qwen3:8b"}`, 400, "the pocket server has only its built-in model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := do(t, s, http.MethodPost, c.path, c.body)
			var got struct{ Error string }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("answer %.200q: %v", w.Body, err)
			}
			if w.Code != c.status || !strings.Contains(got.Error, c.want) {
				t.Errorf("%d %q, want %d with %q", w.Code, got.Error, c.status, c.want)
			}
		})
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/", 200},
		{http.MethodHead, "/", 200},
		{http.MethodHead, "/api/tags", 200},
		{http.MethodGet, "/api/chat", 405},
		{http.MethodPost, "/v1/chat/completions", 404},
		{http.MethodDelete, "/api/delete", 404},
	} {
		if w := do(t, s, c.method, c.path, ""); w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
	if w := do(t, s, http.MethodGet, "/", ""); w.Body.String() != "Ollama is running" {
		t.Errorf("GET /: %q", w.Body)
	}
}

func TestModelIsDescribedAsOllamaDoes(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	if err := client.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := client.Version(t.Context()); err != nil || v != APIVersion {
		t.Errorf("version %q, %v", v, err)
	}
	details := api.ModelDetails{Format: "gguf", Family: "llama", Families: []string{"llama"}, ParameterSize: "1.58M", QuantizationLevel: "F16"}
	list, err := client.List(t.Context())
	if err != nil || len(list.Models) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if m := list.Models[0]; m.Name != "pocket:latest" || m.Size != 3165888 || len(m.Digest) != 64 {
		t.Errorf("listed as %+v", m)
	}
	if d := cmp.Diff(details, list.Models[0].Details); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"pocket", "pocket:latest", "POCKET", "library/pocket", "registry.ollama.ai/library/pocket:latest"} {
		show, err := client.Show(t.Context(), &api.ShowRequest{Model: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(details, show.Details); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]model.Capability{"completion", "tools"}, show.Capabilities); d != "" {
			t.Error(d)
		}
		for k, want := range map[string]any{
			"general.architecture": "llama", "general.parameter_count": 1577664.0, "llama.context_length": 4096.0,
			"llama.block_count": 4.0, "llama.attention.head_count_kv": 4.0, "llama.attention.key_length": 48.0, "tokenizer.ggml.tokens": nil,
		} {
			if got, there := show.ModelInfo[k]; got != want || !there {
				t.Errorf("model_info %s = %v, want %v", k, got, want)
			}
		}
		if !strings.Contains(show.Template, "<tool_call>") || !strings.Contains(show.Parameters, `"<|end|>"`) || len(show.Tensors) != 39 {
			t.Errorf("template %q, parameters %q, %d tensors", show.Template, show.Parameters, len(show.Tensors))
		}
	}
	verbose, err := client.Show(t.Context(), &api.ShowRequest{Model: ModelName, Verbose: true})
	if err != nil {
		t.Fatal(err)
	}
	if list, ok := verbose.ModelInfo["tokenizer.ggml.tokens"].([]any); !ok || len(list) != 264 {
		t.Errorf("verbose: %d tokens, want 264", len(list))
	}
}

func TestErrorsReachTheClientWithStatusAndText(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	err := client.Chat(t.Context(), with(ask("hi"), func(r *api.ChatRequest) { r.Model = "llama3" }), func(api.ChatResponse) error { return nil })
	var status api.StatusError
	if !errors.As(err, &status) || status.StatusCode != http.StatusNotFound || status.ErrorMessage != "model 'llama3' not found" {
		t.Errorf("%#v", err)
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	w := httptest.NewRecorder()
	body := bytes.NewReader(append([]byte(`{"model":"`), bytes.Repeat([]byte("a"), maxBody)...))
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/show", body))
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	get := func(r *api.EmbedRequest) *api.EmbedResponse {
		t.Helper()
		r.Model = ModelName
		res, err := client.Embed(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := get(&api.EmbedRequest{Input: []string{"the parser reads tokens", "A parser that reads a token", "cheese and wine", "?!"}})
	if len(res.Embeddings) != 4 || res.PromptEvalCount != 23+27+15+2 {
		t.Fatalf("%d vectors, %d tokens", len(res.Embeddings), res.PromptEvalCount)
	}
	e := res.Embeddings
	for i, v := range e {
		if n := dot(v, v); len(v) != EmbeddingSize || i < 3 && (n < 0.999 || n > 1.001) || i == 3 && n != 0 {
			t.Errorf("vector %d has %d dimensions and square length %g", i, len(v), n)
		}
	}
	if near, far := dot(e[0], e[1]), dot(e[0], e[2]); near < 0.4 || far > 0.2 {
		t.Errorf("similar texts %g, other texts %g", near, far)
	}
	one := get(&api.EmbedRequest{Input: "the parser reads tokens"})
	if d := cmp.Diff(e[:1], one.Embeddings); d != "" {
		t.Errorf("a string gives another vector than a list (-list +string):\n%s", d)
	}
	short := get(&api.EmbedRequest{Input: "the parser reads tokens", Dimensions: 16}).Embeddings[0]
	if n := dot(short, short); len(short) != 16 || n < 0.999 || n > 1.001 {
		t.Errorf("16 dimensions: %d, square length %g", len(short), n)
	}
	if got := get(&api.EmbedRequest{}).Embeddings; len(got) != 0 {
		t.Errorf("no input gave %d vectors", len(got))
	}
	cut := get(&api.EmbedRequest{Input: "the parser reads", Options: map[string]any{"num_ctx": 10}})
	if d := cmp.Diff(get(&api.EmbedRequest{Input: "the parser"}).Embeddings, cut.Embeddings); d != "" || cut.PromptEvalCount != 10 {
		t.Errorf("a long text is not cut at the window: %d tokens\n%s", cut.PromptEvalCount, d)
	}
}

// FuzzChatRequest feeds the request decoder and everything up to the network.
func FuzzChatRequest(f *testing.F) {
	f.Add([]byte(`{"model":"pocket","messages":[{"role":"user","content":"read main.go"}],"options":{"num_ctx":64,"stop":["x"]}}`))
	f.Add([]byte(`{"model":"pocket","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{"b":null}}}]},{"role":"tool"}],"tools":[{}]}`))
	f.Add([]byte(`{"model":"pocket","keep_alive":-1,"think":"low","format":{"type":"object"}}`))
	f.Add([]byte(`{"model":"pocket","messages":null,"keep_alive":"0s"}`))
	f.Add([]byte(`{"model":"poCket","messAges":[{}]}00`)) // what follows the first value is ignored, as in Ollama
	f.Add([]byte(`{"model":"../..","messages":[]`))
	s := New()
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, body []byte) {
		req := map[string]json.RawMessage{}
		if json.NewDecoder(bytes.NewReader(body)).Decode(&req) == nil && req != nil {
			req["_debug_render_only"] = json.RawMessage("true") // stop before the network
			body, _ = json.Marshal(req)
		}
		w := do(t, s, http.MethodPost, "/api/chat", string(body))
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %.300s", w.Code, w.Body)
		}
	})
}
