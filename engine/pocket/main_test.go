package pocket

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a conversation with what Ollama answered to it.
type fixture struct {
	Messages  []api.Message          `json:"messages"`
	Prompt    string                 `json:"prompt"`
	Content   string                 `json:"content"`
	ToolCalls []api.ToolCallFunction `json:"tool_calls"`
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	return readLines[fixture](t, "testdata/fixtures.jsonl", 150)
}

// readLines decodes a file of n lines of JSON.
func readLines[T any](t testing.TB, path string, n int) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var x T
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatalf("%s, line %d: %v", path, len(out)+1, err)
		}
		out = append(out, x)
	}
	if err := lines.Err(); err != nil || len(out) != n {
		t.Fatalf("%s: %d lines, want %d; %v", path, len(out), n, err)
	}
	return out
}

// toolList is the list of tools that the fixtures were recorded with.
func toolList() api.Tools {
	var list api.Tools
	for _, d := range []struct {
		name   string
		params []string
	}{
		{"directory_tree", []string{"path"}},
		{"read_file", []string{"path"}},
		{"grep", []string{"pattern", "path"}},
		{"search_files", []string{"pattern"}},
		{"exec", []string{"command"}},
		{"write_file", []string{"path", "content", "append"}},
		{"edit_file", []string{"path", "old_string", "new_string"}},
		{"git_status", nil},
		{"web_fetch", []string{"url"}},
		{"memory_search", []string{"query"}},
		{"complete_task", []string{"summary"}},
	} {
		props := api.NewToolPropertiesMap()
		for _, p := range d.params {
			kind := "string"
			if p == "append" {
				kind = "boolean"
			}
			props.Set(p, api.ToolProperty{Type: api.PropertyType{kind}, Description: p})
		}
		list = append(list, api.Tool{Type: "function", Function: api.ToolFunction{
			Name: d.name, Description: d.name,
			Parameters: api.ToolFunctionParameters{Type: "object", Properties: props},
		}})
	}
	return list
}

// ask is a chat request of one user message.
func ask(text string) *api.ChatRequest {
	return &api.ChatRequest{Model: ModelName, Messages: []api.Message{{Role: "user", Content: text}}}
}

func with[T any](v *T, change func(*T)) *T {
	change(v)
	return v
}

func newServer(t testing.TB) *Server {
	t.Helper()
	s := New()
	t.Cleanup(s.Close)
	return s
}

// talk sends a chat request and joins what comes back.
func talk(t testing.TB, c *api.Client, req *api.ChatRequest) (chunks []api.ChatResponse, text string, calls []api.ToolCall) {
	t.Helper()
	err := c.Chat(t.Context(), req, func(r api.ChatResponse) error {
		chunks = append(chunks, r)
		text += r.Message.Content
		calls = append(calls, r.Message.ToolCalls...)
		return nil
	})
	if err != nil {
		t.Fatalf("chat %v: %v", req.Messages, err)
	}
	if last := chunks[len(chunks)-1]; !last.Done {
		t.Fatalf("chat %v ended with %+v, which is not done", req.Messages, last)
	}
	return chunks, text, calls
}
