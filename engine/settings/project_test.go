package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/toolkit"
)

func TestAProjectCanOnlyTighten(t *testing.T) {
	own := settings.Default()
	own.Tools.Demote = []string{"exec"}
	own.Security.Policies = []pipeline.Policy{{Decision: "allow", Tools: []string{"grep"}}}
	own.Security.Origins = map[toolkit.Origin]pipeline.Mode{toolkit.FromCron: pipeline.Deny}
	got, problems := settings.Tighten(own, "p.yml", []byte(`
ollama: {host: evil:1}
models: {default: cloud-model, window: 9999}
ui: {theme: light}
tools: {promote: [notify], demote: [web_fetch], budget: 90}
security:
  mode: allowlist
  allowed_hosts: ["127.0.0.1:80"]
  secrets: ["*.key"]
  origins: {cron: full, session: ask}
  policies:
    - {decision: allow, tools: ["*"]}
    - {decision: deny, tools: [exec], command: "curl*"}
`))
	want := own
	want.Tools.Promote, want.Tools.Demote = []string{"notify"}, []string{"exec", "web_fetch"}
	want.Security.Mode = pipeline.Allowlist
	want.Security.Secrets = []string{"*.key"}
	want.Security.Policies = append(want.Security.Policies[:1:1], pipeline.Policy{Decision: "deny", Tools: []string{"exec"}, Command: "curl*"})
	want.Security.Origins = map[toolkit.Origin]pipeline.Mode{toolkit.FromCron: pipeline.Deny, toolkit.FromSession: pipeline.Ask}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var said []string
	for _, p := range problems {
		said = append(said, p.Text)
	}
	text := strings.Join(said, "\n")
	for _, key := range []string{"ollama.host:", "models.default:", "models.window:", "ui.theme:", "tools.budget:", "security.allowed_hosts:", "security.policies, number 1: a project cannot allow"} {
		if !strings.Contains(text, key) {
			t.Errorf("nothing is said about %s:\n%s", key, text)
		}
	}
	if len(problems) != 7 {
		t.Errorf("%d problems:\n%s", len(problems), text)
	}
}

func TestAProjectCannotLoosenTheMode(t *testing.T) {
	for text, want := range map[string]pipeline.Mode{
		"security: {mode: full}":     pipeline.Ask,
		"security: {mode: standard}": pipeline.Ask,
		"security: {mode: ask}":      pipeline.Ask,
		"security: {mode: deny}":     pipeline.Deny,
		"":                           pipeline.Ask,
		"tools: {demote: [exec]}":    pipeline.Ask,
		// What cannot be read may have been meant to hold something back.
		"security: {sandbox: on}":                   pipeline.Ask,
		"security: {mode: strickt}":                 pipeline.Deny,
		"security: {policies: [{decision: maybe}]}": pipeline.Deny,
		"security: {policies: [{decison: deny}]}":   pipeline.Deny,
		"security: [mode, ask, and no end":          pipeline.Deny,
	} {
		if got, _ := settings.Tighten(settings.Default(), "p.yml", []byte(text)); got.Security.Mode != want {
			t.Errorf("%q gives %s, want %s", text, got.Security.Mode, want)
		}
	}
}
