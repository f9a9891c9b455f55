package code

import (
	"slices"
	"strings"
)

// runners are the test programs of JavaScript, in the order of preference.
var runners = []struct {
	pkg, name string
	configs   []string
	fixed     []string
	file      func(rel string) string
	grep      string
	coverage  []string
	read      func(Output, Place) Report
}{
	{
		"vitest", "vitest",
		[]string{"vitest.config.*"},
		[]string{"run", "--reporter=json"},
		nil, "--testNamePattern=",
		[]string{"--coverage", "--coverage.reporter=text-summary"},
		ReadJest,
	},
	{
		"jest", "jest",
		[]string{"jest.config.*"},
		[]string{"--json", "--testLocationInResults"},
		func(rel string) string { return "--runTestsByPath=" + rel }, "--testNamePattern=",
		[]string{"--coverage", "--coverageReporters=text-summary"},
		ReadJest,
	},
	{"mocha", "mocha", []string{".mocharc*"}, []string{"--reporter=json"}, nil, "--grep=", nil, ReadMocha},
}

func (n *node) test(o Options) (Command, error) {
	var missing error
	for _, r := range runners {
		config := n.find(r.configs...)
		scripted := slices.ContainsFunc(n.pkg.Scripts, func(s Script) bool { return s.Name == "test" && slices.Contains(strings.Fields(s.Text), r.name) })
		if !n.names(r.pkg) && config == "" && !scripted {
			continue
		}
		argv, entry, err := n.bin(r.pkg, r.name)
		if err != nil {
			missing = err
			continue
		}
		c := Command{
			Tool: r.name, Argv: append(argv, r.fixed...), Reason: "package.json names " + r.name, Inputs: []string{entry},
			Env: []string{"CI=true"}, Tests: r.read, Live: liveJSON,
		}
		if o.Grep != "" {
			c.Argv = append(c.Argv, r.grep+o.Grep)
		} else if o.Select != "" {
			c.Argv = append(c.Argv, r.grep+o.Select)
		}
		if o.Coverage {
			if r.coverage == nil {
				c.Notes = append(c.Notes, r.name+" measures no coverage by itself")
			}
			c.Argv = append(c.Argv, r.coverage...)
		}
		if o.Target != "" {
			if r.file != nil && o.IsFile {
				c.Argv = append(c.Argv, r.file(o.rel(n.dir)))
			} else {
				c.Argv = append(c.Argv, o.dotted(n.dir))
			}
		}
		return c, nil
	}
	if missing != nil {
		return Command{}, missing
	}
	script := ""
	for _, s := range n.pkg.Scripts {
		if s.Name == "test" {
			script = s.Text
		}
	}
	if strings.HasPrefix(script, "node --test") || script == "" && len(n.testFiles()) > 0 {
		c := Command{Tool: "node --test", Argv: []string{"node", "--test", "--test-reporter=tap"}, Reason: "test files, and no test program in package.json", Tests: ReadText}
		if o.Grep != "" {
			c.Argv = append(c.Argv, "--test-name-pattern="+o.Grep)
		}
		if o.Coverage {
			c.Argv = append(c.Argv, "--experimental-test-coverage")
		}
		if o.Target != "" {
			c.Argv = append(c.Argv, o.dotted(n.dir))
		}
		return c, nil
	}
	if !n.has("test") {
		return none("package.json names none of vitest, jest, mocha, and has no test script")
	}
	c, err := n.script("test")
	if o.Target != "" || o.Grep != "" || o.Coverage {
		c.Notes = append(c.Notes, "the test script takes no file, grep or coverage; all of it runs")
	}
	return c, err
}

// testFiles are files that node --test finds by itself.
func (n *node) testFiles() []string {
	files := n.all("*.test.js", "*.test.mjs", "*.test.cjs", "test.js", "test.mjs")
	for _, name := range n.Names(n.path("test")) {
		if strings.HasSuffix(name, "js") {
			files = append(files, name)
		}
	}
	return files
}

// liveJSON leaves reporters' JSON out of what is shown.
func liveJSON(line string) string {
	if len(line) > 2000 || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "}") || strings.HasPrefix(line, "[") {
		return ""
	}
	return line
}

