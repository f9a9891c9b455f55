package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type stashArgs struct {
	Action    string `json:"action" enum:"push,pop,apply,list,show,drop,clear" alias:"command,operation"`
	Message   string `json:"message,omitempty" doc:"note for push" alias:"msg"`
	Index     *int   `json:"index,omitempty" doc:"which stash; 0 is the newest" min:"0" alias:"stash,number"`
	Untracked bool   `json:"include_untracked,omitempty" doc:"push new files too" default:"false" alias:"untracked,includeUntracked"`
	Path      string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
}

// Stash is one set of changes that was set aside.
type Stash struct {
	Index   int    `json:"index"`
	Commit  string `json:"commit"`
	Message string `json:"message"`
	Date    string `json:"date"` // RFC 3339
}

// Stashed is the data of git_stash: the stashes there are after the action.
type Stashed struct {
	Action  string  `json:"action"`
	Stashes []Stash `json:"stashes"`
	Output  string  `json:"output"`
}

// StashTool sets changes aside and brings them back.
func StashTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "git_stash",
		Summary:  "Set changes aside and bring them back.",
		Category: "git",
		Synonyms: "shelve save temporary",
		Guide:    "pop keeps the stash when there is a conflict. drop and clear cannot be undone.",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
		Foreign:  true,
	}, planStash, runStash, toolkit.AvailableIf(Available))
}

// name is git's name of the stash that the arguments mean.
func (a stashArgs) name() string {
	n := 0
	if a.Index != nil {
		n = *a.Index
	}
	return "stash@{" + strconv.Itoa(n) + "}"
}

func planStash(ctx context.Context, w *toolkit.Workspace, a stashArgs) (toolkit.Plan, error) {
	if err := checkText("message", a.Message); err != nil {
		return toolkit.Plan{}, err
	}
	if a.Index != nil && (a.Action == "push" || a.Action == "clear") {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "index does not go with %s.", a.Action).WithHint("Use drop to remove one stash.")
	}
	if a.Action == "list" || a.Action == "show" {
		dir, err := folder(w, a.Path)
		if err != nil {
			return toolkit.Plan{}, err
		}
		p := toolkit.Plan{Summary: a.Action + " " + dir, Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: dir}}}
		return careful(w, dir, p.AtLevel(toolkit.Safe))
	}
	r, err := look(ctx, w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	r = r.root()
	var p toolkit.Plan
	switch a.Action {
	case "push":
		p, err = r.planPush(ctx, w, a)
	case "clear":
		p, err = r.planClear(ctx)
	default:
		p, err = r.planTake(ctx, w, a)
	}
	if err != nil {
		return toolkit.Plan{}, explain(r.dir, err)
	}
	return careful(w, r.dir, p)
}

// planPush shows what would leave the work tree.
func (r *repo) planPush(ctx context.Context, w *toolkit.Workspace, a stashArgs) (toolkit.Plan, error) {
	h, err := r.head(ctx)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if h.commit == "" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "there is no commit yet, so nothing can be set aside.").WithHint("Commit first.")
	}
	d, err := r.compare(ctx, w, comparison{ids: []string{h.commit}}, ".")
	if err != nil {
		return toolkit.Plan{}, err
	}
	s, err := Status(ctx, r.run, r.dir)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if len(s.Conflicts) > 0 {
		return toolkit.Plan{}, toolkit.Errorf(CodeConflict, "%s is in conflict.", s.Conflicts[0]).WithHint("Resolve it first.")
	}
	text := d.text()
	if a.Untracked && len(s.Untracked) > 0 {
		text = "new files: " + strings.Join(s.Untracked, ", ") + "\n" + text
	}
	if len(d.files) == 0 && (!a.Untracked || len(s.Untracked) == 0) {
		return toolkit.Plan{}, toolkit.Errorf(CodeNothing, "there are no changes to set aside.").WithHint("Set include_untracked for new files.")
	}
	facts, err := r.facts(ctx, factHead, factIndex, factTree)
	return toolkit.Plan{
		Summary: "set aside changes in " + plural(len(d.files), "file"),
		Effects: append([]toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}}, r.writes(d)...),
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: "set aside: " + a.Message + "\n" + text},
		Facts:   facts,
	}, err
}

// planTake shows the stash that is brought back, or dropped.
func (r *repo) planTake(ctx context.Context, w *toolkit.Workspace, a stashArgs) (toolkit.Plan, error) {
	d, text, err := r.stash(ctx, w, a.name())
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{
		Summary: fmt.Sprintf("%s %s, %s", a.Action, a.name(), plural(len(d.files), "file")),
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: a.Action + " " + a.name() + "\n" + text},
	}
	if a.Action == "drop" {
		p.Preview.Notes = append(p.Preview.Notes, "these changes are gone then")
		p.Facts, err = r.facts(ctx, a.name())
		return p.AtLevel(toolkit.Dangerous), err
	}
	if r.prefix != "" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "the repository is larger than the project folder, and the stash may change files outside of it.").
			WithHint("Ask the user to do it.")
	}
	if _, err := r.keepsChanges(ctx, d); err != nil {
		return toolkit.Plan{}, err
	}
	p.Effects = append(p.Effects, r.writes(d)...)
	p.Facts, err = r.facts(ctx, factHead, factIndex, factTree, a.name())
	return p, err
}

