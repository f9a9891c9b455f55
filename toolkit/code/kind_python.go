package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// pyproject is what is looked at of pyproject.toml.
type pyproject struct {
	Project struct {
		Name         string
		Dependencies []string
		Optional     map[string][]string `toml:"optional-dependencies"`
		Scripts      map[string]string
	}
	Groups      map[string][]any `toml:"dependency-groups"`
	BuildSystem map[string]any   `toml:"build-system"`
	Tool        map[string]any
}

type python struct {
	site
	stack    *Stack
	tool     map[string]any
	builds   bool
	packages string   // site-packages of a virtual environment in the workspace
	run      []string // how Python is called
	env      []string
}

// inspectPython looks for a Python project.
func inspectPython(s site) *Stack {
	manifest := s.find("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pytest.ini", "tox.ini")
	if manifest == "" {
		return nil
	}
	st := &Stack{Kind: "python", Languages: []string{"Python"}, Manager: "pip", Exts: []string{".py", ".pyi"}, Versions: [][]string{{"python3", "--version"}}}
	st.Configs = s.all("pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "Pipfile", "pytest.ini", "tox.ini", "mypy.ini", ".mypy.ini", "pyrightconfig.json", "ruff.toml", ".ruff.toml", ".flake8", "conftest.py")
	p := &python{site: s, stack: st}
	var m pyproject
	var deps []string
	if _, err := toml.Decode(s.text("pyproject.toml"), &m); err == nil {
		st.Name, p.tool, p.builds = m.Project.Name, m.Tool, m.BuildSystem != nil
		deps = m.Project.Dependencies
		for name := range m.Project.Scripts {
			st.Scripts = append(st.Scripts, Script{name, m.Project.Scripts[name]})
		}
		slices.SortFunc(st.Scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
		for _, g := range m.Groups {
			st.DevDeps += len(g)
		}
		for _, g := range m.Project.Optional {
			st.DevDeps += len(g)
		}
	}
	for _, l := range lines(s.text("requirements.txt")) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' && l[0] != '-' {
			deps = append(deps, l)
		}
	}
	st.Deps = len(deps)
	for _, d := range deps {
		st.Frameworks = known(st.Frameworks, strings.ToLower(requirement.FindString(d)), pythonFrameworks)
	}
	switch {
	case s.find("uv.lock") != "":
		st.Manager = "uv"
	case s.find("poetry.lock") != "" || p.tool["poetry"] != nil:
		st.Manager = "poetry"
	case s.find("pdm.lock") != "":
		st.Manager = "pdm"
	case s.find("Pipfile") != "":
		st.Manager = "pipenv"
	}
	st.Entries = s.all("manage.py", "main.py", "app.py", "__main__.py")
	p.interpreter()
	st.command = p.command
	return st
}

var requirement = regexp.MustCompile(`^[\w.-]+`)

var pythonFrameworks = map[string]string{
	"django": "django", "flask": "flask", "fastapi": "fastapi", "pytest": "pytest", "numpy": "numpy", "pandas": "pandas",
	"torch": "pytorch", "tensorflow": "tensorflow", "click": "click", "typer": "typer", "pydantic": "pydantic", "sqlalchemy": "sqlalchemy",
}

// interpreter decides how Python is called. A virtual environment inside the
// workspace is used by its packages: its interpreter is a file that anything
// could have written, and the process door refuses it.
func (p *python) interpreter() {
	p.run = []string{"python3"}
	for _, dir := range above(p.dir) {
		for _, venv := range []string{".venv", "venv"} {
			home := path.Join(dir, venv)
			if _, ok := p.Read(path.Join(home, "pyvenv.cfg")); !ok {
				continue
			}
			for _, lib := range p.Names(path.Join(home, "lib")) {
				version := strings.TrimSuffix(lib, "/")
				if !strings.HasPrefix(version, "python3") {
					continue
				}
				p.packages = path.Join(home, "lib", version, "site-packages")
				if p.Has(version) {
					p.run = []string{version}
				}
				p.env = []string{"PYTHONPATH=" + p.searchPath()}
				return
			}
		}
	}
	if p.folder("src") {
		p.env = []string{"PYTHONPATH=src"}
	}
	if !p.Has("python3") && p.Has("python") {
		p.run = []string{"python"}
	}
}

func (p *python) searchPath() string {
	list := below(p.dir, p.packages)
	if p.folder("src") {
		list = "src:" + list
	}
	return list
}

// module returns how a Python program is called, or nil if it is not installed.
// It runs without bytecode being written beside the sources.
func (p *python) module(name string) ([]string, []string) {
	env := append([]string{"PYTHONDONTWRITEBYTECODE=1"}, p.env...)
	if p.packages != "" && slices.Contains(p.Names(p.packages), name+"/") {
		return append(slices.Clone(p.run), "-m", name), env
	}
	if p.stack.Manager == "uv" && p.Has("uv") && p.packages == "" {
		return []string{"uv", "run", "--frozen", name}, env
	}
	if p.Has(name) {
		return []string{name}, env
	}
	return nil, env
}

func (p *python) wants(name string, files ...string) bool {
	return p.tool[name] != nil || p.find(files...) != "" || strings.Contains(p.text("setup.cfg"), "["+name)
}

