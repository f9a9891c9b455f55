package git

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of what is wrong with a pull request.
const (
	CodeNoGH        toolkit.Code = "GH_NOT_FOUND"
	CodeGHSignIn    toolkit.Code = "GH_AUTH_REQUIRED"
	CodeGH          toolkit.Code = "GH_ERROR"
	CodeWrongBranch toolkit.Code = "WRONG_BRANCH"
)

type prArgs struct {
	Action string `json:"action" enum:"create,get,list,comment,merge,diff" alias:"command,operation"`
	Repo   string `json:"repo,omitempty" doc:"owner/name; of the remote when absent" alias:"repository"`
	Number *int   `json:"pr_number,omitempty" alias:"number,pr,id,prNumber"`
	Title  string `json:"title,omitempty"`
	Body   string `json:"body,omitempty" doc:"description, or the comment" alias:"comment,description,text,message"`
	Base   string `json:"base,omitempty" doc:"target branch"`
	Head   string `json:"head,omitempty" doc:"source branch; the current one when absent" alias:"branch"`
	Draft  bool   `json:"draft,omitempty" default:"false"`
	Push   bool   `json:"push,omitempty" doc:"push the branch before create" default:"true"`
}

// Requested is the data of github_pr.
type Requested struct {
	Action string `json:"action"`
	Output string `json:"output"`
	Number int    `json:"pr_number"` // 0: of several, or unknown
	URL    string `json:"url"`
}

// PullRequestTool works with pull requests on GitHub, through gh.
func PullRequestTool() toolkit.Tool {
	g := &signIn{}
	return toolkit.Define(toolkit.Spec{
		Name:     "github_pr",
		Summary:  "Create, read, list, comment on or merge GitHub pull requests.",
		Category: "git",
		Synonyms: "pull request PR review github gh",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
		Foreign:  true,
	}, func(ctx context.Context, w *toolkit.Workspace, a prArgs) (toolkit.Plan, error) {
		if err := a.check(); err != nil {
			return toolkit.Plan{}, err
		}
		if err := g.check(ctx, w); err != nil {
			return toolkit.Plan{}, err
		}
		return planPR(ctx, w, a)
	}, runPR, toolkit.AvailableIf(g.check))
}

// repoName is owner/name, or host/owner/name for another server than github.com.
var repoName = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// check says what is missing from the arguments of an action.
func (a prArgs) check() error {
	need := func(ok bool, name string) error {
		if ok {
			return nil
		}
		return toolkit.Errorf(toolkit.CodeInvalid, "%s needs %s.", a.Action, name).WithHint("Add %s.", name)
	}
	if a.Number != nil && *a.Number < 1 {
		return toolkit.Errorf(toolkit.CodeInvalid, "pr_number %d is no number of a pull request.", *a.Number).WithHint("action list shows them.")
	}
	if a.Repo != "" && !repoName.MatchString(a.Repo) {
		return toolkit.Errorf(toolkit.CodeInvalid, "repo %q is not owner/name.", a.Repo).WithHint("Leave repo out for that of the remote.")
	}
	if err := checkText("title", a.Title); err != nil {
		return err
	}
	if strings.ContainsRune(a.Body, 0) {
		return toolkit.Errorf(toolkit.CodeInvalid, "body has a NUL byte.").WithHint("Give plain text.")
	}
	for name, branch := range map[string]string{"base": a.Base, "head": a.Head} {
		if branch != "" && CheckRef(branch) != nil {
			return toolkit.Errorf(toolkit.CodeInvalid, "%s %q is no name of a branch.", name, branch).WithHint("Leave %s out, or name a branch.", name)
		}
	}
	switch a.Action {
	case "create":
		return need(strings.TrimSpace(a.Title) != "", "title")
	case "list":
		return nil
	case "comment":
		if err := need(strings.TrimSpace(a.Body) != "", "body"); err != nil {
			return err
		}
	}
	return need(a.Number != nil, "pr_number")
}

// level is that of the contract.
func (a prArgs) level() toolkit.Level {
	switch a.Action {
	case "get", "list", "diff":
		return toolkit.Safe
	case "merge":
		return toolkit.Dangerous
	}
	return toolkit.Moderate
}

// request is a call with everything resolved.
type request struct {
	prArgs
	r     *repo // nil: the workspace is in no repository
	repo  string
	route route // of the push before create
}

func (q request) pushes() bool { return q.Action == "create" && q.Push }

