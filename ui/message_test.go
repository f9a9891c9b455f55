package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestAPastedMessageIsShownFromItsStart(t *testing.T) {
	d := start(t, setup{})
	d.send(tea.PasteMsg{Content: "row 1\nrow 2\nrow 3\nrow 4"})
	d.shows("row 1", "row 2", "row 3", "row 4")
}

func TestTheMessageGrowsWithTheLinesThatWrap(t *testing.T) {
	d := start(t, setup{})
	d.write("START" + strings.Repeat(" wraps", 40) + " END")
	d.shows("START", "END")
	d.resize(200, 50)
	d.shows("START", "END")
	d.resize(100, 30)
	d.shows("START", "END")
}

func TestAMessageTallerThanItsBoxScrollsWithTheCursor(t *testing.T) {
	d := start(t, setup{w: 80, h: 24})
	var rows []string
	for i := range 30 {
		rows = append(rows, fmt.Sprintf("row-%02d.", i))
	}
	d.send(tea.PasteMsg{Content: strings.Join(rows, "\n")})
	d.shows("row-29.")
	if x, y, ok := d.m.composer.Cursor(); !ok || y >= d.m.layout.Inner(FocusComposer).H {
		t.Fatalf("cursor at %d,%d is not inside the message", x, y)
	}
	for range 29 {
		d.press("up")
	}
	d.shows("row-00.")
	d.gone("row-29.")
	d.press("down")
	d.shows("row-00.", "row-01.")
}

func TestAMentionedNameCannotReorderTheScreen(t *testing.T) {
	d := start(t, setup{})
	d.send(tea.PasteMsg{Content: "@a\u202egpj.exe"})
	d.shows("@agpj.exe")
	if strings.Contains(d.m.View().Content, "\u202e") {
		t.Error("the character that reorders is on the screen")
	}
	if d.m.composer.Value() != "@a\u202egpj.exe" {
		t.Errorf("the message itself was changed: %q", d.m.composer.Value())
	}
}