func (p *python) command(job Job, o Options) (Command, error) {
	c := Command{Reason: "a Python project", Exts: p.stack.Exts}
	switch job {
	case Test:
		return p.test(c, o)
	case Typecheck:
		order := []string{"mypy", "pyright"}
		if p.wants("pyright", "pyrightconfig.json") && !p.wants("mypy", "mypy.ini", ".mypy.ini") {
			slices.Reverse(order)
		}
		for _, name := range order {
			argv, env := p.module(name)
			if argv == nil {
				continue
			}
			c.Tool, c.Argv, c.Env, c.Reason, c.Problems = name, argv, env, name+" is installed", ReadMypy
			if name == "pyright" {
				c.Argv, c.Problems, c.Live = append(c.Argv, "--outputjson"), ReadPyright, liveJSON
			} else {
				c.Argv = append(c.Argv, "--no-error-summary", "--show-column-numbers", "--no-color-output")
				if strings.Contains(p.text("mypy.ini")+p.text("setup.cfg")+p.text("pyproject.toml"), "plugins") {
					c.Asks = append(c.Asks, "the settings of mypy name plugins, which are code that it runs")
				}
			}
			c.Argv = append(c.Argv, o.dotted(p.dir))
			return c, nil
		}
		return none("neither mypy nor pyright is installed")
	case Lint:
		if argv, env := p.module("ruff"); argv != nil {
			c.Tool, c.Argv, c.Env, c.Problems, c.Live = "ruff", append(argv, "check", "--output-format=json"), env, ReadRuff, liveJSON
			if o.Fix {
				c.Argv = append(c.Argv, "--fix")
			}
			c.Argv = append(c.Argv, o.dotted(p.dir))
			return c, nil
		}
		if o.Fix {
			return none("no linter that can fix: ruff is not installed")
		}
		if argv, env := p.module("flake8"); argv != nil {
			c.Tool, c.Argv, c.Env, c.Problems = "flake8", append(argv, "--color=never", o.dotted(p.dir)), env, ReadFlake8
			if strings.Contains(p.text(".flake8")+p.text("setup.cfg")+p.text("tox.ini"), "local-plugins") {
				c.Asks = append(c.Asks, "the settings of flake8 name local plugins, which are code that it runs")
			}
			return c, nil
		}
		return none("neither ruff nor flake8 is installed")
	case Format:
		order := []string{"ruff", "black"}
		if p.wants("black") {
			order = []string{"black", "ruff"}
		}
		for _, name := range order {
			argv, env := p.module(name)
			if argv == nil {
				continue
			}
			c.Tool, c.Env, c.Unformed = name, env, ReadReformat
			if name == "ruff" {
				argv = append(argv, "format")
			}
			if o.Check {
				argv = append(argv, "--check")
			}
			c.Argv = append(argv, o.paths(p.dir)...)
			return c, nil
		}
		return none("neither ruff nor black is installed")
	case Build:
		c.Problems = ReadColon
		switch {
		case o.Script != "":
			return none("a Python build has no targets")
		case !p.builds && p.find("setup.py") == "":
			return none("pyproject.toml has no [build-system]: there is nothing to build")
		case p.stack.Manager == "uv" && p.Has("uv"):
			c.Tool, c.Argv = "uv build", []string{"uv", "build"}
		case p.stack.Manager == "poetry" && p.Has("poetry"):
			c.Tool, c.Argv = "poetry build", []string{"poetry", "build"}
		default:
			c.Tool, c.Argv, c.Env = "python -m build", append(slices.Clone(p.run), "-m", "build"), p.env
		}
		return c, nil
	}
	if len(p.stack.Entries) == 0 {
		return none("none of main.py, app.py, manage.py was found")
	}
	c.Tool, c.Argv = "python", append(slices.Clone(p.run), p.stack.Entries[0])
	return c, nil
}

func (p *python) test(c Command, o Options) (Command, error) {
	argv, env := p.module("pytest")
	wanted := p.wants("pytest", "pytest.ini", "conftest.py") || slices.Contains(p.stack.Frameworks, "pytest")
	target := o.dotted(p.dir)
	if argv != nil || wanted {
		if argv == nil {
			argv = append(slices.Clone(p.run), "-m", "pytest")
		}
		c.Tool, c.Argv, c.Env, c.Tests = "pytest", append(argv, "-q", "--tb=short", "-rfE", "--color=no", "-p", "no:cacheprovider"), env, ReadPytest
		if c.Reason = "pytest is installed"; wanted {
			c.Reason = "the project is set up for pytest"
		}
		if o.Grep != "" {
			c.Argv = append(c.Argv, "-k="+o.Grep)
		}
		if o.Coverage {
			c.Argv = append(c.Argv, "--cov", "--cov-report=term")
		}
		if o.Target != "" {
			if o.Select != "" {
				target += "::" + o.Select
			}
			c.Argv = append(c.Argv, target)
		}
		return c, nil
	}
	c.Tool, c.Env, c.Tests, c.Reason = "unittest", env, ReadText, "pytest is neither installed nor set up"
	c.Argv = append(slices.Clone(p.run), "-m", "unittest", "-v")
	if o.Grep != "" {
		c.Argv = append(c.Argv, "-k="+o.Grep)
	}
	if o.Coverage {
		c.Notes = append(c.Notes, "unittest measures no coverage")
	}
	switch {
	case o.Target == "":
		c.Argv = append(c.Argv[:len(p.run)+2], append([]string{"discover"}, c.Argv[len(p.run)+2:]...)...)
	case o.IsFile:
		c.Argv = append(c.Argv, target)
	default:
		c.Argv = append(c.Argv[:len(p.run)+2], append([]string{"discover", "-s", target}, c.Argv[len(p.run)+2:]...)...)
	}
	return c, nil
}
