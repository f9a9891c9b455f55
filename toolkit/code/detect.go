package code

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Options are what a call asks of a job. Paths are relative to the workspace.
type Options struct {
	Target   string   // file or folder; "": the whole project
	IsFile   bool     // Target is a file
	Select   string   // a test inside of Target, as in tests/a.py::test_b
	Grep     string   // a pattern of test names
	Coverage bool     // measure coverage
	Fix      bool     // lint: apply fixes
	Check    bool     // format: only report
	Script   string   // build: a named script or target
	Files    []string // format: these files instead of Target
}

// Command is how one job is done.
type Command struct {
	Tool   string     // the program in the words of people: "go test"
	Before [][]string // what has to succeed first, each an argument list
	Argv   []string
	Dir    string   // where it runs
	Env    []string // NAME=value, set by chela
	Line   string   // a shell command line of the settings or the call, instead of Argv

	Reason string   // why this command
	Notes  []string // what it cannot do of what was asked
	Asks   []string // which code of the project decides what it does
	Inputs []string // files that decide what it does
	Shown  string   // the script that runs, as the project has it

	Module   string                              // Go: the module's path
	Reports  []string                            // patterns of report files below Dir that it writes
	Tests    func(Output, Place) Report          // how tests are read
	Problems func(Output, Place) []Problem       // how errors are read
	Live     func(line string) (show string)     // what of a line is progress; nil: all
	Unformed func(out Output, at Place) []string // format: the files that a check names
	Exts     []string                            // format, fix: endings of the files that it may change
}

// Script is a command that a project has a name for.
type Script struct{ Name, Text string }

// Stack is one kind of project in one folder.
type Stack struct {
	Kind       string // "go", "node" …
	Dir        string
	Name       string // what the project calls itself
	Languages  []string
	Manager    string // of packages
	Frameworks []string
	Configs    []string // files that decide how it is built and checked, relative to Dir
	Entries    []string // where programs start
	Scripts    []Script
	Deps       int        // direct dependencies
	DevDeps    int        // those for development
	Versions   [][]string // commands that print versions
	Exts       []string   // endings of its source files

	command func(Job, Options) (Command, error)
}

// Command returns how the stack does a job, or why it cannot.
func (s *Stack) Command(job Job, o Options) (Command, error) {
	c, err := s.command(job, o)
	if err != nil {
		return Command{}, err
	}
	if c.Dir == "" {
		c.Dir = s.Dir
	}
	for _, name := range s.Configs {
		if file := path.Join(s.Dir, name); !slices.Contains(c.Inputs, file) {
			c.Inputs = append(c.Inputs, file)
		}
	}
	slices.Sort(c.Inputs)
	c.Inputs = slices.Compact(c.Inputs)
	return c, nil
}

// none says why a stack has no command for a job.
func none(format string, args ...any) (Command, error) { return Command{}, fmt.Errorf(format, args...) }

// kinds find the kinds of project in a folder, in the order in which they are
// asked for a command: what has structured reports first, plain make last.
var kinds = []func(site) *Stack{inspectGo, inspectRust, inspectNode, inspectPython, inspectMaven, inspectGradle, inspectDotnet, inspectCMake, inspectMake}

// Detect returns the kinds of project that a folder is, the weightiest first.
func Detect(t Tree, dir string) []*Stack {
	s := at(t, dir)
	var out []*Stack
	for _, kind := range kinds {
		if st := kind(s); st != nil {
			st.Dir = dir
			out = append(out, st)
		}
	}
	return out
}

// Project is what was found for a path.
type Project struct {
	Dir    string
	Stacks []*Stack
	Nested []string // other folders below that are projects of their own
}

// NoProject reports that no project was found.
type NoProject struct {
	Dir    string
	Nested []string // several were found below
}

// Error says what was looked for, or which projects there are.
func (e *NoProject) Error() string {
	where := e.Dir
	if where == "." {
		where = "the project folder"
	}
	if len(e.Nested) > 0 {
		return fmt.Sprintf("%s holds several projects (%s): name one by a path", where, strings.Join(e.Nested, ", "))
	}
	return fmt.Sprintf("%s has none of go.mod, Cargo.toml, package.json, pyproject.toml, pom.xml, build.gradle, *.csproj, CMakeLists.txt, Makefile", where)
}

// maxNested bounds the search for projects below.
const maxNested = 40

// nested finds the folders with a project of their own, at most two levels down.
func nested(t Tree, dir string, levels int) []string {
	var out []string
	for _, name := range t.Names(dir) {
		sub, ok := strings.CutSuffix(name, "/")
		if !ok || strings.HasPrefix(sub, ".") || skipped[sub] || len(out) >= maxNested {
			continue
		}
		full := path.Join(dir, sub)
		if len(Detect(t, full)) > 0 {
			out = append(out, full)
		} else if levels > 1 {
			out = append(out, nested(t, full, levels-1)...)
		}
	}
	return out
}

// skipped are folders that hold no project of one's own.
var skipped = map[string]bool{
	"node_modules": true, "vendor": true, "target": true, "dist": true, "build": true, "out": true, "testdata": true,
	"venv": true, "__pycache__": true, "third_party": true, "fixtures": true,
}

// Locate finds the project that a path belongs to: the nearest folder upwards
// that is one, else the only one below.
func Locate(t Tree, target string, isFile bool) (Project, error) {
	dir := path.Clean(target)
	if target == "" {
		dir = "."
	}
	if isFile {
		dir = path.Dir(dir)
	}
	for _, up := range above(dir) {
		if stacks := Detect(t, up); len(stacks) > 0 {
			return Project{Dir: up, Stacks: stacks}, nil
		}
	}
	found := nested(t, dir, 2)
	if len(found) == 1 {
		return Project{Dir: found[0], Stacks: Detect(t, found[0])}, nil
	}
	return Project{}, &NoProject{dir, found}
}

// Choose returns how a job is done for a target. The error says for each kind of
// project why it cannot.
func Choose(t Tree, job Job, o Options) (Command, error) {
	p, err := Locate(t, o.Target, o.IsFile)
	if err != nil {
		return Command{}, err
	}
	if o.Target == p.Dir || o.Target == "." {
		o.Target = "" // the whole of it
	}
	stacks := slices.Clone(p.Stacks)
	if ext := path.Ext(o.Target); o.IsFile && ext != "" {
		slices.SortStableFunc(stacks, func(a, b *Stack) int {
			return btoi(slices.Contains(b.Exts, ext)) - btoi(slices.Contains(a.Exts, ext))
		})
	}
	var why []error
	for _, st := range stacks {
		c, err := st.Command(job, o)
		if err == nil {
			return c, nil
		}
		why = append(why, fmt.Errorf("%s: %w", st.Kind, err))
	}
	return Command{}, errors.Join(why...)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rel is the target relative to a folder, "." for all of it.
func (o Options) rel(dir string) string {
	if o.Target == "" {
		return "."
	}
	return below(dir, o.Target)
}

// dotted is rel as an argument that no program takes for an option.
func (o Options) dotted(dir string) string { return dotted(o.rel(dir)) }

func dotted(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// paths are the files of a call relative to a folder, or its target.
func (o Options) paths(dir string) []string {
	if len(o.Files) == 0 {
		return []string{o.dotted(dir)}
	}
	out := make([]string, len(o.Files))
	for i, f := range o.Files {
		out[i] = dotted(below(dir, f))
	}
	return out
}
