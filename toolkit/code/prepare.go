package code

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/shell"
)

// maxFiles is how many files a plan names that a formatter may change; of those
// a call can be undone. Beyond that a plan names the folder.
const maxFiles = 200

// The kinds of facts.
const (
	factFile    = "sha256"
	factCommand = "command"
)

// prepared is a command with the programs that were found for it.
type prepared struct {
	Command
	programs []guard.Program // of Before and Argv
	exec     *toolkit.Plan   // for Line: the plan that exec made
	limit    time.Duration
}

// ran is the command as one line, for people.
func (c Command) ran() string {
	if c.Line != "" {
		return c.Line
	}
	var parts []string
	for _, argv := range append(slices.Clone(c.Before), c.Argv) {
		words := make([]string, len(argv))
		for i, a := range argv {
			words[i] = quoted(a)
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(parts, " && ")
}

// option is the part of an argument that needs no quotes.
var option = regexp.MustCompile(`^-[\w.-]*=`)

// quoted is an argument as a shell would take it.
func quoted(arg string) string {
	name := option.FindString(arg)
	if name != "" && name == arg {
		return arg
	}
	text, err := syntax.Quote(arg[len(name):], syntax.LangBash)
	if err != nil {
		return strconv.Quote(arg) // it is shown, not run
	}
	return name + text
}

// plan freezes a command: programs, scripts and manifests become facts. A shell
// command line becomes the plan that exec would make of it.
func plan(ctx context.Context, w *toolkit.Workspace, c Command, limit time.Duration) (toolkit.Plan, error) {
	p := prepared{Command: c, limit: limit}
	if c.Line != "" {
		return planLine(ctx, w, p)
	}
	out := toolkit.Plan{
		Summary: c.ran(), Deadline: limit, Asks: c.Asks,
		Preview: toolkit.Preview{Kind: toolkit.PreviewCommand, Command: c.ran(), Dir: shownDir(c.Dir), Env: c.Env},
		Facts:   []toolkit.Fact{{Kind: factCommand, Target: c.Dir, Value: c.ran()}},
	}
	for _, argv := range append(slices.Clone(c.Before), c.Argv) {
		prog, err := w.Proc.LookPath(argv[0])
		if err != nil {
			if _, refused := guard.AsDenied(err); refused {
				return toolkit.Plan{}, err
			}
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err).WithHint("It is needed for %s (%s).", c.Tool, c.Reason)
		}
		p.programs = append(p.programs, prog)
		if fact := shell.ProgramFact(prog); !slices.Contains(out.Facts, fact) {
			out.Facts = append(out.Facts, fact)
			out.Effects = append(out.Effects, toolkit.Effect{Kind: toolkit.Runs, Target: prog.Path})
		}
	}
	out.Preview.Program = p.programs[len(p.programs)-1].Path
	for _, name := range c.Inputs {
		out.Facts = append(out.Facts, fileFact(w, name))
	}
	out.Preview.Notes = append(out.Preview.Notes, "chosen because: "+c.Reason)
	out.Preview.Notes = append(out.Preview.Notes, c.Notes...)
	if c.Shown != "" {
		out.Preview.Notes = append(out.Preview.Notes, "the project's own: "+c.Shown)
	}
	if level := w.Proc.Level(); level != "" {
		out.Preview.Notes = append(out.Preview.Notes, "runs in the sandbox: "+level)
	}
	return out.WithPrivate(&p), nil
}

func shownDir(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

// planLine makes the plan of a shell command line, as exec judges it.
func planLine(ctx context.Context, w *toolkit.Workspace, p prepared) (toolkit.Plan, error) {
	args, err := json.Marshal(map[string]any{"command": p.Line, "workdir": shownDir(p.Dir), "timeout": max(1, int(p.limit/time.Second))})
	if err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "command %q cannot be passed on: %w.", p.Line, err)
	}
	exec, err := shell.Exec().Plan(ctx, w, args)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p.exec = &exec
	out := toolkit.Plan{
		Summary: exec.Summary, Effects: exec.Effects, Preview: exec.Preview, Facts: exec.Facts,
		Deadline: exec.Deadline, Asks: exec.Asks, Outside: exec.Outside, ReadOnly: exec.ReadOnly,
	}
	return out.AtLevel(exec.Level).WithPrivate(&p), nil
}

