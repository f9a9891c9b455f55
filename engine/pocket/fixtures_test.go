package pocket

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
)

// call is a tool call in a form that can be compared.
type call struct {
	Name      string
	Arguments map[string]any
}

// TestAnswersEqualOllamas replays what Ollama answered for the same file. Half
// of the conversations are streamed.
func TestAnswersEqualOllamas(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprint("shard", shard), func(t *testing.T) {
			t.Parallel()
			client := newServer(t).Client()
			for i := shard; i < len(all); i += shards {
				f, stream := all[i], i/shards%2 == 0
				chunks, text, calls := talk(t, client, &api.ChatRequest{Model: ModelName, Messages: f.Messages, Tools: toolList(), Stream: &stream})
				if text != f.Content {
					t.Errorf("%s\n got text %q\nwant text %q", f.Prompt, text, f.Content)
				}
				got, want := []call{}, []call{}
				for _, c := range calls {
					got = append(got, call{c.Function.Name, c.Function.Arguments.ToMap()})
				}
				for _, c := range f.ToolCalls {
					want = append(want, call{c.Name, c.Arguments.ToMap()})
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s\ntool calls (-Ollama +pocket):\n%s", f.Prompt, d)
				}
				if !stream && len(chunks) != 1 {
					t.Errorf("%s: %d answers without streaming, want 1", f.Prompt, len(chunks))
				}
				if last := chunks[len(chunks)-1]; last.DoneReason != doneStop {
					t.Errorf("%s: done_reason %q, want stop", f.Prompt, last.DoneReason)
				}
			}
		})
	}
}

func TestPromptsEqualOllamas(t *testing.T) {
	t.Parallel()
	client := newServer(t).Client()
	for _, f := range fixtures(t) {
		var got string
		err := client.Chat(t.Context(), &api.ChatRequest{Model: ModelName, Messages: f.Messages, Tools: toolList(), DebugRenderOnly: true}, func(r api.ChatResponse) error {
			got = r.DebugInfo.RenderedTemplate
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got != f.Prompt {
			t.Errorf("prompt %q, want %q", got, f.Prompt)
		}
	}
}

// TestHeldOutCases runs the cases after those that were recorded. The model is
// not perfect; it must not be worse than when it was measured.
func TestHeldOutCases(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of computing; the recorded answers cover the common case")
	}
	t.Parallel()
	type held struct {
		Messages []api.Message `json:"messages"`
		Expected *call         `json:"expected"`
		Text     string        `json:"expected_text"`
	}
	client := newServer(t).Client()
	right, cases := 0, readLines[held](t, "testdata/eval.jsonl", 200)[150:]
	for _, c := range cases {
		_, text, calls := talk(t, client, &api.ChatRequest{Model: ModelName, Messages: c.Messages, Tools: toolList()})
		switch {
		case c.Expected == nil && len(calls) == 0 && text == c.Text,
			c.Expected != nil && len(calls) == 1 && cmp.Equal(*c.Expected, call{calls[0].Function.Name, calls[0].Function.Arguments.ToMap()}):
			right++
		}
	}
	if want := 47; right < want {
		t.Errorf("%d of %d as expected, want at least %d", right, len(cases), want)
	}
}
