package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The first screen wraps and leaves parts out; it never cuts a sentence.
func TestTheFirstScreenFitsEverySize(t *testing.T) {
	d := start(t, setup{})
	for _, c := range []struct {
		w, h  int
		wants []string
	}{
		{40, 10, []string{"Try: read go.mod"}},
		{60, 16, []string{"pocket model", "Try: read go.mod", "chela works with models"}},
		{80, 24, []string{"pocket model", "Try: read go.mod", "No Ollama server answers", "name a file", "show the keys"}},
		{100, 20, []string{"pocket model", "Try: read go.mod"}},
		{200, 50, []string{"pocket model", "Try: read go.mod", "No Ollama server answers", "show the keys"}},
	} {
		t.Run(fmt.Sprintf("%dx%d", c.w, c.h), func(t *testing.T) {
			d.t = t
			d.resize(c.w, c.h)
			d.shows(c.wants...)
			in := d.m.layout.Inner(FocusConversation)
			if lines := d.m.conversation.Lines(in.W, in.H); len(lines) > in.H || strings.Contains(strings.Join(lines, ""), "…") {
				t.Errorf("does not fit:\n%s", ansi.Strip(strings.Join(lines, "\n")))
			}
		})
	}
}

func TestHelpIsLaidOutAnewWhenTheScreenGrows(t *testing.T) {
	d := start(t, setup{w: 40, h: 10})
	d.press("f1")
	d.resize(120, 40)
	grown := d.screen()
	d.press("esc", "f1")
	if fresh := d.screen(); fresh != grown {
		t.Errorf("opened small and enlarged:\n%s\nopened at this size:\n%s", grown, fresh)
	}
}
