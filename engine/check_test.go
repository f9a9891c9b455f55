package engine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine"
	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollamatest"
)

// exam is a model for the tasks of a check: call writes its calls, and skip
// names tasks, by a word of their prompts, that it gets wrong.
func exam(call func(r *ollamatest.Reply, name, args string), skip ...string) func(api.ChatRequest) *ollamatest.Reply {
	return func(req api.ChatRequest) *ollamatest.Reply {
		r, prompt, results := ollamatest.NewReply(), "", 0
		for _, m := range req.Messages {
			switch {
			case m.Role == "tool" || strings.HasPrefix(m.Content, callmode.ResultHeader):
				results++
			case m.Role == "user" && prompt == "":
				prompt = m.Content
			}
		}
		for _, s := range skip {
			if strings.Contains(prompt, s) {
				return r.Text("I do not know.")
			}
		}
		steps := map[string][][2]string{
			"number.txt":    {{"read_file", `{"path":"number.txt"}`}},
			"settings.conf": {{"read_file", `{"path":"settings.conf"}`}, {"search_files", `{"pattern":"**/settings.conf"}`}, {"read_file", `{"path":"src/etc/settings.conf"}`}},
			"colour.txt":    {{"edit_file", `{"path":"colour.txt","old_string":"blue","new_string":"green"}`}},
		}
		for word, calls := range steps {
			if strings.Contains(prompt, word) && results < len(calls) {
				call(r, calls[results][0], calls[results][1])
				return r
			}
		}
		return r.Text("It is 4817, 365 and 42.").Tokens(0, 20)
	}
}

func nativeCall(r *ollamatest.Reply, name, args string) { r.Call(name, args) }

func textCall(r *ollamatest.Reply, name, args string) {
	r.Text(`{"name": "` + name + `", "arguments": ` + args + `}`)
}

func TestAModelIsGradedByFourTasks(t *testing.T) {
	for _, c := range []struct {
		name  string
		model func(api.ChatRequest) *ollamatest.Reply
		grade string
		words []string
		mode  callmode.Mode
	}{
		{"all right", exam(nativeCall), "A", []string{"calls tools right", "100 tokens a second"}, callmode.Native},
		{"calls as text", exam(textCall), "B", []string{"not without help", "in its prompt"}, callmode.Prompted},
		{"other names", exam(func(r *ollamatest.Reply, name, args string) {
			r.Call(name, strings.ReplaceAll(args, `"path"`, `"file_path"`))
		}), "B", []string{"repaired"}, callmode.Native},
		{"no recovery", exam(nativeCall, "settings.conf"), "C", []string{"three of four", "a recovery (its answer does not say 365)"}, callmode.Native},
		{"no recovery and no edit", exam(nativeCall, "settings.conf", "colour.txt"), "D", []string{"half", "an edit (the file is not what it should be)"}, callmode.Native},
		{"only talk", exam(nativeCall, ".txt", ".conf"), "F", []string{"cannot work with tools", "a call (it made no call)"}, callmode.Native},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			r.srv.Answer(c.model)
			var lines []string
			got, err := r.eng.CheckModel(t.Context(), qwen, func(l string) { lines = append(lines, l) })
			if err != nil {
				t.Fatal(err)
			}
			if got.Grade != c.grade || got.CallMode != c.mode || len(got.Tasks) != 4 {
				t.Errorf("%+v", got)
			}
			says(t, "words", got.Words, c.words...)
			says(t, "progress", strings.Join(lines, "\n"), "loading "+qwen, "1/4 a call", "4/4 an edit", "grade "+c.grade)
			p, err := r.eng.Profile(t.Context(), qwen)
			if err != nil {
				t.Fatal(err)
			}
			if p.Check == nil || p.Check.Grade != c.grade || p.Mode != c.mode || len(p.Check.Tasks) != 4 {
				t.Errorf("kept: %+v", p)
			}
			sessions, err := r.st.Sessions(t.Context(), r.eng.Workspace(), 10)
			if err != nil || len(sessions) != 0 {
				t.Errorf("the history has %v, %v", sessions, err)
			}
		})
	}
}

