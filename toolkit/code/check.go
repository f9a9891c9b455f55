package code

import (
	"context"
	"fmt"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

type typecheckArgs struct {
	Path string `json:"path,omitempty" default:"." alias:"file,dir,directory,file_path,target"`
}

// TypeError is one error of a checker.
type TypeError struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"` // its rule, if it has one, stands at the end in brackets
}

// Typechecked is the data of typecheck.
type Typechecked struct {
	Tool    string      `json:"tool"`
	OK      bool        `json:"ok"`
	Errors  []TypeError `json:"errors"`
	Count   int         `json:"count"`
	RawTail string      `json:"raw_tail"`
}

// TypecheckTool checks the project's types.
func TypecheckTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "typecheck",
		Summary:    "Check the project's types without building it.",
		Category:   "code",
		Synonyms:   "compile check tsc mypy pyright go vet cargo check javac errors",
		Level:      toolkit.Safe,
		Tier:       tiers.Standard,
		Foreign:    true,
		Idempotent: true,
	}, planTypecheck, runTypecheck, toolkit.AvailableIf(available(Typecheck)))
}

func planTypecheck(ctx context.Context, w *toolkit.Workspace, a typecheckArgs) (toolkit.Plan, error) {
	o, err := target(w, "path", a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	return planCheck(ctx, w, Typecheck, o, toolkit.Safe)
}

// planCheck plans a job that has no timeout of its own, at the level of its tool.
func planCheck(ctx context.Context, w *toolkit.Workspace, job Job, o Options, level toolkit.Level) (toolkit.Plan, error) {
	c, err := choose(w, job, o)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p, err := plan(ctx, w, c, checkLimit)
	return p.AtLevel(level), err
}

func runTypecheck(ctx context.Context, w *toolkit.Workspace, a typecheckArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	c, err := unchanged(ctx, w, a, p, planTypecheck)
	if err != nil {
		return toolkit.Result{}, err
	}
	f, err := c.run(ctx, w, progress)
	if err != nil {
		return toolkit.Result{}, err
	}
	list := c.Problems(f.out, c.place(w))
	d := Typechecked{Tool: c.Tool, OK: f.fault == nil && f.out.Code == 0, Errors: []TypeError{}, Count: len(list)}
	for _, v := range list[:min(len(list), maxListed)] {
		message := clip(v.Message, maxMessage)
		if v.Rule != "" {
			message += " [" + v.Rule + "]"
		}
		d.Errors = append(d.Errors, TypeError{v.File, v.Line, v.Column, message})
	}
	var fault error
	switch {
	case f.fault != nil:
		fault = f.fault
	case !d.OK && len(list) == 0:
		fault = toolkit.Errorf(CodeTypes, "%s ended with exit code %d.", c.Tool, f.out.Code)
	case !d.OK:
		fault = toolkit.Errorf(CodeTypes, "%s found.", counted(len(list), "problem"))
	}
	if fault != nil {
		d.RawTail = f.tail()
	}
	return c.checked(w, f, list, d.RawTail, &d), fault
}

// checked is the result of a check: its verdict, then each problem.
func (p *prepared) checked(w *toolkit.Workspace, f finished, list []Problem, tail string, data any) toolkit.Result {
	var b strings.Builder
	if verdict := "no problems"; len(list) > 0 || tail != "" {
		verdict = counted(len(list), "problem")
		fmt.Fprintf(&b, "%s: %s in %s\n", p.Tool, verdict, rounded(f.took))
	} else {
		fmt.Fprintf(&b, "%s: %s in %s\n", p.Tool, verdict, rounded(f.took))
	}
	for _, n := range p.Notes {
		b.WriteString("note: " + n + "\n")
	}
	for _, v := range list[:min(len(list), maxListed)] {
		if v.File != "" {
			b.WriteString(where(v.File, v.Line, v.Column) + ": ")
		}
		if v.Severity != "error" && v.Severity != "" {
			b.WriteString(v.Severity + ": ")
		}
		b.WriteString(clip(v.Message, maxMessage))
		if v.Rule != "" {
			b.WriteString(" [" + v.Rule + "]")
		}
		b.WriteByte('\n')
	}
	if more := len(list) - maxListed; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	if len(list) == 0 && tail != "" {
		b.WriteString(tail + "\n")
	}
	text, cut := toolkit.Bound(b.String()+f.note, min(w.OutputBudget(), toolkit.MaxBudget), "check one folder with path")
	return toolkit.Result{Text: text, Data: data, Cut: cut}
}
