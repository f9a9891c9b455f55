package code

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/git"
	"chela/toolkit/guard"
	"chela/toolkit/shell"
)

type infoArgs struct {
	Path string `json:"path,omitempty" default:"." alias:"dir,directory,project"`
}

// Commands are the commands of the jobs, empty where there is none.
type Commands struct {
	Build     string `json:"build"`
	Test      string `json:"test"`
	Lint      string `json:"lint"`
	Format    string `json:"format"`
	Typecheck string `json:"typecheck"`
	Run       string `json:"run"`
}

// Info is the data of project_info.
type Info struct {
	Languages      []string `json:"languages"`
	PackageManager string   `json:"package_manager"`
	Commands       Commands `json:"commands"`
	ConfigFiles    []string `json:"config_files"`
	Frameworks     []string `json:"frameworks"`
	Git            *Branch  `json:"git"` // null: no repository that can be read
}

// Branch is where a repository stands.
type Branch struct {
	Branch  string `json:"branch"`
	Changed int    `json:"changed"` // files that differ from the last commit
}

// InfoTool says what the project is.
func InfoTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "project_info",
		Summary:    "Say what the project is and its build, test and lint commands.",
		Category:   "code",
		Synonyms:   "language framework package manager scripts toolchain version dependencies monorepo",
		Level:      toolkit.Safe,
		Tier:       tiers.Standard,
		Foreign:    true,
		ReadOnly:   true,
		Idempotent: true,
	}, planInfo, runInfo)
}

// versionLimit bounds each program that is asked for its version.
const versionLimit = 3 * time.Second

// quiet keeps programs from fetching the version that a project names.
var quiet = []string{"GOTOOLCHAIN=local", "GOFLAGS=", "RUSTUP_AUTO_INSTALL=0", "DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1"}

// asked is a program that is asked for its version.
type asked struct {
	argv []string
	prog guard.Program
}

func planInfo(_ context.Context, w *toolkit.Workspace, a infoArgs) (toolkit.Plan, error) {
	o, err := target(w, "path", a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{Summary: a.Path, Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: path.Join(".", o.Target)}}}
	project, err := Locate(space{w}, o.Target, o.IsFile)
	var none *NoProject
	if err != nil && !errors.As(err, &none) {
		return toolkit.Plan{}, err
	}
	var list []asked
	for _, st := range project.Stacks {
		for _, argv := range st.Versions {
			prog, err := w.Proc.LookPath(argv[0])
			if err != nil || slices.ContainsFunc(list, func(x asked) bool { return x.argv[0] == argv[0] }) {
				continue // it is said to be missing
			}
			list = append(list, asked{argv, prog})
			p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Runs, Target: prog.Path})
			p.Facts = append(p.Facts, shell.ProgramFact(prog))
			p.Preview.Notes = append(p.Preview.Notes, "asks for a version: "+strings.Join(argv, " "))
		}
	}
	return p.WithPrivate(list), nil
}

func runInfo(ctx context.Context, w *toolkit.Workspace, a infoArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	again, err := planInfo(ctx, w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	if !slices.Equal(again.Facts, p.Facts) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the programs are not those of the plan.").WithHint("Call project_info again.")
	}
	o, err := target(w, "path", a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	t := space{w}
	project, err := Locate(t, o.Target, o.IsFile)
	var none *NoProject
	if err != nil && (!errors.As(err, &none) || len(none.Nested) == 0) {
		d := Info{Languages: []string{}, ConfigFiles: []string{}, Frameworks: []string{}, Git: branch(ctx, w, ".")}
		return toolkit.Result{Text: "No project was recognised: " + err.Error() + ".\n", Data: &d}, nil
	}
	if none != nil {
		project.Dir, project.Nested = none.Dir, none.Nested
	} else {
		project.Nested = nested(t, project.Dir, 2)
	}
	d := Info{Languages: []string{}, ConfigFiles: []string{}, Frameworks: []string{}, Git: branch(ctx, w, project.Dir)}
	list, _ := again.Private().([]asked)
	text := describe(w, project, &d, versions(ctx, w, list))
	shown, cut := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "ask about one folder with path")
	return toolkit.Result{Text: shown, Data: &d, Cut: cut}, nil
}

