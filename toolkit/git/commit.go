package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

type commitArgs struct {
	Message string   `json:"message" min:"1" alias:"msg,commit_message,m"`
	Files   []string `json:"files,omitempty" doc:"to stage first, new ones too" default:"[]" alias:"paths,file,add"`
	All     bool     `json:"all,omitempty" doc:"stage every tracked change" default:"false" alias:"stage_all,a"`
	Amend   bool     `json:"amend,omitempty" default:"false"`
	Path    string   `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
}

// Committed is the data of git_commit.
type Committed struct {
	Hash    string   `json:"hash"`
	Branch  string   `json:"branch"`
	Files   []string `json:"files"`
	Output  string   `json:"output"`
	Blocked []string `json:"blocked_files"` // files of secrets that stopped the commit
}

// CommitTool makes a commit of exactly what its plan shows.
func CommitTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "git_commit",
		Summary:  "Commit the named files, all tracked changes, or what is staged.",
		Category: "git",
		Synonyms: "save checkpoint stage add",
		Level:    toolkit.Moderate,
		Tier:     tiers.Standard,
	}, planCommit, runCommit, toolkit.AvailableIf(Available))
}

// factContent is the hash of all that a commit would contain.
const factContent = "git-content"

func planCommit(ctx context.Context, w *toolkit.Workspace, a commitArgs) (toolkit.Plan, error) {
	if strings.TrimSpace(a.Message) == "" || strings.ContainsRune(a.Message, 0) {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "message is empty or has a NUL byte.").WithHint("Say in one line what the commit does.")
	}
	if a.All && len(a.Files) > 0 {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "files and all are two ways to choose.").WithHint("Give files, or all.")
	}
	r, err := look(ctx, w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	c, err := gather(ctx, w, r, a.Files, a.All)
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	if blocked := c.secrets(w); len(blocked) > 0 {
		return toolkit.Plan{}, toolkit.Errorf(CodeSecrets, "nothing is committed: %s would bring secrets into the history.", strings.Join(blocked, ", ")).
			WithHint("Leave these files out, or take the secret out of them.")
	}
	_, author, err := r.identity(ctx)
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	files := c.files()
	if len(files) == 0 && !a.Amend && !c.merge {
		return toolkit.Plan{}, nothing(a)
	}
	notes := []string{"the hooks of the repository do not run"}
	verb := "commit"
	if c.merge {
		notes = append(notes, "this concludes the merge that is under way")
	}
	if a.Amend {
		verb = "amend"
		old, err := r.amendable(ctx, c)
		if err != nil {
			return toolkit.Plan{}, explain(r.dir, err)
		}
		notes = append(notes, "replaces commit "+old.short()+": "+old.Subject)
	}
	facts, err := r.facts(ctx, factHead, factIndex)
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	p := toolkit.Plan{
		Summary: fmt.Sprintf("%s %s on %s: %s", verb, plural(len(files), "file"), c.head.branch(), firstLine(a.Message)),
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{
			Kind: toolkit.PreviewText, Notes: notes,
			Text: fmt.Sprintf("%s on %s, as %s\n\n%s\n\n%s", verb, c.head.branch(), author, strings.TrimSpace(a.Message), c.text()),
		},
		Facts: append(facts, toolkit.Fact{Kind: factContent, Target: r.shown(), Value: digest([]byte(c.text()))}),
	}
	if c.edits.tooLong || c.kept.tooLong {
		p.Asks = append(p.Asks, "the change is too long to show whole")
	}
	return careful(w, r.dir, p)
}

func nothing(a commitArgs) error {
	e := toolkit.Errorf(CodeNothing, "nothing is staged, so there is nothing to commit.")
	if a.All {
		return e.WithHint("No tracked file changed. Name new files in files; git_status lists them.")
	}
	return e.WithHint("Name the files in files, or set all to true. git_status lists what changed.")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// amendable is the last commit, unless others have it already.
func (r *repo) amendable(ctx context.Context, c *content) (Commit, error) {
	if c.head.commit == "" {
		return Commit{}, toolkit.Errorf(toolkit.CodeInvalid, "there is no commit to amend.").WithHint("Leave amend out.")
	}
	if c.merge {
		return Commit{}, toolkit.Errorf(toolkit.CodeInvalid, "a merge is under way, so the last commit cannot be amended.").WithHint("Leave amend out to conclude the merge.")
	}
	out, err := r.git(ctx, "for-each-ref", "--count=1", "--contains", c.head.commit, "--format=%(refname:short)", "refs/remotes")
	if err != nil {
		return Commit{}, err
	}
	if on := strings.TrimSpace(string(out)); on != "" {
		return Commit{}, toolkit.Errorf(toolkit.CodeInvalid, "the last commit is already on %s, where others may have it.", on).WithHint("Make a new commit.")
	}
	list, err := r.commits(ctx, 1, []string{c.head.commit}, nil)
	if err != nil || len(list) != 1 {
		return Commit{}, fmt.Errorf("the last commit cannot be read: %w", err)
	}
	return list[0].Commit, nil
}

func runCommit(ctx context.Context, w *toolkit.Workspace, a commitArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	c, err := gather(ctx, w, r, a.Files, a.All)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	want := slices.IndexFunc(p.Facts, func(f toolkit.Fact) bool { return f.Kind == factContent })
	if want < 0 || p.Facts[want].Value != digest([]byte(c.text())) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the files changed since the call was planned.").WithHint("Call git_commit again.")
	}
	config, _, err := r.identity(ctx)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	if len(c.staged) > 0 {
		if _, err := c.root.git(ctx, append([]string{"add", "--all", "--"}, c.staged...)...); err != nil {
			return toolkit.Result{}, explain(dir, err)
		}
		if err := c.sealed(ctx, w); err != nil {
			return toolkit.Result{}, explain(dir, err)
		}
	}
	args := []string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--cleanup=whitespace", "--file=-"}
	if a.Amend {
		args = append(args, "--amend", "--no-post-rewrite")
	}
	if _, _, err := c.root.do(ctx, invocation{args: args, stdin: []byte(a.Message), config: config}); err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	now, err := r.head(ctx)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	files := c.files()
	d := Committed{Hash: now.commit, Branch: now.branch(), Files: files, Blocked: []string{}}
	d.Output = fmt.Sprintf("committed %s to %s as %s: %s\n", plural(len(files), "file"), d.Branch, now.commit[:min(9, len(now.commit))], firstLine(a.Message))
	return toolkit.Result{Text: d.Output, Data: d}, nil
}

// sealed reports whether what is staged now is what the plan showed: a file may
// have been written in between.
func (c *content) sealed(ctx context.Context, w *toolkit.Workspace) error {
	known := make([]string, 0, len(c.edits.files))
	for _, f := range c.edits.files {
		if known = append(known, f.Path); f.From != "" {
			known = append(known, f.From)
		}
	}
	if len(known) > 0 {
		d, err := c.root.compare(ctx, w, comparison{cached: true, ids: []string{c.base}}, known...)
		if err != nil {
			return err
		}
		if d.patch != c.edits.patch {
			return toolkit.Errorf(toolkit.CodeChanged, "a file changed while it was staged. It is staged, and nothing was committed.").WithHint("Call git_commit again.")
		}
	}
	for _, f := range c.fresh {
		again, err := c.read(w, f.path)
		if err != nil {
			return err
		}
		if digest(again.content) != digest(f.content) {
			return toolkit.Errorf(toolkit.CodeChanged, "%s changed while it was staged. It is staged, and nothing was committed.", f.path).WithHint("Call git_commit again.")
		}
	}
	return nil
}
