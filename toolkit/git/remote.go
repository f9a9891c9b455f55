package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

// The codes of a transfer's failures.
const (
	CodeSignIn   toolkit.Code = "AUTH_REQUIRED"
	CodeRejected toolkit.Code = "REJECTED"
	CodeNetwork  toolkit.Code = "NETWORK_ERROR"
)

type remoteArgs struct {
	Action      string `json:"action" enum:"fetch,pull,push" alias:"command,operation"`
	Remote      string `json:"remote,omitempty" default:"origin"`
	Branch      string `json:"branch,omitempty" doc:"the current one when absent" alias:"ref"`
	Force       bool   `json:"force,omitempty" doc:"push over the remote branch, if it is as last fetched" default:"false"`
	SetUpstream bool   `json:"set_upstream,omitempty" default:"false" alias:"setUpstream,upstream,track"`
	Path        string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
}

// Transferred is the data of git_remote.
type Transferred struct {
	Action     string   `json:"action"`
	Remote     string   `json:"remote"`
	Branch     string   `json:"branch"`
	Output     string   `json:"output"`
	NewCommits []Commit `json:"new_commits"` // that came or went, the newest first, at most maxShown
}

// maxShown is how many commits of a transfer are listed.
const maxShown = 50

// RemoteTool fetches, pulls and pushes.
func RemoteTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "git_remote",
		Summary:  "Fetch, pull or push.",
		Category: "git",
		Synonyms: "upload download sync publish",
		Guide:    "pull only goes forward: branches that parted are an error. Force is never for main branches.",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
		Foreign:  true,
	}, planRemote, runRemote, toolkit.AvailableIf(Available))
}

// route is one transfer: which branch, and where to.
type route struct {
	remote   string
	branch   string
	at       endpoint
	head     head
	local    string // commit of the branch here; "" if there is none
	tracking string // full name of what is known of the remote's branch
	known    string // its commit; "" if nothing is known
}

// route resolves the arguments of a transfer.
func (r *repo) route(ctx context.Context, w *toolkit.Workspace, a remoteArgs) (route, error) {
	t := route{remote: a.Remote, branch: a.Branch}
	var err error
	if t.at, err = r.endpoint(ctx, w, a.Remote, a.Action == "push"); err != nil {
		return t, err
	}
	if t.head, err = r.head(ctx); err != nil {
		return t, err
	}
	if t.branch == "" && t.head.ref == "" && a.Action != "fetch" {
		return t, toolkit.Errorf(toolkit.CodeInvalid, "no branch is checked out.").WithHint("Name one in branch, or switch to one.")
	}
	if t.branch == "" && a.Action != "fetch" {
		t.branch = t.head.branch()
	}
	if t.branch == "" {
		return t, nil
	}
	if err := r.checkBranch(ctx, t.branch); err != nil {
		return t, err
	}
	t.tracking = "refs/remotes/" + t.remote + "/" + t.branch
	if t.known, err = r.commit(ctx, t.tracking); err != nil {
		return t, err
	}
	t.local, err = r.commit(ctx, "refs/heads/"+t.branch)
	return t, err
}

func planRemote(ctx context.Context, w *toolkit.Workspace, a remoteArgs) (toolkit.Plan, error) {
	if a.Force && a.Action != "push" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "force goes with push only.").WithHint("Leave force out.")
	}
	r, err := look(ctx, w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	r = r.root()
	t, err := r.route(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	p := toolkit.Plan{Effects: []toolkit.Effect{t.at.effect(), {Kind: toolkit.Writes, Target: ".git"}}, Preview: toolkit.Preview{Kind: toolkit.PreviewText}}
	wanted := []string{factHead}
	switch a.Action {
	case "fetch":
		what := t.branch
		if what == "" {
			what = "all branches"
		}
		p.Summary = fmt.Sprintf("fetch %s from %s", what, t.remote)
		p.Preview.Text = p.Summary + "\n" + t.at.shown + "\n"
	case "pull":
		if err := r.canPull(t); err != nil {
			return toolkit.Plan{}, err
		}
		p.Summary = fmt.Sprintf("pull %s from %s", t.branch, t.remote)
		p.Preview.Text = p.Summary + "\n" + t.at.shown + "\n\nfetch, and go forward if nothing was committed here since; otherwise nothing changes\n"
		p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: r.dir})
		wanted = append(wanted, factIndex, factTree)
	default:
		text, err := r.planTransfer(ctx, t, a)
		if err != nil {
			return toolkit.Plan{}, explain(r.dir, err)
		}
		p.Summary = fmt.Sprintf("push %s to %s", t.branch, t.remote)
		if a.Force {
			p.Summary = "force " + p.Summary
			p = p.AtLevel(toolkit.Dangerous)
		}
		p.Preview.Text = p.Summary + "\n" + t.at.shown + "\n\n" + text
		p.Preview.Notes = append(p.Preview.Notes, "what the remote has is known from the last fetch", "the hooks of the repository do not run")
		wanted = append(wanted, "refs/heads/"+t.branch, t.tracking)
	}
	if p.Facts, err = r.facts(ctx, wanted...); err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	p.Facts = append(p.Facts, t.at.fact(t.remote))
	return careful(w, r.dir, p)
}

