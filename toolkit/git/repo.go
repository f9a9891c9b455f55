package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"

	"chela/toolkit"
)

// CodeSandbox is the failure of what would write into .git from the sandbox.
const CodeSandbox toolkit.Code = "SANDBOXED"

// start opens the repository of a call that was planned, and refuses when
// anything that the plan relies on is different.
func start(ctx context.Context, w *toolkit.Workspace, dir string, p toolkit.Plan) (*repo, error) {
	if err := unchanged(w, dir, p); err != nil {
		return nil, err
	}
	r, err := open(ctx, w.Proc, dir)
	if err != nil {
		return nil, explain(dir, err)
	}
	return r, r.still(ctx, p)
}

// look opens a repository for a plan that is going to change it.
func look(ctx context.Context, w *toolkit.Workspace, given string) (*repo, error) {
	if w.Proc.Sandboxed() {
		return nil, toolkit.Errorf(CodeSandbox, "git's own files are read-only in the sandbox, so this git call cannot work in it.").
			WithHint("Tell the user: it needs another mode.")
	}
	dir, err := folder(w, given)
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, w.Proc, dir)
	if err != nil {
		return nil, explain(dir, err)
	}
	return r, nil
}

// root is the same repository seen from the top of its work tree or, where that
// lies above the workspace, from the workspace.
func (r *repo) root() *repo {
	up := *r
	rel, err := filepath.Rel(r.run.Dir(), r.top)
	if err == nil && filepath.IsLocal(rel) {
		up.dir, up.prefix = filepath.ToSlash(rel), ""
		return &up
	}
	up.dir, up.prefix = ".", ""
	if rel, err := filepath.Rel(r.top, r.run.Dir()); err == nil && rel != "." {
		up.prefix = filepath.ToSlash(rel) + "/"
	}
	return &up
}

// inWorkspace is the path relative to the workspace of one relative to r.dir.
func (r *repo) inWorkspace(rel string) string { return path.Join(r.dir, rel) }

// head is where the work tree stands.
type head struct {
	ref    string // refs/heads/...; "" when no branch is checked out
	commit string // "" when the branch has no commit yet
}

func (h head) String() string { return h.ref + " " + h.commit }

// branch is the name of the branch, or how git calls none.
func (h head) branch() string {
	if h.ref == "" {
		return "(detached)"
	}
	return strings.TrimPrefix(h.ref, "refs/heads/")
}

func (r *repo) head(ctx context.Context) (head, error) {
	var h head
	out, err := r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !refused(err, 1) {
		return h, err
	}
	h.ref = strings.TrimSpace(string(out))
	h.commit, err = r.commit(ctx, "HEAD")
	return h, err
}

// commit is the id of the commit that a name stands for, or "" if there is none.
// The name must have passed CheckRef or be fixed.
func (r *repo) commit(ctx context.Context, name string) (string, error) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if refused(err, 1) || refused(err, 128) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	if !objectID(id) {
		return "", nil // such as ^main, which is a set
	}
	return id, nil
}

// objectID reports whether a text is the full id of an object.
func objectID(id string) bool {
	return (len(id) == 40 || len(id) == 64) && strings.Trim(id, "0123456789abcdef") == ""
}

// tree is the commit of a head or, before the first one, the empty tree.
func (r *repo) tree(ctx context.Context, h head) (string, error) {
	if h.commit != "" {
		return h.commit, nil
	}
	out, _, err := r.do(ctx, invocation{args: []string{"hash-object", "-t", "tree", "--stdin"}})
	return strings.TrimSpace(string(out)), err
}

// The kinds of facts that a plan relies on.
const (
	factHead  = "git-head"  // branch and commit that are checked out
	factRef   = "git-ref"   // the commit of a reference
	factIndex = "git-index" // all that is staged
	factTree  = "git-tree"  // all changes of the work tree
)

// facts are what a plan relies on: kinds, and full names of references.
func (r *repo) facts(ctx context.Context, wanted ...string) ([]toolkit.Fact, error) {
	var out []toolkit.Fact
	for _, what := range wanted {
		f := toolkit.Fact{Kind: what, Target: r.shown()}
		if strings.HasPrefix(what, "refs/") || strings.HasPrefix(what, "stash@") {
			f = toolkit.Fact{Kind: factRef, Target: what}
		}
		var err error
		if f.Value, err = r.value(ctx, f); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// value is what a fact says now.
func (r *repo) value(ctx context.Context, f toolkit.Fact) (string, error) {
	switch f.Kind {
	case factHead:
		h, err := r.head(ctx)
		return h.String(), err
	case factRef:
		return r.commit(ctx, f.Target)
	case factIndex:
		out, err := r.root().git(ctx, "ls-files", "--stage", "-z")
		return digest(out), err
	case factTree:
		// Patches with full ids of what is in the files; new files by name.
		top := r.root()
		patch, err := top.git(ctx, append(append([]string{"diff"}, plainDiff...), patchDiff...)...)
		if err != nil {
			return "", err
		}
		status, err := top.git(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--", ".")
		return digest(patch, status), err
	}
	return f.Value, nil
}

// digest is the hex SHA-256 of some bytes.
func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

var factNames = map[string]string{
	factHead: "the branch or its commit", factRef: "a branch or stash", factIndex: "what is staged", factTree: "the changes of the work tree",
}

// still refuses when a fact of the plan no longer holds.
func (r *repo) still(ctx context.Context, p toolkit.Plan) error {
	for _, f := range p.Facts {
		if factNames[f.Kind] == "" {
			continue
		}
		now, err := r.value(ctx, f)
		if err != nil {
			return explain(r.dir, err)
		}
		if now != f.Value {
			return toolkit.Errorf(toolkit.CodeChanged, "%s changed since the call was planned (%s).", factNames[f.Kind], f.Target).WithHint("Call the tool again.")
		}
	}
	return nil
}
