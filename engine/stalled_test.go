package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/engine/stall"
)

// TestEachStateIsAnEventAndANudgeIsNoMessage scripts a model that does not get
// on once, and then does.
func TestEachStateIsAnEventAndANudgeIsNoMessage(t *testing.T) {
	read := func(r *ollamatest.Reply) { r.Call("read_file", `{"path":"a.txt"}`) }
	words := func(text string) func(*ollamatest.Reply) { return func(r *ollamatest.Reply) { r.Text(text) } }
	for _, c := range []struct {
		name   string
		script []func(*ollamatest.Reply)
		state  stall.State
		action string
		nudged bool // the model is told so by a message
	}{
		{"an empty answer", []func(*ollamatest.Reply){func(r *ollamatest.Reply) { r.Tokens(0, 1) }, words("Done.")}, stall.Empty, "retry", false},
		{"only thinking", []func(*ollamatest.Reply){func(r *ollamatest.Reply) { r.Thinking("hm") }, words("Done.")}, stall.Empty, "nudge", true},
		{"announced", []func(*ollamatest.Reply){words("I will now read a.txt."), read, words("Done.")}, stall.Announced, "nudge", true},
		{"claimed", []func(*ollamatest.Reply){words("I have changed a.txt."), read, words("Nothing was changed.")}, stall.Claimed, "nudge", true},
		{"gave up", []func(*ollamatest.Reply){words("As an AI language model I do not have access to files."), read, words("Done.")}, stall.GaveUp, "nudge", true},
		{"the same call", []func(*ollamatest.Reply){read, read, words("Done.")}, stall.SameCall, "answer", false},
		{"repeated text", []func(*ollamatest.Reply){func(r *ollamatest.Reply) {
			for range 80 {
				r.Text("I look at the file and then I say what it holds. ")
			}
			r.Length()
		}, words("Done.")}, stall.Repeating, "retry", false},
		{"closed without done", []func(*ollamatest.Reply){func(r *ollamatest.Reply) { r.Text("The fi").NoDone() }, words("Done.")}, stall.Closed, "retry", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, mode(pipeline.Standard))
			r.file("a.txt", "one\n")
			s := r.open(engine.OpenOptions{})
			for _, f := range c.script {
				f(r.srv.Reply())
			}
			end, all := r.turn(s, "change a.txt")
			stalled := bodies[event.Stalled](all)
			if end.Reason != event.EndedDone || len(stalled) != 1 || stalled[0].State != string(c.state) || stalled[0].Action != c.action {
				t.Fatalf("ended %+v after %+v", end, stalled)
			}
			told := false
			for _, m := range r.last() {
				told = told || m.Role == "user" && m.Content == stalled[0].Text && m.Content != ""
			}
			if told != c.nudged {
				t.Errorf("the model was told: %v", told)
			}
			stored, err := s.Transcript(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range stored.Messages {
				if c.nudged && strings.Contains(m.Content, stalled[0].Text) {
					t.Errorf("the nudge is stored as the %s's: %q", m.Role, m.Content)
				}
			}
			if c.action == "retry" {
				chats := r.srv.Chats()
				if before, again := chats[len(chats)-2], chats[len(chats)-1]; again.Options["seed"] == nil || before.Options["seed"] != nil {
					t.Errorf("seeds %v, then %v", before.Options["seed"], again.Options["seed"])
				}
			}
		})
	}
}

func TestWhatDoesNotStopIsStoppedWithARemedy(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply func(n int, r *ollamatest.Reply)
		says  string
		most  int // requests
	}{
		{"the same call", func(_ int, r *ollamatest.Reply) { r.Call("read_file", `{"path":"a.txt"}`) }, "the same call 4 times", 4},
		{"a circle", func(n int, r *ollamatest.Reply) {
			// The changes between make each call worth looking at again.
			if n%2 == 0 {
				r.Call("write_file", `{"path":"a.txt","content":"x"}`)
			} else {
				r.Call("write_file", `{"path":"a.txt","content":"y"}`)
			}
		}, "in circles", 10},
		{"announcements", func(_ int, r *ollamatest.Reply) { r.Text("I will now change a.txt.") }, "only announces", 4},
		{"no end", func(_ int, r *ollamatest.Reply) { r.Text("The fi").Cut() }, "lost before", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, mode(pipeline.Standard))
			r.file("a.txt", "one\n")
			s := r.open(engine.OpenOptions{})
			for n := range c.most {
				c.reply(n, r.srv.Reply())
			}
			end, _ := r.turn(s, "change a.txt")
			if end.Reason != event.EndedError || end.Hint == "" {
				t.Errorf("ended %+v", end)
			}
			says(t, "error", end.Error, c.says)
			wellFormed(t, r.last())
		})
	}
}

func TestAClaimThatStandsIsMarked(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	for range 3 {
		r.srv.Reply().Text("I have changed a.txt.")
	}
	end, all := r.turn(s, "change a.txt")
	stalled := bodies[event.Stalled](all)
	last := stalled[len(stalled)-1]
	if end.Reason != event.EndedDone || last.State != string(stall.Claimed) || last.Action != "pass" {
		t.Fatalf("ended %+v after %+v", end, stalled)
	}
	says(t, "note", last.Note, "no file was changed")
}

func TestLooksBetweenChangesAreNoRepetition(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Standard))
	r.file("a.txt", "0\n")
	s := r.open(engine.OpenOptions{})
	for i := range 5 {
		r.srv.Reply().Calls(ollamatest.ToolCall{Name: "write_file", Args: fmt.Sprintf(`{"path":"a.txt","content":"%d\n"}`, i)}, ollamatest.ToolCall{Name: "read_file", Args: `{"path":"a.txt"}`})
	}
	r.srv.Reply().Text("Done.")
	if end, all := r.turn(s, "count in a.txt"); end.Reason != event.EndedDone || len(bodies[event.Stalled](all)) != 0 {
		t.Errorf("ended %+v after %+v", end, bodies[event.Stalled](all))
	}
}
