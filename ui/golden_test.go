package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"chela/engine/ollamatest"
)

// sizes are those every frame is checked at: the smallest that is supported,
// the classic one, an ordinary window, a large one.
var sizes = []struct{ w, h int }{{40, 10}, {80, 24}, {120, 40}, {200, 50}}

// scene plays a session with a scripted model up to the moment where a change
// and a command wait, with the clock standing still.
func scene(t *testing.T, w, h int) *driver {
	t.Helper()
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8_200_000_000})
	srv.Reply().Thinking("The user wants the flaky test fixed.").Text("I look at the code first.").
		Call("read_file", `{"path":"retry.go"}`).Tokens(900, 40)
	srv.Reply().Text("The delay is fixed, so a slow run misses the **last attempt**:\n\n```go\ntime.Sleep(d)\n```\n\nI make it wait for the clock.").
		Calls(ollamatest.ToolCall{Name: "edit_file", Args: `{"path":"retry.go","old_string":"time.Sleep(d)","new_string":"<-clock.After(d)"}`},
			ollamatest.ToolCall{Name: "exec", Args: `{"command":"go test ./..."}`}).Tokens(1300, 80)
	clock := time.Date(2026, 3, 4, 9, 41, 2, 0, time.UTC)
	d := start(t, setup{
		w: w, h: h, server: srv.Host(), clock: func() time.Time { return clock },
		files: map[string]string{
			"go.mod": "module retry\n", "README.md": "# retry\n", "engine/turn.go": "package engine\n",
			"retry.go": "package retry\n\nimport \"time\"\n\nfunc Do(d time.Duration) {\n\ttime.Sleep(d)\n}\n",
		},
	})
	d.submit("The retry test fails one run in ten. Find out why and fix it.")
	d.until("both calls to wait", func(string) bool { return d.m.approvals.Len() == 2 && len(d.msgs) == 0 })
	d.now = clock.Add(12 * time.Second)
	d.m.frame.dirty = true
	d.m.approvals.Set(d.m.session.Pending(), d.now)
	return d
}

// golden compares a frame, as a terminal shows it.
func (d *driver) golden() {
	d.t.Helper()
	golden.RequireEqual(d.t, []byte(stable(d.screen(), d.dir)+"\n"))
}

// stable takes out what differs between runs: the name of the temporary folder.
func stable(screen, dir string) string { return strings.ReplaceAll(screen, dir, "/project") }

func TestFrames(t *testing.T) {
	for _, s := range sizes {
		t.Run(fmt.Sprintf("%dx%d", s.w, s.h), func(t *testing.T) {
			views := []struct {
				name string
				keys []string
			}{
				{"main", nil},
				{"timeline", []string{"alt+2"}},
				{"approvals", []string{"alt+3"}},
				{"files", []string{"alt+4"}},
				{"review", []string{"alt+3", "enter"}},
				{"call", []string{"alt+2", "g", "enter"}},
				{"palette", []string{"ctrl+p"}},
				{"help", []string{"f1"}},
			}
			d := scene(t, s.w, s.h)
			for _, v := range views {
				t.Run(v.name, func(t *testing.T) {
					d.press(v.keys...)
					d.t = t
					d.golden()
					d.m.views, d.m.toast = nil, ""
					d.m.setFocus(FocusComposer)
				})
			}
		})
	}
}

// Whatever the size, every line has exactly the width of the screen and the
// frame exactly its height: nothing is left over from an earlier frame.
func TestEveryFrameFillsTheScreenExactly(t *testing.T) {
	d := scene(t, 120, 40)
	for _, keys := range [][]string{nil, {"alt+3", "enter"}, {"ctrl+p"}, {"f1"}, {"alt+2", "enter"}, {"alt+4"}, {"+"}, {"+"}} {
		d.press(keys...)
		for w := 20; w <= 220; w += 11 {
			for h := 6; h <= 60; h += 7 {
				d.resize(w, h)
				lines := strings.Split(d.m.View().Content, "\n")
				if len(lines) != h {
					t.Fatalf("%v at %dx%d: %d lines", keys, w, h, len(lines))
				}
				for i, l := range lines {
					if n := width(l); n != w {
						t.Fatalf("%v at %dx%d: line %d is %d cells wide: %q", keys, w, h, i, n, l)
					}
				}
			}
		}
		d.resize(120, 40)
		d.m.views, d.m.zoom = nil, min(d.m.zoom, ZoomHalf)
	}
}
