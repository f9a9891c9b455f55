package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
)

func TestACallWrittenAsTextIsMade(t *testing.T) {
	r := newRig(t, nil)
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text("I will look.\n", `{"name": "cat", "arguments": `, `{"file_path": "a.txt"}}`)
	r.srv.Reply().Text("It says one.")
	end, all := r.turn(s, "read a.txt")
	if end.Reason != event.EndedDone || end.Steps != 2 {
		t.Fatalf("ended %+v", end)
	}
	emitted := bodies[event.CallEmitted](all)
	if len(emitted) != 1 || emitted[0].Tool != "read_file" || emitted[0].Origin != toolkit.FromRescue {
		t.Fatalf("emitted: %+v", emitted)
	}
	says(t, "repair", emitted[0].Repair, "found in the model's text (json)", `{"name": "cat"`)
	if done := bodies[event.MessageDone](all); done[0].Text != "I will look." || len(done[0].Calls) != 1 {
		t.Errorf("message: %+v", done[0])
	}
	messages := r.last()
	wellFormed(t, messages)
	call := messages[len(messages)-2]
	if call.Content != "I will look." || len(call.ToolCalls) != 1 || call.ToolCalls[0].Function.Name != "read_file" {
		t.Errorf("history: %+v", call)
	}
	says(t, "result", messages[len(messages)-1].Content, "one")
	stored, err := s.Transcript(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range stored.Messages {
		if m.Role == store.RoleAssistant && strings.Contains(m.Content, "{") {
			t.Errorf("the raw text is stored: %q", m.Content)
		}
	}
	if len(stored.Calls) != 1 || stored.Calls[0].Origin != string(toolkit.FromRescue) {
		t.Errorf("calls: %+v", stored.Calls)
	}
}

// TestACallWrittenAsTextAsksInEveryMode covers what writes, what runs, also
// harmlessly, and what reaches the network.
func TestACallWrittenAsTextAsksInEveryMode(t *testing.T) {
	for name, text := range map[string]string{
		"write": `<tool_call>{"name":"write_file","arguments":{"path":"b.txt","content":"x"}}</tool_call>`,
		"run":   "[TOOL_CALLS]exec[ARGS]{\"command\":\"rm -f b.txt\"}",
		"look":  "```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, mode(pipeline.Unlimited))
			s := r.open(engine.OpenOptions{})
			r.srv.Reply().Text(text)
			r.srv.Reply().Text("As you wish.")
			if err := s.Submit("do it"); err != nil {
				t.Fatal(err)
			}
			asked, _ := await[event.ApprovalAsked](r)
			says(t, "question", strings.Join(asked.Reasons, "; "), "found in the model's text")
			if _, err := os.Stat(filepath.Join(r.dir, "b.txt")); err == nil {
				t.Error("it was written before the answer")
			}
			if err := s.Answer(asked.Approval, asked.Plan.Hash, pipeline.Answer{Reason: "no"}); err != nil {
				t.Fatal(err)
			}
			if end, _ := await[event.TurnEnded](r); end.Reason != event.EndedDone {
				t.Errorf("ended %+v", end)
			}
			wellFormed(t, r.last())
		})
	}
}

func TestAQuotedCallDoesNothing(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	s := r.open(engine.OpenOptions{})
	const text = "The README says:\n\n> <tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"rm -rf .\"}}</tool_call>\n\nDo not trust it."
	r.srv.Reply().Text(text)
	end, all := r.turn(s, "look at the README")
	if end.Reason != event.EndedDone || len(bodies[event.CallEmitted](all)) != 0 {
		t.Errorf("ended %+v after %s", end, types(all))
	}
	if done := bodies[event.MessageDone](all); len(done) != 1 || done[0].Text != text {
		t.Errorf("message: %+v", done)
	}
}

func TestTextIsNotSearchedBesideANativeCall(t *testing.T) {
	const text = `{"name":"write_file","arguments":{"path":"b.txt","content":"x"}}`
	r := newRig(t, nil)
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text(text).Call("read_file", `{"path":"a.txt"}`)
	r.srv.Reply().Text("Done.")
	_, all := r.turn(s, "read")
	if got := bodies[event.CallEmitted](all); len(got) != 1 || got[0].Origin != toolkit.FromModel {
		t.Errorf("beside a native call: %+v", got)
	}
}

func TestACallInThinkingThatHeldEverythingIsMade(t *testing.T) {
	r := newRig(t, nil)
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Thinking("I must look.\n", `<tool_call>{"name":"read_file","arguments":{"path":"a.txt"}}</tool_call>`)
	r.srv.Reply().Text("It says one.")
	end, all := r.turn(s, "read a.txt")
	if got := bodies[event.CallEmitted](all); end.Reason != event.EndedDone || len(got) != 1 || got[0].Tool != "read_file" {
		t.Errorf("ended %+v after %+v", end, got)
	}
	wellFormed(t, r.last())
}
