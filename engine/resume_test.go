package engine_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/store"
	"chela/tiers"
)

// crash copies the database as it is now, as a kill would leave it, and
// returns a rig that has only the copy. The server and the project are shared.
func (r *rig) crash(opts ...option) *rig {
	r.t.Helper()
	next := &rig{t: r.t, dir: r.dir, data: r.t.TempDir(), srv: r.srv}
	for _, name := range []string{"chela.db", "chela.db-wal"} {
		b, err := os.ReadFile(filepath.Join(r.data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(next.data, name), b, 0o600)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	next.start(opts...)
	return next
}

func TestAKilledSessionGoesOnWhereItWas(t *testing.T) {
	read := ollamatest.ToolCall{Name: "read_file", Args: `{"path":"a.txt"}`}
	slow := ollamatest.ToolCall{Name: "exec", Args: `{"command":"echo up; sleep 600"}`}
	for what, tc := range map[string]struct {
		mode  pipeline.Mode
		calls []ollamatest.ToolCall
		until func(*rig)
		open  int // results that must say the call was interrupted
	}{
		"a tool runs": {pipeline.Unlimited, []ollamatest.ToolCall{slow}, func(r *rig) { await[event.CallProgress](r) }, 1},
		"the second of three runs": {
			pipeline.Unlimited,
			[]ollamatest.ToolCall{read, slow, {Name: "read_file", Args: `{"path":"a.txt","lines":1}`}},
			func(r *rig) { await[event.CallProgress](r) }, 2,
		},
		"an approval waits": {pipeline.Ask, []ollamatest.ToolCall{read, slow}, func(r *rig) {
			await[event.ApprovalAsked](r)
			await[event.CallReturned](r)
		}, 1},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, nil, mode(tc.mode))
			r.file("a.txt", "text\n")
			s := r.open(engine.OpenOptions{})
			r.srv.Reply().Text("Looking.")
			r.turn(s, "first")
			r.srv.Reply().Calls(tc.calls...)
			if err := s.Submit("second"); err != nil {
				t.Fatal(err)
			}
			tc.until(r)

			after := r.crash(mode(tc.mode))
			s = after.open(engine.OpenOptions{ID: s.ID()})
			if st := s.State(); st.Turn != 2 || st.Model.Name != qwen || st.Title != "first" || st.Mode != tc.mode {
				t.Errorf("state: %+v", st)
			}
			if len(s.Pending()) != 0 {
				t.Error("an approval still waits")
			}
			after.srv.Reply().Text("Going on.")
			if end, _ := after.turn(s, "third"); end.Reason != event.EndedDone {
				t.Errorf("ended %+v", end)
			}
			got := after.last()
			wellFormed(t, got)
			interrupted := 0
			for _, m := range got {
				if m.Role == "tool" && strings.Contains(m.Content, "stopped before this call finished") {
					interrupted++
				}
			}
			if interrupted != tc.open {
				t.Errorf("%d results say that they were interrupted, want %d", interrupted, tc.open)
			}
			if st := s.State(); st.Turn != 3 {
				t.Errorf("turn %d", st.Turn)
			}
			// Opened once more it is the same: nothing is added twice.
			s.Close()
			s = after.open(engine.OpenOptions{ID: s.ID()})
			after.srv.Reply().Text("Still here.")
			after.turn(s, "fourth")
			again := after.last()
			wellFormed(t, again)
			samePrefix(t, got, again)
		})
	}
}

func samePrefix(t *testing.T, before, after []api.Message) {
	t.Helper()
	if len(after) < len(before) {
		t.Fatalf("%d messages after %d", len(after), len(before))
	}
	for i := range before {
		a, err := json.Marshal(before[i])
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(after[i])
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("message %d changed\nfrom %s\nto   %s", i, a, b)
		}
	}
}

func TestAKillWhileTheAnswerStreamsLosesOnlyThatAnswer(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Text("Half").Gate(ollamatest.NewGate())
	if err := s.Submit("first"); err != nil {
		t.Fatal(err)
	}
	await[event.TextDelta](r)
	after := r.crash()
	s = after.open(engine.OpenOptions{ID: s.ID()})
	after.srv.Reply().Text("ok")
	after.turn(s, "second")
	got := after.last()
	if len(got) != 3 || got[1].Content != "first" || got[2].Content != "second" {
		t.Errorf("messages: %+v", got)
	}
}

func TestAResumedSessionKeepsItsSettingsAndItsPrefix(t *testing.T) {
	r := newRig(t, nil)
	r.file("a.txt", "text\n")
	s := r.open(engine.OpenOptions{})
	if err := s.SetMode(t.Context(), pipeline.Standard); err != nil {
		t.Fatal(err)
	}
	standard := tiers.Standard
	if err := s.SetTier(t.Context(), &standard); err != nil {
		t.Fatal(err)
	}
	if err := s.Promote(t.Context(), "shout", true); err != nil {
		t.Fatal(err)
	}
	r.srv.Reply().Text("I read.").Calls(ollamatest.ToolCall{Name: "ReadFile", Args: `{"file_path":"a.txt"}`}, ollamatest.ToolCall{Name: "nonsense", Args: `{"b":1,"a":2}`})
	r.srv.Reply().Text("Done.")
	r.turn(s, "read")
	used, before := s.State().Used, r.chats()
	s.Close()

	s = r.open(engine.OpenOptions{ID: s.ID()[:8]}) // by a prefix of its id
	st := s.State()
	if st.Mode != pipeline.Standard || st.Tier != tiers.Standard || st.Model.Name != qwen || st.Used != used || st.Selection.Promoted(st.Tier) != 1 {
		t.Errorf("state: %+v", st)
	}
	r.srv.Reply().Text("Again.")
	r.turn(s, "more")
	all := r.chats()
	extends(t, before[len(before)-1], all[len(all)-1], true)
}

func TestASessionIsOpenOnlyOnce(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	if _, err := r.eng.Open(t.Context(), engine.OpenOptions{ID: s.ID()}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("in this program: %v", err)
	}
	other := &rig{t: t, dir: r.dir, data: r.data, srv: r.srv}
	other.start()
	if _, err := other.eng.Open(t.Context(), engine.OpenOptions{ID: s.ID()}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("in another: %v", err)
	}
	// The other one sees what this one stored last.
	if err := s.Rename(t.Context(), "a new title"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := other.open(engine.OpenOptions{ID: s.ID()}).State().Title; got != "a new title" {
		t.Errorf("title %q", got)
	}
}

func TestASessionOfAnotherFolderSaysHowToOpenIt(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	s.Close()
	other := &rig{t: t, dir: t.TempDir(), data: r.data, srv: r.srv}
	other.start()
	_, err := other.eng.Open(t.Context(), engine.OpenOptions{ID: s.ID()})
	if err == nil {
		t.Fatal("it was opened")
	}
	says(t, "error", err.Error(), "-C "+r.eng.Workspace())
	if _, err := other.eng.Open(t.Context(), engine.OpenOptions{ID: "nonsense"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}
