package git

import (
	"os"
	"strings"
	"testing"

	"chela/toolkit"
)

// everyCall has a call of every git tool; all of them plan in a trapped
// repository.
func everyCall() map[string]struct {
	tool toolkit.Tool
	args map[string]any
} {
	type call = struct {
		tool toolkit.Tool
		args map[string]any
	}
	return map[string]call{
		"status":        {StatusTool(), map[string]any{}},
		"diff":          {DiffTool(), map[string]any{}},
		"diff staged":   {DiffTool(), map[string]any{"staged": true, "commit": "HEAD"}},
		"log":           {LogTool(), map[string]any{"file": "a.txt", "oneline": false}},
		"commit":        {CommitTool(), map[string]any{"message": "m", "files": []string{"a.txt"}}},
		"commit all":    {CommitTool(), map[string]any{"message": "m", "all": true}},
		"amend":         {CommitTool(), map[string]any{"message": "m", "amend": true}},
		"branches":      {BranchTool(), map[string]any{}},
		"create":        {BranchTool(), map[string]any{"create": "new"}},
		"create switch": {BranchTool(), map[string]any{"create": "new", "checkout": "new"}},
		"checkout":      {BranchTool(), map[string]any{"checkout": "topic"}},
		"delete":        {BranchTool(), map[string]any{"delete": "merged"}},
		"stash list":    {StashTool(), map[string]any{"action": "list"}},
		"stash show":    {StashTool(), map[string]any{"action": "show"}},
		"stash push":    {StashTool(), map[string]any{"action": "push", "include_untracked": true}},
		"stash pop":     {StashTool(), map[string]any{"action": "pop"}},
		"stash apply":   {StashTool(), map[string]any{"action": "apply"}},
		"stash drop":    {StashTool(), map[string]any{"action": "drop"}},
		"stash clear":   {StashTool(), map[string]any{"action": "clear"}},
		"fetch":         {RemoteTool(), map[string]any{"action": "fetch"}},
		"pull":          {RemoteTool(), map[string]any{"action": "pull"}},
		"push":          {RemoteTool(), map[string]any{"action": "push"}},
	}
}

// baited is a trapped repository in which every call has something to do: a
// branch that differs, a stash, a remote with something new and something old.
func baited(t *testing.T, key, value string) (*project, string) {
	t.Helper()
	p, mark := trapped(t, "", "")
	quietly := func(args ...string) {
		t.Helper()
		p.git(append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	}
	quietly("clone", "-q", "--bare", ".", "origin.git")
	quietly("remote", "add", "origin", "origin.git")
	quietly("fetch", "-q", "origin")
	p.put(".git/info/exclude", "origin.git/\nevilhooks/\n")
	quietly("branch", "merged")
	quietly("checkout", "-q", "-f", "-b", "topic")
	p.put("c.txt", "topic\n")
	quietly("add", "c.txt")
	quietly("commit", "-qm", "topic")
	quietly("checkout", "-q", "main")
	p.put("d.txt", "main\n")
	quietly("add", "d.txt")
	quietly("commit", "-qm", "ahead")
	p.put("e.txt", "stashed\n")
	quietly("add", "e.txt")
	quietly("stash", "push", "-q")
	p.put("a.txt", "A\n")
	p.put("sub/b.txt", "B\n")
	p.put("origin.git/hooks/post-receive", "#!/bin/sh\necho ran >>'"+mark+"'\n")
	p.put("origin.git/hooks/update", "#!/bin/sh\necho ran >>'"+mark+"'\n")
	for _, name := range []string{"post-receive", "update"} {
		if err := os.Chmod(p.dir+"/origin.git/hooks/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	evil := strings.TrimSuffix(mark, "ran") + "evil.sh"
	for _, name := range []string{"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-push"} {
		for _, dir := range []string{"evilhooks", ".git/hooks"} {
			p.put(dir+"/"+name, "#!/bin/sh\necho ran >>'"+mark+"'\n")
			if err := os.Chmod(p.dir+"/"+dir+"/"+name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if key != "" {
		quietly("config", "--file", ".git/config", key, strings.ReplaceAll(value, "%s", evil))
	}
	if err := os.RemoveAll(mark); err != nil {
		t.Fatal(err)
	}
	return p, mark
}

// Every tool, in a repository with all traps, and some in one with each of them:
// it asks, says what is wrong, or refuses, and runs nothing even when a person
// says yes.
func TestNoToolFallsIntoATrap(t *testing.T) {
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		p, mark := baited(t, "", "")
		for key, value := range traps {
			p.git("config", "--file", ".git/config", key, strings.ReplaceAll(value, "%s", strings.TrimSuffix(mark, "ran")+"evil.sh"))
		}
		for name, c := range everyCall() {
			spring(t, p, mark, "core.fsmonitor", name, c.tool, c.args)
		}
	})
	for key, value := range traps {
		t.Run(strings.NewReplacer("/", "_", "*", "_").Replace(key), func(t *testing.T) {
			t.Parallel()
			p, mark := baited(t, key, value)
			all := everyCall()
			for _, name := range []string{"diff", "commit all"} {
				spring(t, p, mark, strings.ToLower(key[:strings.IndexByte(key, '.')]), name, all[name].tool, all[name].args)
			}
		})
	}
}

// spring plans a call and runs it, whatever the plan says.
func spring(t *testing.T, p *project, mark, want, name string, tool toolkit.Tool, args map[string]any) {
	t.Helper()
	plan, err := p.planned(tool, args)
	absent(t, mark)
	if err != nil {
		return // refused, or an earlier call has done it
	}
	if plan.Level != toolkit.Dangerous || len(plan.Asks) == 0 || !strings.Contains(strings.Join(plan.Asks, " "), want) || !strings.Contains(plan.Preview.Text, want) {
		t.Errorf("%s: level %v, asks %q", name, plan.Level, plan.Asks)
	}
	_, _ = tool.Run(t.Context(), p.w, plan, nil) // what it says is tested elsewhere
	if _, err := os.Stat(mark); err == nil {
		t.Fatalf("%s: the repository ran its program", name)
	}
}

// Hooks and attributes alone need no question, and every call works.
func TestEveryToolWorksWhereOnlyHooksLie(t *testing.T) {
	for name, c := range everyCall() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p, mark := baited(t, "", "")
			switch name {
			case "stash pop", "stash apply", "checkout", "pull":
				p.git("-c", "core.hooksPath=/dev/null", "checkout", "-q", "-f")
				if err := os.RemoveAll(mark); err != nil {
					t.Fatal(err)
				}
			case "diff staged":
				p.git("-c", "core.hooksPath=/dev/null", "add", "a.txt")
			}
			plan, err := p.planned(c.tool, c.args)
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Asks) > 0 {
				t.Errorf("asks %q", plan.Asks)
			}
			if _, err := c.tool.Run(t.Context(), p.w, plan, nil); err != nil {
				t.Error(err)
			}
			absent(t, mark)
		})
	}
}
