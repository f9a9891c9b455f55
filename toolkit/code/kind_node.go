package code

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// packageJSON is what is looked at of package.json.
type packageJSON struct {
	Name           string            `json:"name"`
	Main           string            `json:"main"`
	Module         string            `json:"module"`
	Type           string            `json:"type"`
	Bin            json.RawMessage   `json:"bin"`
	PackageManager string            `json:"packageManager"`
	Scripts        orderedScripts    `json:"scripts"`
	Deps           map[string]string `json:"dependencies"`
	DevDeps        map[string]string `json:"devDependencies"`
}

// orderedScripts keeps the order in which the scripts are written.
type orderedScripts []Script

// UnmarshalJSON reads an object of texts; what is no text is left out.
func (o *orderedScripts) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil // scripts that are no object are none
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("scripts: %w", err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("scripts: %w", err)
		}
		var text string
		if name, ok := key.(string); ok && json.Unmarshal(raw, &text) == nil {
			*o = append(*o, Script{name, text})
		}
	}
	return nil
}

type node struct {
	site
	pkg     packageJSON
	manager string
	stack   *Stack
}

// inspectNode looks for a package of Node.js, Bun or Deno's npm mode.
func inspectNode(s site) *Stack {
	if s.find("package.json") == "" {
		return nil
	}
	n := &node{site: s}
	st := &Stack{Kind: "node", Languages: []string{"JavaScript"}, Exts: []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"}}
	n.stack = st
	// A package.json that is not understood is still one; it names nothing then.
	_ = json.Unmarshal([]byte(s.text("package.json")), &n.pkg)
	st.Name, st.Scripts, st.Deps, st.DevDeps = n.pkg.Name, n.pkg.Scripts, len(n.pkg.Deps), len(n.pkg.DevDeps)
	if s.find("tsconfig.json") != "" || n.names("typescript") {
		st.Languages = []string{"TypeScript"}
	}
	n.manager = n.lock()
	st.Manager = n.manager
	st.Configs = s.all("package.json", "tsconfig*.json", "jest.config.*", "vitest.config.*", "vite.config.*", ".mocharc*", "eslint.config.*", ".eslintrc*", "biome.json*", ".prettierrc*", "prettier.config.*", "babel.config.*")
	st.Versions = [][]string{{"node", "--version"}}
	for d := range n.pkg.Deps {
		st.Frameworks = known(st.Frameworks, d, nodeFrameworks)
	}
	for d := range n.pkg.DevDeps {
		st.Frameworks = known(st.Frameworks, d, nodeFrameworks)
	}
	slices.Sort(st.Frameworks)
	for _, e := range []string{n.pkg.Main, n.pkg.Module} {
		if e != "" {
			st.Entries = append(st.Entries, e)
		}
	}
	st.Entries = append(st.Entries, binPaths(n.pkg.Bin)...)
	st.command = n.command
	return st
}

var nodeFrameworks = map[string]string{
	"react": "react", "next": "next", "vue": "vue", "nuxt": "nuxt", "svelte": "svelte", "@sveltejs/kit": "sveltekit",
	"@angular/core": "angular", "express": "express", "fastify": "fastify", "@nestjs/core": "nest", "koa": "koa", "hono": "hono",
	"vite": "vite", "astro": "astro", "electron": "electron", "vitest": "vitest", "jest": "jest", "mocha": "mocha",
	"@playwright/test": "playwright", "tailwindcss": "tailwind",
}

// names reports whether the package depends on another.
func (n *node) names(dep string) bool {
	_, a := n.pkg.Deps[dep]
	_, b := n.pkg.DevDeps[dep]
	return a || b
}

// lock returns the package manager that a lock file here or above names.
func (n *node) lock() string {
	if name, _, ok := strings.Cut(n.pkg.PackageManager, "@"); ok && slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
		return name
	}
	for _, dir := range above(n.dir) {
		s := at(n.Tree, dir)
		switch {
		case s.find("pnpm-lock.yaml") != "":
			return "pnpm"
		case s.find("yarn.lock") != "":
			return "yarn"
		case s.find("bun.lock", "bun.lockb") != "":
			return "bun"
		case s.find("package-lock.json") != "":
			return "npm"
		}
	}
	return "npm"
}

