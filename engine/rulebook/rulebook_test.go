package rulebook_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/engine/rulebook"
	"chela/store"
)

var now = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func rule(id, pattern string) store.Rule {
	return store.Rule{ID: id, Decision: "allow", Tool: "exec", Scope: "prefix", Pattern: pattern, Workspace: "/w", Created: now}
}

func ids(t *testing.T, b *rulebook.Book, workspace string, at time.Time) []string {
	t.Helper()
	rules, err := b.InForce(workspace, at)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return out
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRulesAreReadableAndComeBackTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config", "rules.yml")
	b := rulebook.New(path)
	equal(t, "no file", []string{}, ids(t, b, "/w", now))
	want := []store.Rule{rule("one", "go test"), rule("two", "make")}
	want[1].Expires = now.Add(time.Hour)
	for _, r := range want {
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"# What chela lets run", `# allow exec: one plain command starting "go test", in this workspace`, `pattern: "go test"`, `workspace: "/w"`, `until: "2026-03-04T10:00:00Z"`} {
		if !strings.Contains(string(text), line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	got, err := rulebook.New(path).All(now)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "read anew", want, got)
	equal(t, "past its time", []string{"one"}, ids(t, b, "/w", now.Add(time.Hour)))
	equal(t, "elsewhere", []string{}, ids(t, b, "/other", now))
}

func TestAHandWrittenFileIsInForceAndKeepsItsShape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yml")
	const mine = "# my own\nrules:\n  # never\n  - decision: deny\n    tool: web_fetch\n    scope: tool\n\n  - {id: x, decision: ask, tool: exec, scope: tool} # hm\n"
	if err := os.WriteFile(path, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	b := rulebook.New(path)
	equal(t, "in force", []string{"rules.yml-1", "x"}, ids(t, b, "/w", now))
	if err := b.Add(rule("one", "go test")); err != nil {
		t.Fatal(err)
	}
	if err := b.Remove("one"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the file", mine, string(text))
	if err := b.Remove("none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := b.Remove("x"); err != nil {
		t.Fatal(err)
	}
	equal(t, "without one", []string{"rules.yml-1"}, ids(t, b, "/w", now))
}

func TestAChangeByHandEndsARuleAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yml")
	b := rulebook.New(path)
	if err := b.Add(rule("one", "go test")); err != nil {
		t.Fatal(err)
	}
	equal(t, "before", []string{"one"}, ids(t, b, "/w", now))
	if err := os.WriteFile(path, []byte("rules: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	equal(t, "emptied", []string{}, ids(t, b, "/w", now))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	equal(t, "removed", []string{}, ids(t, b, "/w", now))
}

func TestAFileThatCannotBeUnderstoodIsAnErrorNotFewerRules(t *testing.T) {
	for name, text := range map[string]string{
		"no YAML":      "rules: [",
		"unknown key":  "rules:\n  - {decison: deny, tool: exec, scope: tool}\n",
		"no decision":  "rules:\n  - {decision: maybe, tool: exec, scope: tool}\n",
		"no scope":     "rules:\n  - {decision: deny, tool: exec, scope: galaxy}\n",
		"no pattern":   "rules:\n  - {decision: allow, tool: exec, scope: prefix}\n",
		"no such time": "rules:\n  - {decision: allow, tool: exec, scope: tool, until: someday}\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rules.yml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			b := rulebook.New(path)
			if rules, err := b.InForce("/w", now); err == nil || !strings.Contains(err.Error(), "repair the file") {
				t.Errorf("got %v, %v", rules, err)
			}
			if err := b.Add(rule("one", "x")); err == nil {
				t.Error("a rule was added to it")
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("the file is %q, %v now", got, err)
			}
		})
	}
}

// Whatever a rule holds, it comes back as it is, and leaves no trace once it is
// removed.
func TestAnyRuleComesBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := rulebook.New(filepath.Join(dir, "rules.yml"))
		r := rule("id-"+rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(t, "id"), "x"+rapid.StringOf(rapid.RuneFrom([]rune("ab \"'\\:#{}[]\n\t*&!|>%@`é中-"))).Draw(t, "pattern"))
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
		got, err := b.All(now)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		if diff := cmp.Diff(r, got[0]); diff != "" {
			t.Fatal(diff)
		}
		if err := b.Remove(r.ID); err != nil {
			t.Fatal(err)
		}
		if got, err := b.All(now); err != nil || len(got) != 0 {
			t.Fatalf("left: %v, %v", got, err)
		}
	})
}
