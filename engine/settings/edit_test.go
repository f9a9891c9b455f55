package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetToolChangesOneListAndNothingElse(t *testing.T) {
	for name, tc := range map[string]struct {
		before string
		place  Place
		want   string
	}{
		"no file": {"", Promoted, "tools:\n  promote: [notify]\n"},
		"only comments": {
			"# mine\n", Promoted,
			"# mine\ntools:\n  promote: [notify]\n",
		},
		"no tools": {
			"# mine\nui:\n  theme: dark # at night\n", Promoted,
			"# mine\nui:\n  theme: dark # at night\ntools:\n  promote: [notify]\n",
		},
		"no list": {
			"tools:\n  budget: 30 # percent\nui:\n  mouse: false\n", Demoted,
			"tools:\n  budget: 30 # percent\n  demote: [notify]\nui:\n  mouse: false\n",
		},
		"a list": {
			"tools:\n  promote: [cron_create]\n", Promoted,
			"tools:\n  promote: [cron_create, notify]\n",
		},
		"from one to the other": {
			"tools:\n  promote: [notify, cron_create]\n  demote: [exec]\n", Demoted,
			"tools:\n  promote: [cron_create]\n  demote: [exec, notify]\n",
		},
		"out of it": {
			"tools:\n  promote:\n    - notify\n", ByTier,
			"tools:\n  promote: []\n",
		},
		"it is there already": {
			"tools: {promote: [notify]}\n", Promoted,
			"tools: {promote: [notify]}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "chela", "settings.yml")
			if tc.before != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(tc.before), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := SetTool(file, "notify", tc.place); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, strings.TrimRight(string(got), "\n")+"\n"); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, problems := Parse(file, got); len(problems) > 0 {
				t.Errorf("the file has problems now: %v", problems)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".settings-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestSetToolLeavesABrokenFileAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yml")
	const text = "tools: [\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := SetTool(file, "notify", Promoted); err == nil || !strings.Contains(err.Error(), "repair it first") {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("the file is %q, %v", got, err)
	}
}
