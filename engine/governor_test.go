package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/window"
)

func small(c *engine.Config) { c.Settings.Models.Window = 4 << 10 }

const usableNotes = "- every log was read and is calm\n- nothing remains to be done for the logs"

// reader reads the file that the last prompt ends with, says that it is calm,
// and sums up with the notes that it is given.
func reader(notes string) func(api.ChatRequest) *ollamatest.Reply {
	return func(req api.ChatRequest) *ollamatest.Reply {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case strings.HasPrefix(last.Content, "Summarise the conversation"):
			return ollamatest.NewReply().Text(notes)
		case last.Role == "user":
			at := strings.LastIndexByte(last.Content, ' ')
			return ollamatest.NewReply().Call("read_file", fmt.Sprintf(`{"path":%q}`, last.Content[at+1:]))
		}
		return ollamatest.NewReply().Text("It is calm.")
	}
}

// converse has so many files read, one a turn, and returns all events.
func (r *rig) converse(s *engine.Session, turns int) []event.Event {
	r.t.Helper()
	var all []event.Event
	for i := range turns {
		name := fmt.Sprintf("log%d", i+1)
		r.file(name, strings.Repeat(fmt.Sprintf("entry %d: the sea is calm, and nobody is on it\n", i+1), 60))
		end, events := r.turn(s, "please read "+name)
		if end.Reason != event.EndedDone {
			r.t.Fatalf("turn %d ended %+v", i+1, end)
		}
		all = append(all, events...)
	}
	return all
}

func TestOldOutputsAreFoldedAndThenTurnsSummarised(t *testing.T) {
	r := newRig(t, nil, small)
	r.srv.Answer(reader(usableNotes))
	s := r.open(engine.OpenOptions{})
	var folded, summarised *event.ContextCompacted
	for _, c := range bodies[event.ContextCompacted](r.converse(s, 30)) {
		if c.After >= c.Before || c.Window != 4<<10 || c.Reason == "" {
			t.Errorf("%+v", c)
		}
		if c.Summarised == 0 && folded == nil {
			folded = &c
		}
		if c.Summarised > 0 && summarised == nil {
			summarised = &c
		}
	}
	if folded == nil || folded.Folded == 0 || summarised == nil || !summarised.ByModel {
		t.Fatalf("folded %+v, summarised %+v", folded, summarised)
	}
	sent := r.last()
	wellFormed(t, sent[1:])
	says(t, "the summary", sent[1].Content, "made by the program", "> please read log1\n", "every log was read and is calm")
	stubs := 0
	for _, q := range r.srv.Chats() {
		for _, m := range q.Messages {
			if m.Role == "tool" && strings.HasPrefix(m.Content, "[folded: read_file log") {
				stubs++
			}
		}
	}
	if stubs == 0 {
		t.Error("no folded output is sent")
	}
	for _, q := range r.srv.Chats() {
		if strings.HasPrefix(q.Messages[len(q.Messages)-1].Content, "Summarise") && (len(q.Tools) > 0 || q.Options["num_predict"] == nil) {
			t.Errorf("notes were asked for with %d tools and %v", len(q.Tools), q.Options)
		}
	}
}

func TestNotesThatCannotBeUsedAreReplacedByTheRecord(t *testing.T) {
	r := newRig(t, nil, small)
	r.srv.Answer(reader(`<tool_call>{"name":"exec","arguments":{"command":"ls"}}</tool_call> and so on, as long as it takes`))
	s := r.open(engine.OpenOptions{})
	all := r.converse(s, 30)
	refused := false
	for _, n := range bodies[event.Notice](all) {
		refused = refused || strings.Contains(n.Text, "holds a tool call")
	}
	for _, c := range bodies[event.ContextCompacted](all) {
		if c.ByModel {
			t.Errorf("%+v", c)
		}
	}
	if !refused {
		t.Error("nobody was told")
	}
	says(t, "the summary", r.last()[1].Content, "Files read:", "  - log1\n", "> please read log1\n")
}

func TestAResumedSessionSendsTheSameSummary(t *testing.T) {
	r := newRig(t, nil, small)
	r.srv.Answer(reader(usableNotes))
	s := r.open(engine.OpenOptions{})
	r.converse(s, 30)
	before := r.last()
	id := s.ID()
	s.Close()
	r.start(small)
	s = r.open(engine.OpenOptions{ID: id})
	r.file("more", "calm\n")
	if end, _ := r.turn(s, "please read more"); end.Reason != event.EndedDone {
		t.Fatalf("ended %+v", end)
	}
	after := r.last()
	equal(t, "system prompt", before[0].Content, after[0].Content)
	head, _, _ := strings.Cut(before[1].Content, "Notes of the model")
	if !strings.HasPrefix(after[1].Content, head) {
		t.Errorf("the summary became\n%s", after[1].Content)
	}
	wellFormed(t, after[1:])
}

func TestAPromptThatTheServerFindsTooLongIsMadeToFit(t *testing.T) {
	r := newRig(t, nil)
	r.file("big", strings.Repeat("the sea is calm, and nobody is on it\n", 200))
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Call("read_file", `{"path":"big"}`)
	r.srv.Reply().Text("It is calm.")
	r.turn(s, "read big")
	r.srv.Reply().TooLong()
	r.srv.Reply().Text("Still calm.")
	end, all := r.turn(s, "and now?")
	compacted := bodies[event.ContextCompacted](all)
	if end.Reason != event.EndedDone || len(compacted) != 1 || compacted[0].Folded != 1 {
		t.Fatalf("ended %+v after %+v", end, compacted)
	}
	if sent := r.last(); !strings.HasPrefix(sent[3].Content, "[folded: read_file big") {
		t.Errorf("sent: %.80q", sent[3].Content)
	}
}

func TestAWindowThatNothingCanMakeFitEndsTheTurn(t *testing.T) {
	r := newRig(t, nil, small)
	s := r.open(engine.OpenOptions{})
	end, _ := r.turn(s, strings.Repeat("The sea is calm, and nobody is on it. ", 600))
	if end.Reason != event.EndedError || len(r.srv.Chats()) != 0 {
		t.Fatalf("ended %+v after %d requests", end, len(r.srv.Chats()))
	}
	says(t, "error", end.Error+" "+end.Hint, "the window is full", "of 4096 tokens", "/new", "models.window")
}

func TestAWindowThatTheMemoryCannotHoldIsRemembered(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	first := s.State().Window
	r.srv.Reply().Status(http.StatusInternalServerError, "model requires more system memory (9 GiB) than is available (7 GiB)")
	r.srv.Reply().Text("Hello.")
	end, all := r.turn(s, "hello")
	lower := window.StepDown(first)
	if end.Reason != event.EndedDone || s.State().Window != lower {
		t.Fatalf("ended %+v with a window of %d after %d", end, s.State().Window, first)
	}
	says(t, "notice", bodies[event.Notice](all)[0].Text, fmt.Sprint(first), fmt.Sprint(lower))
	if got := r.open(engine.OpenOptions{}).State().Window; got != lower {
		t.Errorf("a new session takes %d", got)
	}
}
