package code

import (
	"context"

	"chela/tiers"
	"chela/toolkit"
)

type lintArgs struct {
	Path string `json:"path,omitempty" default:"." alias:"file,dir,directory,file_path,target"`
	Fix  bool   `json:"fix,omitempty" default:"false" alias:"autofix,write"`
}

// Issue is one problem that a linter found.
type Issue struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Linted is the data of lint.
type Linted struct {
	Tool    string   `json:"tool"`
	OK      bool     `json:"ok"`
	Issues  []Issue  `json:"issues"`
	Fixed   []string `json:"fixed"` // the files that fixes changed
	RawTail string   `json:"raw_tail"`
}

// LintTool runs the project's linter.
func LintTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "lint",
		Summary:  "Run the project's linter.",
		Category: "code",
		Synonyms: "static analysis style warnings eslint biome ruff flake8 clippy golangci staticcheck",
		Level:    toolkit.Safe,
		Tier:     tiers.Standard,
		Foreign:  true,
	}, planLint, runLint, toolkit.AvailableIf(available(Lint)))
}

func planLint(ctx context.Context, w *toolkit.Workspace, a lintArgs) (toolkit.Plan, error) {
	o, err := target(w, "path", a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	o.Fix = a.Fix
	if !o.Fix {
		return planCheck(ctx, w, Lint, o, toolkit.Safe)
	}
	p, err := planCheck(ctx, w, Lint, o, toolkit.Moderate)
	if err != nil {
		return p, err
	}
	return writing(w, p, o), nil
}

func runLint(ctx context.Context, w *toolkit.Workspace, a lintArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	c, err := unchanged(ctx, w, a, p, planLint)
	if err != nil {
		return toolkit.Result{}, err
	}
	var before state
	if a.Fix {
		before = look(ctx, w, c.Dir, c.Exts)
	}
	f, err := c.run(ctx, w, progress)
	if err != nil {
		return toolkit.Result{}, err
	}
	list := c.lintProblems(f.out, c.place(w))
	d := Linted{Tool: c.Tool, OK: f.fault == nil && f.out.Code == 0 && len(list) == 0, Issues: []Issue{}, Fixed: []string{}}
	for _, v := range list[:min(len(list), maxListed)] {
		d.Issues = append(d.Issues, Issue{v.File, v.Line, v.Rule, clip(v.Message, maxMessage)})
	}
	var changed []toolkit.Change
	if a.Fix {
		changed = before.changes(look(ctx, w, c.Dir, c.Exts))
		for _, v := range changed {
			d.Fixed = append(d.Fixed, v.Path)
		}
	}
	var fault error
	switch {
	case f.fault != nil:
		fault = f.fault
	case len(list) > 0:
		fault = toolkit.Errorf(CodeLint, "%s found.", counted(len(list), "problem"))
	case f.out.Code != 0:
		fault = toolkit.Errorf(CodeLint, "%s ended with exit code %d.", c.Tool, f.out.Code)
	}
	if fault != nil {
		d.RawTail = f.tail()
	}
	res := c.checked(w, f, list, d.RawTail, &d)
	res.Changed = changed
	if len(changed) > 0 {
		res.Text = counted(len(changed), "file") + " fixed: " + listed(d.Fixed) + "\n" + res.Text
	}
	return res, fault
}

// lintProblems are the problems of a linter, in the form that it was told to
// use.
func (p *prepared) lintProblems(out Output, at Place) []Problem {
	if p.Problems == nil {
		return ReadAny(out, at)
	}
	return p.Problems(out, at)
}
