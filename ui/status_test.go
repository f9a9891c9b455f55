package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTheStatusLineShortensTheNameAndCutsNothingElse(t *testing.T) {
	d := start(t, setup{})
	const name = "hf.co/bartowski/Qwen2.5-Coder-32B-Instruct-GGUF:Q4_K_M"
	parts := []string{"E10", "ask", "1.3k/16k", "31 tok/s"}
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{name, 100, " hf.co/bartowski/Qwen2.5-Coder-32B-Instruct-GGUF:Q4_K_M · E10 · ask · 1.3k/16k · 31 tok/s"},
		{name, 80, " Qwen2.5-Coder-32B-Instruct-GGUF:Q4_K_M · E10 · ask · 1.3k/16k · 31 tok/s"},
		{name, 50, " Qwen2.5-Coder-… · E10 · ask · 1.3k/16k · 31 tok/s"},
		{name, 33, " Qwen2.5-… · E10 · ask · 1.3k/16k"},
		{"qwen3:8b", 50, " qwen3:8b · E10 · ask · 1.3k/16k · 31 tok/s"},
		{"qwen3:8b", 20, " qwen3:8b · E10"},
	} {
		if got := ansi.Strip(d.m.inForce(c.name, parts, c.w)); got != c.want {
			t.Errorf("%d cells: %q, want %q", c.w, got, c.want)
		}
	}
}

// A note for three seconds must not hide a call that waits, nor its keys.
func TestANoteCoversNeitherTheQueueNorTheMessage(t *testing.T) {
	d := scene(t, 126, 34)
	before := strings.Split(d.screen(), "\n")
	d.m.say("a note that is rather long, so that it would reach far")
	d.resize(126, 34)
	edge := d.m.layout.Panes[FocusComposer].Y - 1
	for y, l := range strings.Split(d.screen(), "\n") {
		if (l != before[y]) != (y == edge) {
			t.Errorf("line %d was %q and is %q", y, before[y], l)
		}
	}
	right := d.m.layout.Panes[FocusApprovals]
	if l := []rune(strings.Split(d.screen(), "\n")[edge]); string(l[right.X:]) != string([]rune(before[edge])[right.X:]) {
		t.Errorf("the note covers the queue: %q", string(l))
	}
}

func TestCompletionLeavesTheMessageVisible(t *testing.T) {
	d := start(t, setup{w: 40, h: 10})
	d.press("/")
	d.shows("/model", ">/")
}

func TestANoteThatIsTooLongKeepsItsEnd(t *testing.T) {
	d := start(t, setup{w: 40, h: 10})
	d.m.say("a/folder/with_a_rather_long_name/and_a_file.go is empty")
	d.resize(40, 10)
	d.shows(" a/folder", "…", "is empty")
}
