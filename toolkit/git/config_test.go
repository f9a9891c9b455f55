package git

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
)

// traps are the settings by which a repository makes git run a program or read
// other files. %s is a program that leaves a mark.
var traps = map[string]string{
	"core.fsmonitor": "%s", "core.sshCommand": "%s", "core.editor": "%s", "core.pager": "%s", "core.hooksPath": "evilhooks", "core.askPass": "%s",
	"core.attributesFile": "/etc/passwd", "core.alternateRefsCommand": "%s", "core.gitProxy": "%s", "attr.tree": "HEAD", "credential.helper": "%s",
	"credential.https://x.helper": "%s", "gpg.program": "%s", "gpg.ssh.program": "%s", "diff.external": "%s", "diff.evil.command": "%s",
	"diff.evil.textconv": "%s", "filter.evil.clean": "%s", "filter.evil.smudge": "%s", "filter.evil.process": "%s", "merge.evil.driver": "%s",
	"include.path": "other.config", "includeIf.gitdir:/**.path": "other.config", "alias.status": "!%s", "pager.status": "%s", "interactive.diffFilter": "%s",
	"remote.origin.uploadpack": "%s", "sequence.editor": "%s", "submodule.m.update": "!%s", "difftool.x.cmd": "%s",
}

// trapped is a repository with one trap, whose every file git must compare by
// content, and the path of the mark.
func trapped(t *testing.T, key, value string) (*project, string) {
	t.Helper()
	p := committed(t, "a.txt", "a\n", "sub/b.txt", "b\n", ".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	outside := t.TempDir()
	mark, evil := filepath.Join(outside, "ran"), filepath.Join(outside, "evil.sh")
	script := "#!/bin/sh\necho ran >>'" + mark + "'\ncat\n"
	if err := os.WriteFile(evil, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"} {
		for _, dir := range []string{"evilhooks", ".git/hooks"} {
			p.put(filepath.Join(dir, hook), script)
			if err := os.Chmod(filepath.Join(p.dir, dir, hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.put(".git/other.config", "[core]\n\tfsmonitor = "+evil+"\n[filter \"evil\"]\n\tclean = "+evil+"\n")
	if key != "" {
		p.git("config", "--file", ".git/config", key, strings.ReplaceAll(value, "%s", evil))
	}
	for rel, content := range map[string]string{"a.txt": "A\n", "sub/b.txt": "B\n"} {
		p.put(rel, content)
		when := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(p.dir, rel), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(mark); err != nil {
		t.Fatal(err)
	}
	return p, mark
}

func absent(t *testing.T, mark string) {
	t.Helper()
	if _, err := os.Stat(mark); err == nil {
		t.Error("the repository ran its program")
	}
}

func (p *project) plan() (toolkit.Plan, error) {
	p.t.Helper()
	raw, err := json.Marshal(map[string]any{})
	if err != nil {
		p.t.Fatal(err)
	}
	return StatusTool().Plan(p.t.Context(), p.w, raw)
}

func TestEachTrapIsSeenSaidAndHarmless(t *testing.T) {
	for key, value := range traps {
		t.Run(strings.NewReplacer("/", "_", "*", "_").Replace(key), func(t *testing.T) {
			p, mark := trapped(t, key, value)
			_, err := Marks(t.Context(), p.w.Proc, "")
			if unsafe := (*Unsafe)(nil); !errors.As(err, &unsafe) {
				t.Errorf("the marks are read: %v", err)
			}
			plan, err := p.plan()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ToLower(key[:strings.IndexByte(key, '.')])
			if plan.Level != toolkit.Dangerous || len(plan.Asks) != 1 || !strings.Contains(plan.Asks[0], want) || !strings.Contains(plan.Preview.Text, want) {
				t.Errorf("level %v, asks %q", plan.Level, plan.Asks)
			}
			absent(t, mark)
			// And when a person says yes, it runs nothing all the same.
			if _, err := StatusTool().Run(t.Context(), p.w, plan, nil); err != nil && key != "attr.tree" {
				t.Error(err)
			}
			absent(t, mark)
		})
	}
}

func TestTheTrapsCatchGitByItself(t *testing.T) {
	for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "include.path"} {
		p, mark := trapped(t, key, traps[key])
		func() {
			defer func() { _ = recover() }()
			q := &project{t: failing{p.t}, dir: p.dir, w: p.w}
			q.git("status")
		}()
		if _, err := os.Stat(mark); err != nil {
			t.Errorf("%s catches nothing, so the test of it proves nothing", key)
		}
	}
}

func TestAnOrdinaryRepositoryIsReadWithoutAQuestion(t *testing.T) {
	p, mark := trapped(t, "", "")
	p.git("config", "--file", ".git/config", "core.fsmonitor", "false")
	p.git("config", "--file", ".git/config", "remote.origin.url", "https://example.com/x.git")
	p.git("config", "--file", ".git/config", "branch.main.remote", "origin")
	plan, err := p.plan()
	if err != nil || plan.Level != toolkit.Safe || len(plan.Asks) > 0 {
		t.Fatalf("level %v, asks %q, %v", plan.Level, plan.Asks, err)
	}
	s, err := Marks(t.Context(), p.w.Proc, "sub")
	if err != nil || s.Marks()["b.txt"] != "M" {
		t.Errorf("%+v, %v", s, err)
	}
	absent(t, mark)
	// Hooks alone are switched off, and the settings of the person do not count.
	p.git("config", "--file", ".git/config", "core.fsmonitor", "true")
	if _, err := StatusTool().Run(t.Context(), p.w, plan, nil); err == nil {
		t.Error("it ran although the settings changed after the plan")
	}
}

func TestAFolderThatLooksLikeARepositoryIsNotUsed(t *testing.T) {
	p, mark := trapped(t, "", "")
	bare := exec.Command("git", "init", "-q", "--bare", filepath.Join(p.dir, "bare"))
	if out, err := bare.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.git("config", "--file", "bare/config", "core.fsmonitor", filepath.Join(filepath.Dir(mark), "evil.sh"))
	p.git("config", "--file", "bare/config", "core.worktree", p.dir)
	p.git("config", "--file", "bare/config", "core.bare", "false")
	for _, f := range []func() error{
		func() error { _, err := Marks(t.Context(), p.w.Proc, "bare"); return err },
		func() error { _, err := Status(t.Context(), p.w.Proc, "bare"); return err },
		func() error { _, err := p.call(map[string]any{"path": "bare"}); return err },
	} {
		if err := f(); err == nil {
			t.Error("the bare repository was read")
		}
		absent(t, mark)
	}
}

func TestSettingsOfAWorktreeAndAGitFileAreRead(t *testing.T) {
	p, mark := trapped(t, "", "")
	p.git("worktree", "add", "-q", "tree")
	p.git("config", "--file", ".git/worktrees/tree/config.worktree", "core.fsmonitor", filepath.Join(filepath.Dir(mark), "evil.sh"))
	p.git("config", "--file", ".git/config", "extensions.worktreeConfig", "true")
	if err := os.RemoveAll(mark); err != nil {
		t.Fatal(err)
	}
	if found, err := hostileSettings(p.w.Proc, "tree"); err != nil || !cmp.Equal(found, []string{"core.fsmonitor"}) {
		t.Errorf("found %q, %v", found, err)
	}
	if found, err := hostileSettings(p.w.Proc, ""); err != nil || len(found) > 0 {
		t.Errorf("the main tree: %q, %v", found, err)
	}
	p.put("odd/.git", "nonsense\n")
	if found, err := hostileSettings(p.w.Proc, "odd"); err != nil || len(found) != 1 {
		t.Errorf("a file that is none: %q, %v", found, err)
	}
}

func TestParseConfig(t *testing.T) {
	for text, want := range map[string]string{
		"[core]\n\tFSMonitor = x\n":                       "core.fsmonitor=x",
		"[CORE] fsmonitor=x":                              "core.fsmonitor=x",
		"[core]fsmonitor":                                 "core.fsmonitor",
		"[filter \"a.b\"]\r\nclean = \"x ; y\" ; c\r\n":   "filter.a.b.clean=x ; y",
		"[filter.Old]\nclean=x":                           "filter.old.clean=x",
		"# c\n; d\n[a]\nb = c\\\n d # e\n":                "a.b=c d",
		"\ufeff[a]\nb=\"c\\\"d\"":                         "a.b=c\"d",
		"[filter \"]\"]\nclean=x":                         "filter.].clean=x",
		"[filter \"\\\\q\\\"\"]\nclean=x":                 "filter.\\q\".clean=x",
		"[a] b = 1 # [core] fsmonitor = x\n[c]\nd=[core]": "a.b=1|c.d=[core]",
	} {
		list, err := parseConfig(text)
		var got []string
		for _, s := range list {
			if s.bare {
				got = append(got, s.name())
			} else {
				got = append(got, s.name()+"="+s.value)
			}
		}
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"x = 1", "[a", "[a \"b]\nc=1", "[a]\n=1", "[a]\nb=\"c\n", "[a]\nb=\\q", "[]\nb=1", "[a]\nb c", "[a]\n1b=2"} {
		if list, err := parseConfig(text); err == nil {
			t.Errorf("%q is read as %+v", text, list)
		}
	}
}

// Whatever git itself reads out of a file, the reader here reads too.
func FuzzParseConfig(f *testing.F) {
	for _, text := range []string{
		"[core]\n\tfsmonitor = x\n", "[filter \"a.b\"]\nclean = \"x ; y\" ; c\n", "[a]\nb = c\\\n d # e\n", "[filter.Old]\nclean", "[a \"\"]\nb", "[include]\r\npath = x\r\n", "[a]\n\tb=1\n\n[core]fsmonitor\n", "[core] fsmonitor=x [a] b=1", "[a.]B", "[a.b \"c\"]\nd=1",
	} {
		f.Add(text)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is not installed")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		list, parseErr := parseConfig(text)
		if strings.ContainsRune(text, 0) || strings.Contains(strings.ToLower(text), "include") {
			return
		}
		name := filepath.Join(dir, "config")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(git, "config", "--file", name, "--list", "--name-only", "-z").Output()
		if err != nil || parseErr != nil {
			return // refused by one of them: nothing that git would obey is missed
		}
		have := map[string]bool{}
		for _, s := range list {
			have[s.name()] = true
		}
		for key := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if key != "" && !have[key] {
				t.Fatalf("git reads %q in %q, here it is %+v", key, text, list)
			}
		}
	})
}

func TestCheckRef(t *testing.T) {
	for _, ref := range []string{"HEAD", "HEAD~1", "main..topic", "v1.0^{}", "origin/main", "abc123", "stash@{0}"} {
		if err := CheckRef(ref); err != nil {
			t.Error(err)
		}
	}
	for _, ref := range []string{"", "-x", "--output=../out/mark", "--upload-pack=x", "a b", "a\nb", "a\x00", strings.Repeat("a", 2000)} {
		if err := CheckRef(ref); err == nil {
			t.Errorf("%q passes", ref)
		}
	}
}
