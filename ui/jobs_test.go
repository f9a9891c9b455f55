package ui

import (
	"testing"

	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/engine/settings"
)

func TestBackgroundProcessesAreListedAndAskedAboutBeforeTheyEnd(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{
		server: srv.Host(), w: 160, h: 40,
		config: func(s *settings.Settings) { s.Security.Mode = pipeline.Unlimited },
	})
	srv.Reply().Call("exec", `{"command":"echo listening; exec sleep 600","background":true}`)
	srv.Reply().Text("The server runs.")
	d.submit("start it")
	d.shows("The server runs.", "1 process")
	d.until("the turn is over", func(string) bool { return !d.m.state.Running })
	d.submit("/new")
	d.shows("1 background process runs", "Stay", "sleep 600")
	d.press("enter") // stay
	d.shows("The server runs.")
	d.submit("/ps")
	d.shows("Background processes", "running", "sleep 600", "listening")
	d.press("esc")
	d.submit("/quit")
	d.shows("Leave, and end them")
	d.press("esc")
	d.submit("/ps")
	d.press("enter") // ends it
	d.shows("ending echo listening")
	d.submit("/ps")
	d.shows("killed")
	d.press("enter")
	d.shows("it has ended")
	d.press("esc")
	d.submit("/new") // nothing runs any more
	d.shows("a new session")
}
