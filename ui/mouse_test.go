package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// click presses a mouse button on the first place where the screen has a text.
func (d *driver) click(text string, button tea.MouseButton) {
	d.t.Helper()
	for y, line := range strings.Split(d.screen(), "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			d.send(tea.MouseClickMsg{X: ansi.StringWidth(before), Y: y, Button: button})
			return
		}
	}
	d.t.Fatalf("%q is not on the screen:\n%s", text, d.screen())
}

func TestAClickInAMenuChoosesTheLine(t *testing.T) {
	for _, size := range sizes {
		d := start(t, setup{w: size.w, h: size.h})
		d.submit("/theme")
		d.shows("Theme", "light")
		d.click("light", tea.MouseLeft)
		d.until("the theme", func(string) bool { return d.m.theme == "light" && d.m.top() == nil })
	}
}

func TestAClickInAMenuThatWasScrolledChoosesWhatIsUnderIt(t *testing.T) {
	d := start(t, setup{w: 80, h: 12})
	d.press("ctrl+p")
	d.shows("what to do")
	for range 60 { // to the end of the list
		d.press("down")
	}
	d.gone("Help: keys") // the first choice was scrolled away
	d.click("Theme: choose", tea.MouseLeft)
	d.shows("colours", "ansi")
}

func TestAClickBesideTheLinesOfAMenuChoosesNothing(t *testing.T) {
	d := start(t, setup{})
	d.submit("/theme")
	d.shows("Theme", "colours")
	d.click("colours", tea.MouseLeft)  // the field
	d.click("Theme", tea.MouseLeft)    // the border
	d.click("light", tea.MouseRight)   // another button
	d.click("Timeline", tea.MouseLeft) // a pane behind
	d.send(tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
	if d.m.theme != "dark" || d.m.top() == nil {
		t.Errorf("theme %q; screen:\n%s", d.m.theme, d.screen())
	}
	d.write("zzz")
	d.click("nothing matches", tea.MouseLeft)
	if d.m.top() == nil {
		t.Error("the menu closed")
	}
}

// A click must never answer a call: not in the review, not in the menu of rules
// that opens over the review or the queue.
func TestAClickDecidesNoCall(t *testing.T) {
	d := start(t, setup{files: map[string]string{"sub/keep": ""}})
	d.submit("write sub/one.txt containing hello")
	d.shows("Approvals · 1")
	d.press("alt+3")
	d.settle()
	d.press("r")
	d.shows("Make a rule")
	d.click("write_file inside sub/", tea.MouseLeft)
	d.shows("a click decides no call", "Make a rule")
	d.press("esc", "enter")
	d.shows("Review")
	d.settle()
	for y := range d.m.h {
		for x := 0; x < d.m.w; x += 3 {
			d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		}
	}
	d.press("r")
	d.shows("Make a rule")
	d.click("write_file inside sub/", tea.MouseLeft)
	d.shows("a click decides no call", "Make a rule")
	if d.m.approvals.Len() != 1 || d.file("sub/one.txt") != "" {
		t.Fatalf("a click decided the call:\n%s", d.screen())
	}
	d.press("enter")
	d.until("the file", func(string) bool { return d.file("sub/one.txt") != "" })
}
