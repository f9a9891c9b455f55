package code

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// memory is a Tree without files; names that end with a slash are folders.
type memory struct {
	files    map[string]string
	programs []string
}

func (m memory) Names(dir string) []string {
	seen := map[string]bool{}
	for name := range m.files {
		rel := name
		if dir != "." {
			var ok bool
			if rel, ok = strings.CutPrefix(name, dir+"/"); !ok {
				continue
			}
		}
		first, _, deeper := strings.Cut(rel, "/")
		if deeper {
			first += "/"
		}
		seen[first] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m memory) Read(name string) ([]byte, bool) {
	text, ok := m.files[path.Clean(name)]
	return []byte(text), ok
}

func (m memory) Has(p string) bool { return slices.Contains(m.programs, p) }

func TestEachKindOfProjectHasItsCommands(t *testing.T) {
	node := func(deps string, more ...string) map[string]string {
		m := map[string]string{"package.json": `{"devDependencies":{` + deps + `}}`}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name     string
		files    map[string]string
		programs []string
		job      Job
		o        Options
		want     string // the command, or a part of the reason against it
	}{
		{"go lint without linters", map[string]string{"go.mod": "module m"}, nil, Lint, Options{}, "go vet ./..."},
		{"go lint with staticcheck", map[string]string{"go.mod": "module m"}, []string{"staticcheck"}, Lint, Options{}, "staticcheck ./..."},
		{"go tool of go.mod", map[string]string{"go.mod": "module m\n\ngo 1.24\n\ntool mvdan.cc/gofumpt\n"}, nil, Format, Options{Check: true}, "go tool gofumpt -l ."},
		{"go workspace", map[string]string{"go.work": "go 1.22\n\nuse (\n\t./a\n\t./b\n)\n"}, nil, Test, Options{}, "go test -json ./a/... ./b/..."},
		{"cargo", map[string]string{"Cargo.toml": "[package]\nname='a'"}, nil, Test, Options{Grep: "x"}, "cargo test --no-fail-fast --color=never -- x"},
		{"cargo, a test file", map[string]string{"Cargo.toml": "", "tests/it.rs": ""}, nil, Test, Options{Target: "tests/it.rs", IsFile: true}, "cargo test --no-fail-fast --color=never --test=it"},
		{"vitest that is not installed", node(`"vitest":"1"`, "pnpm-lock.yaml", ""), nil, Test, Options{}, "run pnpm install"},
		{"vitest", node(`"vitest":"1"`, "node_modules/vitest/package.json", `{"bin":{"vitest":"./vitest.mjs"}}`), nil, Test, Options{Grep: "a b"}, "node node_modules/vitest/vitest.mjs run --reporter=json --testNamePattern='a b'"},
		{"a hoisted jest", map[string]string{"packages/a/package.json": `{"devDependencies":{"jest":"1"}}`, "node_modules/jest/package.json": `{"bin":"./bin/jest.js"}`}, nil, Test, Options{Target: "packages/a"}, "node ../../node_modules/jest/bin/jest.js --json --testLocationInResults"},
		{"a bin that leaves its package", node(`"mocha":"1"`, "node_modules/mocha/package.json", `{"bin":{"mocha":"../../evil.js"}}`), nil, Test, Options{}, "node node_modules/mocha/evil.js --reporter=json"},
		{"no test script", map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, nil, Test, Options{}, "has no test script"},
		{"pytest", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, []string{"pytest"}, Test, Options{}, "pytest -q --tb=short -rfE --color=no -p no:cacheprovider"},
		{"pytest of a virtual environment", map[string]string{"setup.py": "", ".venv/pyvenv.cfg": "", ".venv/lib/python3.11/site-packages/pytest/a.py": ""}, []string{"python3.11"}, Test, Options{}, "python3.11 -m pytest -q --tb=short -rfE --color=no -p no:cacheprovider"},
		{"unittest", map[string]string{"setup.py": ""}, []string{"python3"}, Test, Options{}, "python3 -m unittest discover -v"},
		{"ruff", map[string]string{"setup.py": ""}, []string{"ruff"}, Lint, Options{Fix: true}, "ruff check --output-format=json --fix ."},
		{"maven", map[string]string{"pom.xml": "<project/>", "src/test/java/ATest.java": ""}, nil, Test, Options{Target: "src/test/java/ATest.java", IsFile: true}, "mvn -B -ntp test -Dtest=ATest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"},
		{"a gradle wrapper", map[string]string{"build.gradle": "", "gradlew": ""}, nil, Build, Options{}, "sh gradlew --console=plain --no-daemon assemble"},
		{"dotnet", map[string]string{"a.csproj": ""}, nil, Typecheck, Options{}, "dotnet build a.csproj --nologo -clp:NoSummary"},
		{"cmake that is set up", map[string]string{"CMakeLists.txt": "", "build-debug/CMakeCache.txt": ""}, nil, Build, Options{}, "cmake --build build-debug"},
		{"cmake that is not", map[string]string{"CMakeLists.txt": ""}, nil, Test, Options{}, "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure"},
		{"make", map[string]string{"Makefile": "lint: a\n\tb\nX := lint\n"}, nil, Lint, Options{}, "make lint"},
		{"a language by the file", map[string]string{"go.mod": "module m", "setup.py": "", "a.py": ""}, []string{"mypy"}, Typecheck, Options{Target: "a.py", IsFile: true}, "mypy --no-error-summary --show-column-numbers --no-color-output a.py"},
		{"the only project below", map[string]string{"app/go.mod": "module m"}, nil, Test, Options{}, "go test -json ./..."},
		{"several projects below", map[string]string{"a/go.mod": "", "b/go.mod": ""}, nil, Test, Options{}, "several projects (a, b)"},
		{"nothing", map[string]string{"notes.txt": ""}, nil, Test, Options{}, "has none of go.mod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Choose(memory{c.files, c.programs}, c.job, c.o)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error = %v, want %q", err, c.want)
				}
				return
			}
			if got.ran() != c.want {
				t.Errorf("command = %s, want %s", got.ran(), c.want)
			}
			if got.Reason == "" || got.Dir == "" || got.Tool == "" {
				t.Errorf("no reason, folder or name: %+v", got)
			}
		})
	}
}

// No manifest makes detection fail.
func FuzzDetect(f *testing.F) {
	f.Add("go.mod", "module m\ntool x\n")
	f.Add("package.json", `{"scripts":{"test":1},"bin":[],"devDependencies":{"jest":"1"}}`)
	f.Add("pyproject.toml", "[project]\nname = 1\n")
	f.Add("Cargo.toml", "[package\n")
	f.Add("pom.xml", "<project><a>")
	f.Add("Makefile", "a b: c\n\td\n\\\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		m := memory{map[string]string{path.Base(path.Clean("/" + name)): text}, []string{"pytest", "ruff", "clang-format"}}
		for _, st := range Detect(m, ".") {
			for _, job := range jobs {
				if c, err := st.Command(job, Options{}); err == nil && len(c.Argv) == 0 {
					t.Errorf("%s: a command without a program for %s", st.Kind, job)
				}
			}
		}
	})
}
