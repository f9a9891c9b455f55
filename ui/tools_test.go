package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine/ollamatest"
)

func TestToolsViewPromotesDemotesAndExplains(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b", Parameters: 8e9})
	d := start(t, setup{server: srv.Host(), w: 120, h: 30})
	d.submit("/tools")
	d.shows("Tools · qwen3:8b", "✓ read_file", "search_available_tools", "above this model's tier", "of a 4096 budget")
	d.press("space") // read_file has it by its tier
	d.shows("the model has it by its tier")
	d.press("/")
	d.write("availab")
	d.shows(`match "availab"`, "search_available_tools")
	d.press("enter")
	d.press("space")
	d.shows("✓ search_available_tools", "promoted for this session")
	d.press("space")
	d.shows("above this model's tier")
	d.press("P")
	d.shows("promoted in settings.yml")
	text, err := os.ReadFile(filepath.Join(d.data, "config", "settings.yml"))
	if err != nil || !strings.Contains(string(text), "promote: [search_available_tools]") {
		t.Errorf("the settings say %q, %v", text, err)
	}
	d.press("D")
	d.shows("demoted in settings.yml")
	d.press("space")
	d.shows("is demoted in settings.yml: D takes it out there")
	d.press("enter")
	d.shows("Find more tools", "query", "required", "chela tool run search_available_tools")
	d.press("esc")
	d.press("esc")
	d.shows("Message")
}
