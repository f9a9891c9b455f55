package ui

import (
	"testing"

	"chela/engine/ollamatest"
	"chela/engine/settings"
)

func TestTheWorkListIsShownWhereItChangesAndOnRequest(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{server: srv.Host(), config: func(s *settings.Settings) { s.Tools.Promote = []string{"todo_write"} }})
	d.submit("/todo")
	d.shows("no work list yet")
	srv.Reply().Call("todo_write", `{"items":[{"description":"read the code","status":"completed"},{"description":"fix it","status":"in_progress"},{"description":"test it"}]}`)
	srv.Reply().Text("On it.")
	d.submit("plan your work")
	d.shows("1 of 3 done, now: fix it", "✓ 1. read the code", "● 2. fix it", "○ 3. test it", "On it.")
	d.submit("/todo")
	d.shows("Work of this session", "Work list: 1 of 3 done", "[ ] 3. test it")
}
