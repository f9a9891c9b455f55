package callmode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"pgregory.net/rapid"

	"chela/engine/callmode"
	"chela/engine/pipeline"
	"chela/engine/rescue"
	"chela/toolkit"
)

// plain is a call as the pipeline would take it.
type plain struct {
	Name string
	Args string
}

func repaired(t *rapid.T, specs []*toolkit.Spec, name string, raw json.RawMessage) plain {
	for _, s := range specs {
		if s.Name == name {
			args, _, fault := pipeline.Repair(s, raw)
			if fault != nil {
				t.Skip("the call is not valid: ", fault)
			}
			return plain{name, string(args)}
		}
	}
	t.Fatalf("there is no tool %q", name)
	return plain{}
}

// TestRescueReadsWhatRenderWrites is the promise that a prompted model depends
// on: what it sees in its history is a form that is understood.
func TestRescueReadsWhatRenderWrites(t *testing.T) {
	specs := essential(t)
	for _, m := range callmode.Markups {
		t.Run(string(m), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				msg := api.Message{Role: "assistant"}
				if rapid.Bool().Draw(t, "prose") {
					msg.Content = rapid.SampledFrom([]string{"I look.", "First:\n> a quote", "- a list\n", "One.\nTwo."}).Draw(t, "before")
				}
				var want []plain
				for range rapid.IntRange(1, 3).Draw(t, "calls") {
					c := drawCall(t, specs)
					raw, err := json.Marshal(c.Function.Arguments)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, repaired(t, specs, c.Function.Name, raw))
					msg.ToolCalls = append(msg.ToolCalls, c)
				}
				written := callmode.Render([]api.Message{msg}, m)[0].Content
				r := rescue.Parse(written, rescue.Options{Tools: specs, Done: "stop"})
				var got []plain
				for _, c := range r.Calls {
					got = append(got, plain{c.Name, string(c.Args)})
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s\nnotes %q (-want +got)\n%s", written, r.Notes, diff)
				}
			})
		})
	}
}

func TestRenderIsReadable(t *testing.T) {
	history := func(t *testing.T) []api.Message {
		return []api.Message{
			{Role: "user", Content: "Fix it."},
			{Role: "assistant", Content: "I look.", ToolCalls: []api.ToolCall{
				made(t, "read_file", `{"path":"a<b>.go","lines":3}`), made(t, "git_status", `{"short":true}`),
			}},
			{Role: "tool", ToolName: "read_file", ToolCallID: "1", Content: "package a"},
			{Role: "tool", ToolName: "git_status", Content: "clean\n"},
			{Role: "assistant", Content: "Done."},
		}
	}
	results := []string{
		"<tool_response tool=\"read_file\">\npackage a\n</tool_response>",
		"<tool_response tool=\"git_status\">\nclean\n</tool_response>",
	}
	for m, want := range map[callmode.Markup]string{
		callmode.Hermes:   "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a<b>.go\", \"lines\": 3}}\n</tool_call>\n<tool_call>\n{\"name\": \"git_status\", \"arguments\": {\"short\": true}}\n</tool_call>",
		callmode.Tools:    "<tools>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a<b>.go\", \"lines\": 3}}\n</tools>\n<tools>\n{\"name\": \"git_status\", \"arguments\": {\"short\": true}}\n</tools>",
		callmode.Fenced:   "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a<b>.go\", \"lines\": 3}}\n```\n```json\n{\"name\": \"git_status\", \"arguments\": {\"short\": true}}\n```",
		callmode.ToolCode: "```tool_code\nread_file(path=\"a<b>.go\", lines=3)\ngit_status(short=True)\n```",
		callmode.Llama:    "{\"name\": \"read_file\", \"parameters\": {\"path\": \"a<b>.go\", \"lines\": 3}}\n{\"name\": \"git_status\", \"parameters\": {\"short\": true}}",
		callmode.XML:      "<tool_call>\n<function=read_file>\n<parameter=path>\na<b>.go\n</parameter>\n<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=git_status>\n<parameter=short>\ntrue\n</parameter>\n</function>\n</tool_call>",
		callmode.Mistral:  "[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\": \"a<b>.go\", \"lines\": 3}}, {\"name\": \"git_status\", \"arguments\": {\"short\": true}}]",
	} {
		given := history(t)
		got := callmode.Render(given, m)
		var contents []string
		var roles []string
		for _, g := range got {
			contents, roles = append(contents, g.Content), append(roles, g.Role)
			if len(g.ToolCalls) > 0 || g.ToolName != "" || g.ToolCallID != "" {
				t.Errorf("%s: what only native models have is left: %+v", m, g)
			}
		}
		if diff := cmp.Diff([]string{"Fix it.", "I look.\n\n" + want, results[0], results[1], "Done."}, contents); diff != "" {
			t.Errorf("%s (-want +got)\n%s", m, diff)
		}
		if diff := cmp.Diff([]string{"user", "assistant", "user", "user", "assistant"}, roles); diff != "" {
			t.Errorf("%s (-want +got)\n%s", m, diff)
		}
		if len(given[1].ToolCalls) != 2 || given[2].Role != "tool" {
			t.Errorf("%s: the history itself was changed", m)
		}
	}
}

