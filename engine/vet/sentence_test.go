package vet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela/engine/vet"
)

func TestACallInTheMiddleOfASentenceIsDoubtedWithoutTheRawText(t *testing.T) {
	specs := essential(t)
	for text, want := range map[string]vet.Verdict{
		"The README shows | as an example.":     vet.Doubtful,
		"I run it now.| It may take a while.":   vet.Keep,
		"I look first:\n|":                      vet.Keep,
		"|Then I edit.":                         vet.Keep,
		"Look at this |\nand then at the rest.": vet.Keep,
	} {
		before, after, _ := strings.Cut(text, "|")
		got := vet.Check(vet.Input{
			Calls: []vet.Call{{Name: "exec", Args: json.RawMessage(`{"command":"ls"}`), At: len(before)}}, Specs: specs, Text: before + after, Done: "stop",
		})
		if got[0].Verdict != want {
			t.Errorf("%q: %+v", text, got[0])
		}
	}
}
