package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// gh runs GitHub's own program, which knows how to sign in.
type gh struct {
	run     *guard.Runner
	program guard.Program
}

// ghEnvironment makes gh ask nobody, and hardens the git that it may run. The
// person's token is for gh, as it would be in a terminal.
func ghEnvironment() []string {
	env := append([]string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_PAGER=cat", "GH_EDITOR=false", "GH_BROWSER=false", "NO_COLOR=1", "CLICOLOR=0"}, environment...)
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	n := 0
	for _, kv := range hardened {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, name), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
			n++
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// ghTimeout ends a gh that waits for the network.
const ghTimeout = time.Minute

// do runs gh and returns what it printed.
func (g *gh) do(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	exit, err := g.run.Run(ctx, guard.Command{
		Argv: append([]string{g.program.Path}, args...), Stdin: []byte(stdin), OwnEnv: ghEnvironment(),
		Program: &g.program, MaxOutput: 2 * maxGitOutput, Timeout: ghTimeout,
	})
	var changed *guard.Changed
	if errors.As(err, &changed) {
		return nil, toolkit.Errorf(toolkit.CodeChanged, "gh is another program than the plan showed: %w.", err).WithHint("Call github_pr again.")
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if exit.Reason == guard.Exited && exit.Code == 0 && exit.Stdout.Dropped == 0 {
		return append(exit.Stdout.Head, exit.Stdout.Tail...), nil
	}
	said := strings.TrimSpace(guard.ToText(exit.Stderr.Head))
	if len(said) > maxStderr {
		said = strings.ToValidUTF8(said[:maxStderr], "")
	}
	switch {
	case exit.Code == 4, strings.Contains(said, "gh auth login"), strings.Contains(said, "HTTP 401"):
		return nil, toolkit.Errorf(CodeGHSignIn, "gh is not signed in: %s", said).WithHint("Ask the user to run gh auth login.")
	case exit.Reason == guard.TimedOut:
		return nil, toolkit.Errorf(toolkit.CodeTimeout, "gh did not end within %s.", ghTimeout).WithHint("Tell the user.")
	case exit.Stdout.Dropped > 0:
		return nil, toolkit.Errorf(CodeGH, "gh printed %d bytes, too many to read.", exit.Stdout.Total).WithHint("Use git_diff after a fetch.")
	}
	return nil, toolkit.Errorf(CodeGH, "gh %s failed with code %d: %s", strings.Join(args[:min(2, len(args))], " "), exit.Code, said)
}

// exactly ties a merge to the commit that the pull request has now, and refuses
// one that is closed or a draft.
func (g *gh) exactly(ctx context.Context, q request, argv []string) ([]string, error) {
	out, err := g.do(ctx, "", "pr", "view", strconv.Itoa(*q.Number), "--repo="+q.repo, "--json=state,isDraft,headRefOid,title,url,number")
	if err != nil {
		return nil, err
	}
	var pr pullRequest
	if err := json.Unmarshal(out, &pr); err != nil {
		return nil, toolkit.Errorf(CodeGH, "what gh printed is not understood: %w.", err)
	}
	switch {
	case pr.State != "OPEN":
		return nil, toolkit.Errorf(CodeGH, "pull request #%d is %s.", *q.Number, strings.ToLower(pr.State)).WithHint("action list shows the open ones.")
	case pr.Draft:
		return nil, toolkit.Errorf(CodeGH, "pull request #%d is a draft.", *q.Number).WithHint("Ask the user to mark it as ready.")
	case !objectID(pr.HeadID):
		return nil, toolkit.Errorf(CodeGH, "gh does not say which commit pull request #%d has.", *q.Number)
	}
	return append(argv, "--match-head-commit="+pr.HeadID), nil
}

// pullRequest is what gh says of one.
type pullRequest struct {
	Number    int    `json:"number"`
	Title     string `json:"title"`
	State     string `json:"state"`
	Draft     bool   `json:"isDraft"`
	Head      string `json:"headRefName"`
	HeadID    string `json:"headRefOid"`
	Base      string `json:"baseRefName"`
	URL       string `json:"url"`
	Body      string `json:"body"`
	Mergeable string `json:"mergeable"`
	Review    string `json:"reviewDecision"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Files     int    `json:"changedFiles"`
	Author    person `json:"author"`
	Comments  []struct {
		Author person `json:"author"`
		Body   string `json:"body"`
	} `json:"comments"`
}

type person struct {
	Login string `json:"login"`
}

func (pr pullRequest) line() string {
	text := fmt.Sprintf("#%d %s (%s, %s -> %s)", pr.Number, pr.Title, pr.Author.Login, pr.Head, pr.Base)
	if pr.Draft {
		text += ", draft"
	}
	return text
}

func (pr pullRequest) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, +%d -%d\n%s\n", pr.line(), strings.ToLower(pr.State), plural(pr.Files, "file"), pr.Additions, pr.Deletions, pr.URL)
	for _, s := range []string{pr.Mergeable, pr.Review} {
		if s != "" {
			b.WriteString(strings.ToLower(strings.ReplaceAll(s, "_", " ")) + "\n")
		}
	}
	if pr.Body != "" {
		b.WriteString("\n" + strings.TrimSpace(pr.Body) + "\n")
	}
	for _, c := range pr.Comments {
		fmt.Fprintf(&b, "\n%s wrote:\n%s\n", c.Author.Login, strings.TrimSpace(c.Body))
	}
	return b.String()
}

// signIn remembers for a while whether gh is signed in, since that is asked
// whenever a model's tools are chosen. It is safe for concurrent use.
type signIn struct {
	mu      sync.Mutex
	program guard.Program
	asked   time.Time
	err     error
}

// remembered is how long an answer counts.
const remembered = 30 * time.Second

// check returns nil if gh is here and signed in. It does not use the network: gh
// is asked whether it has a token, and the token is not kept.
func (s *signIn) check(ctx context.Context, w *toolkit.Workspace) error {
	prog, err := w.Proc.LookPath("gh")
	if err != nil {
		return toolkit.Errorf(CodeNoGH, "GitHub's program gh is not installed.").WithHint("Ask the user to install it from cli.github.com.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if prog.Same(s.program) && time.Since(s.asked) < remembered {
		return s.err
	}
	exit, err := w.Proc.Run(ctx, guard.Command{
		Argv: []string{prog.Path, "auth", "token"}, OwnEnv: ghEnvironment(), Program: &prog, Timeout: 5 * time.Second, MaxOutput: 4 << 10,
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.program, s.asked, s.err = prog, time.Now(), nil
	if exit.Reason != guard.Exited || exit.Code != 0 || exit.Stdout.Total == 0 {
		s.err = toolkit.Errorf(CodeGHSignIn, "gh is not signed in to GitHub.").WithHint("Ask the user to run gh auth login.")
	}
	return s.err
}
