package rescue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/rescue"
)

// TestTextStaysText lists what looks like a call and is none.
func TestTextStaysText(t *testing.T) {
	const call = `{"name":"exec","arguments":{"command":"rm -rf x"}}`
	for name, text := range map[string]string{
		"json: in the middle of a line":       "I would run " + call,
		"json: prose behind it":               call + "\nThat is how.",
		"json: an unknown tool":               `{"name":"launch","arguments":{"x":1}}`,
		"json: a required argument missing":   `{"name":"exec","arguments":{"workdir":"x"}}`,
		"json: an argument no tool has":       `{"name":"exec","arguments":{"command":"x","colour":"red"}}`,
		"json: a list with something else":    "[" + call + `,{"version":1}]`,
		"json: inside a document":             `{"examples":[` + call + `]}`,
		"json: inside a document, by lines":   "{\"examples\": [\n" + call + "\n]}",
		"json: inside a broken document":      "{\"examples\": [ oops\n" + call,
		"json: a key given twice":             `{"name":"exec","arguments":{"command":"ls","command":"rm"}}`,
		"json: a name and nothing else":       `{"name":"directory_tree"}`,
		"json: the schema in a function":      `{"type":"function","function":{"name":"directory_tree","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`,
		"json: arguments not closed":          `{"name":"exec","arguments":{"command":"rm -rf x"`,
		"json: a string not closed":           `{"name":"exec","arguments":{"command":"rm -rf x`,
		"json: an apostrophe":                 `{'name':'exec','arguments':{'command':'echo it's'}}`,
		"fence: after an explanation":         "One.\nTwo.\nThree.\nFour.\n```json\n" + call + "\n```",
		"fence: two, prose between":           "```json\n" + call + "\n```\nor\n```json\n" + call + "\n```",
		"fence: bash":                         "```bash\n" + call + "\n```",
		"fence: python":                       "```python\nexec(command=\"rm -rf x\")\n```",
		"fence: json in tildes, then prose":   "~~~json\n" + call + "\n~~~\nSee?",
		"fence: marks in a text fence":        "```text\n<tool_call>" + call + "</tool_call>\n```",
		"fence: an xml fence":                 "```xml\n<function=exec><parameter=command>rm</parameter></function>\n```",
		"fence: one that never closes":        "```go\n<tool_call>" + call + "</tool_call>",
		"fence: prose inside":                 "```\nlike this:\n" + call + "\n```",
		"hermes: inline code":                 "The answer is `<tool_call>" + call + "</tool_call>`.",
		"hermes: double backticks":            "So ``<tool_call>" + call + "</tool_call> ` `` it is",
		"hermes: in a sentence":               "The file says <tool_call>" + call + "</tool_call> which is odd.",
		"hermes: a quote in a list":           "- > <tool_call>" + call + "</tool_call>",
		"hermes: a quote that goes on":        "> it says\n<tool_call>" + call + "</tool_call>",
		"hermes: indented code":               "The file:\n\n    <tool_call>" + call + "</tool_call>\n",
		"hermes: prose inside":                "<tool_call>" + call + " or so</tool_call>",
		"hermes: an unknown tool":             `<tool_call>{"name":"launch","arguments":{}}</tool_call>`,
		"hermes: a schema":                    `<tools>{"name":"directory_tree","parameters":{"type":"object","properties":{}}}</tools>`,
		"hermes: behind a response":           "<tool_response>ok</tool_response><tool_call>" + call + "</tool_call>",
		"xml: a parameter given twice":        "<function=exec><parameter=command>ls</parameter></function><function=exec><parameter=command>ls</parameter><parameter=command>rm</parameter></function>",
		"xml: a value that is cut off":        "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nhalf of it",
		"xml: in inline code":                 "Use `<function=exec><parameter=command>ls</parameter></function>`.",
		"xml: text between":                   "<function=exec>run this <parameter=command>ls</parameter></function>",
		"mistral: no object":                  "[TOOL_CALLS]exec ls",
		"mistral: cut off":                    `[TOOL_CALLS]exec{"command":"ls`,
		"mistral: an unknown tool":            `[TOOL_CALLS]launch{"command":"ls"}`,
		"mistral: mentioned":                  "The mark [TOOL_CALLS] opens calls.",
		"llama: a sentence":                   "<|python_tag|>print the result",
		"llama: code":                         "<|python_tag|>import os\nos.remove('x')",
		"llama: not a literal":                `<|python_tag|>exec(command=build())`,
		"llama: an unknown tool":              `<|python_tag|>{"name":"launch","parameters":{}}`,
		"python: an expression":               `[exec(command="ls " + path)]`,
		"python: prose behind":                `[exec(command="ls")] is what I would do`,
		"python: formatted text":              `[exec(command=f"rm {x}")]`,
		"python: a call behind prose":         "You could write:\nexec(command=\"ls\")",
		"python: an unknown tool":             `[launch(x=1)]`,
		"python: a list that does not close":  `[exec(command="ls"),`,
		"tool_code: other code":               "```tool_code\nimport os\nexec(command=\"ls\")\n```",
		"tool_code: prose behind":             "```tool_code\nexec(command=\"ls\")\n```\nThat is it.",
		"gemma: cut off":                      `<|tool_call>call:exec{command:<|"|>ls`,
		"gemma: mentioned":                    "I call:read_file{path:a}",
		"gemma: prose behind":                 `call:exec{command:"ls"} would do`,
		"gemma: an unknown tool":              `<|tool_call>call:launch{x:1}<tool_call|>`,
		"deepseek: never closes":              "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>exec<｜tool▁sep｜>{\"command\":\"ls\"}",
		"deepseek: no separator":              "<｜tool▁call▁begin｜>exec {\"command\":\"ls\"}<｜tool▁call▁end｜>",
		"deepseek: no arguments":              "<｜tool▁call▁begin｜>exec<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
		"deepseek: behind its own output":     "<｜tool▁outputs▁begin｜>x<｜tool▁call▁begin｜>exec<｜tool▁sep｜>{\"command\":\"ls\"}<｜tool▁call▁end｜>",
		"harmony: prose behind":               `commentary to=functions.exec json{"command":"ls"} is wrong`,
		"harmony: no recipient":               `<|channel|>commentary<|message|>{"command":"ls"}`,
		"harmony: another word":               `send it to=functions.exec {"command":"ls"}`,
		"harmony: an unknown tool":            `<|channel|>commentary to=functions.launch<|message|>{"x":1}`,
		"glm: never closes":                   "<tool_call>exec<arg_key>command</arg_key><arg_value>ls",
		"glm: a key twice":                    "<tool_call>exec<arg_key>command</arg_key><arg_value>ls</arg_value><arg_key>command</arg_key><arg_value>rm</arg_value></tool_call>",
		"glm: a key without value":            "<tool_call>exec<arg_key>command</arg_key></tool_call>",
		"glm: a required argument is missing": "<tool_call>exec<arg_key>workdir</arg_key><arg_value>ls</arg_value></tool_call>",
		"kimi: prose behind":                  `functions.exec:0{"command":"ls"} and so on`,
		"kimi: no index":                      `functions.exec{"command":"ls"}`,
		"kimi: never closes":                  `<|tool_call_begin|>functions.exec:0<|tool_call_argument_begin|>{"command":"ls"}`,
		"kimi: cut off":                       `functions.exec:0{"command":"l`,
		"cline: html":                         "<search><path>x</path></search>",
		"cline: an unknown parameter":         "<exec><command>ls</command><mood>good</mood></exec>",
		"cline: never closes":                 "<exec><command>ls</command>",
		"cline: prose behind":                 "<exec><command>ls</command></exec>\nThis runs ls.",
		"cline: in a line":                    "Use <exec><command>ls</command></exec>",
		"anthropic: cut off":                  `<function_calls><invoke name="write_file"><parameter name="path">a</parameter><parameter name="content">ha`,
		"anthropic: an unknown tool":          `<invoke name="launch"><parameter name="x">1</parameter></invoke>`,
		"anthropic: quoted":                   "> <invoke name=\"exec\"><parameter name=\"command\">ls</parameter></invoke>",
		"anthropic: in a fence":               "```xml\n<invoke name=\"exec\"><parameter name=\"command\">ls</parameter></invoke>\n```",
		"thinking that closed":                "<think>\n" + call + "\n</think>",
		"thinking with a mark that closed":    "<think><tool_call>" + call + "</tool_call></think>\nDone.",
		"thinking without an opener":          "Perhaps <tool_call>" + call + "</tool_call> no.\n</think>\nDone.",
		"thinking that never closes, after":   "Done.\n<think>\n" + call,
		"nothing":                             "",
		"blanks":                              " \n\t",
	} {
		r := rescue.Parse(text, rescue.Options{Tools: essential(t), Done: "stop"})
		var got []found
		for _, c := range calls(t, r) {
			if c.Name == "exec" && c.Arguments["command"] == "ls" && strings.HasPrefix(name, "xml: a parameter given twice") {
				continue // reached only if the second function were left out
			}
			got = append(got, c)
		}
		if len(got) > 0 {
			t.Errorf("%s: became %+v\n%s", name, got, text)
		}
	}
}