// fileFact holds on to what a file says now.
func fileFact(w *toolkit.Workspace, name string) toolkit.Fact {
	f := toolkit.Fact{Kind: factFile, Target: name}
	data, _, err := w.Files.ReadAll(name, maxManifest)
	switch {
	case err == nil:
		f.Value = guard.Hash(data)
	case errors.Is(err, fs.ErrNotExist):
		f.Kind = "absent"
	default:
		f.Value = "unread"
		if info, err := w.Files.Stat(name); err == nil {
			f.Value = info.ModTime.UTC().Format(time.RFC3339Nano)
		}
	}
	return f
}

// unchanged makes the plan again, and returns what it runs if it is the same.
func unchanged[A any](ctx context.Context, w *toolkit.Workspace, a A, p toolkit.Plan, replan toolkit.Planner[A]) (*prepared, error) {
	again, err := replan(ctx, w, a)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(again.Facts, p.Facts) {
		return nil, toolkit.Errorf(toolkit.CodeChanged, "a program, script or manifest that decides what %s runs is not the one that the plan showed.", p.Tool).
			WithHint("Call %s again.", p.Tool)
	}
	ready, ok := again.Private().(*prepared)
	if !ok {
		return nil, toolkit.Errorf(toolkit.CodeExecution, "the plan of %s has nothing to run.", p.Tool)
	}
	return ready, nil
}

// target reads a path of a call: a file or a folder, "" for the whole project.
func target(w *toolkit.Workspace, field, given string) (Options, error) {
	var o Options
	name := strings.TrimSuffix(strings.TrimSpace(given), "/...")
	if file, test, ok := strings.Cut(name, "::"); ok {
		name, o.Select = file, test
	}
	if name == "" || name == "." || name == "./" || name == "..." {
		return o, nil
	}
	info, err := w.Files.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, toolkit.Errorf(toolkit.CodeInvalid, "%s %q does not exist.", field, given).
			WithHint("Give a path in the project folder, or leave %s out for all of it.", field)
	case err != nil:
		return o, err
	}
	if o.Target, o.IsFile = info.Path, !info.IsDir(); o.Target == "." {
		o.Target = ""
	}
	return o, nil
}

// choose finds the command for a job, which the settings may give.
func choose(w *toolkit.Workspace, job Job, o Options) (Command, error) {
	c, err := Choose(space{w}, job, o)
	line := configured(w, job)
	if line == "" {
		if err != nil {
			return c, unavailable(job, err)
		}
		return c, nil
	}
	set := Command{
		Tool: string(job), Dir: ".", Line: line, Reason: "settings.yml gives it", Tests: ReadMake, Problems: ReadAny,
		Exts: c.Exts, Unformed: ReadReformat,
	}
	if o.Fix || o.Check {
		return Command{}, toolkit.Errorf(CodeNoProject, "the command that settings.yml gives for %s takes neither fix nor check.", job)
	}
	if o.Target != "" || o.Grep != "" || o.Coverage || o.Script != "" {
		set.Notes = append(set.Notes, "the command of settings.yml takes no arguments; all of it runs")
	}
	return set, nil
}

// configured is the command line that the settings give for a job.
func configured(w *toolkit.Workspace, job Job) string {
	if w.Config == nil {
		return ""
	}
	c := w.Config.Code
	return strings.TrimSpace(map[Job]string{Test: c.Test, Typecheck: c.Typecheck, Lint: c.Lint, Build: c.Build, Format: c.Format}[job])
}

// words name what a job needs.
var words = map[Job]string{Test: "test tool", Typecheck: "type checker", Lint: "linter", Build: "build tool", Format: "formatter"}

func unavailable(job Job, err error) error {
	code := CodeNoProject
	if job == Build {
		code = CodeNoBuild
	}
	return toolkit.Errorf(code, "no %s was found: %w.", words[job], err).
		WithHint("project_info says what there is; the settings can name a command as code.%s.", job)
}

// available says whether there is a command for a job, and a program for it.
func available(job Job) func(context.Context, *toolkit.Workspace) error {
	return func(_ context.Context, w *toolkit.Workspace) error {
		if configured(w, job) != "" {
			return nil
		}
		c, err := Choose(space{w}, job, Options{})
		var several *NoProject
		if errors.As(err, &several) && len(several.Nested) > 0 {
			return nil // a path will say which
		}
		if err != nil {
			return toolkit.Errorf(toolkit.CodeUnavailable, "no %s was found: %w", words[job], err)
		}
		if _, err := w.Proc.LookPath(c.Argv[0]); err != nil {
			return toolkit.Errorf(toolkit.CodeUnavailable, "no %s was found: %w", words[job], err)
		}
		return nil
	}
}
