package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/callmode"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/tiers"
	"chela/toolkit"
)

func TestParseReadsEverySection(t *testing.T) {
	got, problems := settings.Parse("s.yml", []byte(`
ollama:
  host: gpu:11434
models: {default: "qwen3:8b", window: 8192, think: "off", steps: 12, tap: false, modes: {"gemma3:4b": prompted}}
tiers:
  models:
    "qwen3:14b": standard
    "big*": full
tools:
  promote: [web_search, browser_navigate]
  demote:
    - exec
  budget: 30
security:
  mode: standard
  allowed_hosts: ["localhost:8080"]
  sandbox: off
  sandbox_network: true
ui:
  theme: light
  mouse: false
`))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	want := settings.Default()
	want.Ollama.Host = "gpu:11434"
	want.Models = settings.Models{
		Default: "qwen3:8b", Window: 8192, Think: "off", Steps: 12, Preload: true,
		Modes: map[string]callmode.Mode{"gemma3:4b": callmode.Prompted},
	}
	want.Tiers.Models = map[string]tiers.Tier{"qwen3:14b": tiers.Standard, "big*": tiers.Full}
	want.Tools = settings.Tools{Promote: []string{"web_search", "browser_navigate"}, Demote: []string{"exec"}, Budget: 30}
	want.Security = settings.Security{Mode: pipeline.Standard, AllowedHosts: []string{"localhost:8080"}, Sandbox: "off", SandboxNetwork: true}
	want.UI = settings.UI{Theme: "light"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseNamesFaultsAndKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want []string // parts of the problems, in order
		keep func(settings.Settings) bool
	}{
		"unknown key with the nearest name": {
			"tools:\n  promot: [exec]\nui:\n  theme: dark\n",
			[]string{"s.yml:2: unknown key \"tools.promot\" (did you mean tools.promote?)"},
			func(s settings.Settings) bool { return s.UI.Theme == "dark" && s.Tools.Promote == nil },
		},
		"unknown section": {
			"securty:\n  mode: full\n",
			[]string{"unknown key \"securty\" (did you mean security?)"},
			func(s settings.Settings) bool { return s.Security.Mode == pipeline.Ask },
		},
		"a mode that does not exist lets nothing run": {
			"security:\n  mode: yolo\n",
			[]string{"s.yml:2: security.mode: mode \"yolo\" is unknown"},
			func(s settings.Settings) bool { return s.Security.Mode == pipeline.Deny },
		},
		"a sandbox that cannot be read is on": {
			"security:\n  sandbox: maybe\n  mode: standard\n",
			[]string{`security.sandbox: "maybe" is not one of auto, on, off (on is in force)`},
			func(s settings.Settings) bool {
				return s.Security.Sandbox == "on" && s.Security.Mode == pipeline.Standard
			},
		},
		"a sandbox that is no text is on": {
			"security:\n  sandbox: [off]\n",
			[]string{"s.yml:2: security.sandbox: wants one text"},
			func(s settings.Settings) bool { return s.Security.Sandbox == "on" },
		},
		"a broken file that speaks of security lets nothing run": {
			"security:\n  mode: [deny\n",
			[]string{"until it is repaired nothing runs"},
			func(s settings.Settings) bool { return s.Security.Mode == pipeline.Deny },
		},
		"wrong type": {
			"models:\n  window: lots\n  steps: 7\n",
			[]string{"s.yml:2: models.window:"},
			func(s settings.Settings) bool { return s.Models.Steps == 7 && s.Models.Window == 0 },
		},
		"a word where true or false is wanted": {
			"ui:\n  mouse: sometimes\n",
			[]string{"ui.mouse: wants true or false, not sometimes"},
			func(s settings.Settings) bool { return s.UI.Mouse },
		},
		"one name where a list is wanted": {
			"tools:\n  promote: web_fetch\n",
			[]string{"tools.promote: wants a list, such as [web_fetch]"},
			func(s settings.Settings) bool { return s.Tools.Promote == nil },
		},
		"a list where a text is wanted": {
			"ollama:\n  host: [a, b]\n",
			[]string{"ollama.host: wants one text, not [a, b]"},
			func(s settings.Settings) bool { return s.Ollama.Host == "" },
		},
		"out of range": {
			"models:\n  steps: 100000\ntools:\n  budget: 200\n",
			[]string{"models.steps: 100000 is not between 1 and 1000", "tools.budget: 200"},
			func(s settings.Settings) bool { return s.Models.Steps == 40 && s.Tools.Budget == 25 },
		},
		"section that is a word": {
			"tools: all\nui:\n  theme: light\n",
			[]string{"s.yml:1: tools must hold keys"},
			func(s settings.Settings) bool { return s.UI.Theme == "light" },
		},
		"not YAML": {
			"tools: [exec\n",
			[]string{"is no valid YAML"},
			func(s settings.Settings) bool { return s.Security.Mode == pipeline.Ask },
		},
		"a list at the top": {"- a\n", []string{"is not a list of keys"}, func(settings.Settings) bool { return true }},
		"empty":             {"", nil, func(settings.Settings) bool { return true }},
		"only a comment":    {"# nothing\n", nil, func(settings.Settings) bool { return true }},
		"one key":           {"ui:\n  theme: none\n", nil, func(s settings.Settings) bool { return s.UI.Theme == "none" }},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := settings.Parse("s.yml", []byte(c.yaml))
			if len(problems) != len(c.want) {
				t.Fatalf("problems %v, want %d", problems, len(c.want))
			}
			for i, w := range c.want {
				if !strings.Contains(problems[i].Error(), w) {
					t.Errorf("problem %q lacks %q", problems[i].Error(), w)
				}
			}
			if !c.keep(got) {
				t.Errorf("settings %+v", got)
			}
		})
	}
}

