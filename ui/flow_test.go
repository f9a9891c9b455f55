package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/store"
	"chela/ui/pane"
)

func (d *driver) file(name string) string {
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

// idle waits until no turn runs.
func (d *driver) idle() {
	d.t.Helper()
	d.until("the turn to end", func(string) bool { return !d.m.state.Running })
}

// submit writes a prompt and sends it.
func (d *driver) submit(text string) {
	d.write(text)
	d.press("enter")
}

func TestReadingAFileNeedsNoApproval(t *testing.T) {
	d := start(t, setup{files: map[string]string{"go.mod": "module demo\n\ngo 1.26\n"}})
	d.shows("pocket", "built-in pocket model", "go.mod")
	d.submit("read go.mod")
	d.shows("✓ read_file", "Done: read_file returned", "Timeline · 1")
}

func TestACommandWaitsAndRunsAfterApproval(t *testing.T) {
	d := start(t, setup{})
	d.submit("run `echo hello-from-bash`")
	d.shows("Approvals · 1", "‖ exec", "moderate")
	if d.m.focus != FocusComposer {
		t.Fatal("the approval took the focus")
	}
	d.press("alt+3")
	d.settle()
	d.press("a")
	d.shows("✓ exec", "hello-from-bash")
	if d.m.approvals.Len() != 0 || d.m.focus != FocusComposer {
		t.Errorf("%d calls wait, the focus is %d", d.m.approvals.Len(), d.m.focus)
	}
}

func TestAFileIsWrittenOnlyAfterTheReview(t *testing.T) {
	d := start(t, setup{})
	d.submit("write notes.txt containing hello")
	d.shows("Approvals · 1", "write_file")
	d.press("alt+3", "enter")
	d.shows("Review", "notes.txt", "hello")
	if d.file("notes.txt") != "" {
		t.Fatal("it was written before the answer")
	}
	d.settle()
	d.press("a")
	d.shows("✓ write_file")
	d.until("the file", func(string) bool { return strings.Contains(d.file("notes.txt"), "hello") })
	d.gone("Review")
}

// Keys that were typed for something else must never decide a call: not while
// the message has the focus, not in the first moments of the queue.
func TestKeysTypedAheadDecideNothing(t *testing.T) {
	d := start(t, setup{})
	d.submit("write notes.txt containing hello")
	d.shows("Approvals · 1")
	d.write("and yes a always r")
	d.press("alt+3", "a", "s", "r", "enter", "a", "s", "r", "d", "space", "enter")
	if d.m.approvals.Len() != 1 || d.file("notes.txt") != "" {
		t.Fatalf("a key decided the call:\n%s", d.screen())
	}
	if got := d.m.composer.Value(); got != "and yes a always r" {
		t.Errorf("the message holds %q", got)
	}
}

func TestDenyingWithAReasonTellsTheModel(t *testing.T) {
	d := start(t, setup{})
	d.submit("write notes.txt containing hello")
	d.shows("Approvals · 1")
	d.press("alt+3")
	d.settle()
	d.press("D")
	d.shows("Deny write_file")
	d.write("use a.txt")
	d.press("enter")
	d.shows("■ write_file", "Understood, I will not do that.")
	calls, err := d.m.eng.Store().Calls(t.Context(), d.m.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	if last := calls[len(calls)-1]; last.State != store.CallDenied || !strings.Contains(last.Output, "use a.txt") {
		t.Errorf("stored %+v", last)
	}
}

func TestARuleIsShownBeforeItIsMadeAndThenHolds(t *testing.T) {
	d := start(t, setup{files: map[string]string{"sub/keep": ""}})
	d.submit("write sub/one.txt containing hello")
	d.shows("Approvals · 1")
	d.press("alt+3")
	d.settle()
	d.press("r")
	d.shows("Make a rule", "write_file inside sub/, in this workspace")
	d.press("enter")
	d.until("the file", func(string) bool { return d.file("sub/one.txt") != "" })
	d.shows("Done: write_file")
	d.idle()
	d.press("esc")
	d.submit("write sub/two.txt containing hello")
	d.until("the second file", func(string) bool { return d.file("sub/two.txt") != "" })
	if d.m.approvals.Len() != 0 {
		t.Error("it asked again")
	}
}

func TestSlashCommandsAndMenus(t *testing.T) {
	d := start(t, setup{})
	d.submit("/mode standard")
	d.shows("standard mode: ")
	d.submit("/mode yolo")
	d.shows(`mode "yolo" is unknown`)
	if d.m.composer.Value() != "/mode yolo" {
		t.Errorf("what was typed is lost: %q", d.m.composer.Value())
	}
	d.press("ctrl+c")
	d.submit("/new now")
	d.shows("/new takes no argument")
	if d.m.composer.Value() != "/new now" {
		t.Errorf("what was typed is lost: %q", d.m.composer.Value())
	}
	d.press("ctrl+c")
	d.submit("/nosuch")
	d.shows("/nosuch is no command")
	if d.m.composer.Value() != "/nosuch" {
		t.Errorf("what was typed is lost: %q", d.m.composer.Value())
	}
	d.press("ctrl+c")
	d.press("ctrl+p")
	d.shows("Do", "Approvals: open the queue")
	d.write("theme")
	d.shows("Theme: choose")
	d.press("enter")
	d.shows("light", "follows the terminal")
	d.write("light")
	d.press("enter")
	d.shows("theme light")
	if d.m.theme != "light" {
		t.Errorf("theme %q", d.m.theme)
	}
}

func TestPromotingSaysWhatCameOfIt(t *testing.T) {
	d := start(t, setup{})
	d.submit("/promote read_file") // it is one of the tier's and stays
	d.shows("read_file is given: essential")
	d.submit("/promote search_available_tools")
	d.shows("search_available_tools is given: promoted for this session")
}

func TestAKeyThatWouldLeaveAnOpenPageSaysWhatToDo(t *testing.T) {
	d := start(t, setup{})
	d.press("?")
	d.shows("Keys: everywhere")
	if s := d.screen(); strings.Contains(s, "tab pane") {
		t.Errorf("the footer offers a key that does nothing here:\n%s", s)
	}
	d.press("tab")
	d.shows("close this first: esc")
}

func TestHelpOnHelpIsOneHelp(t *testing.T) {
	d := start(t, setup{})
	d.press("?", "f1", "ctrl+p", "f1", "ctrl+p", "f1")
	if n := len(d.m.views); n != 1 {
		t.Errorf("%d views are open", n)
	}
	d.press("esc")
	d.gone("Keys: everywhere")
}

func TestAKeyThatMeansNothingInAPaneSaysHowToWrite(t *testing.T) {
	d := start(t, setup{})
	d.press("alt+3", "w")
	d.shows("that means nothing here: i writes a message")
	d.press("i", "w")
	if got := d.m.composer.Value(); got != "w" {
		t.Errorf("message %q", got)
	}
}

func TestTheQueueOffersItsKeysOnlyWithTheFocus(t *testing.T) {
	d := start(t, setup{})
	d.submit("run go version")
	d.shows("alt+3 to decide")
	d.press("alt+3")
	d.gone("alt+3 to decide")
	d.shows("a once")
}

func TestHelpIsMadeOfTheTable(t *testing.T) {
	d := start(t, setup{})
	d.press("?")
	d.shows("Keys: message", "Sends the message")
	d.press("esc")
	d.gone("Keys: message")
	d.press("alt+3", "?")
	d.shows("Keys: approvals", "Lets this call run.")
}

func TestASessionResumesWithItsCalls(t *testing.T) {
	d := start(t, setup{files: map[string]string{"go.mod": "module demo\n"}})
	d.submit("read go.mod")
	d.shows("Done: read_file")
	d.idle()
	first := d.m.session.ID()
	d.submit("/new")
	d.until("the new session", func(string) bool { return d.m.session.ID() != first })
	d.gone("Done: read_file")
	d.press("ctrl+s")
	d.shows("Sessions of this project", "read go.mod")
	d.write("read go.mod")
	d.press("enter")
	d.until("the old session", func(string) bool { return d.m.session.ID() == first })
	d.shows("Done: read_file", "Timeline · 1")
}

// Full mode is for the session it was chosen in: neither a new one nor the same
// one resumed has it.
func TestFullModeDoesNotSpread(t *testing.T) {
	d := start(t, setup{})
	d.submit("hello")
	d.idle()
	d.submit("/mode full")
	d.shows("full mode: ")
	first := d.m.session.ID()
	d.submit("/new")
	d.until("the new session", func(string) bool { return d.m.session.ID() != first })
	if got := d.m.session.Mode(); got != pipeline.Ask {
		t.Errorf("a new session is in %s mode", got)
	}
	d.press("ctrl+s")
	d.shows("Sessions of this project")
	d.write("hello")
	d.press("enter")
	d.until("the first session", func(string) bool { return d.m.session.ID() == first })
	if got := d.m.session.Mode(); got != pipeline.Ask {
		t.Errorf("resumed in %s mode", got)
	}
}

func TestLeavingTakesTwoPressesAndKeepsWhatIsTyped(t *testing.T) {
	d := start(t, setup{})
	d.write("half a thought")
	d.press("ctrl+c")
	if d.m.composer.Value() != "" || d.quit {
		t.Fatal("the first press should clear the message and no more")
	}
	d.press("ctrl+c")
	d.shows("again to quit")
	if d.m.quitting {
		t.Fatal("one press quits")
	}
	d.press("ctrl+c")
	d.until("the end", func(string) bool { return d.quit })
}

func TestFilesFindAndMention(t *testing.T) {
	d := start(t, setup{files: map[string]string{"engine/turn.go": "package engine\n", "README.md": "# demo\n"}})
	d.shows("engine", "README.md")
	d.press("alt+4", "/")
	d.shows("Find a file")
	d.write("trn")
	d.shows("engine/turn.go")
	d.press("enter")
	d.shows("package engine")
	d.press("esc", "esc")
	d.write("look at @turn")
	d.shows("@engine/turn.go")
	d.press("enter")
	if got := d.m.composer.Value(); got != "look at @engine/turn.go " {
		t.Errorf("message %q", got)
	}
}

func TestAServerThatDoesNotAnswerIsSaidOnceAndThePocketModelWorks(t *testing.T) {
	d := start(t, setup{})
	d.shows("No Ollama server answers", "127.0.0.1:1.")
	d.submit("/model qwen3:8b")
	d.shows("model qwen3:8b")
	d.submit("hello")
	d.shows("no Ollama server answers", "Welcome")
	d.press("esc")
	d.submit("/model pocket")
	d.shows("the built-in pocket model: a demonstration")
}

func TestPromptsQueueAndAreHeldAfterAStop(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	gate := ollamatest.NewGate()
	srv.Reply().Text("I begin").Gate(gate).Text(" and end.")
	srv.Reply().Text("The second answer.")
	d := start(t, setup{server: srv.Host()})
	d.submit("first")
	d.shows("I begin")
	d.submit("second")
	d.submit("third")
	d.shows("queued 2: second")
	d.press("up") // takes the last one back
	if got := d.m.composer.Value(); got != "third" {
		t.Fatalf("editing %q", got)
	}
	d.press("backspace", "backspace", "backspace", "backspace", "backspace", "enter") // an empty one is dropped
	d.shows("queued 1: second")
	d.press("esc", "esc")
	d.shows("stopped by you", "held 1")
	if d.m.state.Running {
		t.Fatal("a held prompt started by itself")
	}
	d.press("enter")
	d.shows("The second answer.")
	gate.Open()
}

func TestAMissingModelIsPulledFromTheError(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	srv.Reply().ModelMissing("qwen3:8b") // removed since it was listed
	gate := ollamatest.NewGate()
	srv.Pull(ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9}).Status("pulling manifest").
		Layer("sha256:a", 50, 100).Gate(gate).Layer("sha256:a", 100, 100).Status("success")
	srv.Reply().Text("Here I am.")
	d := start(t, setup{server: srv.Host()})
	d.submit("hello")
	d.shows("has no model", "pull qwen3:8b")
	d.press("enter")
	d.shows("█████░░░░░ 50%")
	gate.Open()
	d.shows("pulled qwen3:8b")
	d.submit("hello again")
	d.shows("Here I am.")
}

func TestThePickerSaysWhatAModelCanDo(t *testing.T) {
	srv := ollamatest.New(t,
		ollamatest.Model{Name: "qwen3:8b", Parameters: 8_200_000_000, Size: 5_200_000_000, Context: 40960, Capabilities: []string{"completion", "tools", "thinking"}},
		ollamatest.Model{Name: "llava:7b", Parameters: 7e9, Capabilities: []string{"completion", "vision"}})
	d := start(t, setup{server: srv.Host(), w: 160, h: 40})
	d.press("ctrl+t")
	d.shows("8.2B · 5.2 GB · 40k · tools · thinking", "vision", "built in · a demonstration")
	d.write("llava")
	d.press("enter")
	d.shows("model llava:7b")
	d.until("the model", func(string) bool { return d.m.state.Model.Name == "llava:7b" })
}

func TestAnAnswerThatBreaksOffIsKeptAndAskedForAgain(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	srv.Reply().Text("Half an ans").Cut()
	srv.Reply().Text("Whole again.")
	d := start(t, setup{server: srv.Host()})
	d.submit("hello")
	d.shows("Half an ans", "broke off here", "it is asked again", "Whole again.")
}

func TestApprovingWithANote(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	srv.Reply().Call("write_file", `{"path":"a.txt","content":"x"}`)
	srv.Reply().Text("Noted.")
	d := start(t, setup{server: srv.Host()})
	d.submit("write it")
	d.shows("Approvals · 1")
	d.press("alt+3")
	d.settle()
	d.press("c")
	d.shows("with a note")
	d.write("keep the old one")
	d.press("enter")
	d.shows("Noted.")
	chats := srv.Chats()
	last := chats[len(chats)-1].Messages
	if got := last[len(last)-1].Content; !strings.HasSuffix(got, "[the user adds: keep the old one]") {
		t.Errorf("the model read %q", got)
	}
}

func TestThePreviewNumbersTheLinesThatThereAre(t *testing.T) {
	d := start(t, setup{files: map[string]string{"a.go": "package a\n\nvar x = 1\n"}})
	d.act(pane.PreviewFile{Path: "a.go"})
	d.shows("1 package a", "3 var x = 1")
	if strings.Contains(d.screen(), "┃ 4 ") {
		t.Errorf("a line that is not there:\n%s", d.screen())
	}
}

// act has a pane ask for something.
func (d *driver) act(a pane.Action) { d.run(d.m.act(a)) }

func TestADownloadCanBeStopped(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	srv.Pull(ollamatest.Model{Name: "big:70b"}).Layer("sha256:a", 10, 100).Gate(ollamatest.NewGate())
	d := start(t, setup{server: srv.Host()})
	d.submit("/pull big:70b")
	d.shows("pulling big:70b █")
	d.press("ctrl+p")
	d.write("stop the download")
	d.press("enter")
	d.shows("pulling big:70b failed")
	if d.m.pull != nil {
		t.Error("it still shows as running")
	}
}
