package vet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine/vet"
)

func token(text string, bytes ...int) api.Logprob {
	return api.Logprob{TokenLogprob: api.TokenLogprob{Token: text, Bytes: bytes}}
}

func TestRaw(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens []api.Logprob
		text   string
		exact  bool
	}{
		{"nothing", nil, "", true},
		{"plain", []api.Logprob{token("<tool"), token("_call>"), token("日")}, "<tool_call>日", true},
		{"a split character", []api.Logprob{token("\ufffd"), token("\ufffd")}, "\ufffd\ufffd", false},
		{"whose bytes say no more", []api.Logprob{token("\ufffd", 0xef, 0xbf, 0xbd)}, "\ufffd", false},
		{"whose bytes are there", []api.Logprob{token("\ufffd", 0xf0, 0x9f), token("\ufffd", 0xa6, 0x80)}, "🦀", true},
		{"half of them", []api.Logprob{token("\ufffd", 0xf0, 0x9f)}, "\xf0\x9f", false},
		{"bytes that are none", []api.Logprob{token("\ufffd", 300)}, "\ufffd", false},
	} {
		if text, exact := vet.Raw(c.tokens); text != c.text || exact != c.exact {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, text, exact, c.text, c.exact)
		}
	}
}

func TestLost(t *testing.T) {
	specs := essential(t)
	call := `<tool_call>{"name":"exec","arguments":{"command":"echo ` + "\ufffd" + `"}}</tool_call>`
	for _, c := range []struct {
		name  string
		in    vet.Input
		lost  bool
		calls int
		why   string
	}{
		{"no tokens", vet.Input{}, false, 0, ""},
		{"a text", vet.Input{Tokens: 9, Text: "Hello"}, false, 0, ""},
		{"thoughts", vet.Input{Tokens: 9, Thinking: "Hm"}, false, 0, ""},
		{"a call", vet.Input{Tokens: 9, Calls: []vet.Call{{Name: "exec"}}}, false, 0, ""},
		{"nothing", vet.Input{Tokens: 9, Text: " \n"}, true, 0, "not known"},
		{"blank tokens", vet.Input{Tokens: 9, Raw: " \n", RawExact: true}, true, 0, "dropped"},
		{"an exact text", vet.Input{Tokens: 9, Raw: `<tool_call>{"name":"exec","arguments":{"command":"ls"}}</tool_call>`, RawExact: true}, true, 1, "dropped"},
		{"a value with a lost character", vet.Input{Tokens: 9, Raw: call}, true, 0, "lost characters"},
		{"a value beside a lost character", vet.Input{Tokens: 9, Raw: "\ufffd\n" + strings.ReplaceAll(call, "\ufffd", "x")}, true, 1, "dropped"},
	} {
		c.in.Specs, c.in.Done = specs, "stop"
		r, lost := vet.Lost(c.in)
		if lost != c.lost || len(r.Calls) != c.calls || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %v, %+v", c.name, lost, r)
		}
	}
}

// FuzzCheck looks at what holds for every answer, and takes what Ollama's
// parsers make of the text as the calls.
func FuzzCheck(f *testing.F) {
	for _, raw := range []string{
		`<tool_call>{"arguments":{"command":"grep -rn TODO ."},"name":"exec"}</tool_call>`, "> <tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"x\"}}</tool_call>\n\nA quote.",
		`{"scripts":{"search":"grep -rn foo"}}`, "a `{\"name\":\"exec\"}` b", "```\n{}\n```\nmore", "\ufffd", `{"name":"write_file","arguments":{"path":"a","content":""}}`,
	} {
		f.Add(raw, "exec", `{"command":"x"}`, true)
		f.Add(raw, "write_file", `{"path":"C:\temp","content":""}`, false)
	}
	specs := essential(f)
	f.Fuzz(func(t *testing.T, raw, name, args string, exact bool) {
		in := vet.Input{Specs: specs, Calls: []vet.Call{{Name: name, Args: json.RawMessage(args)}}, Raw: raw, RawExact: exact, Done: "stop", Tokens: 1, Text: raw}
		for _, tag := range []string{"<tool_call>", "{"} {
			made, err := served(t, specs, "", tag, raw)
			if err != nil {
				t.Fatal(err)
			}
			in.Calls = append(in.Calls, made.Calls...)
		}
		for _, known := range []bool{true, false} {
			if !known {
				in.Raw = ""
			}
			for i, got := range vet.Check(in) {
				c := in.Calls[i]
				same := got.Tool == c.Name && string(got.Args) == string(c.Args)
				switch {
				case got.Verdict < vet.Keep || got.Verdict > vet.Refuse:
					t.Fatalf("no verdict: %+v", got)
				case (got.Verdict == vet.Keep) != (got.Reason == ""), got.Verdict == vet.Keep && !same:
					t.Fatalf("changed without a reason: %+v of %s %s", got, c.Name, c.Args)
				case (got.Verdict == vet.Refuse) != (got.Message != ""):
					t.Fatalf("a refusal has a message: %+v", got)
				case got.Phantom && got.Verdict < vet.Doubtful:
					t.Fatalf("a phantom is doubtful at least: %+v", got)
				case !exact && strings.Contains(string(got.Args), "\ufffd") && !strings.Contains(string(c.Args), "\ufffd") && json.Valid(c.Args):
					t.Fatalf("a lost character became a value: %s", got.Args)
				}
			}
		}
		in.Raw, in.Calls, in.Text = raw, nil, ""
		if r, lost := vet.Lost(in); !lost && len(r.Calls) > 0 {
			t.Fatal("calls of what was not lost")
		}
	})
}
