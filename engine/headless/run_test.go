package headless

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/ollamatest"
	"chela/store"
)

func TestRunPrintsTheAnswerAndALineForEachCall(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().Text("I look.").Call("read_file", `{"path":"go.mod"}`)
	b.srv.Reply().Text("It is ", "example.com/thing.\n")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "which module?"}), OK)
	if diff := cmp.Diff("I look.\nIt is example.com/thing.\n", b.out.String()); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	says(t, "stderr", b.err.String(), "✓ read_file go.mod")
	chats := b.srv.Chats()
	if len(chats) != 2 {
		t.Fatalf("%d chats, want 2", len(chats))
	}
	last := chats[1].Messages[len(chats[1].Messages)-1]
	if last.Role != "tool" || last.ToolName != "read_file" || !strings.Contains(last.Content, "example.com/thing") {
		t.Errorf("the result did not reach the model: %+v", last)
	}
}

func TestRunStreams(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	gate := ollamatest.NewGate()
	b.srv.Reply().Text("first line\n").Gate(gate).Text("second line\n")
	r, w := io.Pipe()
	term := b.term()
	term.Out = w
	errs := make(chan error, 1)
	go func() {
		errs <- Run(t.Context(), term, RunOptions{Setup: b.setup(), Prompt: "two lines"})
		w.Close()
	}()
	lines := bufio.NewReader(r)
	if got, err := lines.ReadString('\n'); err != nil || got != "first line\n" {
		t.Fatalf("%q, %v", got, err)
	}
	gate.Open() // only now can the rest come
	if got, err := lines.ReadString('\n'); err != nil || got != "second line\n" {
		t.Fatalf("%q, %v", got, err)
	}
	b.exit(<-errs, OK)
}

func TestRunJSONPrintsEveryEventOnALine(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().Call("read_file", `{"path":"go.mod"}`)
	b.srv.Reply().Text("Done.")
	b.exit(Run(t.Context(), b.json(), RunOptions{Setup: b.setup(), Prompt: "read"}), OK)
	type head struct {
		Seq  uint64 `json:"seq"`
		Type string `json:"type"`
	}
	var types []string
	var seq uint64
	for line := range strings.Lines(b.out.String()) {
		h := decode[head](t, []byte(line))
		if h.Seq <= seq {
			t.Errorf("event %d after %d", h.Seq, seq)
		}
		seq = h.Seq
		types = append(types, h.Type)
	}
	want := []string{
		"session", "turn.started", "session", "model", "message", "call.emitted", "call.validated", "call.judged",
		"call.running", "call.returned", "model", "text", "message", "turn.ended",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRunDeniesWhatWouldAskAndSaysSo(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().Call("write_file", `{"path":"new.txt","content":"hello\n"}`)
	b.srv.Reply().Text("I may not write.")
	err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "write"})
	b.exit(err, Denied)
	says(t, "error", err.Error(), "1 call was denied", "--mode standard", "chela --session ")
	says(t, "stderr", b.err.String(), "✗ write_file new.txt", "nobody is here to answer")
	if b.exists("new.txt") {
		t.Error("the file was written")
	}
}

func TestAModeOnTheCommandLineIsForOneRunOnly(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().Call("write_file", `{"path":"new.txt","content":"hello\n"}`)
	b.srv.Reply().Text("Done.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "write", Mode: "full"}), OK)
	if !b.exists("new.txt") {
		t.Error("the file was not written")
	}
	if s := b.sessions(); len(s) != 1 || s[0].Mode != "ask" {
		t.Errorf("sessions: %+v", s)
	}
	b.srv.Reply().Call("write_file", `{"path":"other.txt","content":"hello\n"}`)
	b.srv.Reply().Text("I may not.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "write more", Continue: true}), Denied)
}

func TestContinueGoesOnWithTheConversation(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "more", Continue: true}), Usage)
	b.srv.Reply().Text("One.")
	b.srv.Reply().Text("Two.")
	b.srv.Reply().Text("Three.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "count"}), OK)
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "on", Continue: true}), OK)
	id := b.sessions()[0].ID
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "and on", Session: id[:6]}), OK)
	var got []string
	chats := b.srv.Chats()
	for _, m := range chats[len(chats)-1].Messages[1:] {
		got = append(got, m.Content)
	}
	if diff := cmp.Diff([]string{"count", "One.", "on", "Two.", "and on"}, got); diff != "" {
		t.Errorf("the last request (-want +got):\n%s", diff)
	}
	if n := len(b.sessions()); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

