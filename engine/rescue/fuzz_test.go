package rescue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela/engine/rescue"
)

// hostile are texts that make careless readers go back and forth.
var hostile = []string{
	`{"name":`, "[[[[", "{", "\n{\"name\":", "\n[", "<tool_call>", "<tool_call>{", "<function=exec><parameter=command>",
	"<function=exec>", "<parameter=x>", "</parameter>", "</tool_call>", "`", "``` ", "\n```json\n", "\n```\n{}", "\n> ", "<think>", "</think>", "\n</think>\n",
	"<think>\n</think>\n", "[TOOL_CALLS]", "[TOOL_CALLS][", "[TOOL_CALLS]exec{", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>x<｜tool▁sep｜>", "<|channel|>",
	"\ncommentary to=functions.exec ", "call:exec{", "\ncall:exec{a:'", "<|tool_call>call:exec{a:`", "\n[exec(", "\nexec(command=\"", "<arg_key>a</arg_key><arg_value>",
	"<tool_call>exec<arg_key>a</arg_key><arg_value>b</arg_value>", "\n<exec><command>", "\n<exec>\n<command></command>", "functions.exec:0{", "\nfunctions.exec:0{",
	"<invoke name=\"exec\">", "<function_calls>", "'", "\\", "\n    ", "\n\t{", "<", "\n", " ", "\"", "{\"a\":1}\n", "[1,2]\n", "}", "<tools>[", "<|python_tag|>[",
}

// TestHostileTextStaysInItsBudget repeats each of them to 64 KB: what is read
// again is paid for, and the reading ends when nothing is left to pay with.
// BenchmarkHostile has the times.
func TestHostileTextStaysInItsBudget(t *testing.T) {
	tools := essential(t)
	for _, piece := range hostile {
		for _, end := range []string{"", `"}}`, "</tool_call>", "</parameter></function>", "\n```", "`", "'}"} {
			text := strings.Repeat(piece, 64<<10/len(piece)) + end
			if over := rescue.Overdrawn(text, rescue.Options{Tools: tools, Done: "stop"}); over > 2*len(text) {
				t.Errorf("%q repeated, then %q: %d bytes were read beyond the budget", piece, end, over)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range samples(f) {
		f.Add(c.Content, true)
	}
	for _, p := range hostile {
		f.Add(strings.Repeat(p, 3), false)
	}
	for _, wrap := range wrappers {
		f.Add("Both:\n"+wrap("a", "b")+"\n"+wrap("c", "d"), true)
	}
	tools := essential(f)
	names, writes := map[string]bool{}, map[string]bool{}
	for _, spec := range tools {
		names[spec.Name], writes[spec.Name] = true, !spec.ReadOnly
	}
	f.Fuzz(func(t *testing.T, text string, stop bool) {
		done := "length"
		if stop {
			done = "stop"
		}
		r := rescue.Parse(text, rescue.Options{Tools: tools, Done: done})
		at, last := 0, [2]int{-1, -1}
		for _, c := range r.Calls {
			var args map[string]any
			if err := json.Unmarshal(c.Args, &args); err != nil || args == nil {
				t.Fatalf("arguments %s: %v", c.Args, err)
			}
			switch {
			case !names[c.Name]:
				t.Fatalf("%q was not offered", c.Name)
			case !stop && writes[c.Name]:
				t.Fatalf("%s from an answer that is cut off", c.Name)
			case c.Start >= c.End || c.End > len(text) || text[c.Start:c.End] != c.Raw:
				t.Fatalf("span %d to %d of %d: %q", c.Start, c.End, len(text), c.Raw)
			}
			if span := [2]int{c.Start, c.End}; span != last {
				if c.Start < at {
					t.Fatalf("the call at %d begins before %d, where the last one ends", c.Start, at)
				}
				last, at = span, c.End
			}
		}
		// What the reader gets is the text with pieces taken out.
		rest := text
		for i := range len(r.Text) {
			at := strings.IndexByte(rest, r.Text[i])
			if at < 0 {
				t.Fatalf("byte %d of %q is not in the text, or not in order", i, r.Text)
			}
			rest = rest[at+1:]
		}
		if len(r.Calls) == 0 && r.Thinking == "" && r.Text != text && strings.TrimSpace(r.Text) != "" && !strings.Contains(text, "hink") && !strings.Contains(text, "HINK") && !strings.Contains(text, "channel") {
			t.Fatalf("%q was changed to %q without a call", text, r.Text)
		}
	})
}