// canPull refuses a pull that could not go forward.
func (r *repo) canPull(t route) error {
	if t.head.ref != "refs/heads/"+t.branch {
		return toolkit.Errorf(toolkit.CodeInvalid, "%s is not checked out, so nothing can be pulled into it.", t.branch).WithHint("Switch to it first, or fetch.")
	}
	if r.prefix != "" {
		return toolkit.Errorf(toolkit.CodeInvalid, "the repository is larger than the project folder, and a pull would change files outside of it.").
			WithHint("Ask the user to pull.")
	}
	return nil
}

// protected are branches that others build on: they are never pushed by force.
var protected = []string{"main", "master", "trunk", "develop", "development", "production", "release", "release/*", "stable"}

func (r *repo) protects(ctx context.Context, t route) (bool, error) {
	out, err := r.git(ctx, "symbolic-ref", "--quiet", "refs/remotes/"+t.remote+"/HEAD")
	if err != nil && !refused(err, 1) {
		return false, err
	}
	if strings.TrimSpace(string(out)) == t.tracking {
		return true, nil
	}
	return slices.ContainsFunc(protected, func(pattern string) bool {
		ok, err := path.Match(pattern, t.branch)
		return ok || err != nil
	}), nil
}

// planTransfer says what a push would bring, and what a forced one would remove.
func (r *repo) planTransfer(ctx context.Context, t route, a remoteArgs) (string, error) {
	if t.local == "" {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "there is no branch %q here.", t.branch).WithHint("git_branch lists them.")
	}
	args := []string{t.local, "^" + t.known}
	if t.known == "" {
		args = []string{t.local, "--not", "--remotes=" + t.remote}
	}
	gained, err := r.commits(ctx, maxShown, args, nil)
	if err != nil {
		return "", err
	}
	var lost []entry
	if t.known != "" {
		if lost, err = r.commits(ctx, maxShown, []string{t.known, "^" + t.local}, nil); err != nil {
			return "", err
		}
	}
	switch {
	case a.Force && t.known == "":
		return "", toolkit.Errorf(CodeRejected, "it is not known what %s has as %s, so it cannot be replaced safely.", t.remote, t.branch).WithHint("Fetch first.")
	case len(lost) > 0 && !a.Force:
		return "", toolkit.Errorf(CodeRejected, "%s has %s that are not here, such as %s %q.", t.remote, plural(len(lost), "commit"), lost[0].short(), lost[0].Subject).
			WithHint("Pull first.")
	case t.known == t.local && !a.SetUpstream:
		return "", toolkit.Errorf(CodeNothing, "%s has all of %s already.", t.remote, t.branch).WithHint("There is nothing to push.")
	}
	if a.Force {
		switch yes, err := r.protects(ctx, t); {
		case err != nil:
			return "", err
		case yes:
			return "", toolkit.Errorf(CodeRejected, "%s is a branch that others build on, and is never pushed by force.", t.branch).WithHint("Push without force, or ask the user.")
		}
	}
	text := "new commits: " + listed(gained)
	if t.known == "" {
		text = "the branch is new there\n" + text
	}
	if len(lost) > 0 {
		text += "\ncommits that the remote loses: " + listed(lost)
	}
	return text, nil
}

// listed is a count and a line for each commit.
func listed(list []entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", len(list))
	if len(list) >= maxShown {
		b.Reset()
		fmt.Fprintf(&b, "%d or more\n", maxShown)
	}
	for _, c := range list {
		b.WriteString("  " + c.text(true))
	}
	return b.String()
}

func runRemote(ctx context.Context, w *toolkit.Workspace, a remoteArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	r = r.root()
	t, err := r.route(ctx, w, a)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	if !slices.Contains(p.Facts, t.at.fact(t.remote)) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the address of %s changed since the call was planned.", t.remote).WithHint("Call git_remote again.")
	}
	d := Transferred{Action: a.Action, Remote: t.remote, Branch: t.branch}
	var list []entry
	var changed []toolkit.Change
	switch a.Action {
	case "push":
		list, err = r.push(ctx, t, a.Force, a.SetUpstream)
		d.Output = fmt.Sprintf("pushed %s to %s, new commits: %s", t.branch, t.remote, listed(list))
	case "pull":
		list, changed, err = r.pull(ctx, t)
		d.Output = fmt.Sprintf("pulled %s from %s, new commits: %s", t.branch, t.remote, listed(list))
	default:
		list, err = r.fetch(ctx, t)
		d.Output = fmt.Sprintf("fetched from %s, new commits: %s", t.remote, listed(list))
	}
	if err == nil && a.SetUpstream && a.Action != "push" && t.local != "" {
		_, err = r.git(ctx, "branch", "--quiet", "--set-upstream-to="+t.remote+"/"+t.branch, t.branch)
	}
	if err != nil {
		return toolkit.Result{}, transferError(dir, t, err)
	}
	d.NewCommits = make([]Commit, 0, len(list))
	for _, c := range list {
		d.NewCommits = append(d.NewCommits, c.Commit)
	}
	shown, cut := toolkit.Bound(d.Output, min(w.OutputBudget(), toolkit.MaxBudget), "")
	d.Output = shown
	return toolkit.Result{Text: shown, Data: d, Changed: changed, Cut: cut}, nil
}

