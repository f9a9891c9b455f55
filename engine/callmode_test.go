package engine_test

import (
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/toolkit"
)

func modes(all []event.Event) string {
	var out []string
	for _, b := range bodies[event.CallModeChanged](all) {
		out = append(out, b.From+">"+b.To)
	}
	return strings.Join(out, " ")
}

func TestAModelWithoutToolsIsAskedInItsFamilysMarkup(t *testing.T) {
	for model, c := range map[string]struct{ example, call string }{
		"gemma3:4b":        {"```tool_code\n", "```tool_code\nread_file(path=\"a.txt\")\n```"},
		"qwen2.5-coder:7b": {"<tools>\n{\"name\"", "<tools>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n</tools>"},
		"mistral:7b":       {"[TOOL_CALLS][", `[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.txt"}}]`},
	} {
		t.Run(model, func(t *testing.T) {
			r := newRig(t, []ollamatest.Model{{Name: model, Capabilities: []string{"completion"}}})
			r.file("a.txt", "one\n")
			s := r.open(engine.OpenOptions{Model: model})
			r.srv.Reply().Text(c.call)
			r.srv.Reply().Text("It says one.")
			end, all := r.turn(s, "read a.txt")
			if emitted := bodies[event.CallEmitted](all); end.Reason != event.EndedDone || len(emitted) != 1 || emitted[0].Tool != "read_file" || emitted[0].Origin != toolkit.FromRescue {
				t.Fatalf("ended %+v after %+v", end, emitted)
			}
			chats := r.srv.Chats()
			if len(chats[0].Tools) != 0 || chats[0].Logprobs || len(chats[0].Format) != 0 || chats[0].Options["stop"] == nil {
				t.Errorf("sent %d tools, logprobs %v, format %s, stop %v", len(chats[0].Tools), chats[0].Logprobs, chats[0].Format, chats[0].Options["stop"])
			}
			says(t, "system prompt", chats[0].Messages[0].Content, c.example, "exactly in this form")
			last := r.last()
			if call, result := last[len(last)-2], last[len(last)-1]; call.Content != c.call || len(call.ToolCalls) != 0 || result.Role != "user" || !strings.HasPrefix(result.Content, `<tool_response tool="read_file">`) {
				t.Errorf("history: %+v, %+v", call, result)
			}
		})
	}
}

func TestARefusalOfToolsIsRememberedByTheDigest(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().NoTools(qwen)
	r.srv.Reply().Text("Hello.")
	end, all := r.turn(s, "hello")
	if end.Reason != event.EndedDone || modes(all) != "native>prompted" || s.State().CallMode != callmode.Prompted {
		t.Fatalf("ended %+v after %s in %s", end, modes(all), s.State().CallMode)
	}
	r.srv.Reply().Text("Hello again.")
	other := r.open(engine.OpenOptions{})
	if _, all = r.turn(other, "hello"); modes(all) != "" || len(r.srv.Chats()[2].Tools) != 0 {
		t.Errorf("a new session: %q, %d tools sent", modes(all), len(r.srv.Chats()[2].Tools))
	}
}

func TestThreeCallsAsTextStepDown(t *testing.T) {
	r := newRig(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		r.file(name, name+"\n")
		r.srv.Reply().Text(`{"name": "read_file", "arguments": {"path": "` + name + `"}}`)
	}
	r.srv.Reply().Text("Read.")
	s := r.open(engine.OpenOptions{})
	_, all := r.turn(s, "read a, b and c")
	changed := bodies[event.CallModeChanged](all)
	if len(changed) != 1 || changed[0].To != "prompted" || changed[0].Model != qwen {
		t.Fatalf("%+v", changed)
	}
	says(t, "reason", changed[0].Why, "written as text")
	chats := r.srv.Chats()
	if len(chats[2].Tools) == 0 || len(chats[3].Tools) != 0 {
		t.Errorf("tools sent: %d, then %d", len(chats[2].Tools), len(chats[3].Tools))
	}
}

