package callmode_test

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"chela/engine/callmode"
	"chela/engine/rescue"
	"chela/toolkit"
)

// essentialBudget is what the ten tools of the smallest models may cost in the
// prompt, in o200k tokens, with the explanation and the examples.
const essentialBudget = 900

func TestInstructionsAreSmall(t *testing.T) {
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	specs := essential(t)
	if len(specs) != 10 {
		t.Fatalf("%d essential tools", len(specs))
	}
	texts := map[string]string{"forced": callmode.ForcedInstructions(specs)}
	for _, m := range callmode.Markups {
		texts[string(m)] = callmode.Instructions(m, specs)
	}
	for name, text := range texts {
		n, err := enc.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tokens", name, n)
		if n > essentialBudget {
			t.Errorf("%s costs %d tokens, the budget is %d", name, n, essentialBudget)
		}
	}
	t.Log(texts["hermes"])
	t.Log(texts["forced"])
}

func TestInstructionsAreTheSameBytesEachTime(t *testing.T) {
	all := func() string {
		text := callmode.ForcedInstructions(essential(t))
		for _, m := range callmode.Markups {
			text += callmode.Instructions(m, essential(t))
		}
		return text
	}
	first := all()
	for range 5 {
		if all() != first {
			t.Fatal("they differ from one time to the next")
		}
	}
}

// TestExamplesAreCallsOfOfferedTools reads both examples of each markup, for
// tools of every number and kind.
func TestExamplesAreCallsOfOfferedTools(t *testing.T) {
	all := essential(t)
	sets := map[string][]*toolkit.Spec{"ten": all}
	for _, s := range all {
		sets[s.Name] = []*toolkit.Spec{s}
	}
	for name, specs := range sets {
		for _, m := range callmode.Markups {
			text := callmode.Instructions(m, specs)
			parts := strings.Split(text, "\nExample ")
			if len(parts) != 3 {
				t.Errorf("%s, %s: %d examples", name, m, len(parts)-1)
				continue
			}
			for _, p := range parts[1:] {
				_, written, _ := strings.Cut(p, ":\n")
				r := rescue.Parse(strings.TrimSpace(written), rescue.Options{Tools: specs, Done: "stop"})
				if len(r.Calls) != 1 {
					t.Errorf("%s, %s: %q is no call: %q", name, m, written, r.Notes)
				}
			}
		}
	}
}

func TestEachToolHasOneLine(t *testing.T) {
	text := callmode.Instructions(callmode.Hermes, essential(t))
	for _, line := range []string{
		"- grep(pattern: string (regular expression), path?: string (file or folder), glob?: string (only these files: *.go), maxResults?: int, context?: int (lines shown around a match), caseSensitive?: bool): Search the contents of files.",
		"- git_status(path?: string, short?: bool): Show the git branch and changed files.",
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %q in\n%s", line, text)
		}
	}
	if got := callmode.Instructions(callmode.Hermes, nil); got != "" {
		t.Errorf("without tools: %q", got)
	}
}

func TestMarkupForAModel(t *testing.T) {
	for _, c := range []struct {
		facts callmode.Facts
		want  callmode.Markup
	}{
		{callmode.Facts{Name: "qwen2.5-coder:7b", Family: "qwen2", Template: "<tool_call>"}, callmode.Tools},
		{callmode.Facts{Name: "qwen2.5:7b", Family: "qwen2", Template: "<tool_call>"}, callmode.Hermes},
		{callmode.Facts{Name: "qwen3-coder:30b", Family: "qwen3moe"}, callmode.XML},
		{callmode.Facts{Name: "mine:latest", Parser: "qwen3.5"}, callmode.XML},
		{callmode.Facts{Name: "hermes3:8b", Family: "llama"}, callmode.Hermes},
		{callmode.Facts{Name: "mistral:7b", Family: "llama"}, callmode.Mistral},
		{callmode.Facts{Name: "mine", Template: "[TOOL_CALLS]"}, callmode.Mistral},
		{callmode.Facts{Name: "gemma3:4b", Family: "gemma3"}, callmode.ToolCode},
		{callmode.Facts{Name: "mine", Family: "gemma2"}, callmode.ToolCode},
		{callmode.Facts{Name: "llama3.2:3b", Family: "llama"}, callmode.Llama},
		{callmode.Facts{Name: "deepseek-r1:8b", Family: "llama"}, callmode.Hermes},
		{callmode.Facts{Name: "phi4:14b", Family: "phi3"}, callmode.Fenced},
		{callmode.Facts{Name: "mine", Template: `{"name": "x", "parameters": {}}`}, callmode.Llama},
		{callmode.Facts{}, callmode.Hermes},
	} {
		if got := callmode.MarkupFor(c.facts); got != c.want {
			t.Errorf("%+v: %s, want %s", c.facts, got, c.want)
		}
	}
}
