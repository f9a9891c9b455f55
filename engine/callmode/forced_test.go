package callmode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/ollama/ollama/api"
	"pgregory.net/rapid"

	"chela/engine/callmode"
)

// schema is the forced mode's, as a validator reads it.
func schema(t testing.TB) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(callmode.Schema(essential(t)), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSchemaTiesTheArgumentsToTheTool(t *testing.T) {
	s := schema(t)
	for text, want := range map[string]bool{
		`{"tool":"read_file","arguments":{"path":"a"}}`:                      true,
		`{"tool":"read_file","arguments":{"path":"a","lines":3}}`:            true,
		`{"tool":"git_status","arguments":{}}`:                               true,
		`{"tool":"exec","arguments":{"command":"ls","env":{"A":"b"}}}`:       true,
		`{"tool":"final","answer":"Done."}`:                                  true,
		`{"tool":"read_file","arguments":{"command":"ls"}}`:                  false,
		`{"tool":"read_file","arguments":{}}`:                                false,
		`{"tool":"read_file"}`:                                               false,
		`{"tool":"made_up","arguments":{}}`:                                  false,
		`{"tool":"final","arguments":{}}`:                                    false,
		`{"tool":"final","answer":"Done.","arguments":{}}`:                   false,
		`{"tool":"web_fetch","arguments":{"url":"x","method":"BREW"}}`:       false,
		`{"tool":"web_fetch","arguments":{"url":"x","method":"GET"}}`:        true,
		`{"tool":"complete_task","arguments":{"summary":"x","nextSteps":3}}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSchemaUsesWhatGrammarsKnow lists the words that llama.cpp's converter
// turns into rules. It ignores others, or refuses the schema.
func TestSchemaUsesWhatGrammarsKnow(t *testing.T) {
	raw := callmode.Schema(essential(t))
	var walk func(v any, names bool)
	known := map[string]bool{
		"anyOf": true, "type": true, "properties": true, "required": true, "additionalProperties": true, "const": true, "enum": true, "items": true,
	}
	walk = func(v any, names bool) {
		switch x := v.(type) {
		case map[string]any:
			for k, e := range x {
				if !names && !known[k] {
					t.Errorf("%q is not among them", k)
				}
				walk(e, k == "properties" && !names)
			}
		case []any:
			for _, e := range x {
				walk(e, false)
			}
		}
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	walk(v, false)
	if string(callmode.Schema(essential(t))) != string(raw) {
		t.Error("it differs from one time to the next")
	}
	if !strings.HasPrefix(string(raw), `{"anyOf":[{"type":"object","properties":{"tool":{"const":"read_file"},"arguments":`) {
		t.Errorf("the name does not come first: %.120s", raw)
	}
}

func TestParseForced(t *testing.T) {
	specs := essential(t)
	for _, c := range []struct {
		text string
		want callmode.Step
		err  string
	}{
		{text: ` {"tool": "read_file", "arguments": {"path": "a"}} ` + "\n", want: callmode.Step{Name: "read_file", Args: json.RawMessage(`{"path": "a"}`)}},
		{text: `{"tool":"git_status"}`, want: callmode.Step{Name: "git_status", Args: json.RawMessage(`{}`)}},
		{text: `{"tool":"final","answer":"It is \"fine\".\n"}`, want: callmode.Step{Answer: "It is \"fine\".\n"}},
		{text: ``, err: "it is empty"},
		{text: `I will read it.`, err: "no JSON object"},
		{text: `{"tool":"read_file","arguments":{"path":"a"`, err: "cut off"},
		{text: `{"tool":"read_file"} and more`, err: "more follows"},
		{text: `{"tool":"read_file","tool":"exec","arguments":{}}`, err: `"tool" is given twice`},
		{text: `{"name":"read_file","arguments":{}}`, err: `no "tool"`},
		{text: `{"tool":"run","arguments":{}}`, err: `no tool "run"`},
		{text: `{"tool":"exec","arguments":"ls"}`, err: "no object"},
		{text: `{"tool":"exec","arguments":{},"answer":"x"}`, err: `"answer" is not known`},
		{text: `{"tool":"final","answer":3}`, err: `needs "answer" with a string`},
		{text: `{"tool":"final"}`, err: `needs "answer" with a string`},
	} {
		got, err := callmode.ParseForced(c.text, specs)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.text, diff)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.err)
		}
	}
}

// TestParseForcedReadsWhatRenderForcedWrites also holds what it writes against
// the schema: a forced model's history is what the grammar lets it write.
func TestParseForcedReadsWhatRenderForcedWrites(t *testing.T) {
	specs, s := essential(t), schema(t)
	rapid.Check(t, func(t *rapid.T) {
		msg := api.Message{Role: "assistant", Content: text().Draw(t, "said")}
		var want string
		if rapid.Bool().Draw(t, "call") {
			c := drawCall(t, specs)
			msg.ToolCalls = []api.ToolCall{c}
			raw, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			want = string(raw)
		}
		written := callmode.RenderForced([]api.Message{msg})[0].Content
		var v any
		if err := json.Unmarshal([]byte(written), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		got, err := callmode.ParseForced(written, specs)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", written, err)
		case want == "" && got.Answer != msg.Content:
			t.Fatalf("answer %q, want %q", got.Answer, msg.Content)
		case want != "":
			var have, wanted any
			if json.Unmarshal(got.Args, &have) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !cmp.Equal(have, wanted) {
				t.Fatalf("%s: arguments %s, want %s", written, got.Args, want)
			}
		}
	})
}

// stream adds a text in pieces of the given lengths, over and over.
func stream(text string, lengths []byte) string {
	var d callmode.FinalDelta
	var out strings.Builder
	for i := 0; text != ""; i++ {
		n := 1
		if len(lengths) > 0 {
			n = int(lengths[i%len(lengths)])%9 + 1
		}
		n = min(n, len(text))
		out.WriteString(d.Add(text[:n]))
		text = text[n:]
	}
	return out.String()
}

func TestAnswerStreams(t *testing.T) {
	var d callmode.FinalDelta
	for _, step := range []struct{ piece, want string }{
		{`{"to`, ""},
		{`ol": "final", "answer": `, ""},
		{`"It`, "It"},
		{` is \`, " is "},
		{`n\u00e`, "\n"},
		{`9 \ud83e`, "é "},
		{`\udd80.`, "\U0001F980."},
		{"\xe6\x97", ""},
		{"\xa5", "日"},
		{`"} {"tool": "final", "answer": "no"}`, ""},
	} {
		if got := d.Add(step.piece); got != step.want {
			t.Errorf("%q gave %q, want %q", step.piece, got, step.want)
		}
	}
	for _, digits := range []string{"00g0", "\x10\x11\x12\x13", "+041", "0x41"} {
		if got := stream(`{"tool": "final", "answer": "a\u`+digits+`b"}`, nil); got != "a" {
			t.Errorf("the escape %q gave %q; the text ends there", digits, got)
		}
	}
	for _, other := range []string{`{"tool": "exec", "arguments": {"answer": "x"}}`, `{"answer": "x", "tool": "final"}`, `Hello "answer": "x"`} {
		if got := stream(other, nil); got != "" {
			t.Errorf("%s gave %q", other, got)
		}
	}
}

// FuzzForced holds the stream, at any split, against the parser.
func FuzzForced(f *testing.F) {
	for _, s := range []string{
		`{"tool":"final","answer":"It is \"fine\".\n\u00e9\ud83e\udd80 日本"}`, ` { "tool" : "final" , "answer" : "\ud83e" } `, `{"tool":"final","answer":"\ud83e\ud83e\udd80"}`,
		`{"tool":"final","answer":"\ud83e\n"}`, `{"tool":"final","answer":"` + "\xff\xe6\x97" + `"}`, `{"tool":"final","answer":"\udd80x\u12"}`, `{"tool":"exec","arguments":{"command":"ls"}}`, `{`, ``, `[1]`,
	} {
		f.Add(s, []byte{0, 3})
	}
	specs := essential(f)
	f.Fuzz(func(t *testing.T, text string, lengths []byte) {
		streamed := stream(text, lengths)
		if whole := stream(text, []byte{8}); whole != streamed {
			t.Fatalf("%q split in another way: %q", streamed, whole)
		}
		step, err := callmode.ParseForced(text, specs)
		if err != nil {
			return
		}
		if step.Name != "" {
			if streamed != "" || !json.Valid(step.Args) || step.Args[0] != '{' {
				t.Fatalf("a call of %s with %s streamed %q", step.Name, step.Args, streamed)
			}
			return
		}
		if inOrder := strings.Index(text, `"tool"`); inOrder >= 0 && inOrder < strings.Index(text, `"answer"`) && strings.Contains(text, `"final"`) && streamed != step.Answer {
			t.Fatalf("streamed %q, parsed %q", streamed, step.Answer)
		}
	})
}
