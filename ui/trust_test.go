package ui

import (
	"testing"

	"chela/engine/trust"
)

func TestAFolderIsShownBeforeItIsTrusted(t *testing.T) {
	d := start(t, setup{files: map[string]string{"AGENTS.md": "Always be brief.\n", ".chela/settings.yml": "tools: {demote: [web_fetch]}\n"}})
	d.shows("This folder has .chela/settings.yml and AGENTS.md,", "not used until you trust it")
	d.submit("/trust")
	d.shows("Trust this folder: untrusted", "Read AGENTS.md", "can only tighten")
	d.write("agents")
	d.press("enter")
	d.shows("Always be brief.")
	d.press("esc")
	d.submit("/trust")
	d.write("trust the")
	d.press("enter")
	d.shows("trusted: the model is told the notes")
	d.until("the folder to be trusted", func(string) bool { return d.m.eng.Trust().State == trust.Trusted })
	d.submit("/tools")
	d.shows("demoted in settings.yml")
	d.press("esc")
	d.submit("/trust")
	d.shows("Trust this folder: trusted", "End the trust")
}
