package ui

import (
	"os"
	"path/filepath"
	"testing"

	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/engine/settings"
)

func TestUndoFromTheTimelineShowsFirstAndPutsBack(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{
		server: srv.Host(), files: map[string]string{"a.txt": "before\n"},
		config: func(s *settings.Settings) { s.Security.Mode = pipeline.Standard },
	})
	srv.Reply().Call("write_file", `{"path":"a.txt","content":"after\n"}`)
	srv.Reply().Text("It is written.")
	d.submit("write it")
	d.shows("✓ write_file", "It is written.")
	d.press("alt+2")
	d.press("u")
	d.shows("Undo · back to before: a.txt", "Put 1 file back")
	d.press("up")
	d.press("enter")
	d.shows("-after", "+before")
	d.press("esc")
	d.press("U")
	d.shows("Put 1 file back")
	d.press("enter")
	d.shows("✓ undo", "put back a.txt")
	if b, err := os.ReadFile(filepath.Join(d.dir, "a.txt")); err != nil || string(b) != "before\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	d.press("u") // of the first call, whose change is gone
	d.press("g")
	d.press("u")
	d.shows("was changed since")
}