func TestASessionThatIsOpenElsewhereIsLeftAlone(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().Text("One.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "count"}), OK)
	st := b.store()
	release, err := st.Lock(b.sessions()[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	err = Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "on", Continue: true})
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("error %v, want ErrInUse", err)
	}
	b.exit(SessionRemove(t.Context(), b.term(), b.setup(), []string{"last"}), Failed)
}

func TestCancellingRecordsWhatArrived(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	gate := ollamatest.NewGate()
	b.srv.Reply().Text("Half an").Gate(gate).Text(" answer")
	ctx, cancel := context.WithCancel(t.Context())
	term := b.term()
	seen := &signalWriter{w: term.Out, want: "Half an", seen: cancel}
	term.Out = seen
	err := Run(ctx, term, RunOptions{Setup: b.setup(), Prompt: "answer"})
	b.exit(err, Cancelled)
	st := b.store()
	messages, merr := st.Messages(t.Context(), b.sessions()[0].ID)
	if merr != nil || len(messages) != 2 || messages[1].Content != "Half an" || !messages[1].Partial {
		t.Errorf("stored: %+v, %v", messages, merr)
	}
	says(t, "stdout", b.out.String(), "Half an\n")
}

// signalWriter calls seen once when the text has been written.
type signalWriter struct {
	w    io.Writer
	got  bytes.Buffer
	want string
	seen func()
}

func (s *signalWriter) Write(p []byte) (int, error) {
	s.got.Write(p)
	if s.seen != nil && strings.Contains(s.got.String(), s.want) {
		s.seen()
		s.seen = nil
	}
	return s.w.Write(p)
}

func TestACancelledContextStartsNothing(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.exit(Run(ctx, b.term(), RunOptions{Setup: b.setup(), Prompt: "hello"}), Cancelled)
	if n := len(b.srv.Chats()); n != 0 {
		t.Errorf("%d chats", n)
	}
}

func TestServerTroubleIsAnErrorWithWhatToDo(t *testing.T) {
	for what, tc := range map[string]struct {
		script func(*ollamatest.Reply)
		says   []string
	}{
		"cut":    {func(r *ollamatest.Reply) { r.Text("half").Cut() }, []string{"connection", "What arrived is kept"}},
		"error":  {func(r *ollamatest.Reply) { r.Text("half").Error("runner died") }, []string{"runner died", "Send the prompt again"}},
		"long":   {func(r *ollamatest.Reply) { r.TooLong() }, []string{"no longer fits", "new session"}},
		"length": {func(r *ollamatest.Reply) { r.Text("half").Length() }, []string{"cut off", "smaller piece"}},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t, ollamatest.Model{Name: modelName})
			tc.script(b.srv.Reply())
			if what == "cut" {
				tc.script(b.srv.Reply()) // it is asked again, once
			}
			err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello"})
			b.exit(err, Failed)
			says(t, "error", err.Error(), tc.says...)
		})
	}
}

func TestAModelWithoutToolsStillAnswers(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: modelName})
	b.srv.Reply().NoTools(modelName)
	b.srv.Reply().Text("Hello.")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello"}), OK)
	says(t, "stderr", b.err.String(), "does not support tools", "prompted mode")
	if n := len(b.srv.Chats()[1].Tools); n != 0 {
		t.Errorf("asked again with %d tools", n)
	}
}

