package rescue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/rescue"
)

type args = map[string]any

func read(path string) found { return found{"read_file", args{"path": path}} }

func run(command string) found { return found{"exec", args{"command": command}} }

func write(path, content string) found {
	return found{"write_file", args{"path": path, "content": content}}
}

// TestEachFamilyIsRead lists what each family's markup may look like.
func TestEachFamilyIsRead(t *testing.T) {
	for _, c := range []struct {
		family, name, text string
		want               []found
	}{
		{rescue.Hermes, "the name behind the arguments", `<tool_call>{"arguments":{"command":"grep -rn x ."},"name":"exec"}</tool_call>`, []found{run("grep -rn x .")}},
		{rescue.Hermes, "two blocks", "Both:\n<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>\n<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"b\"}}\n</tool_call>", []found{read("a"), read("b")}},
		{rescue.Hermes, "a brace is missing, the block closes", "<tool_call>\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}\n</tool_call>", []found{run("ls")}},
		{rescue.Hermes, "a brace too many", `<tool_call>{"name":"read_file","arguments":{"path":"a"}}}</tool_call>`, []found{read("a")}},
		{rescue.Hermes, "no arguments", `<tool_call>{"name":"directory_tree"}</tool_call>`, []found{{"directory_tree", args{}}}},
		{rescue.Hermes, "arguments beside the name", `<tool_call>{"name":"read_file","path":"a"}</tool_call>`, []found{read("a")}},
		{rescue.Hermes, "a name and an object", "<tool_call>read_file\n{\"path\":\"a\"}</tool_call>", []found{read("a")}},
		{rescue.Hermes, "<tools>", "<tools>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n</tools>", []found{read("a")}},
		{rescue.Hermes, "an opener that is only mentioned does not hide a call", "The <tool_call> tag it is.\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}</tool_call>", []found{read("a")}},

		{rescue.JSON, "after a line of prose", "I will look.\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}", []found{read("a")}},
		{rescue.JSON, "tool and args", `{"tool":"read_file","args":{"path":"a"}}`, []found{read("a")}},
		{rescue.JSON, "function inside", `{"function":{"name":"read_file","arguments":{"path":"a"}}}`, []found{read("a")}},
		{rescue.JSON, "tool_calls", `{"tool_calls":[{"id":"1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}`, []found{read("a")}},
		{rescue.JSON, "fence without language", "```\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```\n", []found{run("ls")}},
		{rescue.JSON, "two fences", "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```\n```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"b\"}}\n```", []found{read("a"), read("b")}},
		{rescue.JSON, "a fence inside a string", "```json\n{\"name\":\"write_file\",\"arguments\":{\"path\":\"a.md\",\"content\":\"```sh\\nls\\n```\"}}\n```", []found{write("a.md", "```sh\nls\n```")}},
		{rescue.JSON, "raw newlines", "{\"name\":\"write_file\",\"arguments\":{\"path\":\"a\",\"content\":\"one\n\ttwo\n\"}}", []found{write("a", "one\n\ttwo\n")}},
		{rescue.JSON, "null arguments", `{"name":"directory_tree","arguments":null}`, []found{{"directory_tree", args{}}}},
		{rescue.JSON, "a brace is missing at the end", `{"name":"read_file","arguments":{"path":"a"}`, []found{read("a")}},
		{rescue.JSON, "escapes", `{"name":"grep","arguments":{"pattern":"\w+\.go\b \u00e9\n"}}`, []found{{"grep", args{"pattern": "\\w+\\.go\b é\n"}}}},

		{rescue.XML, "json inside", `<function=read_file>{"path":"a"}</function>`, []found{read("a")}},
		{rescue.XML, "two functions", "<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n<function=read_file>\n<parameter=path>\nb\n</parameter>\n</function>", []found{read("a"), read("b")}},
		{rescue.XML, "a value that holds a call", "<tool_call>\n<function=write_file>\n<parameter=path>\nd.md\n</parameter>\n<parameter=content>\n<function=exec>\n<parameter=command>\nrm\n</parameter>\n</function>\n</parameter>\n</function>\n</tool_call>", []found{write("d.md", "<function=exec>\n<parameter=command>\nrm\n</parameter>\n</function>")}},
		{rescue.XML, "no closing parameter", "<function=exec>\n<parameter=command>\nls\n</function>", []found{run("ls")}},
		{rescue.XML, "an unclosed tag in a value", "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nsee <parameter=x> here\n</parameter>\n</function>", []found{write("a", "see <parameter=x> here")}},
		{rescue.XML, "numbers", "<function=read_file><parameter=path>a</parameter><parameter=lines>20</parameter></function>", []found{{"read_file", args{"path": "a", "lines": 20.0}}}},

		{rescue.Mistral, "a name and an object", `[TOOL_CALLS]read_file{"path":"a"}`, []found{read("a")}},
		{rescue.Mistral, "several marks", `[TOOL_CALLS]read_file[ARGS]{"path":"a"}[TOOL_CALLS]exec[ARGS]{"command":"ls"}`, []found{read("a"), run("ls")}},
		{rescue.Mistral, "an id", `[TOOL_CALLS]read_file[CALL_ID]abc123456[ARGS]{"path":"a"}</s>`, []found{read("a")}},
		{rescue.Mistral, "after prose", `Let me see.[TOOL_CALLS] [{"name":"read_file","arguments":{"path":"a"},"id":"x"}]`, []found{read("a")}},

		{rescue.Llama, "an object", `<|python_tag|>{"name":"read_file","parameters":{"path":"a"}}<|eom_id|>`, []found{read("a")}},
		{rescue.Llama, "Python", `<|python_tag|>read_file(path="a")`, []found{read("a")}},
		{rescue.Llama, "several", `<|python_tag|>{"name":"read_file","parameters":{"path":"a"}}; {"name":"exec","parameters":{"command":"ls"}}`, []found{read("a"), run("ls")}},
		{rescue.Llama, "a list of Python calls", `<|python_tag|>[read_file(path="a")]<|eot_id|>`, []found{read("a")}},

		{rescue.Pythonic, "marks", `Sure.<|tool_call_start|>[read_file(path='a')]<|tool_call_end|>`, []found{read("a")}},
		{rescue.Pythonic, "a list in each line", "[read_file(path=\"a\")]\n[read_file(path=\"b\")]", []found{read("a"), read("b")}},
		{rescue.Pythonic, "all literals", `[grep(pattern='it\'s [x]', path="cmd", caseSensitive=True, maxResults=5)]`, []found{{"grep", args{"pattern": "it's [x]", "path": "cmd", "caseSensitive": true, "maxResults": 5.0}}}},
		{rescue.Pythonic, "triple quotes", "[write_file(path=\"a\", content=\"\"\"say \"hi\"\n\"\"\")]", []found{write("a", "say \"hi\"\n")}},
		{rescue.Pythonic, "without a list", `exec(command="ls")`, []found{run("ls")}},
		{rescue.Pythonic, "one argument without a name", `[exec("ls -la")]`, []found{run("ls -la")}},
		{rescue.Pythonic, "a trailing comma and raw text", `[grep(pattern=r"\d+",)]`, []found{{"grep", args{"pattern": `\d+`}}}},

		{rescue.ToolCode, "print", "```tool_code\nprint(default_api.read_file(path=\"a\"))\n```", []found{read("a")}},
		{rescue.ToolCode, "lines", "```tool_code\nread_file(path=\"a\")\nexec(command='ls')\n```", []found{read("a"), run("ls")}},
		{rescue.ToolCode, "prose before", "I will read it.\n\n```tool_code\ndefault_api.read_file(path=\"a\")\n```", []found{read("a")}},
		{rescue.ToolCode, "no closing fence", "```tool_code\nread_file(path=\"a\")", []found{read("a")}},

		{rescue.Gemma, "without marks", `call:read_file{path:"a"}`, []found{read("a")}},
		{rescue.Gemma, "parentheses", `<|tool_call>call:read_file(path: "a")<tool_call|>`, []found{read("a")}},
		{rescue.Gemma, "two", `<|tool_call>call:read_file{path:<|"|>a<|"|>}<tool_call|><|tool_call>call:exec{command:<|"|>ls {}<|"|>}<tool_call|>`, []found{read("a"), run("ls {}")}},
		{rescue.Gemma, "bare and backtick values", "<|tool_call>call:grep{pattern:`TODO, or {`,path:cmd/x,maxResults:5}<tool_call|>", []found{{"grep", args{"pattern": "TODO, or {", "path": "cmd/x", "maxResults": 5.0}}}},
		{rescue.Gemma, "blocks", "call:create_new_file:\nBEGIN_ARG:\n<|channel>thought\n<channel|>a.py\nEND_ARG\nBEGIN_ARG:\nimport re\nEND_ARG", []found{write("a.py", "import re")}},

		{rescue.DeepSeek, "plain bars", "<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>read_file\n```json\n{\"path\":\"a\"}\n```<|tool_call_end|><|tool_calls_end|>", []found{read("a")}},
		{rescue.DeepSeek, "no section", "<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁call▁end｜>", []found{read("a")}},
		{rescue.DeepSeek, "a section that closes early", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁calls▁end｜>", []found{read("a")}},
		{rescue.DeepSeek, "marks in a string", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>exec<｜tool▁sep｜>{\"command\":\"echo <｜tool▁call▁end｜>\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", []found{run("echo <｜tool▁call▁end｜>")}},

		{rescue.DeepSeek, "the begin mark is lost", "function<｜tool▁sep｜>read_file\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜>", []found{read("a")}},

		{rescue.Harmony, "glued to thoughts", `We need to look.assistantcommentary to=functions.read_file json{"path":"a"}`, []found{read("a")}},
		{rescue.Harmony, "the usual order", `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path":"a"}<|call|>`, []found{read("a")}},
		{rescue.Harmony, "analysis first", `<|channel|>analysis<|message|>I must read it, {"name":"exec"}.<|end|><|start|>assistant<|channel|>commentary to=functions.read_file<|message|>{"path":"a"}`, []found{read("a")}},
		{rescue.Harmony, "a mark glued to the name", `<|start|>assistant to=functions.read_file<|channel|>commentary<|message|>{"path":"a"}`, []found{read("a")}},
		{rescue.Harmony, "words glued", `assistantcommentary to=functions.exec json{"command":"ls"}`, []found{run("ls")}},
		{rescue.Harmony, "a bracket too many", `commentary to=functions.read_file json{"path":"a"}]`, []found{read("a")}},

		{rescue.GLM, "two arguments", "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>x\ny</arg_value>\n</tool_call>", []found{write("a", "x\ny")}},
		{rescue.GLM, "on one line", "<tool_call>read_file<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>lines</arg_key><arg_value>5</arg_value></tool_call>", []found{{"read_file", args{"path": "a", "lines": 5.0}}}},
		{rescue.GLM, "its own marks in a value", "<tool_call>exec<arg_key>command</arg_key><arg_value>echo </arg_value> x</arg_value></tool_call>", []found{run("echo </arg_value> x")}},
		{rescue.GLM, "two blocks", "<tool_call>read_file<arg_key>path</arg_key><arg_value>a</arg_value></tool_call><tool_call>read_file<arg_key>path</arg_key><arg_value>b</arg_value></tool_call>", []found{read("a"), read("b")}},

		{rescue.Kimi, "two", `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_call_begin|>functions.exec:1<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_calls_section_end|>`, []found{read("a"), run("ls")}},
		{rescue.Kimi, "without marks", `functions.read_file:0{"path":"a"}`, []found{read("a")}},
		{rescue.Kimi, "half of the marks", `functions.read_file:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|>`, []found{read("a")}},
		{rescue.Kimi, "after prose", `I will.<|tool_calls_section_begin|><|tool_call_begin|>read_file:3<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>`, []found{read("a")}},

		{rescue.Cline, "an alias", "<write_to_file>\n<path>a</path>\n<content>\n<p>x</p>\n</content>\n</write_to_file>", []found{write("a", "<p>x</p>")}},
		{rescue.Cline, "a closing tag in a value", "<write_file><path>a</path><content>x</content>y</content></write_file>", []found{write("a", "x</content>y")}},
		{rescue.Cline, "two, after prose", "Both.\n<read_file><path>a</path></read_file>\n<read_file><path>b</path></read_file>", []found{read("a"), read("b")}},
		{rescue.Cline, "a number", "<read_file><path>a</path><lines>7</lines></read_file>", []found{{"read_file", args{"path": "a", "lines": 7.0}}}},

		{rescue.Anthropic, "wrapped", "<function_calls>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</function_calls>", []found{read("a")}},
		{rescue.Anthropic, "bare", `<invoke name="exec"><parameter name="command">ls > x</parameter></invoke>`, []found{run("ls > x")}},
		{rescue.Anthropic, "two", "<function_calls><invoke name=\"read_file\"><parameter name=\"path\">a</parameter></invoke>\n<invoke name=\"exec\"><parameter name=\"command\">ls</parameter></invoke></function_calls>", []found{read("a"), run("ls")}},
		{rescue.Anthropic, "other attributes", `<invoke name="read_file"><parameter name="path" string="true">a</parameter></invoke>`, []found{read("a")}},
		{rescue.Anthropic, "markup in a value", "<invoke name=\"write_file\"><parameter name=\"path\">a</parameter><parameter name=\"content\"><tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"rm\"}}</tool_call></parameter></invoke>", []found{write("a", `<tool_call>{"name":"exec","arguments":{"command":"rm"}}</tool_call>`)}},
	} {
		r := rescue.Parse(c.text, rescue.Options{Tools: essential(t), Done: "stop"})
		if diff := cmp.Diff(c.want, calls(t, r)); diff != "" {
			t.Errorf("%s, %s: %s\nnotes: %q (-want +got)\n%s", c.family, c.name, c.text, r.Notes, diff)
			continue
		}
		for _, call := range r.Calls {
			if call.Family != c.family {
				t.Errorf("%s, %s: said to be %s", c.family, c.name, call.Family)
			}
		}
	}
}
