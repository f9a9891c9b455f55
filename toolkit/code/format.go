package code

import (
	"context"
	"path"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/git"
)

type formatArgs struct {
	Path  string `json:"path,omitempty" doc:"default: changed files" alias:"file,dir,directory,file_path,target"`
	Check bool   `json:"check,omitempty" doc:"only report" default:"false" alias:"dry_run"`
}

// Formatted is the data of format.
type Formatted struct {
	Tool         string   `json:"tool"`
	ChangedFiles []string `json:"changed_files"` // with check: those that would change
	OK           bool     `json:"ok"`
}

// FormatTool formats code.
func FormatTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "format",
		Summary:    "Format code with the project's formatter.",
		Category:   "code",
		Synonyms:   "gofmt gofumpt prettier biome black ruff rustfmt clang-format style",
		Level:      toolkit.Moderate,
		Tier:       tiers.Full,
		Foreign:    true,
		Idempotent: true,
	}, planFormat, runFormat, toolkit.AvailableIf(available(Format)))
}

func planFormat(ctx context.Context, w *toolkit.Workspace, a formatArgs) (toolkit.Plan, error) {
	o, err := target(w, "path", a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	o.Check = a.Check
	if strings.TrimSpace(a.Path) == "" {
		if o.Files, err = touched(ctx, w, o); err != nil {
			return toolkit.Plan{}, err
		}
	}
	p, err := planCheck(ctx, w, Format, o, toolkit.Moderate)
	if err != nil || a.Check {
		return p, err
	}
	return writing(w, p, o), nil
}

// touched are the files that differ from the last commit and that the formatter
// formats; none, which means the whole project, without a repository that can be
// read.
func touched(ctx context.Context, w *toolkit.Workspace, o Options) ([]string, error) {
	c, err := choose(w, Format, o)
	if err != nil {
		return nil, err
	}
	s, err := git.Marks(ctx, w.Proc, c.Dir)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil
	}
	var files []string
	for name, mark := range s.Marks() {
		full := path.Join(c.Dir, name)
		if mark != "D" && slices.Contains(c.Exts, path.Ext(full)) {
			files = append(files, full)
		} else if mark == "?" {
			files = append(files, sources(space{w}, full, c.Exts, 12)...)
		}
	}
	if len(files) == 0 {
		return nil, toolkit.Errorf(CodeFormat, "no changed file that %s formats.", c.Tool).WithHint("Set path to . to format the whole project.")
	}
	slices.Sort(files)
	return files[:min(len(files), maxFiles)], nil
}

func runFormat(ctx context.Context, w *toolkit.Workspace, a formatArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	c, err := unchanged(ctx, w, a, p, planFormat)
	if err != nil {
		return toolkit.Result{}, err
	}
	before := look(ctx, w, c.Dir, c.Exts)
	f, err := c.run(ctx, w, progress)
	if err != nil {
		return toolkit.Result{}, err
	}
	changed := before.changes(look(ctx, w, c.Dir, c.Exts))
	d := Formatted{Tool: c.Tool, ChangedFiles: []string{}, OK: f.fault == nil && f.out.Code == 0}
	for _, v := range changed {
		d.ChangedFiles = append(d.ChangedFiles, v.Path)
	}
	res := toolkit.Result{Changed: changed, Data: &d}
	if a.Check && f.fault == nil {
		return c.reported(res, f, &d, w)
	}
	switch {
	case f.fault != nil:
		return res, f.fault
	case !d.OK:
		res.Text, res.Cut = toolkit.Bound(f.tail(), min(w.OutputBudget(), toolkit.MaxBudget), "")
		return res, toolkit.Errorf(CodeFormat, "%s ended with exit code %d.", c.Tool, f.out.Code).WithHint("A file with a syntax error cannot be formatted.")
	case len(changed) == 0:
		res.Text = c.Tool + ": nothing to change\n" + f.note
	default:
		res.Text = c.Tool + ": " + counted(len(changed), "file") + " changed: " + listed(d.ChangedFiles) + "\n" + f.note
	}
	return res, nil
}

// reported is the result of a check.
func (p *prepared) reported(res toolkit.Result, f finished, d *Formatted, w *toolkit.Workspace) (toolkit.Result, error) {
	if p.Unformed != nil {
		d.ChangedFiles = append(d.ChangedFiles, p.Unformed(f.out, p.place(w))...)
		d.ChangedFiles = d.ChangedFiles[:min(len(d.ChangedFiles), maxListed)]
	}
	switch {
	case len(d.ChangedFiles) > 0:
		d.OK = false
		res.Text = p.Tool + ": not formatted: " + listed(d.ChangedFiles) + "\n" + f.note
		return res, toolkit.Errorf(CodeUnformed, "%s not formatted.", counted(len(d.ChangedFiles), "file")).WithHint("Call format without check.")
	case !d.OK:
		res.Text, res.Cut = toolkit.Bound(f.tail(), min(w.OutputBudget(), toolkit.MaxBudget), "")
		return res, toolkit.Errorf(CodeFormat, "%s ended with exit code %d.", p.Tool, f.out.Code)
	}
	res.Text = p.Tool + ": all formatted\n" + f.note
	return res, nil
}
