package git

import (
	"context"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

type diffArgs struct {
	Path   string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
	File   string `json:"file,omitempty" alias:"file_path,filePath,filename"`
	Staged bool   `json:"staged,omitempty" default:"false" alias:"cached"`
	Commit string `json:"commit,omitempty" doc:"commit, branch or a..b" alias:"ref,revision,rev,branch,range"`
}

// Diffed is the data of git_diff. Its lists are bounded; Output is the text.
type Diffed struct {
	Output    string     `json:"output"`
	Files     []FileDiff `json:"files"`
	Additions int        `json:"additions"` // lines, of all files
	Deletions int        `json:"deletions"`
	Truncated bool       `json:"truncated"`
}

// DiffTool compares the work tree, the index and commits.
func DiffTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "git_diff",
		Summary:    "Show changes of the work tree, of the index, or since a commit.",
		Category:   "git",
		Synonyms:   "changes compare modified patch",
		Level:      toolkit.Safe,
		Tier:       tiers.Standard,
		ReadOnly:   true,
		Idempotent: true,
		Foreign:    true,
	}, planDiff, runDiff, toolkit.AvailableIf(Available))
}

func planDiff(_ context.Context, w *toolkit.Workspace, a diffArgs) (toolkit.Plan, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if a.Commit != "" {
		if err := CheckRef(a.Commit); err != nil {
			return toolkit.Plan{}, err
		}
	}
	target := dir
	if a.File != "" {
		rel, err := fileIn(w, dir, a.File)
		if err != nil {
			return toolkit.Plan{}, err
		}
		target = path.Join(dir, rel)
	}
	summary := target
	if a.Staged {
		summary += ", staged"
	}
	if a.Commit != "" {
		summary += ", " + a.Commit
	}
	return careful(w, dir, toolkit.Plan{Summary: summary, Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: target}}})
}

// fileIn resolves a file, which need not exist, to a path relative to a folder.
// What the floor protects is refused. A path that starts in the workspace is
// understood too.
func fileIn(w *toolkit.Workspace, dir, given string) (string, error) {
	name := given
	if !path.IsAbs(given) && !strings.HasPrefix(given, "~") {
		name = dir + "/" + given // not joined: ".." goes by where links lead
	}
	t, err := w.Files.Locate(name)
	if err != nil {
		return "", err
	}
	if !t.Exists && dir != "." {
		if other, err := w.Files.Locate(given); err == nil && (other.Exists || strings.HasPrefix(given, dir+"/")) {
			t = other
		}
	}
	if dir == "." {
		return t.Path, nil
	}
	rel, ok := strings.CutPrefix(t.Path, dir+"/")
	if !ok {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "the file %q is not below %s.", given, dir).WithHint("Leave path out, or name a file in it.")
	}
	return rel, nil
}

// pathsFor are the arguments behind -- of one file, or of everything.
func pathsFor(w *toolkit.Workspace, dir, file string) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	rel, err := fileIn(w, dir, file)
	return []string{rel}, err
}

// resolve turns what a caller gave as a commit or range into ids.
func (r *repo) resolve(ctx context.Context, given string) ([]string, error) {
	if err := CheckRef(given); err != nil {
		return nil, err
	}
	one := func(name string) (string, error) {
		if name == "" {
			name = "HEAD"
		}
		if err := CheckRef(name); err != nil { // "a..-x" is one word, but two names
			return "", err
		}
		id, err := r.commit(ctx, name)
		if err == nil && id == "" {
			err = toolkit.Errorf(toolkit.CodeInvalid, "there is no commit %q.", name).WithHint("git_log and git_branch list what there is.")
		}
		return id, err
	}
	from, to, isRange := strings.Cut(given, "..")
	if !isRange {
		id, err := one(given)
		return []string{id}, err
	}
	to, symmetric := strings.CutPrefix(to, ".")
	a, err := one(from)
	if err != nil {
		return nil, err
	}
	b, err := one(to)
	if err != nil {
		return nil, err
	}
	if symmetric { // what b has that the point where they parted had not
		out, err := r.git(ctx, "merge-base", a, b)
		if refused(err, 1) {
			return nil, toolkit.Errorf(toolkit.CodeInvalid, "%q have no common commit.", given).WithHint("Compare them with two dots: a..b.")
		}
		if err != nil {
			return nil, err
		}
		a = strings.TrimSpace(string(out))
	}
	return []string{a, b}, nil
}

func runDiff(ctx context.Context, w *toolkit.Workspace, a diffArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	only, err := pathsFor(w, dir, a.File)
	if err != nil {
		return toolkit.Result{}, err
	}
	c := comparison{cached: a.Staged}
	if a.Commit != "" {
		if c.ids, err = r.resolve(ctx, a.Commit); err != nil {
			return toolkit.Result{}, explain(dir, err)
		}
		if len(c.ids) == 2 && a.Staged {
			return toolkit.Result{}, toolkit.Errorf(toolkit.CodeInvalid, "staged does not go with the range %q.", a.Commit).WithHint("Leave one of them out.")
		}
	}
	d, err := r.compare(ctx, w, c, only...)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	text := d.text()
	if len(d.files) == 0 {
		text = "no changes\n"
		if !a.Staged && a.Commit == "" {
			text = "no changes that are not staged; staged=true shows those, and git_status lists new files\n"
		}
	}
	shown, cut := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "ask about one file with file")
	added, removed := d.sums()
	data := Diffed{shown, d.files[:min(len(d.files), maxListed)], added, removed, cut != nil || d.tooLong || len(d.files) > maxListed}
	return toolkit.Result{Text: shown, Data: data, Cut: cut}, nil
}