func TestLoadOfOddFiles(t *testing.T) {
	dir := t.TempDir()
	if _, problems := settings.Load(filepath.Join(dir, "absent.yml")); len(problems) != 0 {
		t.Errorf("an absent file is a problem: %v", problems)
	}
	if s, problems := settings.Load(dir); len(problems) != 1 || s.Security.Mode != pipeline.Ask {
		t.Errorf("a folder: %v", problems)
	}
	big := filepath.Join(dir, "big.yml")
	if err := os.WriteFile(big, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := settings.Load(big); len(problems) != 1 || !strings.Contains(problems[0].Error(), "1 MiB") {
		t.Errorf("a huge file: %v", problems)
	}
}

func TestPoolTimeout(t *testing.T) {
	t.Setenv("POOL_TIMEOUT_MS", "1500")
	if d, p := settings.PoolTimeout(); d.Milliseconds() != 1500 || p != nil {
		t.Errorf("1500 -> %v, %v", d, p)
	}
	for _, bad := range []string{"soon", "-1", "0"} {
		t.Setenv("POOL_TIMEOUT_MS", bad)
		if d, p := settings.PoolTimeout(); d != pipeline.DefaultTimeout || p == nil {
			t.Errorf("%q -> %v, %v", bad, d, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("security:\n  mode: full\n"))
	f.Add([]byte("tools: {promote: [a, *x]}\n&a b: c"))
	f.Add([]byte("- - - :"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := settings.Parse("f.yml", data)
		if s.Models.Steps < 1 || s.Tools.Budget < 1 {
			t.Fatalf("unusable settings %+v", s)
		}
		for _, p := range problems {
			if p.Error() == "" {
				t.Fatal("a problem without a text")
			}
		}
	})
}

func TestPoliciesAreReadAndABadOneLetsNothingRun(t *testing.T) {
	got, problems := settings.Parse("s.yml", []byte(`
security:
  mode: standard
  origins: {cron: deny, session: ask}
  policies:
    - {decision: deny, tools: [exec], command: "rm *", reason: no deletions, priority: 10}
    - decision: allow
      tools: [write_file, edit_file]
      path: docs/**
`))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	want := settings.Default().Security
	want.Mode = pipeline.Standard
	want.Origins = map[toolkit.Origin]pipeline.Mode{toolkit.FromCron: pipeline.Deny, toolkit.FromSession: pipeline.Ask}
	want.Policies = []pipeline.Policy{
		{Decision: "deny", Tools: []string{"exec"}, Command: "rm *", Reason: "no deletions", Priority: 10},
		{Decision: "allow", Tools: []string{"write_file", "edit_file"}, Path: "docs/**"},
	}
	if d := cmp.Diff(want, got.Security); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{
		"security: {mode: full, policies: [{decision: deny}]}",
		"security: {mode: full, origins: {aunt: ask}}",
	} {
		if got, problems := settings.Parse("s.yml", []byte(bad)); got.Security.Mode != pipeline.Deny || len(problems) != 1 {
			t.Errorf("%s: mode %s, problems %v", bad, got.Security.Mode, problems)
		}
	}
	// A policy that cannot even be decoded must not be as if it were not there.
	if got, problems := settings.Parse("s.yml", []byte("security: {mode: full, policies: [{decison: deny, tools: [exec]}]}")); got.Security.Mode != pipeline.Deny || len(problems) == 0 {
		t.Errorf("an unknown key: mode %s, problems %v", got.Security.Mode, problems)
	}
}