// resolve finds the repository and, for create, the branch.
func resolve(ctx context.Context, w *toolkit.Workspace, a prArgs) (request, error) {
	q := request{prArgs: a, repo: a.Repo}
	r, err := open(ctx, w.Proc, ".")
	if err != nil && (a.Repo == "" || a.Action == "create") {
		return q, explain(".", err)
	}
	if err == nil {
		q.r = r.root()
	}
	if q.repo == "" {
		if q.repo, err = q.r.hub(ctx, w); err != nil {
			return q, explain(".", err)
		}
	}
	if a.Action != "create" {
		return q, nil
	}
	h, err := q.r.head(ctx)
	if err != nil {
		return q, explain(".", err)
	}
	if q.Head == "" {
		if h.ref == "" {
			return q, toolkit.Errorf(CodeWrongBranch, "no branch is checked out.").WithHint("Make one with git_branch, or name one in head.")
		}
		q.Head = h.branch()
	}
	if q.Head == q.Base {
		return q, toolkit.Errorf(CodeWrongBranch, "head and base are both %s.", q.Base).WithHint("Make a branch for the change with git_branch.")
	}
	if !q.pushes() {
		return q, nil
	}
	q.route, err = q.r.route(ctx, w, remoteArgs{Action: "push", Remote: "origin", Branch: q.Head})
	if err != nil {
		return q, explain(".", err)
	}
	main, err := q.r.protects(ctx, q.route)
	if err == nil && main && q.Base == "" {
		err = toolkit.Errorf(CodeWrongBranch, "%s is the branch that others build on.", q.Head).WithHint("Make a branch for the change with git_branch, or name a base.")
	}
	return q, err
}

// hub is the repository on GitHub that the remote leads to.
func (r *repo) hub(ctx context.Context, w *toolkit.Workspace) (string, error) {
	e, err := r.endpoint(ctx, w, "origin", true)
	if err != nil {
		return "", err
	}
	host, _, _ := strings.Cut(e.target, ":")
	name := e.url
	if _, rest, ok := strings.Cut(name, "://"); ok {
		_, name, _ = strings.Cut(rest, "/")
	} else if m := scpURL.FindStringSubmatch(name); m != nil {
		name = m[2]
	}
	name = strings.Trim(strings.TrimSuffix(strings.TrimSuffix(name, "/"), ".git"), "/")
	if host != "github.com" {
		name = host + "/" + name
	}
	if e.scheme == "file" || strings.Count(name, "/") < 1 || !repoName.MatchString(name) {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "the remote origin, %s, is no repository on GitHub.", e.shown).WithHint("Give repo as owner/name.")
	}
	return name, nil
}

// host is the server that gh talks to.
func (q request) host() string {
	if parts := strings.Split(q.repo, "/"); len(parts) == 3 {
		return parts[0]
	}
	return "github.com"
}

const listFields, viewFields = "number,title,state,isDraft,author,headRefName,baseRefName,url", "number,title,state,isDraft,author,headRefName,baseRefName,headRefOid,url,body,mergeable,reviewDecision,additions,deletions,changedFiles,comments"

// command is what gh is called with, and what it reads.
func (q request) command() (argv []string, stdin string) {
	number := ""
	if q.Number != nil {
		number = strconv.Itoa(*q.Number)
	}
	switch q.Action {
	case "create":
		argv = []string{"pr", "create", "--repo=" + q.repo, "--head=" + q.Head, "--title=" + q.Title, "--body-file=-"}
		if q.Base != "" {
			argv = append(argv, "--base="+q.Base)
		}
		if q.Draft {
			argv = append(argv, "--draft")
		}
		return argv, q.Body
	case "list":
		argv = []string{"pr", "list", "--repo=" + q.repo, "--limit=30", "--json=" + listFields}
		if q.Base != "" {
			argv = append(argv, "--base="+q.Base)
		}
		if q.Head != "" {
			argv = append(argv, "--head="+q.Head)
		}
		return argv, ""
	case "get":
		return []string{"pr", "view", number, "--repo=" + q.repo, "--json=" + viewFields}, ""
	case "diff":
		return []string{"pr", "diff", number, "--repo=" + q.repo, "--color=never"}, ""
	case "comment":
		return []string{"pr", "comment", number, "--repo=" + q.repo, "--body-file=-"}, q.Body
	}
	return []string{"pr", "merge", number, "--repo=" + q.repo, "--merge"}, ""
}

