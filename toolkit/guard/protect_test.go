package guard

import (
	"path/filepath"
	"testing"
)

func TestNamesTheFloorProtects(t *testing.T) {
	w := newWorld(t, FSOptions{ExtraSecrets: []string{"*.secret", "private/**", "ops/vault.yml"}})
	for p, want := range map[string]Rule{
		".git": RuleGit, ".git/config": RuleGit, ".git/hooks/pre-commit": RuleGit, "sub/.git/config": RuleGit,
		".GIT/config": RuleGit, ".Git/hooks/x": RuleGit, ".git./config": RuleGit, ".git /config": RuleGit, ".g\u200cit/config": RuleGit,
		".gi\ufe00t/x": RuleGit, ".ｇit/x": RuleGit, "git~1/config": RuleGit, ".git::$INDEX_ALLOCATION/x": RuleGit, `a\.git\config`: RuleGit,
		".gitignore": "", ".github/x": "", "git/x": "", "a.git/x": "", ".gitt": "",
		".env": RuleSecret, ".ENV": RuleSecret, ".env.local": RuleSecret, ".env.production": RuleSecret, "sub/.env": RuleSecret, ".env.example": "",
		".env.sample": "", ".env.template": "", "env": "", "x.env": "", ".environment": "",
		"id_rsa": RuleSecret, "id_ed25519": RuleSecret, "id_rsa.pub": "", "server.pem": RuleSecret, "SERVER.PEM": RuleSecret, "a.key": RuleSecret,
		"a.p12": RuleSecret, "pem": "", "a.pem.txt": "", "keyboard": "", "credentials.json": RuleSecret, "credentials.go": "",
		"service-account-prod.json": RuleSecret, "service-account.go": "", ".netrc": RuleSecret, ".npmrc": RuleSecret, ".pypirc": RuleSecret,
		".ssh/config": RuleSecret, ".ssh": RuleSecret, ".gnupg/x": RuleSecret, ".aws/credentials": RuleSecret, "credentials": "", ".aws/x": "",
		".config/gcloud/x": RuleSecret, ".config/x": "", ".kube/config": RuleSecret, "kube/config": "",
		"a.secret": RuleSecret, "A.SECRET/x": RuleSecret, "secret": "", "private/x/y": RuleSecret, "x/ops/vault.yml": RuleSecret, "ops/vault.yaml": "",
	} {
		if got, _ := w.fs.protect.check(p, false); got != want {
			t.Errorf("check(%q) = %q, want %q", p, got, want)
		}
		if want == "" {
			continue
		}
		_, err := w.fs.Open(p)
		wantDenied(t, err, want)
		_, err = w.fs.Write(p, []byte("x"))
		wantDenied(t, err, want)
		wantDenied(t, w.fs.MkdirAll(p), want)
		wantDenied(t, w.fs.Remove(p), want)
		wantDenied(t, w.fs.Rename("a.txt", p), want)
	}
}

func TestLinksToProtectedFilesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.put("ws/.env", "TOKEN=1")
	w.put("ws/.git/config", "[core]")
	w.link(".env", "ws/harmless.txt")
	w.link(".git", "ws/gitlink")
	w.link("gitlink/config", "ws/two")
	for p, rule := range map[string]Rule{"harmless.txt": RuleSecret, "gitlink/config": RuleGit, "two": RuleGit} {
		_, err := w.fs.Open(p)
		wantDenied(t, err, rule)
		_, err = w.fs.Write(p, []byte("x"))
		wantDenied(t, err, rule)
	}
	if got := w.get("ws/.env") + w.get("ws/.git/config"); got != "TOKEN=1[core]" {
		t.Errorf("content is %q", got)
	}
}

func TestOwnStateIsRefusedWhetherItExistsOrNot(t *testing.T) {
	base := newWorld(t)
	own := filepath.Join(base.dir, "ws/home/config/chela")
	f, err := OpenFS(filepath.Join(base.dir, "ws"), FSOptions{Protected: []string{own}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range []string{"home/config/chela/settings.yml", "home/config/chela", "home/Config/CHELA/x", own + "/x"} {
		_, err := f.Write(p, []byte("mode: full"))
		wantDenied(t, err, RuleOwnState)
		wantDenied(t, f.MkdirAll(p), RuleOwnState)
		_, err = f.Open(p)
		wantDenied(t, err, RuleOwnState)
	}
	base.missing("ws/home")
	base.put("ws/home/config/chela/settings.yml", "mode: ask")
	base.link("home/config/chela", "ws/l")
	_, err = f.Open("l/settings.yml")
	wantDenied(t, err, RuleOwnState)
	wantDenied(t, f.Rename("home", "moved"), RuleOwnState)
	wantDenied(t, f.Rename("home/config", "moved"), RuleOwnState)
	if _, err := f.Write("home/config/chela2", []byte("x")); err != nil {
		t.Errorf("a neighbour of the own state is refused: %v", err)
	}
}

func TestGitShapesAreRefused(t *testing.T) {
	w := newWorld(t)
	w.put("ws/bare/HEAD", "ref: refs/heads/main")
	w.put("ws/bare/objects/x", "")
	w.put("ws/bare/refs/x", "")
	w.put("ws/bare/config", "[core]")
	w.put("ws/half/HEAD", "ref: refs/heads/main")
	w.put("ws/half/doc.txt", "plain")
	for _, p := range []string{"bare/config", "bare/hooks/post-checkout", "bare/x/y"} {
		_, err := w.fs.Open(p)
		wantDenied(t, err, RuleGit)
		_, err = w.fs.Write(p, []byte("x"))
		wantDenied(t, err, RuleGit)
	}
	for _, p := range []string{"half/config", "half/objects/x", "half/hooks/x", "new/HEAD", "new/head", ".git"} {
		_, err := w.fs.Write(p, []byte("gitdir: x"))
		wantDenied(t, err, RuleGit)
	}
	if _, err := w.fs.Open("half/doc.txt"); err != nil {
		t.Errorf("a file beside a lone HEAD: %v", err)
	}
}

func TestRunsLater(t *testing.T) {
	for p, want := range map[string]bool{
		".bashrc": true, "x/.zshrc": true, ".vscode/tasks.json": true, ".idea/x": true, ".github/workflows/ci.yml": true,
		".github/ISSUE.md": false, "package.json": true, "web/package.json": true, "package-lock.json": false, ".envrc": true,
		".gitmodules": true, ".GitModules": true, ".mcp.json": true, ".husky/pre-commit": true, "Makefile": false, "main.go": false,
		".chela/settings.yml": true, "repo.git/hooks/update": true, ".ripgreprc": true,
	} {
		if reason, got := RunsLater(p); got != want || (got && reason == "") {
			t.Errorf("RunsLater(%q) = %q, %v, want %v", p, reason, got, want)
		}
	}
}
