package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

// CodeLoses is the failure of what would lose commits or changes.
const CodeLoses toolkit.Code = "WOULD_LOSE_WORK"

type branchArgs struct {
	List     bool   `json:"list,omitempty" default:"true"`
	Create   string `json:"create,omitempty" alias:"new,name,branch"`
	Checkout string `json:"checkout,omitempty" doc:"also with create" alias:"switch,switch_to"`
	Delete   string `json:"delete,omitempty" doc:"merged only" alias:"remove"`
	Path     string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
}

// Branch is one branch.
type Branch struct {
	Name     string `json:"name"`
	Commit   string `json:"commit"`
	Subject  string `json:"subject"`
	Upstream string `json:"upstream,omitempty"`
	Remote   bool   `json:"remote,omitempty"`
}

// Branches is the data of git_branch.
type Branches struct {
	Branches []Branch `json:"branches"`
	Current  string   `json:"current"`
	Output   string   `json:"output"`
}

// BranchTool lists, makes, switches and deletes branches. It never loses a
// commit or a change: it has no force.
func BranchTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "git_branch",
		Summary:  "List, create, switch or delete branches.",
		Category: "git",
		Synonyms: "checkout switch",
		Level:    toolkit.Moderate,
		Tier:     tiers.Standard,
	}, planBranch, runBranch, toolkit.AvailableIf(Available))
}

// lists reports whether the call changes nothing.
func (a branchArgs) lists() bool { return a.Create == "" && a.Checkout == "" && a.Delete == "" }

func planBranch(ctx context.Context, w *toolkit.Workspace, a branchArgs) (toolkit.Plan, error) {
	if a.lists() {
		dir, err := folder(w, a.Path)
		if err != nil {
			return toolkit.Plan{}, err
		}
		return careful(w, dir, toolkit.Plan{Summary: "branches of " + dir, Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: dir}}}.AtLevel(toolkit.Safe))
	}
	switch {
	case a.Delete != "" && (a.Create != "" || a.Checkout != ""):
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "delete goes with neither create nor checkout.").WithHint("Make two calls.")
	case a.Create != "" && a.Checkout != "" && a.Create != a.Checkout:
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "create %q and checkout %q are two branches.", a.Create, a.Checkout).
			WithHint("Give both the same name to make a branch and switch to it.")
	}
	r, err := look(ctx, w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	r = r.root()
	var p toolkit.Plan
	switch {
	case a.Create != "":
		p, err = r.planCreate(ctx, a.Create, a.Checkout != "")
	case a.Delete != "":
		p, err = r.planDelete(ctx, a.Delete)
	default:
		p, err = r.planCheckout(ctx, w, a.Checkout)
	}
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	return careful(w, r.dir, p)
}

// checkBranch refuses what is no name of a branch.
func (r *repo) checkBranch(ctx context.Context, name string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	_, err := r.git(ctx, "check-ref-format", "refs/heads/"+name)
	if err == nil && name != "HEAD" && name != "@" {
		return nil
	}
	if err != nil && !refused(err, 1) {
		return err
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "%q is no name for a branch.", name).WithHint("Use letters, digits, - and /, like fix/login.")
}

func (r *repo) planCreate(ctx context.Context, name string, checkout bool) (toolkit.Plan, error) {
	if err := r.checkBranch(ctx, name); err != nil {
		return toolkit.Plan{}, err
	}
	h, err := r.head(ctx)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if h.commit == "" && !checkout {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "there is no commit yet that a branch could start from.").WithHint("Commit first.")
	}
	if id, err := r.commit(ctx, "refs/heads/"+name); err != nil || id != "" {
		if err == nil {
			err = toolkit.Errorf(toolkit.CodeInvalid, "the branch %q exists already.", name).WithHint("Switch to it with checkout, or choose another name.")
		}
		return toolkit.Plan{}, err
	}
	facts, err := r.facts(ctx, factHead, "refs/heads/"+name)
	text := fmt.Sprintf("make the branch %s at %s", name, describe(h))
	if checkout {
		text += "\nand switch to it; files stay as they are"
	}
	return toolkit.Plan{
		Summary: "new branch " + name,
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: text},
		Facts:   facts,
	}, err
}

func describe(h head) string {
	if h.commit == "" {
		return h.branch() + ", which has no commit yet"
	}
	return fmt.Sprintf("%s (%s)", h.branch(), h.commit[:min(9, len(h.commit))])
}

