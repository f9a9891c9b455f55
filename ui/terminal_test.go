package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"chela/engine/event"
)

func TestANoticeCannotEndItsSequence(t *testing.T) {
	msg := notify(event.TerminalNotice{Title: "a;b\a\x1b]52;c;ZXZpbA==\a", Body: "x\x9cy\x1b\\" + strings.Repeat("é", 400)})()
	raw, ok := msg.(tea.RawMsg)
	if !ok {
		t.Fatalf("%T", msg)
	}
	s := fmt.Sprint(raw.Msg)
	if strings.Count(s, "\x1b") != 2 || strings.Count(s, "\a") != 3 || strings.Contains(s, "\u009c") || strings.Contains(s, "\x9c") {
		t.Errorf("%q", s)
	}
	if !strings.HasPrefix(s, "\x1b]9;a;b") || !strings.Contains(s, "\x1b]777;notify;a,b") {
		t.Errorf("%q", s)
	}
}