func (n *node) typecheck(o Options) (Command, error) {
	c := Command{Reason: "tsconfig.json", Problems: ReadTsc}
	if n.find("tsconfig.json") == "" {
		if n.has("typecheck") {
			return n.script("typecheck")
		}
		return none("there is no tsconfig.json")
	}
	pkg, name := "typescript", "tsc"
	if n.names("vue-tsc") {
		pkg, name = "vue-tsc", "vue-tsc"
	}
	argv, entry, err := n.bin(pkg, name)
	switch {
	case err == nil:
		c.Inputs = []string{entry}
	case n.Has("tsc"):
		argv = []string{"tsc"}
	default:
		return Command{}, err
	}
	c.Tool, c.Argv = name, append(argv, "--noEmit", "--pretty", "false", "-p", ".")
	if o.Target != "" {
		c.Notes = append(c.Notes, "the whole project is checked")
	}
	return c, nil
}

func (n *node) lint(o Options) (Command, error) {
	c := Command{Exts: n.stack.Exts}
	var missing error
	if config := n.find("biome.json", "biome.jsonc"); config != "" || n.names("@biomejs/biome") {
		argv, entry, err := n.bin("@biomejs/biome", "biome")
		if err == nil {
			c.Tool, c.Reason, c.Inputs, c.Problems = "biome", "biome is in the project", []string{entry}, ReadGitHub
			c.Argv = append(argv, "lint", "--reporter=github")
			if o.Fix {
				c.Argv = append(c.Argv, "--write")
			}
			c.Argv = append(c.Argv, o.dotted(n.dir))
			return c, nil
		}
		missing = err
	}
	if config := n.find("eslint.config.*", ".eslintrc*"); config != "" || n.names("eslint") {
		argv, entry, err := n.bin("eslint", "eslint")
		if err == nil {
			c.Tool, c.Reason, c.Inputs, c.Problems, c.Live = "eslint", "eslint is in the project", []string{entry}, ReadESLint, liveJSON
			c.Argv = append(argv, "--format", "json")
			if config != "" && !strings.HasSuffix(config, ".json") && !strings.HasSuffix(config, "ml") && config != ".eslintrc" {
				c.Asks = append(c.Asks, config+" is code that eslint runs")
				c.Shown = n.text(config)
			}
			if o.Fix {
				c.Argv = append(c.Argv, "--fix")
			}
			c.Argv = append(c.Argv, o.dotted(n.dir))
			return c, nil
		}
		missing = err
	}
	if n.has("lint") && !o.Fix {
		return n.script("lint")
	}
	if missing != nil {
		return Command{}, missing
	}
	return none("neither biome nor eslint is in the project, and package.json has no lint script")
}

func (n *node) format(o Options) (Command, error) {
	c := Command{Exts: append(slices.Clone(n.stack.Exts), ".json", ".css", ".scss", ".md", ".html", ".yml", ".yaml")}
	var missing error
	if n.find("biome.json", "biome.jsonc") != "" || n.names("@biomejs/biome") {
		argv, entry, err := n.bin("@biomejs/biome", "biome")
		if err == nil {
			c.Tool, c.Reason, c.Inputs, c.Unformed = "biome", "biome is in the project", []string{entry}, ReadGitHubFiles
			c.Argv = append(argv, "format")
			if o.Check {
				c.Argv = append(c.Argv, "--reporter=github")
			} else {
				c.Argv = append(c.Argv, "--write")
			}
			c.Argv = append(c.Argv, o.paths(n.dir)...)
			return c, nil
		}
		missing = err
	}
	if config := n.find(".prettierrc*", "prettier.config.*"); config != "" || n.names("prettier") {
		argv, entry, err := n.bin("prettier", "prettier")
		if err == nil {
			c.Tool, c.Reason, c.Inputs, c.Unformed = "prettier", "prettier is in the project", []string{entry}, ReadFileList
			if strings.HasSuffix(config, "js") || strings.HasSuffix(config, "ts") {
				c.Asks = append(c.Asks, config+" is code that prettier runs")
				c.Shown = n.text(config)
			}
			if c.Argv = append(argv, "--write", "--ignore-unknown"); o.Check {
				c.Argv = append(argv, "--list-different", "--ignore-unknown")
			}
			c.Argv = append(c.Argv, o.paths(n.dir)...)
			return c, nil
		}
		missing = err
	}
	if missing != nil {
		return Command{}, missing
	}
	if n.has("format") && !o.Check && o.Target == "" {
		return n.script("format")
	}
	return none("neither biome nor prettier is in the project")
}