func planPR(ctx context.Context, w *toolkit.Workspace, a prArgs) (toolkit.Plan, error) {
	if w.Net == nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "the network is switched off.")
	}
	if w.Proc.Sandboxed() {
		return toolkit.Plan{}, toolkit.Errorf(CodeSandbox, "the sandbox has no network, so GitHub is not reached.").WithHint("Tell the user: it needs another mode.")
	}
	q, err := resolve(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if _, err := w.Net.Check(ctx, "https://"+q.host()+"/"); err != nil {
		return toolkit.Plan{}, err
	}
	prog, err := w.Proc.LookPath("gh")
	if err != nil {
		return toolkit.Plan{}, err
	}
	argv, stdin := q.command()
	what := a.Action
	if a.Number != nil {
		what += " #" + strconv.Itoa(*a.Number)
	}
	text := what + " of " + q.repo + "\n\ngh " + strings.Join(argv, " ") + "\n"
	if stdin != "" {
		text += "\n" + stdin + "\n"
	}
	p := toolkit.Plan{
		Summary: what + " of " + q.repo,
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: q.host() + ":443"}},
		Facts:   []toolkit.Fact{{Kind: "program", Target: prog.Path, Value: fmt.Sprintf("%s %d bytes %d", prog.Real, prog.Size, prog.ModTime.UnixNano())}},
	}
	if q.pushes() {
		commits, err := q.r.planTransfer(ctx, q.route, remoteArgs{SetUpstream: true})
		if err != nil {
			return toolkit.Plan{}, explain(".", err)
		}
		text = "push " + q.Head + " to origin, " + q.route.at.shown + "\n" + commits + "\nthen " + text
		facts, err := q.r.facts(ctx, "refs/heads/"+q.Head, q.route.tracking)
		if err != nil {
			return toolkit.Plan{}, explain(".", err)
		}
		p.Facts = append(append(p.Facts, facts...), q.route.at.fact("origin"))
		p.Effects = append(p.Effects, q.route.at.effect(), toolkit.Effect{Kind: toolkit.Writes, Target: ".git"})
	}
	p.Preview = toolkit.Preview{Kind: toolkit.PreviewText, Text: text}
	if a.Action == "merge" {
		p.Preview.Notes = []string{"merges what the pull request holds when this runs, with a merge commit"}
	}
	return careful(w, ".", p.AtLevel(a.level()).WithPrivate(prog))
}

func runPR(ctx context.Context, w *toolkit.Workspace, a prArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	if err := unchanged(w, ".", p); err != nil {
		return toolkit.Result{}, err
	}
	q, err := resolve(ctx, w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	prog, ok := p.Private().(guard.Program)
	if !ok {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the plan has lost its program.").WithHint("Call github_pr again.")
	}
	hub := &gh{run: w.Proc, program: prog}
	pushed := ""
	if q.pushes() {
		if err := q.r.still(ctx, p); err != nil {
			return toolkit.Result{}, err
		}
		if !slices.Contains(p.Facts, q.route.at.fact("origin")) {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the address of origin changed since the call was planned.").WithHint("Call github_pr again.")
		}
		if q.route.known != q.route.local {
			if _, err := q.r.push(ctx, q.route, false, true); err != nil {
				return toolkit.Result{}, transferError(".", q.route, err)
			}
			pushed = "pushed " + q.Head + "; "
		}
	}
	argv, stdin := q.command()
	if a.Action == "merge" {
		if argv, err = hub.exactly(ctx, q, argv); err != nil {
			return toolkit.Result{}, err
		}
	}
	out, err := hub.do(ctx, stdin, argv...)
	if err != nil {
		if pushed != "" { // what was done is said, since it stays
			e := toolkit.AsError(err)
			err = toolkit.Errorf(e.Code, "%sbut then: %s", pushed, e.Message).WithHint("%s", e.Hint)
		}
		return toolkit.Result{}, err
	}
	d, err := q.outcome(out)
	if err != nil {
		return toolkit.Result{}, err
	}
	shown, cut := toolkit.Bound(pushed+d.Output, min(w.OutputBudget(), toolkit.MaxBudget), "")
	d.Output = shown
	return toolkit.Result{Text: shown, Data: d, Cut: cut}, nil
}

// outcome reads what gh printed.
func (q request) outcome(out []byte) (Requested, error) {
	d := Requested{Action: q.Action}
	if q.Number != nil {
		d.Number = *q.Number
	}
	text := strings.TrimSpace(guard.ToText(out))
	unread := func(err error) error {
		return toolkit.Errorf(CodeGH, "what gh printed is not understood: %w.", err).WithHint("Tell the user; gh may be too old.")
	}
	switch q.Action {
	case "list":
		var list []pullRequest
		if err := json.Unmarshal(out, &list); err != nil {
			return d, unread(err)
		}
		d.Output = fmt.Sprintf("%s open in %s\n", plural(len(list), "pull request"), q.repo)
		for _, pr := range list {
			d.Output += pr.line() + "\n"
		}
	case "get":
		var pr pullRequest
		if err := json.Unmarshal(out, &pr); err != nil {
			return d, unread(err)
		}
		d.URL, d.Output = pr.URL, pr.text()
	case "diff":
		d.Output = text + "\n"
	case "create":
		d.URL = lastURL(text)
		if _, n, ok := strings.Cut(d.URL, "/pull/"); ok {
			d.Number = count(n)
		}
		d.Output = fmt.Sprintf("created pull request #%d: %s\n", d.Number, d.URL)
	case "comment":
		d.URL = lastURL(text)
		d.Output = fmt.Sprintf("commented on #%d: %s\n", d.Number, d.URL)
	default:
		d.Output = fmt.Sprintf("merged #%d of %s\n", d.Number, q.repo)
	}
	return d, nil
}

// lastURL is the last word of a text that is an address.
func lastURL(text string) string {
	found := ""
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "https://") {
			found = word
		}
	}
	return found
}
