package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of what is not committed.
const (
	CodeSecrets  toolkit.Code = "SECRETS_REFUSED"
	CodeNothing  toolkit.Code = "NOTHING_TO_COMMIT"
	CodeConflict toolkit.Code = "CONFLICTS"
)

// maxNewFile bounds a new file that is committed: larger ones are seldom source.
const maxNewFile = 5 << 20

// newFile is a file that git does not know yet.
type newFile struct {
	path    string // relative to the root
	content []byte
}

// content is exactly what a commit would add to the last one.
type content struct {
	root   *repo
	head   head
	base   string     // the commit, or the empty tree
	staged []string   // selected paths that are staged first; nil: none
	edits  difference // of selected files that git knows
	kept   difference // what is staged already
	fresh  []newFile
	merge  bool // a merge is concluded
}

// gather finds what a commit of these files would contain. It changes nothing.
func gather(ctx context.Context, w *toolkit.Workspace, r *repo, files []string, all bool) (*content, error) {
	c := &content{root: r.root()}
	var err error
	if c.head, err = c.root.head(ctx); err != nil {
		return nil, err
	}
	if c.base, err = c.root.tree(ctx, c.head); err != nil {
		return nil, err
	}
	merging, err := c.root.commit(ctx, "MERGE_HEAD")
	if err != nil {
		return nil, err
	}
	c.merge = merging != ""
	out, err := c.root.git(ctx, "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	top, err := parseStatus(string(out), "")
	if err != nil {
		return nil, err
	}
	if err := c.within(top); err != nil {
		return nil, err
	}
	state, err := parseStatus(string(out), c.root.prefix)
	if err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	switch {
	case all:
		for _, list := range [][]File{state.Staged, state.Unstaged} {
			for _, f := range list {
				chosen[f.Path] = true
			}
		}
		for _, p := range state.Conflicts {
			chosen[p] = true
		}
	case len(files) > 0:
		if err := c.choose(ctx, w, r, files, state, chosen); err != nil {
			return nil, err
		}
	}
	for _, p := range state.Conflicts {
		if !chosen[p] {
			return nil, toolkit.Errorf(CodeConflict, "%s is in conflict.", p).WithHint("Resolve it with edit_file, then name it in files.")
		}
	}
	return c, c.compare(ctx, w, state, chosen)
}

// within refuses a commit that takes along what is staged outside the workspace.
func (c *content) within(top *State) error {
	for _, f := range top.Staged {
		if !strings.HasPrefix(f.Path, c.root.prefix) {
			return toolkit.Errorf(toolkit.CodeInvalid, "%s is staged and lies outside the project folder, so it would be committed too.", f.Path).
				WithHint("Tell the user.")
		}
	}
	return nil
}

// choose marks the changed files that the given paths name.
func (c *content) choose(ctx context.Context, w *toolkit.Workspace, r *repo, files []string, state *State, chosen map[string]bool) error {
	var changed []string
	for _, list := range [][]File{state.Staged, state.Unstaged} {
		for _, f := range list {
			changed = append(changed, f.Path)
		}
	}
	changed = append(append(changed, state.Untracked...), state.Conflicts...)
	for _, given := range files {
		rel, err := fileIn(w, r.dir, strings.TrimSuffix(given, "/"))
		if err != nil {
			return err
		}
		name := r.inWorkspace(rel)
		if c.root.dir != "." {
			name = strings.TrimPrefix(name, c.root.dir+"/")
		}
		found := name == "." || name == c.root.dir
		hit := false
		for _, p := range changed {
			if found || p == name || strings.HasPrefix(p, name+"/") {
				chosen[p], hit = true, true
			}
		}
		if !hit {
			return c.unmatched(ctx, given, name)
		}
	}
	return nil
}

// unmatched says why a named file cannot be committed.
func (c *content) unmatched(ctx context.Context, given, name string) error {
	out, err := c.root.git(ctx, "ls-files", "-z", "--", name)
	if err != nil {
		return err
	}
	if len(out) > 0 {
		return toolkit.Errorf(CodeNothing, "%q has no changes.", given).WithHint("git_status lists what changed.")
	}
	out, err = c.root.git(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", name)
	if err != nil {
		return err
	}
	if len(out) > 0 {
		return toolkit.Errorf(toolkit.CodeInvalid, "%q is ignored by .gitignore.", given).WithHint("Leave it out.")
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "there is no changed file %q.", given).WithHint("git_status lists what changed.")
}

// compare reads what the chosen files and the index would add.
func (c *content) compare(ctx context.Context, w *toolkit.Workspace, state *State, chosen map[string]bool) error {
	var known, others []string
	for p := range chosen {
		if !slices.Contains(state.Untracked, p) {
			known = append(known, p)
		}
		c.staged = append(c.staged, p)
	}
	for _, f := range state.Staged {
		if !chosen[f.Path] {
			others = append(others, f.Path)
		}
	}
	slices.Sort(known)
	slices.Sort(c.staged)
	if len(c.staged) > maxPaths {
		return toolkit.Errorf(toolkit.CodeInvalid, "%d files are too many for one commit through this tool.", len(c.staged)).WithHint("Name fewer.")
	}
	var err error
	if len(known) > 0 {
		if c.edits, err = c.root.compare(ctx, w, comparison{ids: []string{c.base}}, known...); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		if c.kept, err = c.root.compare(ctx, w, comparison{cached: true, ids: []string{c.base}}, others...); err != nil {
			return err
		}
	}
	for _, p := range c.staged {
		if !slices.Contains(state.Untracked, p) {
			continue
		}
		f, err := c.read(w, p)
		if err != nil {
			return err
		}
		c.fresh = append(c.fresh, f)
	}
	return nil
}

// read takes a new file through the guard, which refuses what holds secrets.
func (c *content) read(w *toolkit.Workspace, rel string) (newFile, error) {
	name := c.root.inWorkspace(rel)
	t, err := w.Files.Locate(name)
	switch {
	case err != nil:
		return newFile{}, secretError(err, name)
	case t.Path != name || !t.Info.Mode.IsRegular():
		return newFile{}, toolkit.Errorf(toolkit.CodeInvalid, "%s is new and no plain file.", name).WithHint("Leave it out, or ask the user to add it.")
	}
	data, _, err := w.Files.ReadAll(name, maxNewFile)
	if errors.Is(err, guard.ErrTooLarge) {
		return newFile{}, toolkit.Errorf(toolkit.CodeInvalid, "%s is new and has more than %d MB.", name, maxNewFile>>20).WithHint("Leave it out, or ask the user to add it.")
	}
	return newFile{rel, data}, err
}

func secretError(err error, name string) error {
	if _, denied := guard.AsDenied(err); denied {
		return toolkit.Errorf(CodeSecrets, "%s is not committed: %w.", name, err).WithHint("Leave it out.")
	}
	return err
}

// files are the paths of everything in it.
func (c *content) files() []string {
	out := []string{}
	for _, d := range []difference{c.edits, c.kept} {
		for _, f := range d.files {
			out = append(out, f.Path)
		}
	}
	for _, f := range c.fresh {
		out = append(out, f.path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// secrets are the files in it that hold secrets, by their name or because what
// is added looks like a key.
func (c *content) secrets(w *toolkit.Workspace) []string {
	var out []string
	for _, d := range []difference{c.edits, c.kept} {
		for _, f := range d.files {
			if f.Hidden && f.Kind != "deleted" {
				out = append(out, f.Path)
			}
		}
	}
	if w.Secret == nil {
		return out
	}
	leaks := func(text string) bool { return w.Secret.Text(text) != text }
	for _, d := range []difference{c.edits, c.kept} {
		for name, added := range addedLines(d.patch) {
			if leaks(added) {
				out = append(out, name)
			}
		}
	}
	for _, f := range c.fresh {
		if leaks(string(f.content)) {
			out = append(out, f.path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// addedLines are the lines that a patch adds, by the file as its header names it.
func addedLines(patch string) map[string]string {
	out := map[string]string{}
	name, inHunk := "", false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff "):
			inHunk = false
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk && strings.HasPrefix(line, "+++ "):
			name = strings.TrimPrefix(strings.Trim(strings.TrimSpace(line[4:]), `"`), "b/")
		case inHunk && strings.HasPrefix(line, "+"):
			out[name] += line[1:]
		}
	}
	return out
}

// text is what would be committed, as a diff.
func (c *content) text() string {
	all := difference{
		files:   slices.Concat(c.kept.files, c.edits.files),
		patch:   c.kept.patch + c.edits.patch,
		tooLong: c.kept.tooLong || c.edits.tooLong,
	}
	for _, f := range c.fresh {
		d := FileDiff{Path: f.path, Kind: "added", Binary: guard.IsBinary(f.content)}
		head := fmt.Sprintf("diff --git a/%s b/%s\nnew file\n", f.path, f.path)
		if d.Binary {
			all.patch += head + fmt.Sprintf("Binary file, %d bytes, sha256 %s\n", len(f.content), digest(f.content))
		} else {
			var body strings.Builder
			for line := range strings.Lines(guard.ToText(f.content)) {
				d.Additions++
				body.WriteString("+" + line)
				if !strings.HasSuffix(line, "\n") {
					body.WriteString("\n\\ No newline at end of file\n")
				}
			}
			all.patch += head + fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", f.path, d.Additions) + body.String()
		}
		all.files = append(all.files, d)
	}
	return all.text()
}
