package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of patches that fail.
const (
	CodeParse toolkit.Code = "PARSE_ERROR"
	CodePatch toolkit.Code = "PATCH_ERROR"
)

// maxPatch bounds the text of a patch, in bytes.
const maxPatch = 4 << 20

type patchArgs struct {
	Path    string `json:"path" min:"1" alias:"file_path,filePath,filepath,file,filename,file_name,uri,target_file"`
	Patch   string `json:"patch" doc:"unified diff" min:"1" alias:"diff,patch_text,changes,content"`
	Reverse bool   `json:"reverse,omitempty" doc:"undo the diff" default:"false" alias:"undo"`
}

// Patched is the data of patch_apply. Fuzz is how many lines of context at the
// ends of a hunk had to be ignored.
type Patched struct {
	Path    string `json:"path"`
	Applied bool   `json:"applied"`
	Hunks   int    `json:"hunks"`
	Fuzz    int    `json:"fuzz"`
	Diff    string `json:"diff"`
}

// PatchApply applies a unified diff to one file, all hunks or none.
func PatchApply() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "patch_apply",
		Summary:  "Apply a unified diff to one file, all hunks or none.",
		Guide:    "Line numbers may be wrong or left out if the context fits in one place only.",
		Category: "filesystem",
		Synonyms: "diff hunk apply change edit reverse revert git",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
	}, planPatch, runPatch)
}

type multiArgs struct {
	Patch   string `json:"patch" doc:"*** Begin Patch, then sections *** Add File: / *** Update File: / *** Delete File: PATH, *** End Patch; or a unified diff" min:"1" alias:"diff,patch_text,input,changes,content"`
	Workdir string `json:"workdir,omitempty" alias:"cwd,dir,directory,working_dir,root"`
}

// PatchedFile is one file in the data of multi_patch.
type PatchedFile struct {
	Path      string `json:"path"`
	Operation string `json:"operation"` // add, update, move, delete
	Success   bool   `json:"success"`
	Hunks     int    `json:"hunks"`
	Error     string `json:"error"`
}

// Patches is the data of multi_patch.
type Patches struct {
	Files      []PatchedFile `json:"files"`
	Applied    int           `json:"applied"`
	Failed     int           `json:"failed"`
	RolledBack bool          `json:"rolled_back"`
}

// MultiPatch changes several files in one step, all or none.
func MultiPatch() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "multi_patch",
		Summary:  "Add, change, move and delete several files in one all-or-nothing step.",
		Guide:    "In an update, @@ begins a hunk; lines begin with a blank, - or +.",
		Category: "filesystem",
		Synonyms: "apply_patch diff hunk files edit change rename move atomic",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
	}, planMulti, runMulti)
}

// sections reads a patch in either form. name is the file of hunks without one.
func sections(text, name string) ([]section, error) {
	if len(text) > maxPatch {
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "patch has %d bytes; the limit is %d.", len(text), maxPatch).WithHint("Send it in parts.")
	}
	parse := func() ([]section, error) { return parseDiff(text, name) }
	if isBeginForm(text) {
		parse = func() ([]section, error) { return parseBegin(text) }
	}
	list, err := parse()
	if err != nil {
		return nil, toolkit.Errorf(CodeParse, "the patch cannot be read: %w.", err)
	}
	return list, nil
}

// preparePatch applies the diff of one file in memory.
func preparePatch(ctx context.Context, w *toolkit.Workspace, a patchArgs) (*patchSet, error) {
	list, err := sections(a.Patch, a.Path)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "the patch changes %d files.", len(list)).WithHint("Use multi_patch, or send one file at a time.")
	}
	if a.Reverse {
		list = reversed(list)
	}
	v := list[0]
	// The path says which file; of the names in the diff only a new one counts.
	switch {
	case v.old == "":
		v.new = a.Path
	case v.new == "" || v.new == v.old:
		if v.old = a.Path; v.new != "" {
			v.new = a.Path
		}
	default:
		v.old = a.Path
	}
	p := &patchSet{ctx: ctx, w: w}
	return p, p.apply(v)
}

