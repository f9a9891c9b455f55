package git

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
)

// source is what a checkout takes: a local branch, or one of a remote that a
// local branch is made for.
type source struct {
	ref    string
	remote bool
	id     string
}

// find looks for the branch of this name, here and then on the remotes.
func (r *repo) find(ctx context.Context, name string) (source, error) {
	if id, err := r.commit(ctx, "refs/heads/"+name); err != nil || id != "" {
		return source{"refs/heads/" + name, false, id}, err
	}
	out, err := r.git(ctx, "for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes")
	if err != nil {
		return source{}, err
	}
	var found []source
	for line := range strings.Lines(string(out)) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, branch, _ := strings.Cut(strings.TrimPrefix(ref, "refs/remotes/"), "/")
		if branch == name {
			found = append(found, source{ref, true, id})
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		e := toolkit.Errorf(toolkit.CodeInvalid, "there is no branch %q.", name)
		if id, err := r.commit(ctx, name); err == nil && id != "" {
			return source{}, e.WithHint("It is a commit; make a branch at a commit by hand, or use git_diff to look at it.")
		}
		return source{}, e.WithHint("Call git_branch without arguments to list them, or give create the same name to make it.")
	}
	return source{}, toolkit.Errorf(toolkit.CodeInvalid, "several remotes have a branch %q.", name).WithHint("Ask the user which.")
}

// planCheckout refuses what would lose changes or commits, and says which files
// would change.
func (r *repo) planCheckout(ctx context.Context, w *toolkit.Workspace, name string) (toolkit.Plan, error) {
	if err := r.checkBranch(ctx, name); err != nil {
		return toolkit.Plan{}, err
	}
	s, err := r.find(ctx, name)
	if err != nil {
		return toolkit.Plan{}, err
	}
	h, err := r.head(ctx)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if h.ref == s.ref {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "%q is checked out already.", name).WithHint("Go on.")
	}
	if err := r.keepsCommits(ctx, h); err != nil {
		return toolkit.Plan{}, err
	}
	if r.prefix != "" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "the repository is larger than the project folder, and a checkout would change files outside of it.").
			WithHint("Ask the user to switch.")
	}
	base, err := r.tree(ctx, h)
	if err != nil {
		return toolkit.Plan{}, err
	}
	d, err := r.compare(ctx, w, comparison{ids: []string{base, s.id}})
	if err != nil {
		return toolkit.Plan{}, err
	}
	kept, err := r.keepsChanges(ctx, d)
	if err != nil {
		return toolkit.Plan{}, err
	}
	facts, err := r.facts(ctx, factHead, factIndex, factTree, s.ref)
	if err != nil {
		return toolkit.Plan{}, err
	}
	text := fmt.Sprintf("switch from %s to %s (%s)\n", describe(h), name, s.id[:9])
	if s.remote {
		text += "a new local branch that follows " + strings.TrimPrefix(s.ref, "refs/remotes/") + "\n"
	}
	p := toolkit.Plan{
		Summary: fmt.Sprintf("switch to %s, %s change", name, plural(len(d.files), "file")),
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: text + "\n" + d.list()},
		Facts:   facts,
	}
	if kept > 0 {
		p.Preview.Notes = append(p.Preview.Notes, plural(kept, "changed or new file")+" of the work tree come along")
	}
	p.Effects = append(p.Effects, r.writes(d)...)
	return p, nil
}

// writes are the files that a difference would change, as effects; where they
// are too many to list, the folder that holds them.
func (r *repo) writes(d difference) []toolkit.Effect {
	if len(d.files) > maxEffects {
		return []toolkit.Effect{{Kind: toolkit.Writes, Target: r.dir}}
	}
	var out []toolkit.Effect
	for _, f := range d.files {
		out = append(out, toolkit.Effect{Kind: toolkit.Writes, Target: r.inWorkspace(f.Path)})
		if f.From != "" {
			out = append(out, toolkit.Effect{Kind: toolkit.Writes, Target: r.inWorkspace(f.From)})
		}
	}
	return out
}

// maxEffects bounds the files that a plan names one by one.
const maxEffects = 200

// keepsCommits refuses to leave commits that no branch has.
func (r *repo) keepsCommits(ctx context.Context, h head) error {
	if h.ref != "" || h.commit == "" {
		return nil
	}
	lost, err := r.only(ctx, h.commit, "")
	if err != nil || len(lost) == 0 {
		return err
	}
	return toolkit.Errorf(CodeLoses, "no branch is checked out, and %s here would be lost, such as %s %q.", atLeast(len(lost)), lost[0].short(), lost[0].Subject).
		WithHint("Make a branch here first, with create and checkout of the same new name.")
}

// keepsChanges refuses a checkout over local changes, and counts those that it
// leaves alone.
func (r *repo) keepsChanges(ctx context.Context, d difference) (int, error) {
	out, err := r.git(ctx, "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
	if err != nil {
		return 0, err
	}
	s, err := parseStatus(string(out), "")
	if err != nil {
		return 0, err
	}
	if len(s.Conflicts) > 0 {
		return 0, toolkit.Errorf(CodeConflict, "%s is in conflict.", s.Conflicts[0]).WithHint("Resolve and commit first.")
	}
	touched := map[string]bool{}
	for _, f := range d.files {
		touched[f.Path] = true
		if f.From != "" {
			touched[f.From] = true
		}
	}
	local := map[string]bool{}
	for _, list := range [][]File{s.Staged, s.Unstaged} {
		for _, f := range list {
			local[f.Path] = true
		}
	}
	for _, p := range s.Untracked {
		local[p] = true
	}
	var lost []string
	for p := range local {
		for at := p; at != "."; at = path.Dir(at) { // a folder here may be a file there
			if touched[at] {
				lost = append(lost, p)
				break
			}
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		return 0, toolkit.Errorf(CodeLoses, "the checkout would overwrite local changes in %s.", names(lost)).WithHint("Commit them first, or set them aside with git_stash.")
	}
	return len(local), nil
}

// names lists at most five names.
func names(list []string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + fmt.Sprintf(" and %d more", len(list)-5)
	}
	return strings.Join(list, ", ")
}

// checkout switches, and returns what changed.
func (r *repo) checkout(ctx context.Context, name string) ([]toolkit.Change, error) {
	s, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	h, err := r.head(ctx)
	if err != nil {
		return nil, err
	}
	base, err := r.tree(ctx, h)
	if err != nil {
		return nil, err
	}
	args := []string{"switch", "--quiet", "--no-guess", "--no-recurse-submodules"}
	if s.remote {
		args = append(args, "--track", "--create", name, strings.TrimPrefix(s.ref, "refs/remotes/"))
	} else {
		args = append(args, name)
	}
	if _, err := r.git(ctx, args...); err != nil {
		return nil, err
	}
	return r.changes(ctx, base, s.id)
}

// changes are the files that differ between two commits.
func (r *repo) changes(ctx context.Context, from, to string) ([]toolkit.Change, error) {
	out, err := r.git(ctx, append(comparison{ids: []string{from, to}}.args("--no-renames", "--raw", "--numstat", "--no-abbrev", "-z"), "--")...)
	if err != nil {
		return nil, err
	}
	files, err := parseDiffList(string(out))
	if err != nil {
		return nil, err
	}
	var list []toolkit.Change
	for _, f := range files {
		kind := map[string]string{"added": "created", "deleted": "deleted"}[f.Kind]
		if kind == "" {
			kind = "changed"
		}
		list = append(list, toolkit.Change{Path: r.inWorkspace(f.Path), Kind: kind, Added: f.Additions, Removed: f.Deletions})
	}
	return list, nil
}