// TestThinkingIsScannedOnlyWhenNothingElseIsThere covers both ways in which
// thinking arrives.
func TestThinkingIsScannedOnlyWhenNothingElseIsThere(t *testing.T) {
	const call = `<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>`
	for _, c := range []struct {
		name, text, thinking string
		want                 []found
		left                 string
	}{
		{"a block that never closed", "<think>I must look.\n" + call, "", []found{read("a")}, ""},
		{"thinking of the server", "", "I must look.\n" + call, []found{read("a")}, ""},
		{"thinking of the server and text", "It is 42.", call, []found{}, "It is 42."},
		{"a closed block", "<think>" + call + "</think>It is 42.", "", []found{}, "It is 42."},
		{"a call behind a closed block", "<think>hm</think>" + call, "", []found{read("a")}, ""},
		{"bare JSON behind a stray closer", "hm</think>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}", "", []found{read("a")}, ""},
	} {
		r := rescue.Parse(c.text, rescue.Options{Tools: essential(t), Done: "stop", Thinking: c.thinking})
		if diff := cmp.Diff(c.want, calls(t, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if r.Text != c.left {
			t.Errorf("%s: left %q", c.name, r.Text)
		}
		for _, call := range r.Calls {
			if in := strings.Contains(c.name, "never") || strings.Contains(c.name, "server"); call.InThinking != in {
				t.Errorf("%s: in thinking: %v", c.name, call.InThinking)
			}
		}
	}
}

func TestWhatIsLeftForTheReader(t *testing.T) {
	const call = `{"name":"read_file","arguments":{"path":"a"}}`
	for _, c := range []struct{ text, want string }{
		{"I will look.\n" + call, "I will look."},
		{"I will look.\n\n```json\n" + call + "\n```\n", "I will look."},
		{"One. <tool_call>" + call + "</tool_call>\nTwo.", "One. Two."},
		{"</think>\n" + call + "\n</tool_call>", ""},
		{"<tool_call>" + call + "</tool_call>\n<tool_response>\nall of it\n</tool_response>\nI read it.", ""},
		{"No call, but <tool_call> is a tag.", "No call, but <tool_call> is a tag."},
		{"  spaces stay\n", "  spaces stay\n"},
	} {
		if r := rescue.Parse(c.text, rescue.Options{Tools: essential(t), Done: "stop"}); r.Text != c.want {
			t.Errorf("%q leaves %q, want %q", c.text, r.Text, c.want)
		}
	}
}

func TestACutAnswerGivesReadsOnly(t *testing.T) {
	text := `<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call><tool_call>{"name":"exec","arguments":{"command":"ls"}}</tool_call>`
	r := rescue.Parse(text, rescue.Options{Tools: essential(t), Done: "length"})
	if diff := cmp.Diff([]found{read("a")}, calls(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "cut off") {
		t.Errorf("notes: %q", r.Notes)
	}
	cut := `{"name":"read_file","arguments":{"path":"a"}`
	if r := rescue.Parse(cut, rescue.Options{Tools: essential(t), Done: "length"}); len(r.Calls) > 0 {
		t.Errorf("a call that is cut off became %+v", r.Calls)
	}
}

func TestWithoutToolsThereIsNoCall(t *testing.T) {
	text := `{"name":"read_file","arguments":{"path":"a"}}`
	if r := rescue.Parse(text, rescue.Options{Done: "stop"}); len(r.Calls) > 0 || r.Text != text {
		t.Errorf("%+v", r)
	}
}

// TestAMarkedCallWithFaultsReachesTheModel leaves what is a call without doubt
// to the validator, which tells the model what is wrong.
func TestAMarkedCallWithFaultsReachesTheModel(t *testing.T) {
	r := rescue.Parse(`<tool_call>{"name":"exec","arguments":{"command":"ls","colour":"red"}}</tool_call>`, rescue.Options{Tools: essential(t), Done: "stop"})
	if diff := cmp.Diff([]found{{"exec", args{"command": "ls", "colour": "red"}}}, calls(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