func planPatch(ctx context.Context, w *toolkit.Workspace, a patchArgs) (toolkit.Plan, error) {
	p, err := preparePatch(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	list, err := p.changes()
	if err != nil {
		return toolkit.Plan{}, err
	}
	return p.plan(list)
}

func runPatch(ctx context.Context, w *toolkit.Workspace, a patchArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	done, err := commitPlanned(ctx, w, plan, func() (*patchSet, error) { return preparePatch(ctx, w, a) })
	if err != nil {
		return toolkit.Result{}, err
	}
	res, diff := done.result()
	s := done.list[len(done.list)-1]
	for _, o := range done.list {
		if !movedAway(done.list, o) {
			s = o
		}
	}
	diff, _ = toolkit.Bound(diff, budget(w), "")
	res.Data = Patched{Path: s.target.Path, Applied: true, Hunks: s.hunks, Fuzz: s.fuzz, Diff: diff}
	return res, nil
}

// prepareMulti applies a patch of several files in memory.
func prepareMulti(ctx context.Context, w *toolkit.Workspace, a multiArgs) (*patchSet, error) {
	p := &patchSet{ctx: ctx, w: w}
	if a.Workdir != "" {
		info, err := w.Files.Stat(a.Workdir)
		if err != nil {
			return nil, explain(ctx, w, a.Workdir, err)
		}
		if !info.IsDir() {
			return nil, toolkit.Errorf(CodeNotAFolder, "workdir %q is a file, not a folder.", a.Workdir).WithHint("Leave workdir out for the project folder.")
		}
		p.dir = info.Path
	}
	list, err := sections(a.Patch, "")
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if err := p.apply(v); err != nil {
			if _, denied := guard.AsDenied(err); denied || len(list) == 1 {
				return nil, err
			}
			e := *toolkit.AsError(err)
			e.Message += " No file was changed."
			return nil, &e
		}
	}
	return p, nil
}

func planMulti(ctx context.Context, w *toolkit.Workspace, a multiArgs) (toolkit.Plan, error) {
	p, err := prepareMulti(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	list, err := p.changes()
	if err != nil {
		return toolkit.Plan{}, err
	}
	return p.plan(list)
}

func runMulti(ctx context.Context, w *toolkit.Workspace, a multiArgs, plan toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	done, err := commitPlanned(ctx, w, plan, func() (*patchSet, error) { return prepareMulti(ctx, w, a) })
	d := Patches{Files: []PatchedFile{}, RolledBack: err != nil && done.clean}
	for _, s := range done.list {
		if movedAway(done.list, s) {
			continue
		}
		f := PatchedFile{Path: s.target.Path, Operation: s.operation(), Success: err == nil, Hunks: s.hunks}
		if err != nil {
			f.Error, d.Failed = err.Error(), d.Failed+1
		} else {
			d.Applied++
		}
		d.Files = append(d.Files, f)
	}
	if err != nil {
		return toolkit.Result{Data: d}, err
	}
	res, _ := done.result()
	res.Data = d
	return res, nil
}

// committed is a patch that was written, or of which nothing is left.
type committed struct {
	list  []*patchState
	clean bool
}

// commitPlanned makes the patch again, from files that are what the plan saw,
// and writes it.
func commitPlanned(ctx context.Context, w *toolkit.Workspace, plan toolkit.Plan, prepare func() (*patchSet, error)) (committed, error) {
	none := committed{clean: true}
	if err := heldFacts(w, plan); err != nil {
		return none, err
	}
	p, err := prepare()
	if err != nil {
		return none, err
	}
	list, err := p.changes()
	if err != nil {
		return none, err
	}
	again, err := p.plan(list)
	if err != nil {
		return none, err
	}
	if err := sameFacts(plan, again); err != nil {
		return none, err
	}
	clean, err := commit(w.Files, list)
	if err == nil {
		return committed{list, clean}, nil
	}
	e := *toolkit.AsError(explain(ctx, w, "a file of the patch", err))
	if clean {
		e.Message += " No file was changed."
	} else {
		e.Message += " Some files could not be put back: undo this call."
	}
	return committed{list, clean}, &e
}

// result tells what changed, and gives the diff.
func (c committed) result() (toolkit.Result, string) {
	var b, diffs strings.Builder
	var res toolkit.Result
	for _, s := range c.list {
		if movedAway(c.list, s) {
			res.Changed = append(res.Changed, toolkit.Change{Path: s.target.Path, Kind: "deleted"})
			continue
		}
		ch, diff := outcome(s.target.Path, !s.existed(), s.before(), s.new)
		if !s.exists {
			ch.Kind = "deleted"
		}
		res.Changed = append(res.Changed, ch)
		diffs.WriteString(diff)
		verb := map[string]string{opAdd: "created", opUpdate: "patched", opDelete: "deleted", opMove: "moved " + fromName(s) + " to"}[s.operation()]
		fmt.Fprintf(&b, "%s %s: %s, +%d -%d lines.", verb, s.target.Path, plural(s.hunks, "hunk", "hunks"), ch.Added, ch.Removed)
		for _, n := range s.notes {
			b.WriteString("\n  " + n)
		}
		b.WriteByte('\n')
	}
	res.Text = b.String()
	return res, diffs.String()
}

func fromName(s *patchState) string {
	if s.from == nil {
		return ""
	}
	return path.Clean(s.from.target.Path)
}
