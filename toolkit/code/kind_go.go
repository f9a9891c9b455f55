package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// inspectGo looks for a Go module or workspace.
func inspectGo(s site) *Stack {
	mod, work := s.find("go.mod"), s.find("go.work")
	if mod == "" && work == "" {
		return nil
	}
	st := &Stack{Kind: "go", Languages: []string{"Go"}, Manager: "go modules", Exts: []string{".go"}, Versions: [][]string{{"go", "version"}}}
	st.Configs = s.all("go.mod", "go.work", ".golangci.y*ml", ".golangci.toml", ".golangci.json", "staticcheck.conf")
	g := &golang{site: s, stack: st}
	if f, err := modfile.ParseLax("go.mod", []byte(s.text("go.mod")), nil); err == nil && f.Module != nil {
		g.module = f.Module.Mod.Path
		st.Name = g.module
		for _, r := range f.Require {
			if !r.Indirect {
				st.Deps++
				st.Frameworks = known(st.Frameworks, r.Mod.Path, goFrameworks)
			}
		}
	}
	// ParseLax leaves out what it need not know; tools are such.
	if f, err := modfile.Parse("go.mod", []byte(s.text("go.mod")), nil); err == nil {
		for _, t := range f.Tool {
			g.tools = append(g.tools, t.Path)
		}
	}
	if mod == "" {
		if f, err := modfile.ParseWork("go.work", []byte(s.text("go.work")), nil); err == nil {
			for _, u := range f.Use {
				g.uses = append(g.uses, "./"+path.Join(path.Clean(u.Path), "..."))
			}
		}
	}
	if s.find("main.go") != "" {
		st.Entries = append(st.Entries, "main.go")
	}
	for _, name := range s.Names(s.path("cmd")) {
		if strings.HasSuffix(name, "/") {
			st.Entries = append(st.Entries, "cmd/"+strings.TrimSuffix(name, "/"))
		}
	}
	st.command = g.command
	return st
}

var goFrameworks = map[string]string{
	"github.com/gin-gonic/gin": "gin", "github.com/labstack/echo/v4": "echo", "github.com/gofiber/fiber/v2": "fiber",
	"github.com/go-chi/chi/v5": "chi", "github.com/spf13/cobra": "cobra", "charm.land/bubbletea/v2": "bubbletea",
	"github.com/charmbracelet/bubbletea": "bubbletea", "google.golang.org/grpc": "grpc", "gorm.io/gorm": "gorm",
}

// known adds the name of a framework that a dependency is.
func known(list []string, dependency string, names map[string]string) []string {
	if n := names[dependency]; n != "" && !slices.Contains(list, n) {
		return append(list, n)
	}
	return list
}

type golang struct {
	site
	stack  *Stack
	module string
	tools  []string // of go.mod
	uses   []string // of go.work
}

// packages are the patterns that a target means.
func (g *golang) packages(o Options) []string {
	if o.Target == "" {
		if len(g.uses) > 0 {
			return g.uses
		}
		return []string{"./..."}
	}
	if o.IsFile {
		return []string{slashed(path.Dir(o.rel(g.dir)))}
	}
	return []string{slashed(path.Join(o.rel(g.dir), "..."))}
}

// slashed is a path as go tells it from an import path.
func slashed(rel string) string {
	if strings.HasPrefix(rel, "../") || rel == "." {
		return rel
	}
	return "./" + rel
}

// tool returns how a tool that is a Go program is called: as the module names it,
// else as it is installed.
func (g *golang) tool(name string) []string {
	for _, t := range g.tools {
		if path.Base(t) == name {
			return []string{"go", "tool", name}
		}
	}
	if g.Has(name) {
		return []string{name}
	}
	return nil
}

var goTestName = regexp.MustCompile(`^(?:Test|Benchmark|Example|Fuzz)\w*$`)

func (g *golang) command(job Job, o Options) (Command, error) {
	c := Command{Reason: "go.mod", Module: g.module, Exts: g.stack.Exts, Problems: ReadGoProblems}
	if g.module == "" {
		c.Reason = "go.work"
	}
	switch job {
	case Test:
		c.Tool, c.Tests, c.Live = "go test", ReadGo, liveGo
		c.Argv = []string{"go", "test", "-json"}
		if o.Coverage {
			c.Argv = append(c.Argv, "-cover")
		}
		switch {
		case o.Grep != "":
			c.Argv = append(c.Argv, "-run="+o.Grep)
		case o.Select != "" && goTestName.MatchString(o.Select):
			c.Argv = append(c.Argv, "-run=^"+o.Select+"$")
		}
		c.Argv = append(c.Argv, g.packages(o)...)
	case Typecheck:
		c.Tool, c.Argv = "go vet", append([]string{"go", "vet"}, g.packages(o)...)
	case Build:
		c.Tool, c.Argv = "go build", append([]string{"go", "build"}, g.packages(o)...)
		if o.Script != "" {
			target := path.Clean(o.Script)
			if len(g.Names(g.path(target))) == 0 || strings.HasPrefix(target, "..") {
				return none("there is no package folder %q", o.Script)
			}
			c.Argv = []string{"go", "build", slashed(target)}
		}
	case Lint:
		return g.lint(c, o)
	case Format:
		return g.format(c, o)
	case Start:
		c.Tool, c.Argv = "go run", []string{"go", "run", "."}
		if len(g.stack.Entries) == 0 {
			return none("no main package was found at the top or in cmd/")
		}
		if e := g.stack.Entries[0]; e != "main.go" {
			c.Argv[2] = "./" + e
		}
	default:
		return none("no command for %s", job)
	}
	return c, nil
}

func (g *golang) lint(c Command, o Options) (Command, error) {
	golangci := g.find(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")
	if tool := g.tool("golangci-lint"); tool != nil {
		c.Tool, c.Argv, c.Problems = "golangci-lint", append(tool, "run"), ReadColon
		if c.Reason = "golangci-lint is installed"; golangci != "" {
			c.Reason = golangci
		}
		if o.Fix {
			c.Argv = append(c.Argv, "--fix")
		}
		c.Argv = append(c.Argv, g.packages(o)...)
		return c, nil
	}
	if golangci != "" {
		c.Notes = append(c.Notes, golangci+" is there, but golangci-lint is not installed")
	}
	if o.Fix {
		return none("no linter that can fix: golangci-lint is not installed")
	}
	if tool := g.tool("staticcheck"); tool != nil {
		c.Tool, c.Argv, c.Reason = "staticcheck", append(tool, g.packages(o)...), "staticcheck is there"
		return c, nil
	}
	c.Tool, c.Argv, c.Reason = "go vet", append([]string{"go", "vet"}, g.packages(o)...), "neither golangci-lint nor staticcheck is installed"
	return c, nil
}

func (g *golang) format(c Command, o Options) (Command, error) {
	tool := []string{"gofmt"}
	c.Tool = "gofmt"
	if slices.ContainsFunc(g.tools, func(t string) bool { return path.Base(t) == "gofumpt" }) {
		tool, c.Tool, c.Reason = g.tool("gofumpt"), "gofumpt", "go.mod names gofumpt as a tool"
	}
	c.Argv = append(tool, "-l")
	if !o.Check {
		c.Argv = append(c.Argv, "-w")
	}
	c.Argv = append(c.Argv, o.paths(g.dir)...)
	c.Unformed = ReadFileList
	return c, nil
}

// ReadColon reads "file:line:column: message (rule)".
func ReadColon(out Output, at Place) []Problem { return ruled(colonProblems(out.All, at)) }