// branch reads where the repository stands, if it can be read without running
// what it names.
func branch(ctx context.Context, w *toolkit.Workspace, dir string) *Branch {
	s, err := git.Marks(ctx, w.Proc, dir)
	if err != nil {
		return nil
	}
	return &Branch{s.Branch, len(s.Marks())}
}

// versions asks each program, and takes the first line that it prints.
func versions(ctx context.Context, w *toolkit.Workspace, list []asked) []string {
	var out []string
	for _, v := range list {
		exit, err := w.Proc.Run(ctx, guard.Command{Argv: v.argv, OwnEnv: quiet, Timeout: versionLimit, MaxOutput: 4 << 10, Program: &v.prog})
		if err != nil || exit.Reason != guard.Exited || exit.Code != 0 {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(captured(exit.Output)), "\n")
		if !strings.Contains(first, v.argv[0]) {
			first = v.argv[0] + " " + first
		}
		out = append(out, clip(first, 100))
	}
	return out
}

// describe fills the data and writes the text.
func describe(w *toolkit.Workspace, p Project, d *Info, versions []string) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("project", p.Dir)
	var managers, missing []string
	for _, st := range p.Stacks {
		head := st.Kind
		if st.Name != "" {
			head += " " + st.Name
		}
		if st.Deps+st.DevDeps > 0 {
			head += fmt.Sprintf(", %d dependencies", st.Deps)
			if st.DevDeps > 0 {
				head += fmt.Sprintf(" and %d for development", st.DevDeps)
			}
		}
		line("kind", head)
		for _, l := range st.Languages {
			d.Languages = add(d.Languages, l)
		}
		if st.Manager != "" {
			managers = add(managers, st.Manager)
		}
		for _, f := range st.Frameworks {
			d.Frameworks = add(d.Frameworks, f)
		}
		for _, f := range st.Configs {
			d.ConfigFiles = add(d.ConfigFiles, path.Join(p.Dir, f))
		}
	}
	d.PackageManager = strings.Join(managers, ", ")
	line("languages", strings.Join(d.Languages, ", "))
	line("package manager", d.PackageManager)
	line("frameworks", strings.Join(d.Frameworks, ", "))
	into := map[Job]*string{
		Build: &d.Commands.Build, Test: &d.Commands.Test, Lint: &d.Commands.Lint, Format: &d.Commands.Format,
		Typecheck: &d.Commands.Typecheck, Start: &d.Commands.Run,
	}
	for _, job := range jobs {
		command, reason := jobOf(w, p, job)
		if command == "" {
			if words[job] != "" {
				missing = append(missing, words[job])
			}
			continue
		}
		*into[job] = command
		line(string(job), command+"  ("+reason+")")
	}
	line("not found", strings.Join(missing, ", "))
	for _, st := range p.Stacks {
		var names []string
		for _, s := range st.Scripts {
			names = append(names, s.Name)
		}
		if len(names) > 0 {
			line(st.Kind+" scripts", listed(names))
		}
		if len(st.Entries) > 0 {
			line(st.Kind+" entry points", listed(st.Entries))
		}
	}
	line("config files", listed(d.ConfigFiles))
	line("projects inside", listed(p.Nested))
	line("installed", strings.Join(versions, "; "))
	if d.Git != nil {
		line("git", fmt.Sprintf("branch %s, %d changed files", d.Git.Branch, d.Git.Changed))
	}
	return b.String()
}

// jobOf is the command for a job of a project, with the reason for it.
func jobOf(w *toolkit.Workspace, p Project, job Job) (command, reason string) {
	if line := configured(w, job); line != "" {
		return line, "settings.yml gives it"
	}
	for _, st := range p.Stacks {
		if c, err := st.Command(job, Options{}); err == nil {
			return c.ran(), c.Reason
		}
	}
	return "", ""
}