// push sends exactly the commit that the plan showed.
func (r *repo) push(ctx context.Context, t route, force, upstream bool) ([]entry, error) {
	args := []string{t.local, "^" + t.known}
	if t.known == "" {
		args = []string{t.local, "--not", "--remotes=" + t.remote}
	}
	list, err := r.commits(ctx, maxShown, args, nil)
	if err != nil {
		return nil, err
	}
	ref := "refs/heads/" + t.branch
	full := []string{"push", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--no-progress", t.at.packPrograms("receive-pack")}
	if force {
		full = append(full, "--force-with-lease="+ref+":"+t.known)
	}
	if _, _, err := r.transfer(ctx, t.at, append(full, t.remote, t.local+":"+ref)...); err != nil {
		return nil, err
	}
	if upstream {
		_, err = r.git(ctx, "branch", "--quiet", "--set-upstream-to="+t.remote+"/"+t.branch, t.branch)
	}
	return list, err
}

// fetch updates what is known of the remote's branches, and nothing else: a
// repository's own settings could have branches here overwritten.
func (r *repo) fetch(ctx context.Context, t route) ([]entry, error) {
	before, err := r.git(ctx, "for-each-ref", "--format=%(objectname)", "refs/remotes/"+t.remote+"/")
	if err != nil {
		return nil, err
	}
	spec := "+refs/heads/*:refs/remotes/" + t.remote + "/*"
	if t.branch != "" {
		spec = "+refs/heads/" + t.branch + ":" + t.tracking
	}
	if _, _, err := r.transfer(ctx, t.at, "fetch", "--quiet", "--no-progress", "--no-recurse-submodules", "--no-auto-maintenance", "--refmap=",
		t.at.packPrograms("upload-pack"), t.remote, spec); err != nil {
		return nil, err
	}
	args := []string{"--remotes=" + t.remote}
	seen := strings.Fields(string(before))
	slices.Sort(seen)
	for _, id := range slices.Compact(seen) {
		if objectID(id) && len(args) < maxPaths {
			args = append(args, "^"+id)
		}
	}
	return r.commits(ctx, maxShown, args, nil)
}

// errParted reports that a branch and the remote's have both gone on.
var errParted = errors.New("the branches have parted")

func (r *repo) pull(ctx context.Context, t route) ([]entry, []toolkit.Change, error) {
	if _, err := r.fetch(ctx, t); err != nil {
		return nil, nil, err
	}
	now, err := r.commit(ctx, t.tracking)
	if err != nil {
		return nil, nil, err
	}
	base, err := r.tree(ctx, t.head)
	if err != nil {
		return nil, nil, err
	}
	args := []string{now}
	if t.local != "" {
		args = append(args, "^"+t.local)
	}
	list, err := r.commits(ctx, maxShown, args, nil)
	if err != nil || len(list) == 0 {
		return list, nil, err
	}
	if t.local != "" {
		if _, err := r.git(ctx, "merge-base", "--is-ancestor", t.local, now); err != nil {
			if refused(err, 1) {
				err = errParted
			}
			return nil, nil, err
		}
	}
	if _, err := r.git(ctx, "merge", "--quiet", "--ff-only", "--no-stat", "--no-autostash", "--no-verify-signatures", now); err != nil {
		return nil, nil, err
	}
	changed, err := r.changes(ctx, base, now)
	return list, changed, err
}

// transferError says in plain words why a transfer failed.
func transferError(dir string, t route, err error) error {
	if errors.Is(err, errParted) {
		return toolkit.Errorf(CodeRejected, "%s here and on %s have both new commits, so nothing was merged.", t.branch, t.remote).
			WithHint("Look with git_log and git_diff; ask the user whether to merge or rebase.")
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		return explain(dir, err)
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(f.Stderr, s) })
	}
	switch {
	case has("could not read Username", "could not read Password", "Authentication failed", "Permission denied (", "Host key verification failed", "terminal prompts disabled"):
		return toolkit.Errorf(CodeSignIn, "%s does not let us in: %w.", t.remote, err).WithHint("Ask the user to sign in to it by hand, then try again.")
	case has("[rejected]", "stale info", "non-fast-forward", "fetch first", "[remote rejected]", "failed to push some refs"):
		return toolkit.Errorf(CodeRejected, "%s refused the push: %w.", t.remote, err).WithHint("Fetch, look at what is new there, and decide then.")
	case has("Could not resolve", "Connection refused", "Connection timed out", "unable to access", "did not end within", "Could not read from remote"):
		e := toolkit.Errorf(CodeNetwork, "%s was not reached: %w.", t.remote, err).WithHint("Try once more, or tell the user.")
		e.Retryable = true
		return e
	case has("couldn't find remote ref"):
		return toolkit.Errorf(toolkit.CodeInvalid, "%s has no branch %q.", t.remote, t.branch).WithHint("Fetch without branch to see what there is.")
	}
	return explain(dir, err)
}
