package rescue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela/engine/rescue"
)

// wrappers write a call of write_file in the markup of each family.
var wrappers = map[string]func(path, content string) string{
	rescue.Hermes: func(p, c string) string {
		return `<tool_call>{"name":"write_file","arguments":` + object(p, c) + `}</tool_call>`
	},
	rescue.JSON: func(p, c string) string { return `{"name":"write_file","arguments":` + object(p, c) + `}` },
	rescue.XML: func(p, c string) string {
		return "<function=write_file>\n<parameter=path>\n" + p + "\n</parameter>\n<parameter=content>\n" + c + "\n</parameter>\n</function>"
	},
	rescue.Mistral: func(p, c string) string { return `[TOOL_CALLS]write_file[ARGS]` + object(p, c) },
	rescue.Llama: func(p, c string) string {
		return `<|python_tag|>{"name":"write_file","parameters":` + object(p, c) + `}`
	},
	rescue.Pythonic: func(p, c string) string { return fmt.Sprintf("[write_file(path=%s, content=%s)]", text(p), text(c)) },
	rescue.ToolCode: func(p, c string) string {
		return fmt.Sprintf("```tool_code\nprint(default_api.write_file(path=%s, content=%s))\n```", text(p), text(c))
	},
	rescue.Gemma: func(p, c string) string {
		return fmt.Sprintf("<|tool_call>call:write_file{path:%s,content:%s}<tool_call|>", text(p), text(c))
	},
	rescue.DeepSeek: func(p, c string) string {
		return "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>" + object(p, c) + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
	},
	rescue.Harmony: func(p, c string) string {
		return `<|channel|>commentary to=functions.write_file<|message|>` + object(p, c) + `<|call|>`
	},
	rescue.GLM: func(p, c string) string {
		return "<tool_call>write_file<arg_key>path</arg_key><arg_value>" + p + "</arg_value><arg_key>content</arg_key><arg_value>" + c + "</arg_value></tool_call>"
	},
	rescue.Kimi: func(p, c string) string {
		return `<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>` + object(p, c) + `<|tool_call_end|>`
	},
	rescue.Cline: func(p, c string) string {
		return "<write_file>\n<path>" + p + "</path>\n<content>" + c + "</content>\n</write_file>"
	},
	rescue.Anthropic: func(p, c string) string {
		return `<function_calls><invoke name="write_file"><parameter name="path">` + p + `</parameter><parameter name="content">` + c + `</parameter></invoke></function_calls>`
	},
}

func object(path, content string) string {
	return `{"path":` + text(path) + `,"content":` + text(content) + `}`
}

// text writes a JSON string, which is a Python string too.
func text(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestMarkupInAnArgumentIsData writes, in each family, a file that holds a call
// in each other family's markup: there is one call, with the content whole.
func TestMarkupInAnArgumentIsData(t *testing.T) {
	tools := essential(t)
	for outer, wrap := range wrappers {
		for inner, other := range wrappers {
			if inner == outer && (outer == rescue.GLM || outer == rescue.Cline) {
				continue // without escapes it cannot be told where the value ends
			}
			content := other("inner.txt", "inside")
			r := rescue.Parse("I write it.\n"+wrap("outer.txt", content), rescue.Options{Tools: tools, Done: "stop"})
			got := calls(t, r)
			if len(got) != 1 || got[0].Arguments["path"] != "outer.txt" || strings.TrimSpace(fmt.Sprint(got[0].Arguments["content"])) != content {
				t.Errorf("%s in %s: %+v, notes %q", inner, outer, got, r.Notes)
			}
		}
	}
}

// TestMarkupThatClosesItsOwnEnvelopeNeverBecomesAnotherCall puts GLM in GLM and
// Cline in Cline: whatever comes out, it is never the inner call.
func TestMarkupThatClosesItsOwnEnvelopeNeverBecomesAnotherCall(t *testing.T) {
	tools := essential(t)
	for _, family := range []string{rescue.GLM, rescue.Cline} {
		wrap := wrappers[family]
		r := rescue.Parse(wrap("outer.txt", wrap("inner.txt", "inside")), rescue.Options{Tools: tools, Done: "stop"})
		for _, c := range calls(t, r) {
			if c.Arguments["path"] != "outer.txt" {
				t.Errorf("%s: became %+v", family, c)
			}
		}
	}
}

// TestQuotedTextIsNeverACall puts random calls into block quotes and inline
// code, with random prose around.
func TestQuotedTextIsNeverACall(t *testing.T) {
	tools := essential(t)
	families := make([]string, 0, len(wrappers))
	for f := range wrappers {
		families = append(families, f)
	}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-zA-Z .,:'"<>{}\[\]()=-]{0,30}`)
		call := wrappers[rapid.SampledFrom(families).Draw(t, "family")]("a.txt", line.Draw(t, "content"))
		before, after := line.Draw(t, "before"), line.Draw(t, "after")
		var quoted string
		if rapid.Bool().Draw(t, "block quote") {
			quoted = "> " + strings.ReplaceAll(call, "\n", "\n> ")
		} else {
			// A span of code holds no empty line and none of its own quotes.
			quoted = "x ````" + strings.ReplaceAll(call, "\n", " ") + "````"
		}
		whole := before + "\n\n" + quoted + "\n\n" + after
		if r := rescue.Parse(whole, rescue.Options{Tools: tools, Done: "stop"}); len(r.Calls) > 0 {
			t.Fatalf("became %+v\n%s", r.Calls, whole)
		}
	})
}

// TestEachFamilyNeverWritesHalf cuts a call of each family at every byte: it
// writes the whole content or nothing, whatever the server says about its end.
func TestEachFamilyNeverWritesHalf(t *testing.T) {
	tools := essential(t)
	const content = "one\ntwo {\"a\": [1]} three"
	for family, wrap := range wrappers {
		whole := wrap("out.txt", content)
		for n := range len(whole) {
			for _, done := range []string{"stop", "length", ""} {
				for _, c := range calls(t, rescue.Parse(whole[:n], rescue.Options{Tools: tools, Done: done})) {
					if done != "stop" || c.Arguments["content"] != content {
						t.Errorf("%s cut at %d, done %q: %+v", family, n, done, c)
					}
				}
			}
		}
	}
}