func (r *repo) planDelete(ctx context.Context, name string) (toolkit.Plan, error) {
	if err := r.checkBranch(ctx, name); err != nil {
		return toolkit.Plan{}, err
	}
	ref := "refs/heads/" + name
	id, err := r.commit(ctx, ref)
	if err != nil {
		return toolkit.Plan{}, err
	}
	h, err := r.head(ctx)
	switch {
	case err != nil:
		return toolkit.Plan{}, err
	case id == "":
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "there is no branch %q.", name).WithHint("Call git_branch without arguments to list them.")
	case h.ref == ref:
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "%q is checked out.", name).WithHint("Switch to another branch first.")
	}
	lost, err := r.only(ctx, id, ref)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if len(lost) > 0 {
		return toolkit.Plan{}, toolkit.Errorf(CodeLoses, "%q has %s that no other branch has, such as %s %q.", name, atLeast(len(lost)), lost[0].short(), lost[0].Subject).
			WithHint("Merge it first; or the user deletes it by hand.")
	}
	facts, err := r.facts(ctx, factHead, ref)
	return toolkit.Plan{
		Summary: "delete branch " + name,
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: fmt.Sprintf("delete the branch %s at %s\nits commits are on other branches too", name, id[:9])},
		Facts:   facts,
	}, err
}

// maxLost is how many commits are looked for that would be lost.
const maxLost = 50

func atLeast(n int) string {
	if n >= maxLost {
		return fmt.Sprintf("at least %d commits", n)
	}
	return plural(n, "commit")
}

// only lists commits of id that no branch but except has, at most maxLost.
func (r *repo) only(ctx context.Context, id, except string) ([]entry, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	args := []string{id}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] != except {
			args = append(args, "^"+f[1])
		}
	}
	slices.Sort(args[1:])
	args = slices.Compact(args)
	if len(args) > maxPaths {
		return nil, toolkit.Errorf(CodeFailed, "the repository has %d branches, too many to tell what would be lost.", len(args)-1).WithHint("Ask the user.")
	}
	return r.commits(ctx, maxLost, args, nil)
}

func runBranch(ctx context.Context, w *toolkit.Workspace, a branchArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	r = r.root()
	done := ""
	var changed []toolkit.Change
	switch {
	case a.lists():
	case a.Create != "" && a.Checkout != "":
		_, err = r.git(ctx, "switch", "--quiet", "--no-guess", "--no-track", "--create", a.Create)
		done = fmt.Sprintf("made the branch %s and switched to it\n", a.Create)
	case a.Create != "":
		_, err = r.git(ctx, "branch", "--no-track", a.Create)
		done = fmt.Sprintf("made the branch %s; it is not checked out\n", a.Create)
	case a.Delete != "":
		_, err = r.git(ctx, "update-ref", "-d", "refs/heads/"+a.Delete, factValue(p, "refs/heads/"+a.Delete))
		if err == nil {
			_, err = r.git(ctx, "config", "--local", "--remove-section", "branch."+a.Delete)
			if refused(err, 128) || refused(err, 1) { // it had no settings
				err = nil
			}
		}
		done = fmt.Sprintf("deleted the branch %s\n", a.Delete)
	default:
		changed, err = r.checkout(ctx, a.Checkout)
		done = fmt.Sprintf("switched to the branch %s, %s changed\n", a.Checkout, plural(len(changed), "file"))
	}
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	d, err := r.branches(ctx)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	text := done
	if a.lists() {
		text = d.Output
	}
	shown, cut := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "")
	d.Output = shown
	return toolkit.Result{Text: shown, Data: d, Changed: changed, Cut: cut}, nil
}

// factValue is what a plan says of a reference.
func factValue(p toolkit.Plan, target string) string {
	for _, f := range p.Facts {
		if f.Target == target {
			return f.Value
		}
	}
	return ""
}

// branches lists the local branches and those of remotes, the newest first.
func (r *repo) branches(ctx context.Context) (Branches, error) {
	h, err := r.head(ctx)
	if err != nil {
		return Branches{}, err
	}
	out, err := r.git(ctx, "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(maxListed),
		"--format=%(refname)%1f%(objectname)%1f%(upstream:short)%1f%(symref)%1f%(contents:subject)", "refs/heads", "refs/remotes")
	if err != nil {
		return Branches{}, err
	}
	d := Branches{Branches: []Branch{}, Current: h.branch()}
	var b strings.Builder
	fmt.Fprintf(&b, "on %s\n", describe(h))
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x1f", 5)
		if len(f) != 5 || f[3] != "" || len(f[1]) < 9 {
			continue // the default of a remote is only a pointer
		}
		x := Branch{Commit: f[1], Upstream: f[2], Subject: f[4]}
		if x.Name, x.Remote = strings.CutPrefix(f[0], "refs/remotes/"); !x.Remote {
			x.Name = strings.TrimPrefix(f[0], "refs/heads/")
		}
		mark := " "
		if f[0] == h.ref {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", mark, x.Name, x.Commit[:9], x.Subject)
		d.Branches = append(d.Branches, x)
	}
	d.Output = b.String()
	return d, nil
}