func TestACheckHoldsForOpenSessions(t *testing.T) {
	r := newRig(t, nil)
	r.srv.Answer(exam(textCall))
	s := r.open(engine.OpenOptions{})
	if _, err := r.eng.CheckModel(t.Context(), qwen, nil); err != nil {
		t.Fatal(err)
	}
	changed, _ := await[event.CallModeChanged](r)
	if s.State().CallMode != callmode.Prompted || changed.To != "prompted" {
		t.Errorf("%s after %+v", s.State().CallMode, changed)
	}
	says(t, "reason", changed.Why, "written as text or lost by the server")
	r.turn(s, "hello")
	if p, err := r.eng.Profile(t.Context(), qwen); err != nil || p.Check == nil || p.Mode != callmode.Prompted {
		t.Errorf("after a turn: %+v, %v", p, err)
	}
}

func TestACheckRunsNoCommand(t *testing.T) {
	r := newRig(t, nil)
	asked := 0
	r.srv.Answer(func(req api.ChatRequest) *ollamatest.Reply {
		if asked++; asked == 1 {
			return ollamatest.NewReply().Call("exec", `{"command":"touch ran"}`)
		}
		for _, m := range req.Messages {
			if m.Role == "tool" && m.ToolName == "exec" && !strings.Contains(m.Content, "denied by the user") {
				t.Errorf("a command came back with %q", m.Content)
			}
		}
		return ollamatest.NewReply().Text("42")
	})
	if got, err := r.eng.CheckModel(t.Context(), qwen, nil); err != nil || got.Grade != "F" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	r := newRig(t, nil)
	gate := ollamatest.NewGate()
	r.srv.Reply().Gate(gate)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() {
		_, err := r.eng.CheckModel(ctx, qwen, nil)
		errs <- err
	}()
	wait(t, "a request", gate.Reached())
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if p, err := r.eng.Profile(t.Context(), qwen); err != nil || p.Check != nil {
		t.Errorf("kept %+v, %v", p.Check, err)
	}
}

func TestACheckOfWhatCannotBeCheckedSaysWhy(t *testing.T) {
	r := newRig(t, []ollamatest.Model{{Name: qwen}, {Name: "embed:1b", Capabilities: []string{"embedding"}}})
	_, err := r.eng.CheckModel(t.Context(), "none:1b", nil)
	if err == nil {
		t.Fatal("a missing model was checked")
	}
	says(t, "error", err.Error(), "chela pull none:1b")
	if _, err = r.eng.CheckModel(t.Context(), "embed:1b", nil); err == nil || !strings.Contains(err.Error(), "embeddings") {
		t.Errorf("%v", err)
	}
	r.srv.Break("/api/chat", http.StatusInternalServerError, "something broke")
	if _, err = r.eng.CheckModel(t.Context(), qwen, nil); err == nil || !strings.Contains(err.Error(), "something broke") {
		t.Errorf("%v", err)
	}
}

func TestWhatAModelDoesAboutThinkingIsTold(t *testing.T) {
	think := []string{"completion", "tools", "thinking"}
	for name, c := range map[string]struct {
		caps  []string
		think bool
		want  string
	}{
		"cannot": {nil, false, "does not think"}, "obeys": {think, false, "only when told to"}, "does not obey": {think, true, "also when told not to"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, []ollamatest.Model{{Name: qwen, Capabilities: c.caps}})
			inner := exam(nativeCall)
			r.srv.Answer(func(req api.ChatRequest) *ollamatest.Reply {
				reply := inner(req)
				if c.think {
					reply.Thinking("hm")
				}
				return reply
			})
			got, err := r.eng.CheckModel(t.Context(), qwen, nil)
			if err != nil {
				t.Fatal(err)
			}
			says(t, "thinking", got.Thinking, c.want)
		})
	}
}