func binPaths(raw json.RawMessage) []string {
	var one string
	var many map[string]string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	if json.Unmarshal(raw, &many) != nil {
		return nil
	}
	var out []string
	for _, p := range many {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// bin returns the arguments that run an installed package's program with node:
// programs inside the workspace are run through their interpreter.
func (n *node) bin(pkg, name string) (argv []string, entry string, err error) {
	for _, dir := range above(n.dir) {
		home := path.Join(dir, "node_modules", pkg)
		data, ok := n.Read(path.Join(home, "package.json"))
		if !ok {
			continue
		}
		var p packageJSON
		var many map[string]string
		var one string
		if json.Unmarshal(data, &p) == nil {
			if json.Unmarshal(p.Bin, &one) != nil {
				// Neither a text nor an object: it has no program.
				_ = json.Unmarshal(p.Bin, &many)
				one = many[name]
			}
		}
		entry = path.Join(home, path.Clean("/"+one))
		if one == "" || len(entry) <= len(home) {
			return nil, "", fmt.Errorf("the package %s has no program %q", pkg, name)
		}
		return []string{"node", below(n.dir, entry)}, entry, nil
	}
	return nil, "", fmt.Errorf("%s is not installed in node_modules: run %s install", pkg, n.manager)
}

// script returns how a script of package.json is run.
func (n *node) script(name string) (Command, error) {
	i := slices.IndexFunc(n.pkg.Scripts, func(s Script) bool { return s.Name == name })
	if i < 0 {
		return none("package.json has no script %q", name)
	}
	text := n.pkg.Scripts[i].Text
	c := Command{
		Tool: n.manager + " run " + name, Argv: []string{n.manager, "run", name}, Reason: fmt.Sprintf("package.json has the script %q", name),
		Asks:  []string{fmt.Sprintf("package.json decides what %q runs: %s", name, text)},
		Shown: text, Env: []string{"CI=true"}, Exts: n.stack.Exts, Problems: ReadAnyJS, Tests: ReadText,
	}
	for _, hook := range []string{"pre" + name, "post" + name} {
		if j := slices.IndexFunc(n.pkg.Scripts, func(s Script) bool { return s.Name == hook }); j >= 0 {
			c.Asks[0] += fmt.Sprintf("; %s: %s", hook, n.pkg.Scripts[j].Text)
			c.Shown += "\n" + hook + ": " + n.pkg.Scripts[j].Text
		}
	}
	return c, nil
}

// has reports whether the script of this name is worth running.
func (n *node) has(name string) bool {
	return slices.ContainsFunc(n.pkg.Scripts, func(s Script) bool {
		return s.Name == name && strings.TrimSpace(s.Text) != "" && !strings.Contains(s.Text, "no test specified")
	})
}

func (n *node) command(job Job, o Options) (Command, error) {
	switch job {
	case Test:
		return n.test(o)
	case Typecheck:
		return n.typecheck(o)
	case Lint:
		return n.lint(o)
	case Format:
		return n.format(o)
	case Build:
		name := o.Script
		if name == "" {
			name = "build"
		}
		return n.script(name)
	}
	for _, name := range []string{"dev", "start"} {
		if n.has(name) {
			return n.script(name)
		}
	}
	return none("package.json has no script dev or start")
}

// ReadAnyJS reads problems in the forms that JavaScript's tools print.
func ReadAnyJS(out Output, at Place) []Problem {
	if got := ReadTsc(out, at); len(got) > 0 {
		return got
	}
	if got := ReadGitHub(out, at); len(got) > 0 {
		return got
	}
	return ruled(colonProblems(out.All, at))
}
