package git

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// shared is a repository with a bare one inside the project as its origin, and
// a second clone that others work in.
func shared(t *testing.T) (p, other *project) {
	t.Helper()
	p = committed(t, "a.txt", "a\n", ".gitignore", "origin.git/\n")
	p.git("clone", "-q", "--bare", ".", "origin.git")
	p.git("remote", "add", "origin", "origin.git")
	p.git("fetch", "-q", "origin")
	dir := filepath.Join(t.TempDir(), "other")
	p.git("clone", "-q", filepath.Join(p.dir, "origin.git"), dir)
	return p, newProject(t, dir)
}

func (p *project) change(rel, content, message string) {
	p.t.Helper()
	p.put(rel, content)
	p.git("add", "-A")
	p.git("commit", "-qm", message)
}

func transferred(t *testing.T, r toolkit.Result) Transferred {
	t.Helper()
	d, ok := r.Data.(Transferred)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

func TestPushFetchPull(t *testing.T) {
	p, other := shared(t)
	p.change("a.txt", "b\n", "ours")
	plan, err := p.planned(RemoteTool(), map[string]any{"action": "push", "set_upstream": true})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Level != toolkit.Moderate || !strings.Contains(plan.Preview.Text, "new commits: 1\n") || !strings.Contains(plan.Preview.Text, " ours (t)") || plan.Effects[0] != (toolkit.Effect{Kind: toolkit.Writes, Target: "origin.git"}) {
		t.Errorf("%+v", plan)
	}
	r, err := RemoteTool().Run(t.Context(), p.w, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := transferred(t, r); len(d.NewCommits) != 1 || d.NewCommits[0].Subject != "ours" || d.Branch != "main" {
		t.Errorf("%+v", d)
	}
	if p.git("-C", "origin.git", "rev-parse", "main") != p.git("rev-parse", "HEAD") || p.git("rev-parse", "--abbrev-ref", "@{upstream}") != "origin/main\n" {
		t.Error("it is not there, or not followed")
	}
	p.refuses(RemoteTool(), map[string]any{"action": "push"}, CodeNothing)
	other.git("pull", "-q")
	other.change("b.txt", "b\n", "theirs")
	other.git("push", "-q")
	if d := transferred(t, p.does(RemoteTool(), map[string]any{"action": "fetch"})); len(d.NewCommits) != 1 || d.NewCommits[0].Subject != "theirs" {
		t.Errorf("%+v", d)
	}
	r = p.does(RemoteTool(), map[string]any{"action": "pull"})
	if len(r.Changed) != 1 || r.Changed[0].Path != "b.txt" || len(transferred(t, r).NewCommits) != 1 {
		t.Errorf("%+v", r)
	}
	other.change("b.txt", "c\n", "theirs again")
	other.git("push", "-q")
	p.change("a.txt", "c\n", "ours again")
	_, err = p.use(RemoteTool(), map[string]any{"action": "pull"})
	if e := toolkit.AsError(err); e == nil || e.Code != CodeRejected {
		t.Errorf("a pull of what parted: %v", err)
	}
	if text := p.refuses(RemoteTool(), map[string]any{"action": "push"}, CodeRejected); !strings.Contains(text, "theirs again") {
		t.Error(text)
	}
}

func TestForce(t *testing.T) {
	p, other := shared(t)
	p.git("checkout", "-q", "-b", "topic")
	p.change("a.txt", "1\n", "one")
	p.does(RemoteTool(), map[string]any{"action": "push"})
	p.git("commit", "-q", "--amend", "-m", "one, better")
	p.refuses(RemoteTool(), map[string]any{"action": "push"}, CodeRejected)
	plan, err := p.planned(RemoteTool(), map[string]any{"action": "push", "force": true})
	if err != nil || plan.Level != toolkit.Dangerous || !strings.Contains(plan.Preview.Text, "the remote loses: 1\n") {
		t.Fatalf("%+v, %v", plan, err)
	}
	// Somebody pushed in between, which was never fetched: it is not lost.
	other.git("fetch", "-q")
	other.git("checkout", "-q", "topic")
	other.change("x.txt", "x\n", "theirs")
	other.git("push", "-q")
	_, err = RemoteTool().Run(t.Context(), p.w, plan, nil)
	if e := toolkit.AsError(err); e == nil || e.Code != CodeRejected {
		t.Errorf("force over what was not seen: %v", err)
	}
	p.does(RemoteTool(), map[string]any{"action": "fetch"})
	p.does(RemoteTool(), map[string]any{"action": "push", "force": true})
	if p.git("-C", "origin.git", "rev-parse", "topic") != p.git("rev-parse", "HEAD") {
		t.Error("the forced push is not there")
	}
	p.git("checkout", "-q", "main")
	p.git("commit", "-q", "--amend", "-m", "another first")
	if text := p.refuses(RemoteTool(), map[string]any{"action": "push", "force": true}, CodeRejected); !strings.Contains(text, "never") {
		t.Error(text)
	}
	p.git("checkout", "-q", "-b", "unknown")
	p.refuses(RemoteTool(), map[string]any{"action": "push", "force": true}, CodeRejected)
	p.refuses(RemoteTool(), map[string]any{"action": "fetch", "force": true}, toolkit.CodeInvalid)
}

func TestATransferRunsNoHooksOfEitherSide(t *testing.T) {
	p, _ := shared(t)
	mark := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"pre-push", "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "post-merge", "proc-receive"} {
		for _, dir := range []string{".git/hooks", "origin.git/hooks"} {
			p.put(filepath.Join(dir, name), "#!/bin/sh\necho $0 >>'"+mark+"'\n")
			if err := os.Chmod(filepath.Join(p.dir, dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "x")
	if err := os.RemoveAll(mark); err != nil {
		t.Fatal(err)
	}
	p.does(RemoteTool(), map[string]any{"action": "push"})
	p.does(RemoteTool(), map[string]any{"action": "fetch"})
	p.does(RemoteTool(), map[string]any{"action": "pull"})
	absent(t, mark)
	p.git("-c", "core.hooksPath=.git/hooks", "commit", "-q", "--allow-empty", "-m", "y")
	p.git("push", "-q", "origin", "main")
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("git by itself ran nothing either, so this test proves nothing: %v", err)
	}
}

type names4 map[string]string

func (n names4) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[host]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, os.ErrNotExist
}

// online gives a project a network guard with a few names.
func online(t *testing.T, p *project) {
	t.Helper()
	n, err := guard.NewNet(guard.NetOptions{Resolver: names4{"pub.test": "93.184.216.34", "loc.test": "127.0.0.1", "github.com": "140.82.112.3"}})
	if err != nil {
		t.Fatal(err)
	}
	p.w.Net = n
}

func TestWhereARemoteMayBe(t *testing.T) {
	p, _ := shared(t)
	online(t, p)
	outside := committed(t, "a.txt", "a\n")
	for url, want := range map[string]guard.Rule{
		"ext::sh -c touch% mark":               guard.RuleScheme,
		"fd::3":                                guard.RuleScheme,
		"git://pub.test/x":                     guard.RuleScheme,
		"ftp://pub.test/x":                     guard.RuleScheme,
		"file://" + outside.dir:                guard.RuleOutside,
		outside.dir:                            guard.RuleOutside,
		"../" + filepath.Base(outside.dir):     guard.RuleOutside,
		"file://host/x":                        guard.RuleScheme,
		"https://loc.test/x":                   guard.RuleAddress,
		"https://127.0.0.1/x":                  guard.RuleAddress,
		"ssh://git@loc.test/x":                 guard.RuleAddress,
		"git@loc.test:x":                       guard.RuleAddress,
		"git@169.254.169.254:x":                guard.RuleMetadata,
		"sub":                                  guard.RuleScheme,
		"https://user:geheim1234@loc.test/x.g": guard.RuleAddress,
	} {
		p.put("sub/x.txt", "")
		p.git("config", "remote.origin.url", url)
		_, err := p.planned(RemoteTool(), map[string]any{"action": "fetch"})
		if denied, ok := guard.AsDenied(err); !ok || denied.Rule != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("the password is said: %v", err)
		}
	}
	for url, want := range map[string]string{
		"https://pub.test/x.git": "pub.test:443", "https://user:geheim1234@pub.test/x": "pub.test:443", "ssh://git@pub.test:2222/x": "pub.test:22",
		"git@pub.test:x/y.git": "pub.test:22", "pub.test:x": "pub.test:22", "http://pub.test/": "pub.test:80",
	} {
		p.git("config", "remote.origin.url", url)
		plan, err := p.planned(RemoteTool(), map[string]any{"action": "fetch"})
		if err != nil || plan.Effects[0] != (toolkit.Effect{Kind: toolkit.Dials, Target: want}) || strings.Contains(plan.Preview.Text, "geheim") {
			t.Errorf("%s: %+v, %v", url, plan, err)
		}
	}
	p.git("config", "remote.origin.url", "https://pub.test/x.git")
	plan, err := p.planned(RemoteTool(), map[string]any{"action": "fetch"})
	if err != nil {
		t.Fatal(err)
	}
	p.git("config", "remote.origin.url", "https://pub.test/y.git")
	p.stale(RemoteTool(), plan)
}

func TestRemoteSaysWhatIsWrong(t *testing.T) {
	p, _ := shared(t)
	for want, args := range map[string]map[string]any{
		`no remote "up". There is origin`: {"action": "fetch", "remote": "up"},
		"no name of a remote":             {"action": "fetch", "remote": "--upload-pack=x"},
		"name of a remote. G":             {"action": "fetch", "remote": "https://pub.test/"},
		"no branch \"x\"":                 {"action": "push", "branch": "x"},
		"dash":                            {"action": "push", "branch": "--mirror"},
		"not checked out":                 {"action": "pull", "branch": "x"},
	} {
		if text := p.refuses(RemoteTool(), args, toolkit.CodeInvalid); !strings.Contains(text, want) {
			t.Errorf("%v: %s", args, text)
		}
	}
	for _, kv := range [][2]string{{"url.https://evil.test/.insteadOf", "origin"}, {"http.proxy", "http://x"}, {"http.https://x.sslVerify", "false"}, {"remote.origin.proxy", "x"}, {"protocol.ext.allow", "always"}} {
		p.git("config", kv[0], kv[1])
		p.refuses(RemoteTool(), map[string]any{"action": "fetch"}, CodeUnsafe)
		p.git("config", "--unset", kv[0])
	}
	p.git("config", "http.postBuffer", "1000000")
	p.does(RemoteTool(), map[string]any{"action": "fetch"})
	q := committed(t, "a.txt", "a\n")
	if text := q.refuses(RemoteTool(), map[string]any{"action": "fetch"}, toolkit.CodeInvalid); !strings.Contains(text, "no remotes") {
		t.Error(text)
	}
}

func TestPersonal(t *testing.T) {
	out := strings.Join([]string{
		"system", "credential.helper\nosxkeychain", "global", "user.name\nA", "global", "user.email\na@x", "global", "core.sshcommand\nssh -i k",
		"local", "user.name\nB", "local", "credential.helper\nevil", "local", "core.sshcommand\nevil", "global", "credential.https://x=y.helper\nz", "command", "credential.helper\n", "",
	}, "\x00")
	got := parsePersonal(out)
	if got.name != "B" || got.email != "a@x" || got.ssh != "ssh -i k" || len(got.credentials) != 1 || got.credentials[0] != "credential.helper=osxkeychain" {
		t.Errorf("%+v", got)
	}
}
