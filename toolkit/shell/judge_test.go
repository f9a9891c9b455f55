package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// layout is a workspace with siblings: ws, ws2, out, and chela's own folder.
func layout(t *testing.T) (w *toolkit.Workspace, tmp string) {
	t.Helper()
	base := workspace(t) // skips where there is no shell
	tmp = base.Root
	for name, content := range map[string]string{
		"ws/a.txt": "x\n", "ws/src/b.txt": "b\n", "ws/src/one/two/c": "c", "ws/sub/.env": "KEY=1\n", "ws/.envrc": "", "ws2/x": "x", "out/secret": "OUTSIDE", "ws/.git/config": "[core]\n", "ws/git": "#!/bin/sh\n",
	} {
		full := filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"ws/link": "../out/secret", "ws/outdir": "../out", "ws/src/up": "..", "ws/deep": "src/one/two"} {
		if err := os.Symlink(target, filepath.Join(tmp, link)); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := guard.OpenFS(filepath.Join(tmp, "ws"), guard.FSOptions{Protected: []string{filepath.Join(tmp, "cfg")}, Home: filepath.Join(tmp, "out")})
	if err != nil {
		t.Fatal(err)
	}
	run := guard.NewRunner(fsys, guard.RunnerOptions{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + tmp}})
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	})
	return &toolkit.Workspace{Root: filepath.Join(tmp, "ws"), Session: "s", Files: fsys, Proc: run}, tmp
}

func TestWhatExecProves(t *testing.T) {
	w, tmp := layout(t)
	for _, c := range []string{
		"ls -la", `echo "a && b; c"`, "cat a.txt | wc -l", "cd src && cat b.txt", "grep -r x src", "ls 2>/dev/null", "cat " + tmp + "/ws/a.txt", "ls ./src/..", "cat src/../a.txt", "cat src/up/a.txt", "wc -l <a.txt",
	} {
		p, err := plan(t, w, args{"command": c})
		if err != nil || !p.ReadOnly || p.Level != toolkit.Moderate || len(p.Asks)+len(p.Outside)+len(p.Preview.Notes) > 0 {
			t.Errorf("%q: read-only %v, %v, asks %q, notes %q, error %v", c, p.ReadOnly, p.Level, p.Asks, p.Preview.Notes, err)
		}
	}
	for _, c := range []string{
		"ls; touch x", "cat *", "./git status", "PATH=.:$PATH ls", "ls &", "grep -r KEY .", "grep -r KEY sub", "rg KEY --hidden sub", "cd nowhere && ls", "ls || cd src; cat a.txt", "git status", "no-such-program", "uniq a.txt out.txt",
	} {
		p, err := plan(t, w, args{"command": c})
		if err != nil || p.ReadOnly || p.Level != toolkit.Dangerous || len(p.Preview.Notes) == 0 {
			t.Errorf("%q: read-only %v, %v, notes %q, error %v", c, p.ReadOnly, p.Level, p.Preview.Notes, err)
		}
	}
	for name, a := range map[string]args{
		"an environment": {"command": "ls", "env": map[string]string{"A": "1"}}, "the background": {"command": "ls", "background": true},
	} {
		if p, err := plan(t, w, a); err != nil || p.ReadOnly || p.Level != toolkit.Dangerous {
			t.Errorf("%s: read-only %v, %v, error %v", name, p.ReadOnly, p.Level, err)
		}
	}
}

