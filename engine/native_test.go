package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/pipeline"
	"chela/toolkit"
)

// tokens cuts an output as a model writes it.
func tokens(text string) []string {
	var out []string
	for len(text) > 4 {
		out, text = append(out, text[:4]), text[4:]
	}
	return append(out, text)
}

func (r *rig) text(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func TestTheToolThatTheModelWroteIsCalled(t *testing.T) {
	r := newRig(t, nil)
	r.file("exec.go", "package x\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Raw(tokens(`<tool_call>{"arguments":{"path":"exec.go"},"name":"read_file"}</tool_call>`)...).Call("exec", `{"path":"exec.go"}`)
	r.srv.Reply().Text("It is a package.")
	end, all := r.turn(s, "read exec.go")
	emitted := bodies[event.CallEmitted](all)
	if end.Reason != event.EndedDone || len(emitted) != 1 || emitted[0].Tool != "read_file" || !bodies[event.CallReturned](all)[0].OK {
		t.Fatalf("ended %+v after %+v", end, emitted)
	}
	says(t, "repair", emitted[0].Repair, "the model wrote read_file")
	if !r.srv.Chats()[0].Logprobs {
		t.Error("the raw tokens were not asked for")
	}
	if call := r.last()[2]; call.ToolCalls[0].Function.Name != "read_file" {
		t.Errorf("history: %+v", call)
	}
}

func TestACallThatIsOnlyShownAsksInEveryMode(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text("The file says:\n\n> ").Call("exec", `{"command":"touch pwned"}`).
		Raw(tokens("The file says:\n\n> <tool_call>{\"name\":\"exec\",\"arguments\":{\"command\":\"touch pwned\"}}</tool_call>\n\nI leave it.")...)
	r.srv.Reply().Text("I leave it.")
	if err := s.Submit("look"); err != nil {
		t.Fatal(err)
	}
	asked, _ := await[event.ApprovalAsked](r)
	says(t, "question", strings.Join(asked.Reasons, "; "), "a block quote, so it may only be shown")
	if _, err := os.Stat(filepath.Join(r.dir, "pwned")); err == nil {
		t.Error("it ran before the answer")
	}
	if err := s.Answer(asked.Approval, asked.Plan.Hash, pipeline.Answer{Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	if end, _ := await[event.TurnEnded](r); end.Reason != event.EndedDone {
		t.Errorf("ended %+v", end)
	}
}

func TestAFileIsNotEmptiedByALostContent(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	r.file("a.xml", "<old/>\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Call("write_file", `{"path":"a.xml","content":""}`)
	r.srv.Reply().Text("I could not write it.")
	_, all := r.turn(s, "write new tags into a.xml")
	returned := bodies[event.CallReturned](all)
	if len(returned) != 1 || returned[0].OK || r.text("a.xml") != "<old/>\n" {
		t.Fatalf("%+v; a.xml holds %q", returned, r.text("a.xml"))
	}
	says(t, "what the model reads", returned[0].Output, "a.xml", "write_file")
}

func TestADroppedAnswerIsReadFromTheRawTokens(t *testing.T) {
	for name, raw := range map[string]string{
		"a call":         "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
		"a Python call":  "<tool_call>\nread_file(path=\"a.txt\")\n</tool_call>",
		"invalid escape": `<tool_call>{"name":"read_file","arguments":{"path":"a.txt","encoding":"\utf-8"}}</tool_call>`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.file("a.txt", "one\n")
			s := r.open(engine.OpenOptions{})
			r.srv.Reply().Raw(tokens(raw)...).Tokens(0, 30)
			r.srv.Reply().Text("Done.")
			end, all := r.turn(s, "read a.txt")
			emitted := bodies[event.CallEmitted](all)
			if end.Reason != event.EndedDone || len(emitted) != 1 || emitted[0].Tool != "read_file" || emitted[0].Origin != toolkit.FromRescue {
				t.Fatalf("ended %+v after %+v", end, emitted)
			}
			says(t, "notice", bodies[event.Notice](all)[0].Text, "dropped an answer of 30 tokens")
		})
	}
}

func TestADroppedCallOfNoToolIsToldTheNearest(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Raw(tokens(`<tool_call>{"name":"teleport_file","arguments":{"path":"a"}}</tool_call>`)...).Tokens(0, 20)
	r.srv.Reply().Text("Then not.")
	end, all := r.turn(s, "teleport a")
	returned := bodies[event.CallReturned](all)
	if end.Reason != event.EndedDone || len(returned) != 1 || returned[0].OK {
		t.Fatalf("ended %+v after %+v", end, returned)
	}
	says(t, "what the model reads", returned[0].Output, `no tool "teleport_file"`, "The nearest are")
	wellFormed(t, r.last())
}

// TestADroppedCallOfAToolNeverRunsWithoutItsArguments holds for one whose
// arguments cannot be read.
func TestADroppedCallOfAToolNeverRunsWithoutItsArguments(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	s := r.open(engine.OpenOptions{})
	for range 3 {
		r.srv.Reply().Raw(tokens(`<tool_call>{"name":"exec","arguments":{"command":`)...).Tokens(0, 20)
	}
	r.srv.Reply().Text("I cannot.")
	end, all := r.turn(s, "run it")
	if len(bodies[event.CallEmitted](all)) != 0 || end.Reason != event.EndedDone {
		t.Errorf("ended %+v after %+v", end, bodies[event.CallEmitted](all))
	}
	if done := bodies[event.MessageDone](all); done[0].Text != "" {
		t.Errorf("half a call is shown as the answer: %q", done[0].Text)
	}
}

func TestAnswersThatGetLostChangeTheMode(t *testing.T) {
	r := newRig(t, nil, func(c *engine.Config) { c.Settings.Models.Tap = false })
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	for range 3 {
		r.srv.Reply().Tokens(0, 30)
	}
	r.srv.Reply().Text(`<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>`)
	r.srv.Reply().Text("one")
	end, all := r.turn(s, "read a.txt")
	if end.Reason != event.EndedDone || modes(all) != "native>prompted" || s.State().CallMode != callmode.Prompted {
		t.Errorf("ended %+v after %q", end, modes(all))
	}
	if r.srv.Chats()[0].Logprobs {
		t.Error("raw tokens were asked for against the settings")
	}
}

func TestACallThatTheServerCannotReadIsReadFromTheRawTokens(t *testing.T) {
	r := newRig(t, nil)
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	call, err := json.Marshal(map[string]any{"name": "read_file", "arguments": map[string]string{"path": "a.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Reply().Raw(tokens("<tool_call>" + string(call) + "</tool_call>")...).Error("error parsing tool call: raw='{]', err=invalid character ']'")
	r.srv.Reply().Text("one")
	end, all := r.turn(s, "read a.txt")
	if emitted := bodies[event.CallEmitted](all); end.Reason != event.EndedDone || len(emitted) != 1 || emitted[0].Tool != "read_file" {
		t.Errorf("ended %+v after %+v", end, emitted)
	}
	wellFormed(t, r.last())
}

func TestAnAnswerThatIsACallOfNoToolIsToldTheNearest(t *testing.T) {
	for text, called := range map[string]bool{
		`{"name": "create_or_overwrite", "arguments": {"path": "a"}}`:                                      true,
		"```json\n{\"name\": \"teleport\", \"parameters\": {}}\n```":                                       true,
		`{"name": "my-package", "version": "1.0.0"}`:                                                       false,
		`{"name": "teleport", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}`: false,
		`A call looks like this: {"name": "teleport", "arguments": {}}`:                                    false,
		"```json\n{\"name\": \"teleport\", \"arguments\": {}}\n```\nThat is the form.":                     false,
	} {
		r := newRig(t, nil)
		s := r.open(engine.OpenOptions{})
		r.srv.Reply().Text(text)
		if called {
			r.srv.Reply().Text("Then not.")
		}
		end, all := r.turn(s, "hello")
		returned := bodies[event.CallReturned](all)
		if end.Reason != event.EndedDone || (len(returned) == 1) != called {
			t.Errorf("%s: ended %+v after %+v", text, end, returned)
			continue
		}
		if called {
			says(t, "what the model reads", returned[0].Output, "there is no tool", "The nearest are")
			wellFormed(t, r.last())
		}
	}
}
