package guard

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		data            string
		truncated       bool
		binary, textual bool
	}{
		"empty":             {"", false, false, true},
		"utf-8":             {"grüße", false, false, true},
		"nul":               {"a\x00b", false, true, false},
		"late nul":          {strings.Repeat("a", 8192) + "\x00", false, false, true},
		"latin-1":           {"gr\xfc\xdfe", false, false, false},
		"cut rune":          {"gr\xc3", false, false, false},
		"cut rune, allowed": {"gr\xc3", true, false, true},
		"cut long rune":     {"x\xf0\x9f\x98", true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsBinary([]byte(c.data)); got != c.binary {
				t.Errorf("IsBinary = %v", got)
			}
			if got := ValidText([]byte(c.data), c.truncated); got != c.textual {
				t.Errorf("ValidText = %v", got)
			}
		})
	}
	if got := ToText([]byte("a\xffb")); got != "a\uFFFDb" {
		t.Errorf("ToText = %q", got)
	}
}
