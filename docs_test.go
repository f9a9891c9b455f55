package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chela/engine/settings"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTheManualNamesEveryCommandAndFlag compares docs/cli.md with the command
// line itself.
func TestTheManualNamesEveryCommandAndFlag(t *testing.T) {
	manual := read(t, "docs/cli.md")
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())
		if last := words[len(words)-1]; !strings.Contains(manual, last) {
			t.Errorf("docs/cli.md does not name %q", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(manual, "--"+f.Name) && f.Name != "dir" && f.Name != "help" {
				t.Errorf("docs/cli.md does not name --%s of %q", f.Name, cmd.CommandPath())
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&cli{}).root())
}

// TestTheSettingsOfTheReadmeAreValid parses the example that people copy.
func TestTheSettingsOfTheReadmeAreValid(t *testing.T) {
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(read(t, "README.md"))
	if example == nil {
		t.Fatal("README.md has no yaml example")
	}
	s, problems := settings.Parse("README.md", []byte(example[1]))
	for _, p := range problems {
		t.Error(p)
	}
	if s.Models.Default == "" || len(s.Tools.Promote) == 0 {
		t.Errorf("read as %+v", s)
	}
}

// Every key of the settings is in the manual's example, and the example is right
// as it stands.
func TestTheManualShowsEverySetting(t *testing.T) {
	text, err := os.ReadFile("docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n")
	example, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("there is no example")
	}
	got, problems := settings.Parse("docs/settings.md", []byte(example))
	for _, p := range problems {
		t.Error(p)
	}
	for _, key := range unset(reflect.ValueOf(got), "") {
		t.Errorf("the example does not set %s", key)
	}
	for _, name := range []string{"off", "on", "auto"} {
		if !strings.Contains(example, name) {
			t.Errorf("the example does not name %s", name)
		}
	}
}

// unset names the keys that have no value, those that are right with none left
// out.
func unset(v reflect.Value, path string) []string {
	var out []string
	for i := range v.NumField() {
		key := strings.TrimPrefix(path+"."+v.Type().Field(i).Tag.Get("yaml"), ".")
		zeroIsRight := slices.Contains([]string{"security.sandbox_network", "security.audit_days"}, key) || strings.HasPrefix(key, "channels.") && strings.HasSuffix(key, ".url") ||
			strings.HasPrefix(key, "search.") && (strings.HasSuffix(key, ".url") || key == "search.searxng.key")
		switch {
		case v.Field(i).Kind() == reflect.Struct:
			out = append(out, unset(v.Field(i), key)...)
		case v.Field(i).IsZero() && !zeroIsRight:
			out = append(out, key)
		}
	}
	return out
}
