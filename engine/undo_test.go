package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/toolkit"
)

func (r *rig) content(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return "(" + "absent" + ")"
	}
	return string(b)
}

// changed runs a turn in which the model changes files, and returns the ids of
// its calls, the newest first.
func (r *rig) changed(s *engine.Session, calls ...ollamatest.ToolCall) []string {
	r.t.Helper()
	r.srv.Reply().Calls(calls...)
	r.srv.Reply().Text("done")
	_, all := r.turn(s, "change it")
	var ids []string
	for _, c := range bodies[event.CallReturned](all) {
		if !c.OK {
			r.t.Fatalf("a change failed: %s", c.Output)
		}
		ids = append([]string{c.Call}, ids...)
	}
	return ids
}

func write(path, content string) ollamatest.ToolCall {
	return ollamatest.ToolCall{Name: "write_file", Args: `{"path":"` + path + `","content":"` + content + `"}`}
}

func TestUndoPutsFilesBackByteForByte(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	const before = "one\r\ntwo\x00\xff\n"
	r.file("a.bin", before)
	r.file("b.txt", "b\n")
	s := r.open(engine.OpenOptions{})
	ids := r.changed(s, write("a.bin", "new"), write("made.txt", "x"),
		ollamatest.ToolCall{Name: "edit_file", Args: `{"path":"b.txt","old_string":"b","new_string":"c"}`},
		ollamatest.ToolCall{Name: "write_file", Args: `{"path":"b.txt","content":"d\n"}`})
	if r.content("a.bin") != "new" || r.content("b.txt") != "d\n" {
		t.Fatal("nothing was changed")
	}
	// One call alone, while a later one changed the same file: nothing is lost.
	if _, err := s.UndoPlan(t.Context(), ids[1:2]); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("undoing over a later change gives %v", err)
	}
	whole, err := s.UndoableOf(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the turn's calls", ids, whole)
	plan, err := s.UndoPlan(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "the plan", plan.Summary, "a.bin", "b.txt", "made.txt")
	out, err := s.Undo(t.Context(), whole)
	if err != nil || !out.OK {
		t.Fatalf("%+v, %v", out, err)
	}
	equal(t, "a.bin", before, r.content("a.bin"))
	equal(t, "b.txt", "b\n", r.content("b.txt"))
	equal(t, "made.txt", "(absent)", r.content("made.txt"))

	// Undoing the undo does everything again.
	if out, err = s.Undo(t.Context(), []string{out.Call}); err != nil || !out.OK {
		t.Fatalf("%+v, %v", out, err)
	}
	equal(t, "a.bin again", "new", r.content("a.bin"))
	equal(t, "made.txt again", "x", r.content("made.txt"))
}

func TestUndoNeverOverwritesWhatAPersonChanged(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	r.file("a.txt", "old\n")
	r.file("b.txt", "old\n")
	s := r.open(engine.OpenOptions{})
	ids := r.changed(s, write("a.txt", "new"), write("b.txt", "new"))
	r.file("a.txt", "mine\n")
	out, err := s.Undo(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if out.OK || out.Error.Code != toolkit.CodeChanged {
		t.Errorf("it went %+v", out)
	}
	equal(t, "a.txt", "mine\n", r.content("a.txt"))
	equal(t, "b.txt", "new", r.content("b.txt")) // all or none
}

func TestUndoOfWhatChangedNothingSaysSo(t *testing.T) {
	r := newRig(t, nil)
	r.file("a.txt", "old\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Call("read_file", `{"path":"a.txt"}`)
	r.srv.Reply().Text("done")
	_, all := r.turn(s, "read")
	id := bodies[event.CallReturned](all)[0].Call
	if _, err := s.UndoPlan(t.Context(), []string{id}); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
		t.Errorf("got %v", err)
	}
	if _, err := s.UndoableOf(t.Context(), 1); err == nil {
		t.Error("a turn without changes can be undone")
	}
}

// No model can call it, under any spelling.
func TestOnlyAPersonUndoes(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Unlimited))
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Call("undo", `{"calls":["x"]}`)
	r.srv.Reply().Text("no such tool, then")
	_, all := r.turn(s, "undo it")
	if got := bodies[event.CallReturned](all); len(got) != 1 || got[0].OK || got[0].Error.Code != toolkit.CodeNotFound {
		t.Errorf("got %+v", got)
	}
}
