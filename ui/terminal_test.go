package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"chela/engine/event"
)

func TestANoticeCannotEndItsSequence(t *testing.T) {
	evil := event.TerminalNotice{Title: "a;b\a\x1b]52;c;ZXZpbA==\a", Body: "x\x9cy\x1b\\" + strings.Repeat("é", 400)}
	for begin, env := range map[string]map[string]string{
		"\x1b]9;a;b":                {"TERM": "xterm-256color"},
		"\x1b]99;":                  {"TERM": "xterm-kitty"},
		"\x1b]777;notify;a,b":       {"TERM": "foot"},
		"\x1b]777;notify;a,b\u003c": {"TERM": "xterm-256color", "VTE_VERSION": "7600"},
	} {
		raw, ok := notify(evil, func(k string) string { return env[k] })().(tea.RawMsg)
		if !ok {
			t.Fatalf("%v: no sequence", env)
		}
		s := fmt.Sprint(raw.Msg)
		if strings.Count(s, "\x1b") != 1 || strings.Count(s, "\a") != 2 || strings.ContainsAny(s, "\u009c") || strings.Contains(s, "\x9c") {
			t.Errorf("%v: %q", env, s)
		}
		if !strings.HasPrefix(s, begin) {
			t.Errorf("%v: %q", env, s)
		}
	}
}