// TestRenderOnlyAppends holds for each beginning of a history, in both forms:
// the server's cache depends on it.
func TestRenderOnlyAppends(t *testing.T) {
	specs := essential(t)
	rapid.Check(t, func(t *rapid.T) {
		var history []api.Message
		for range rapid.IntRange(0, 8).Draw(t, "messages") {
			m := api.Message{Role: rapid.SampledFrom([]string{"user", "assistant", "tool", "system"}).Draw(t, "role"), Content: text().Draw(t, "content")}
			switch m.Role {
			case "tool":
				m.ToolName = rapid.SampledFrom([]string{"", "exec", `odd "name"`}).Draw(t, "of")
			case "assistant":
				for range rapid.IntRange(0, 2).Draw(t, "calls") {
					m.ToolCalls = append(m.ToolCalls, drawCall(t, specs))
				}
			}
			history = append(history, m)
		}
		n := rapid.IntRange(0, len(history)).Draw(t, "beginning")
		forms := map[string]func([]api.Message) []api.Message{"forced": callmode.RenderForced}
		for _, m := range callmode.Markups {
			forms[string(m)] = func(h []api.Message) []api.Message { return callmode.Render(h, m) }
		}
		for name, f := range forms {
			begin, whole := contents(f(history[:n])), contents(f(history))
			if len(whole) != len(history) || strings.Join(begin, "\x01") != strings.Join(whole[:n], "\x01") {
				t.Fatalf("%s: %q is no beginning of %q", name, begin, whole)
			}
		}
	})
}

func contents(messages []api.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Role + ":" + m.Content
	}
	return out
}

// TestAnInventedResultIsCutOff ties the header to what rescue knows of it.
func TestAnInventedResultIsCutOff(t *testing.T) {
	specs := essential(t)
	msg := callmode.Render([]api.Message{{Role: "tool", ToolName: "exec", Content: "x"}}, callmode.Hermes)[0].Content
	if !strings.HasPrefix(msg, callmode.ResultHeader) {
		t.Fatalf("%q does not begin with %q", msg, callmode.ResultHeader)
	}
	call := callmode.Render([]api.Message{{Role: "assistant", ToolCalls: []api.ToolCall{made(t, "read_file", `{"path":"a"}`)}}}, callmode.Hermes)[0].Content
	r := rescue.Parse(call+"\n"+msg+"\n"+call, rescue.Options{Tools: specs, Done: "stop"})
	if len(r.Calls) != 1 || strings.Contains(r.Text, "tool_response") {
		t.Errorf("calls %+v, text %q", r.Calls, r.Text)
	}
}
