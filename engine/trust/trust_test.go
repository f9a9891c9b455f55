package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/engine/trust"
)

func files(kv ...string) []trust.File {
	var out []trust.File
	for i := 0; i < len(kv); i += 2 {
		out = append(out, trust.File{Path: kv[i], Hash: kv[i+1]})
	}
	return out
}

func TestTrustIsBoundToTheContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "trust.json")
	r := trust.New(path)
	stands := func(dir string, f []trust.File, want trust.State, changed ...string) {
		t.Helper()
		s, c, err := trust.New(path).State(dir, f) // another program reads the same
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(changed, c); s != want || diff != "" {
			t.Errorf("it stands %v, want %v: %s", s, want, diff)
		}
	}
	both := files("AGENTS.md", "1", ".chela/settings.yml", "2")
	stands("/w", nil, trust.Nothing)
	stands("/w", both, trust.Unknown)
	if err := r.Trust("/w", both, time.Now()); err != nil {
		t.Fatal(err)
	}
	stands("/w", both, trust.Trusted)
	stands("/w2", both, trust.Unknown)
	stands("/w", files("AGENTS.md", "other", ".chela/settings.yml", "2"), trust.Changed, "AGENTS.md")
	stands("/w", files("AGENTS.md", "1"), trust.Changed, ".chela/settings.yml")
	stands("/w", append(both, files("CLAUDE.md", "3")...), trust.Changed, "CLAUDE.md")
	if err := r.Revoke("/w"); err != nil {
		t.Fatal(err)
	}
	stands("/w", both, trust.Unknown)
}

func TestABrokenRegisterTrustsNothingAndIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := trust.New(path)
	if s, _, err := r.State("/w", files("AGENTS.md", "1")); s != trust.Unknown || err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("it stands %v, %v", s, err)
	}
	if err := r.Trust("/w", nil, time.Now()); err == nil {
		t.Error("it was written over")
	}
}
