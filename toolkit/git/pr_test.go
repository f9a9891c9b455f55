package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// fakeGH puts a gh on the path of a project that answers with files and writes
// down how it was called.
type fakeGH struct {
	t   *testing.T
	dir string
}

func withGH(t *testing.T, p *project) *fakeGH {
	t.Helper()
	g := &fakeGH{t, t.TempDir()}
	bin := t.TempDir()
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
cd '` + g.dir + `' || exit 9
{ for a in "$@"; do printf '[%s]' "$a"; done; echo; } >>calls
case "$1 $2" in
"auth token") cat token 2>/dev/null || exit 1; exit 0 ;;
esac
cat >stdin-$2
env >env
if [ -f fails ]; then cat fails >&2; exit 1; fi
cat "$2"
`
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	g.answer("token", "gho_x")
	run := guard.NewRunner(p.w.Files, guard.RunnerOptions{Environ: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + p.home}})
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	p.w.Proc = run
	return g
}

func (g *fakeGH) answer(name, content string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(content), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

func (g *fakeGH) said(name string) string {
	g.t.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		g.t.Fatal(err)
	}
	return string(data)
}

// last is how gh was called the last time.
func (g *fakeGH) last() string {
	calls := strings.Split(strings.TrimSpace(g.said("calls")), "\n")
	return calls[len(calls)-1]
}

// onHub is a project with a remote on GitHub, which is not reached.
func onHub(t *testing.T) (*project, *fakeGH) {
	t.Helper()
	p := committed(t, "a.txt", "a\n")
	online(t, p)
	p.git("remote", "add", "origin", "git@github.com:own/thing.git")
	return p, withGH(t, p)
}

func requested(t *testing.T, r toolkit.Result) Requested {
	t.Helper()
	d, ok := r.Data.(Requested)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

const onePR = `{"number":7,"title":"Fix it","state":"OPEN","isDraft":false,"author":{"login":"ada"},"headRefName":"fix","baseRefName":"main",
"headRefOid":"0123456789abcdef0123456789abcdef01234567","url":"https://github.com/own/thing/pull/7","body":"because","mergeable":"MERGEABLE","additions":3,"deletions":1,"changedFiles":2,
"comments":[{"author":{"login":"bob"},"body":"fine"}]}`

func TestReadingPullRequests(t *testing.T) {
	p, g := onHub(t)
	g.answer("list", "["+onePR+"]")
	g.answer("view", onePR)
	g.answer("diff", "diff --git a/x b/x\n")
	d := requested(t, p.does(PullRequestTool(), map[string]any{"action": "list"}))
	if d.Output != "1 pull request open in own/thing\n#7 Fix it (ada, fix -> main)\n" {
		t.Errorf("%q", d.Output)
	}
	if got, want := g.last(), "[pr][list][--repo=own/thing][--limit=30][--json="+listFields+"]"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
	d = requested(t, p.does(PullRequestTool(), map[string]any{"action": "get", "pr_number": 7, "repo": "pub.test/a/b"}))
	if d.Number != 7 || d.URL != "https://github.com/own/thing/pull/7" || !strings.Contains(d.Output, "2 files, +3 -1") || !strings.Contains(d.Output, "bob wrote:\nfine") {
		t.Errorf("%+v", d)
	}
	if d := requested(t, p.does(PullRequestTool(), map[string]any{"action": "diff", "pr_number": 7})); d.Output != "diff --git a/x b/x\n" {
		t.Errorf("%+v", d)
	}
	if env := g.said("env"); !strings.Contains(env, "GIT_CONFIG_KEY_1=core.fsmonitor\n") || !strings.Contains(env, "GIT_CONFIG_VALUE_1=false\n") || !strings.Contains(env, "GH_PROMPT_DISABLED=1") {
		t.Errorf("environment:\n%s", env)
	}
	g.answer("list", "not JSON")
	if _, err := p.use(PullRequestTool(), map[string]any{"action": "list"}); toolkit.AsError(err) == nil || toolkit.AsError(err).Code != CodeGH {
		t.Errorf("error %v", err)
	}
}

func TestCommentAndMerge(t *testing.T) {
	p, g := onHub(t)
	g.answer("comment", "https://github.com/own/thing/pull/7#issuecomment-1\n")
	g.answer("view", onePR)
	g.answer("merge", "")
	d := requested(t, p.does(PullRequestTool(), map[string]any{"action": "comment", "pr_number": 7, "body": "--repo=x\nline"}))
	if g.said("stdin-comment") != "--repo=x\nline" || !strings.HasSuffix(d.URL, "issuecomment-1") || d.Number != 7 {
		t.Errorf("%q, %+v", g.said("stdin-comment"), d)
	}
	plan, err := p.planned(PullRequestTool(), map[string]any{"action": "merge", "pr_number": 7})
	if err != nil || plan.Level != toolkit.Dangerous {
		t.Fatalf("%v, %v", plan.Level, err)
	}
	if _, err := PullRequestTool().Run(t.Context(), p.w, plan, nil); err != nil {
		t.Fatal(err)
	}
	if want := "[pr][merge][7][--repo=own/thing][--merge][--match-head-commit=0123456789abcdef0123456789abcdef01234567]"; g.last() != want {
		t.Errorf("called %s, want %s", g.last(), want)
	}
	for from, to := range map[string]string{`"OPEN"`: `"CLOSED"`, `"isDraft":false`: `"isDraft":true`, "0123456789abcdef0123456789abcdef01234567": "x"} {
		g.answer("view", strings.Replace(onePR, from, to, 1))
		if _, err := p.use(PullRequestTool(), map[string]any{"action": "merge", "pr_number": 7}); err == nil || strings.Contains(g.last(), "[merge]") {
			t.Errorf("%s: merged, %v", to, err)
		}
	}
}

func TestCreatePushesFirst(t *testing.T) {
	p, _ := shared(t)
	online(t, p)
	g := withGH(t, p)
	g.answer("create", "Creating...\nhttps://github.com/own/thing/pull/12\n")
	if text := p.refuses(PullRequestTool(), map[string]any{"action": "create", "title": "T", "repo": "own/thing"}, CodeWrongBranch); !strings.Contains(text, "main") {
		t.Error(text)
	}
	p.git("checkout", "-q", "-b", "fix")
	p.change("a.txt", "b\n", "the fix")
	plan, err := p.planned(PullRequestTool(), map[string]any{"action": "create", "title": "Fix --all", "body": "why", "repo": "own/thing", "draft": true, "base": "main"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Level != toolkit.Moderate || !strings.Contains(plan.Preview.Text, "push fix to origin") || !strings.Contains(plan.Preview.Text, " the fix (t)") || !strings.Contains(plan.Preview.Text, "why") {
		t.Errorf("%+v", plan)
	}
	r, err := PullRequestTool().Run(t.Context(), p.w, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := requested(t, r); d.Number != 12 || d.URL != "https://github.com/own/thing/pull/12" || !strings.HasPrefix(d.Output, "pushed fix; created") {
		t.Errorf("%+v", d)
	}
	if p.git("-C", "origin.git", "rev-parse", "fix") != p.git("rev-parse", "HEAD") {
		t.Error("the branch is not there")
	}
	if want := "[pr][create][--repo=own/thing][--head=fix][--title=Fix --all][--body-file=-][--base=main][--draft]"; g.last() != want || g.said("stdin-create") != "why" {
		t.Errorf("called %s with %q, want %s", g.last(), g.said("stdin-create"), want)
	}
	p.change("a.txt", "c\n", "more")
	plan, err = p.planned(PullRequestTool(), map[string]any{"action": "create", "title": "T", "repo": "own/thing"})
	if err != nil {
		t.Fatal(err)
	}
	p.change("a.txt", "d\n", "even more")
	p.stale(PullRequestTool(), plan)
	g.answer("fails", "a pull request already exists\n")
	if _, err := p.use(PullRequestTool(), map[string]any{"action": "create", "title": "T", "repo": "own/thing"}); err == nil || !strings.Contains(err.Error(), "pushed fix; but then") {
		t.Errorf("error %v", err)
	}
}

func TestPullRequestSaysWhatIsWrong(t *testing.T) {
	p, g := onHub(t)
	for want, args := range map[string]map[string]any{
		"get needs pr_number":  {"action": "get"},
		"merge needs pr_numb":  {"action": "merge"},
		"comment needs body":   {"action": "comment", "pr_number": 1},
		"comment needs pr_num": {"action": "comment", "body": "x"},
		"create needs title":   {"action": "create"},
		"owner/name":           {"action": "list", "repo": "--web"},
		"no number":            {"action": "get", "pr_number": 0},
		"no name of a branch":  {"action": "list", "base": "-x"},
	} {
		if text := p.refuses(PullRequestTool(), args, toolkit.CodeInvalid); !strings.Contains(text, want) {
			t.Errorf("%v: %s", args, text)
		}
	}
	if calls := g.said("calls"); calls != "" {
		t.Errorf("gh was called for that: %s", calls)
	}
	_, err := p.planned(PullRequestTool(), map[string]any{"action": "list", "repo": "loc.test/a/b"})
	if denied, ok := guard.AsDenied(err); !ok || denied.Rule != guard.RuleAddress {
		t.Errorf("a private host: %v", err)
	}
	g.answer("fails", "To get started with GitHub CLI, please run:  gh auth login\n")
	if _, err := p.use(PullRequestTool(), map[string]any{"action": "list"}); toolkit.AsError(err) == nil || toolkit.AsError(err).Code != CodeGHSignIn {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(filepath.Join(g.dir, "token")); err != nil {
		t.Fatal(err)
	}
	p.refuses(PullRequestTool(), map[string]any{"action": "list"}, CodeGHSignIn)
	if err := PullRequestTool().Available(t.Context(), p.w); toolkit.AsError(err) == nil || toolkit.AsError(err).Code != CodeGHSignIn {
		t.Errorf("available: %v", err)
	}
	q := committed(t, "a.txt", "a\n")
	q.w.Proc = guard.NewRunner(q.w.Files, guard.RunnerOptions{Path: []string{}})
	t.Cleanup(func() { _ = q.w.Proc.Close() })
	q.refuses(PullRequestTool(), map[string]any{"action": "list"}, CodeNoGH)
}

func TestTheRepositoryOfARemote(t *testing.T) {
	p, _ := onHub(t)
	for url, want := range map[string]string{
		"git@github.com:own/thing.git": "own/thing", "https://github.com/own/thing": "own/thing", "https://u:p@github.com/own/thing.git/": "own/thing",
		"ssh://git@pub.test:22/a/b.git": "pub.test/a/b", "https://github.com/own": "", "https://github.com/a/b/c/d": "",
	} {
		p.git("config", "remote.origin.url", url)
		r, err := open(t.Context(), p.w.Proc, ".")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.hub(t.Context(), p.w); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", url, got, err, want)
		}
	}
}
