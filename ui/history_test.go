package ui

import (
	"testing"

	"chela/engine/ollamatest"
)

func TestTheHistoryIsFoundWhileItIsTyped(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{server: srv.Host(), w: 120, h: 30, files: map[string]string{"cache.go": "package cache\n"}})
	srv.Reply().Call("read_file", `{"path":"cache.go"}`)
	srv.Reply().Text("It evicts every seven minutes.")
	d.submit("what does the cache do?")
	d.shows("It evicts every seven minutes.")
	d.press("ctrl+f")
	d.shows("History", "3 found", "✓ read_file", "you", "model")
	d.write("evic")
	d.shows("1 found", "It evicts every seven", "turn 1")
	d.press("enter")
	d.shows("━ what does the cache do?", "It evicts every seven minutes.")
	d.press("esc")
	d.press("ctrl+u") // clears the line
	d.write("tool:read_file")
	d.shows("1 found", "cache.go")
	d.press("enter")
	d.shows("Call · read_file", "package cache")
	d.press("esc")
	d.write(" since:never")
	d.shows("is no time")
	d.press("ctrl+u")
	d.write("zebra")
	d.shows("nothing was found")
	d.press("esc")
	d.submit("/history kind:message cache")
	d.shows("1 found", "what does the")
	d.press("ctrl+o")
	d.shows("that is this session, turn 1")
}
