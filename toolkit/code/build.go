package code

import (
	"context"
	"time"

	"chela/tiers"
	"chela/toolkit"
)

type buildArgs struct {
	Script  string `json:"script,omitempty" doc:"named script or target" alias:"target,name,task"`
	Timeout int    `json:"timeout,omitempty" default:"300" min:"1" max:"3600" alias:"timeout_seconds"`
}

// BuildError is one error of a build.
type BuildError struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Built is the data of build.
type Built struct {
	Tool       string       `json:"tool"`
	Command    string       `json:"command"`
	OK         bool         `json:"ok"`
	Errors     []BuildError `json:"errors"`
	DurationMS int64        `json:"duration_ms"`
	RawTail    string       `json:"raw_tail"`
}

// BuildTool builds the project.
func BuildTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "build",
		Summary:  "Build the project with its own tool.",
		Category: "code",
		Synonyms: "compile make package npm run build cargo gradle maven cmake",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
		Foreign:  true,
	}, planBuild, runBuild, toolkit.AvailableIf(available(Build)))
}

func planBuild(ctx context.Context, w *toolkit.Workspace, a buildArgs) (toolkit.Plan, error) {
	if a.Script != "" && dashless(a.Script) != a.Script {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "script %q begins with a dash.", a.Script).WithHint("Name a script or target.")
	}
	c, err := choose(w, Build, Options{Script: a.Script})
	if err != nil {
		return toolkit.Plan{}, err
	}
	p, err := plan(ctx, w, c, time.Duration(a.Timeout)*time.Second)
	return p.AtLevel(toolkit.Moderate), err
}

func runBuild(ctx context.Context, w *toolkit.Workspace, a buildArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	c, err := unchanged(ctx, w, a, p, planBuild)
	if err != nil {
		return toolkit.Result{}, err
	}
	f, err := c.run(ctx, w, progress)
	if err != nil {
		return toolkit.Result{}, err
	}
	d := Built{Tool: c.Tool, Command: c.ran(), OK: f.fault == nil && f.out.Code == 0, Errors: []BuildError{}, DurationMS: f.took.Milliseconds()}
	var list []Problem
	var fault error
	if !d.OK {
		list = errorsOf(c.Problems(f.out, c.place(w)))
		d.RawTail = f.tail()
		if fault = f.fault; fault == nil {
			fault = toolkit.Errorf(CodeBuild, "the build failed with exit code %d.", f.out.Code)
		}
	}
	for _, v := range list[:min(len(list), maxListed)] {
		d.Errors = append(d.Errors, BuildError{v.File, v.Line, clip(v.Message, maxMessage)})
	}
	res := c.checked(w, f, list, d.RawTail, &d)
	if d.OK {
		res.Text = c.Tool + ": built in " + rounded(f.took) + "\n" + f.note
	}
	return res, fault
}