func TestACallThatStaysInvalidIsForced(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Standard))
	s := r.open(engine.OpenOptions{})
	for range 2 {
		r.srv.Reply().Call("write_file", `{"whole_text":"x"}`)
	}
	r.srv.Reply().Text(`{"tool": "write_file", "argu`, `ments": {"path": "b.txt", "content": "x\n"}}`)
	r.srv.Reply().Text("It is written.")
	end, all := r.turn(s, "write x into b.txt")
	if end.Reason != event.EndedDone || modes(all) != "native>forced forced>native" {
		t.Fatalf("ended %+v after %s", end, modes(all))
	}
	chats := r.srv.Chats()
	forced := chats[2]
	if len(forced.Tools) != 0 || forced.Think.Bool() {
		t.Errorf("forced with %d tools, thinking %v", len(forced.Tools), forced.Think.Bool())
	}
	says(t, "format", string(forced.Format), `{"anyOf":[`, `{"const":"write_file"}`, `{"const":"final"}`)
	if len(chats[3].Format) != 0 || len(chats[3].Tools) == 0 {
		t.Error("the step after it is forced too")
	}
	if text := bodies[event.TextDelta](all); len(text) != 1 || text[0].Text != "It is written." {
		t.Errorf("the object is shown: %+v", text)
	}
}

func TestTheWordsOfAForcedAnswerStream(t *testing.T) {
	r := newRig(t, nil, func(c *engine.Config) { c.Settings.Models.Modes = map[string]callmode.Mode{qwen: callmode.Forced} })
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text(`{"tool": "fi`, `nal", "answer": "Hel`, `lo \"you`, `\"."}`)
	end, all := r.turn(s, "hello")
	var streamed strings.Builder
	for _, d := range bodies[event.TextDelta](all) {
		streamed.WriteString(d.Text)
	}
	const want = `Hello "you".`
	done := bodies[event.MessageDone](all)
	if end.Reason != event.EndedDone || streamed.String() != want || done[0].Text != want {
		t.Errorf("ended %+v; streamed %q; stored %q", end, streamed.String(), done[0].Text)
	}
	r.srv.Reply().Text(`{"tool": "final", "answer": "Again."}`)
	r.turn(s, "and again")
	if last := r.srv.Chats()[1]; len(last.Format) == 0 || last.Messages[2].Content != `{"tool": "final", "answer": "Hello \"you\"."}` {
		t.Errorf("format %s, history %q", last.Format, last.Messages[2].Content)
	}
}

func TestSettingsSayHowAModelIsAsked(t *testing.T) {
	for _, name := range []string{"m:latest", "m"} {
		r := newRig(t, []ollamatest.Model{{Name: "m:latest"}}, func(c *engine.Config) {
			c.Settings.Models.Modes = map[string]callmode.Mode{name: callmode.Prompted}
		})
		s := r.open(engine.OpenOptions{Model: "m:latest"})
		r.srv.Reply().Text("Hello.")
		r.turn(s, "hello")
		if s.State().CallMode != callmode.Prompted || len(r.srv.Chats()[0].Tools) != 0 {
			t.Errorf("set for %q: %s", name, s.State().CallMode)
		}
	}
}

func TestAForcedModelThatWritesSomethingElseIsRead(t *testing.T) {
	r := newRig(t, nil, func(c *engine.Config) { c.Settings.Models.Modes = map[string]callmode.Mode{qwen: callmode.Forced} })
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text(`<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>`)
	r.srv.Reply().Text(`{"tool": "final", "answer": "one"}`)
	end, all := r.turn(s, "read a.txt")
	if emitted := bodies[event.CallEmitted](all); end.Reason != event.EndedDone || len(emitted) != 1 || emitted[0].Origin != toolkit.FromRescue {
		t.Errorf("ended %+v after %+v", end, emitted)
	}
	says(t, "notice", bodies[event.Notice](all)[0].Text, "asked for one JSON object")
}
