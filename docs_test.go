package main

import (
	"os"
	"regexp"
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
