package ollama_test

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"chela/engine/ollama"
)

func TestAddressesAreReadAsOllamaReadsThem(t *testing.T) {
	for given, want := range map[string]string{
		"127.0.0.1:11434":      "127.0.0.1:11434",
		"0.0.0.0":              "127.0.0.1:11434",
		"0.0.0.0:8080":         "127.0.0.1:8080",
		"http://0.0.0.0:11434": "127.0.0.1:11434",
		"[::]:11434":           "127.0.0.1:11434",
		"::":                   "127.0.0.1:11434",
		"gpu":                  "gpu:11434",
		"gpu:1234":             "gpu:1234",
		":8080":                "127.0.0.1:8080",
		"http://gpu":           "gpu:80",
		"https://gpu":          "gpu:443",
		"https://gpu:8443/":    "gpu:8443",
		"http://gpu:11434/llm": "gpu:11434",
		"::1":                  "[::1]:11434",
		"[::1]":                "[::1]:11434",
		"[::1]:1234":           "[::1]:1234",
		"http://[fe80::1]:80":  "[fe80::1]:80",
		" 10.0.0.5 ":           "10.0.0.5:11434",
		"ollama.com":           "ollama.com:443",
	} {
		c, err := ollama.New(given)
		if err != nil || c.Host() != want {
			t.Errorf("%q: %v, want %s", given, err, want)
			if err == nil {
				t.Errorf("%q: got %s", given, c.Host())
			}
		}
		t.Setenv("OLLAMA_HOST", `"`+given+`"`) // quotes are taken off, as Ollama does
		if strings.TrimSpace(given) != given {
			continue
		}
		if c, err := ollama.New(""); err != nil || c.Host() != want {
			t.Errorf("OLLAMA_HOST=%q: %v", given, err)
		}
	}
	t.Setenv("OLLAMA_HOST", "")
	if c, err := ollama.New(""); err != nil || c.Host() != "127.0.0.1:11434" {
		t.Errorf("unset: %v", err)
	}
}

func TestABadAddressIsAnErrorThatNamesTheSetting(t *testing.T) {
	for _, given := range []string{"gpu:port", "gpu:0", "gpu:70000", "ftp://gpu", "http://", "user:secret@gpu:1", "a b", "http://gpu:11434:1", "gpu?x", "unix:///run/x"} {
		_, err := ollama.New(given)
		says(t, given, err, "ollama host", "host:port")
		t.Setenv("OLLAMA_HOST", given)
		_, err = ollama.New("")
		says(t, given, err, "OLLAMA_HOST")
	}
}

func TestOnlyALoopbackServerIsLocal(t *testing.T) {
	for given, want := range map[string]bool{"": true, "0.0.0.0": true, "localhost": true, "127.0.0.9:1": true, "::1": true, "gpu": false, "10.0.0.5": false} {
		t.Setenv("OLLAMA_HOST", "")
		c, err := ollama.New(given)
		if err != nil || c.Local() != want {
			t.Errorf("%q: local is not %v (%v)", given, want, err)
		}
	}
	if ollama.NewInProcess("pocket", nil).Local() {
		t.Error("a server without an address is local")
	}
}

// FuzzAddress: whatever is accepted can be dialled, and says the same again.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"127.0.0.1:11434", "[::1]:80", "https://gpu/x", ":1", "a:b:c", "http://a@b", "::", "%zz", "[::1%25eth0]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			return
		}
		c, err := ollama.New(s)
		if err != nil {
			return
		}
		name, port, err := net.SplitHostPort(c.Host())
		if err != nil || name == "" || port == "" {
			t.Fatalf("%q became %q: %v", s, c.Host(), err)
		}
		if ip, err := netip.ParseAddr(name); err == nil && ip.IsUnspecified() {
			t.Fatalf("%q became %q, which cannot be dialled", s, c.Host())
		}
		if u, err := url.Parse("http://" + c.Host()); err != nil && !strings.Contains(name, "%") || err == nil && u.User != nil {
			t.Fatalf("%q became %q: %v", s, c.Host(), err)
		}
		again, err := ollama.New(c.Host())
		if err != nil || again.Host() != c.Host() {
			t.Fatalf("%q became %q, and that %v", s, c.Host(), err)
		}
	})
}
