package guard

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want bool
	}{
		"empty":    {"", false},
		"utf-8":    {"grüße", false},
		"nul":      {"a\x00b", true},
		"late nul": {strings.Repeat("a", 8192) + "\x00", false},
		"latin-1":  {"gr\xfc\xdfe", false},
	} {
		if got := IsBinary([]byte(c.data)); got != c.want {
			t.Errorf("%s: IsBinary = %v", name, got)
		}
	}
	for data, want := range map[string]string{"gr\xc3": "gr", "x\xf0\x9f\x98": "x", "grü": "grü", "": ""} {
		if got := string(TrimPartialRune([]byte(data))); got != want {
			t.Errorf("TrimPartialRune(%q) = %q, want %q", data, got, want)
		}
	}
	if got := ToText([]byte("a\xffb")); got != "a\uFFFDb" {
		t.Errorf("ToText = %q", got)
	}
}