func (r *repo) planClear(ctx context.Context) (toolkit.Plan, error) {
	list, err := r.stashes(ctx)
	if err != nil {
		return toolkit.Plan{}, err
	}
	if len(list) == 0 {
		return toolkit.Plan{}, noStash("")
	}
	p := toolkit.Plan{
		Summary: "remove " + plural(len(list), "stash"),
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: ".git"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: "remove all of these:\n" + stashList(list), Notes: []string{"these changes are gone then"}},
	}
	p.Facts, err = r.facts(ctx, "refs/stash", "stash@{"+strconv.Itoa(len(list)-1)+"}", "stash@{"+strconv.Itoa(len(list))+"}")
	return p.AtLevel(toolkit.Dangerous), err
}

func noStash(name string) error {
	if name == "" {
		return toolkit.Errorf(CodeNothing, "there is no stash.").WithHint("Nothing was set aside.")
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "there is no %s.", name).WithHint("action list shows what there is.")
}

// stash reads what one stash holds.
func (r *repo) stash(ctx context.Context, w *toolkit.Workspace, name string) (difference, string, error) {
	id, err := r.commit(ctx, name)
	if err != nil {
		return difference{}, "", err
	}
	if id == "" {
		return difference{}, "", noStash(name)
	}
	before, err := r.commit(ctx, id+"^1")
	if err != nil || before == "" {
		return difference{}, "", fmt.Errorf("%s cannot be read: %w", name, err)
	}
	d, err := r.compare(ctx, w, comparison{ids: []string{before, id}})
	if err != nil {
		return d, "", err
	}
	text := d.text()
	untracked, err := r.commit(ctx, id+"^3")
	if err != nil || untracked == "" {
		return d, text, err
	}
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--name-only", untracked)
	if err != nil {
		return d, text, err
	}
	var fresh []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" {
			fresh = append(fresh, name)
			d.files = append(d.files, FileDiff{Path: name, Kind: "added"})
		}
	}
	return d, "new files: " + strings.Join(fresh, ", ") + "\n" + text, nil
}

func (r *repo) stashes(ctx context.Context) ([]Stash, error) {
	out, err := r.git(ctx, "stash", "list", "-z", "--no-show-signature", "--format=%H%x1f%ct%x1f%gs")
	if err != nil {
		return nil, err
	}
	list := []Stash{}
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := strings.SplitN(rec, "\x1f", 3)
		if len(f) != 3 {
			continue
		}
		when := time.Unix(int64(count(f[1])), 0).UTC().Format(time.RFC3339)
		list = append(list, Stash{len(list), f[0], guard.ToText([]byte(f[2])), when})
	}
	return list, nil
}

func stashList(list []Stash) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "stash@{%d} %s %s\n", s.Index, s.Date, s.Message)
	}
	return b.String()
}

func runStash(ctx context.Context, w *toolkit.Workspace, a stashArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	r = r.root()
	text := ""
	var failed error
	switch a.Action {
	case "list":
	case "show":
		_, text, err = r.stash(ctx, w, a.name())
	case "push":
		args := []string{"stash", "push", "--quiet"}
		if a.Message != "" {
			args = append(args, "--message="+a.Message)
		}
		if a.Untracked {
			args = append(args, "--include-untracked")
		}
		if r.prefix != "" {
			args = append(args, "--", ".")
		}
		_, _, err = r.do(ctx, invocation{args: args, magic: true})
		text = "set the changes aside as stash@{0}; action pop brings them back\n"
	case "clear":
		_, err = r.git(ctx, "stash", "clear")
		text = "removed all stashes\n"
	case "drop":
		_, err = r.git(ctx, "stash", "drop", "--quiet", a.name())
		text = "dropped " + a.name() + "\n"
	default:
		_, _, err = r.do(ctx, invocation{args: []string{"stash", a.Action, "--quiet", a.name()}, magic: true})
		text = "brought back " + a.name() + "\n"
		if s, failure := Status(ctx, r.run, r.dir); err != nil && failure == nil && len(s.Conflicts) > 0 {
			failed = toolkit.Errorf(CodeConflict, "the stash was brought back with conflicts in %s, and is kept.", names(s.Conflicts)).
				WithHint("Resolve them with edit_file, then drop the stash.")
			text, err = "", nil
		}
	}
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	list, err := r.stashes(ctx)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	if a.Action == "list" {
		if text = stashList(list); len(list) == 0 {
			text = "there is no stash\n"
		}
	}
	shown, cut := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "")
	return toolkit.Result{Text: shown, Data: Stashed{a.Action, list[:min(len(list), maxListed)], shown}, Cut: cut}, failed
}