func TestTheFloorHoldsForLiteralPaths(t *testing.T) {
	w, tmp := layout(t)
	for command, rule := range map[string]guard.Rule{
		"cp a.txt " + tmp + "/cfg/settings.json":              guard.RuleOwnState,
		"cd " + tmp + "/cfg && touch settings.json":           guard.RuleOwnState,
		"cd ../cfg; touch settings.json":                      guard.RuleOwnState,
		"cd .. && cp ws/a.txt cfg/x":                          guard.RuleOwnState,
		"cat ../cfg/settings.json":                            guard.RuleOwnState,
		"python3 x.py --config=" + tmp + "/CFG/settings.json": guard.RuleOwnState,
		"bash -c 'touch " + tmp + "/cfg/x'":                   guard.RuleOwnState,
		"env touch ../cfg/x":                                  guard.RuleOwnState,
		"echo $(cat ../cfg/x)":                                guard.RuleOwnState,
		"if true; then rm -rf ../cfg; fi":                     guard.RuleOwnState,
		"rm -rf " + tmp:                                       guard.RuleOwnState,
		"rm -rf /":                                            guard.RuleOwnState,
		"cp a.txt outdir/../cfg/x":                            guard.RuleOwnState,
		"echo x > .git/config":                                guard.RuleGit,
		"echo x >| .GIT/config":                               guard.RuleGit,
		"tee .git/hooks/pre-commit":                           guard.RuleGit,
		"cat .git/config":                                     guard.RuleGit,
		"cd .git && ls":                                       guard.RuleGit,
		"cat sub/.env":                                        guard.RuleSecret,
		"cd sub; cat .env":                                    guard.RuleSecret,
		"unknown-tool sub/.env":                               guard.RuleSecret,
		"echo x > ../out/f":                                   guard.RuleOutside,
		"echo x &>> ~/.bashrc":                                guard.RuleOutside,
		"echo x > $HOME/.bashrc":                              guard.RuleOutside,
		"echo x > " + tmp + "/ws2/x":                          guard.RuleOutside,
		"cat ../out/secret":                                   guard.RuleOutside,
		"cd deep/../.. && cat ../x":                           guard.RuleOutside,
		"cat link":                                            guard.RuleOutside,
		"cat outdir/secret":                                   guard.RuleOutside,
		"cat src/up/../out/secret":                            guard.RuleOutside,
		"wc -l < /etc/passwd":                                 guard.RuleOutside,
		"ls; find / -name x":                                  guard.RuleOutside,
		"cat /proc/self/environ":                              guard.RuleOutside,
		"exec 3<>/dev/tcp/127.0.0.1/11434":                    guard.RuleScheme,
	} {
		_, err := plan(t, w, args{"command": command})
		denied, ok := guard.AsDenied(err)
		if !ok || denied.Rule != rule {
			t.Errorf("%q: %v, want %s", command, err, rule)
		}
	}
}

func TestWhatWouldChangeThingsOutsideIsAQuestion(t *testing.T) {
	w, tmp := layout(t)
	for _, c := range []string{
		"touch " + tmp + "/out/mark", "ls; touch ../out/mark", "echo $(touch ../out/mark)", "cat <(touch ../out/mark)", "find . -name a.txt -exec touch " + tmp + "/out/mark ;",
		"cd ../out && ls", "rm -rf ~/x", "mv a.txt outdir/x",
	} {
		p, err := plan(t, w, args{"command": c})
		if err != nil || len(p.Outside) == 0 || p.ReadOnly || p.Level != toolkit.Dangerous {
			t.Errorf("%q: outside %q, %v, error %v", c, p.Outside, p.Level, err)
		}
	}
	for _, c := range []string{"grep '/api/users' a.txt", "echo /etc/passwd", "gcc -I/usr/include a.c", "curl https://x.y/a", "ls 2>/dev/null", "make -C ./src"} {
		if p, err := plan(t, w, args{"command": c}); err != nil || len(p.Outside) > 0 {
			t.Errorf("%q: outside %q, error %v", c, p.Outside, err)
		}
	}
}

func TestWhatDeservesAQuestionSaysSo(t *testing.T) {
	w, _ := layout(t)
	for c, want := range map[string]string{
		"rm -rf src": "deletes whole folders", "echo x > a.txt": "overwrites a.txt", "echo x >> .envrc": "direnv", "PATH=. ls": "sets PATH", "git push -f": "overwrites or deletes", "curl x | sh": "fetches",
	} {
		p, err := plan(t, w, args{"command": c})
		if err != nil || !strings.Contains(strings.Join(p.Asks, "\n"), want) {
			t.Errorf("%q asks %q, want %q; error %v", c, p.Asks, want, err)
		}
	}
	if p, err := plan(t, w, args{"command": "echo x > new.txt"}); err != nil || len(p.Asks) > 0 {
		t.Errorf("a new file: %q, %v", p.Asks, err)
	}
}

func TestWhatThePlanShowsIsWhatRuns(t *testing.T) {
	w, _ := layout(t)
	p, err := plan(t, w, args{"command": "echo   'a  b' # hidden"})
	if err != nil || p.Preview.Command != "echo 'a  b'" {
		t.Fatalf("the plan shows %q, %v", p.Preview.Command, err)
	}
	r, err := Exec().Run(t.Context(), w, p, nil)
	if err != nil || r.Text != "a  b\n" {
		t.Fatalf("%q, %v", r.Text, err)
	}
}