func TestWhichModelIsUsed(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		b := newBench(t, ollamatest.Model{Name: modelName})
		err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello", Model: "nope:7b"})
		b.exit(err, Failed)
		says(t, "error", err.Error(), "chela pull nope:7b")
	})
	t.Run("a server without models is not replaced by the built-in model", func(t *testing.T) {
		b := newBench(t)
		err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello"})
		b.exit(err, Failed)
		says(t, "error", err.Error(), "has no model", "chela pull", "--model pocket")
	})
	t.Run("nor is a server in trouble", func(t *testing.T) {
		b := newBench(t, ollamatest.Model{Name: modelName})
		b.srv.Break("/api/tags", 500, "disk failure")
		err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello"})
		b.exit(err, Failed)
		says(t, "error", err.Error(), "disk failure")
	})
	t.Run("without a server the built-in one, with a notice", func(t *testing.T) {
		b := offline(t)
		b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "read go.mod"}), OK)
		says(t, "stderr", b.err.String(), "no Ollama server answers", "ollama serve", "✓ read_file go.mod")
	})
	t.Run("asked for by name, without one", func(t *testing.T) {
		b := newBench(t, ollamatest.Model{Name: modelName})
		b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "read go.mod", Model: "pocket"}), OK)
		if strings.Contains(b.err.String(), "no Ollama server") {
			t.Errorf("stderr: %s", b.err.String())
		}
	})
	t.Run("offline, a real one is an error", func(t *testing.T) {
		b := offline(t)
		err := Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "hello", Model: modelName})
		b.exit(err, Failed)
		says(t, "error", err.Error(), "ollama serve")
	})
}

func TestTheTierOfARunDecidesItsTools(t *testing.T) {
	b := newBench(t, ollamatest.Model{Name: "big:70b", Parameters: 70e9})
	b.srv.Reply().Text("Hello.")
	b.exit(Run(t.Context(), b.json(), RunOptions{Setup: b.setup(), Prompt: "hello", Tier: "essential"}), OK)
	type session struct {
		Type string `json:"type"`
		Tier string `json:"tier"`
	}
	tier := ""
	for line := range strings.Lines(b.out.String()) {
		var s session
		if err := json.Unmarshal([]byte(line), &s); err == nil && s.Type == "session" {
			tier = s.Tier
		}
	}
	if tier != "essential" {
		t.Errorf("tier %q", tier)
	}
}

func TestBadRunOptionsAreUsageErrors(t *testing.T) {
	b := offline(t)
	for what, o := range map[string]RunOptions{
		"empty prompt":     {Prompt: " \n"},
		"mode":             {Prompt: "x", Mode: "yolo"},
		"tier":             {Prompt: "x", Tier: "huge"},
		"session":          {Prompt: "x", Session: "zzzz"},
		"both":             {Prompt: "x", Session: "zzzz", Continue: true},
		"folder":           {Prompt: "x", Setup: Setup{Dir: b.dir + "/nope"}},
		"file for folder":  {Prompt: "x", Setup: Setup{Dir: b.dir + "/go.mod"}},
		"forbidden folder": {Prompt: "x", Setup: Setup{Dir: os.Getenv("CHELA_DATA_DIR")}},
	} {
		t.Run(what, func(t *testing.T) {
			if o.Dir == "" {
				o.Dir = b.dir
			}
			if err := os.MkdirAll(os.Getenv("CHELA_DATA_DIR"), 0o700); err != nil {
				t.Fatal(err)
			}
			o.Tools = b.setup().Tools
			b.exit(Run(t.Context(), b.term(), o), Usage)
			if b.out.Len() > 0 {
				t.Errorf("stdout: %s", b.out.String())
			}
		})
	}
}

// TestRealServer asks a real Ollama server for one answer with a call.
func TestRealServer(t *testing.T) {
	host := os.Getenv("CHELA_TEST_OLLAMA_HOST")
	if host == "" {
		t.Skip("CHELA_TEST_OLLAMA_HOST names no server")
	}
	b := offline(t)
	t.Setenv("OLLAMA_HOST", host)
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "Read the file go.mod with read_file and tell me the module's name.", Model: os.Getenv("CHELA_TEST_OLLAMA_MODEL")}), OK)
	says(t, "stderr", b.err.String(), "read_file")
}
