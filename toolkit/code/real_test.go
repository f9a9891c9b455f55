package code

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/tooltest"
)

func TestPytestIsRun(t *testing.T) {
	needs(t, "pytest", "python3")
	f := newFolder(t, "pyproject.toml", "[project]\nname = \"calc\"\n[tool.pytest.ini_options]\n",
		"src/calc.py", "def add(a, b):\n    return a + b\n",
		"tests/test_calc.py", "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_bad():\n    assert add(1, 1) == 3\n")
	r, err := f.call(TestRun(), nil)
	tooltest.Fails(t, err, CodeTests)
	failed(t, tested(t, r, 1, 1, 0).Failures, "test_bad", "tests/test_calc.py", 9, "assert 2 == 3")
	r, err = f.call(TestRun(), args{"file": "tests/test_calc.py::test_add"})
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text)
	}
	tested(t, r, 1, 0, 0)
	r, err = f.call(TestRun(), args{"grep": "nothing_like_it"})
	tooltest.Fails(t, err, CodeNoTests)
	tested(t, r, 0, 0, 0)
}

func TestPythonCheckersAreRun(t *testing.T) {
	needs(t, "mypy", "flake8", "black", "python3")
	f := newFolder(t, "pyproject.toml", "[project]\nname = \"calc\"\n[tool.black]\n", "a.py", "import os\nx: int = 'a'\n")
	r, err := f.call(TypecheckTool(), nil)
	tooltest.Fails(t, err, CodeTypes)
	if d := data[Typechecked](t, r); d.Tool != "mypy" || d.Count != 1 || d.Errors[0].File != "a.py" || d.Errors[0].Line != 2 {
		t.Errorf("typecheck = %+v", d)
	}
	if !(space{f.w}).Has("ruff") {
		r, err = f.call(LintTool(), nil)
		tooltest.Fails(t, err, CodeLint)
		if d := data[Linted](t, r); d.Tool != "flake8" || len(d.Issues) == 0 || d.Issues[0].Rule != "F401" {
			t.Errorf("lint = %+v", d)
		}
	}
	r, err = f.call(FormatTool(), args{"path": "a.py", "check": true})
	tooltest.Fails(t, err, CodeUnformed)
	if d := data[Formatted](t, r); !slices.Equal(d.ChangedFiles, []string{"a.py"}) {
		t.Errorf("check = %+v", d)
	}
	if r, err = f.call(FormatTool(), args{"path": "a.py"}); err != nil || len(r.Changed) != 1 {
		t.Errorf("%v, changed %v", err, r.Changed)
	}
}

func TestNodesOwnRunnerIsRun(t *testing.T) {
	needs(t, "node")
	f := newFolder(t, "package.json", `{"name":"a"}`, "a.test.js", "const { test } = require('node:test');\nconst assert = require('assert');\ntest('adds', () => {});\ntest('fails', () => {\n  assert.strictEqual(1, 2);\n});\n")
	r, err := f.call(TestRun(), nil)
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 1, 1, 0)
	if d.Framework != "node --test" || len(d.Failures) != 1 || d.Failures[0].File != "a.test.js" {
		t.Errorf("data = %+v", d)
	}
}

func TestAPackageScriptIsShownAndAsked(t *testing.T) {
	needs(t, "node", "npm")
	f := newFolder(t, "package.json", `{"name":"a","scripts":{"test":"echo '2 passed, 1 failed, 0 skipped' && exit 1","build":"node -e 1"}}`)
	p, err := f.plan(TestRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Asks) != 1 || !strings.Contains(p.Asks[0], "2 passed, 1 failed") {
		t.Errorf("asks = %q", p.Asks)
	}
	r, err := f.call(TestRun(), nil)
	tooltest.Fails(t, err, CodeTests)
	tested(t, r, 2, 1, 0)
	if r, err = f.call(BuildTool(), nil); err != nil {
		t.Errorf("%v\n%s", err, r.Text)
	}
	if _, err := f.plan(BuildTool(), args{"script": "none"}); err == nil {
		t.Error("a script that is not there is planned")
	} else {
		tooltest.Fails(t, err, CodeNoBuild)
	}
	f.put("package.json", `{"name":"a","scripts":{"test":"echo other"}}`)
	_, err = TestRun().Run(t.Context(), f.w, p, nil)
	tooltest.Fails(t, err, toolkit.CodeChanged)
}

// The programs of npm packages are tested where a folder with them is given.
func TestJavaScriptToolsAreRun(t *testing.T) {
	needs(t, "node")
	home := os.Getenv("CHELA_TEST_NODE_MODULES")
	if home == "" {
		t.Skip("not tested against the real programs: CHELA_TEST_NODE_MODULES names no node_modules with vitest, jest, mocha, typescript, eslint")
	}
	for runner, body := range map[string]string{
		"vitest": "import { test, expect } from 'vitest'\ntest('adds', () => {})\ntest('fails', () => {\n  expect(1).toBe(2)\n})\n",
		"jest":   "test('adds', () => {})\ntest('fails', () => {\n  expect(1).toBe(2)\n})\n",
		"mocha":  "it('adds', () => {})\nit('fails', () => {\n  throw new Error('toBe')\n})\n",
	} {
		t.Run(runner, func(t *testing.T) {
			f := newFolder(t, "package.json", `{"name":"a","devDependencies":{"`+runner+`":"*"}}`, "test/a.test.js", body)
			if err := os.CopyFS(filepath.Join(f.dir, "node_modules"), os.DirFS(home)); err != nil && !strings.Contains(err.Error(), ".bin") {
				t.Fatal(err)
			}
			r, err := f.call(TestRun(), nil)
			tooltest.Fails(t, err, CodeTests)
			d := tested(t, r, 1, 1, 0)
			line := strings.Count(body[:strings.Index(body, "toBe")], "\n") + 1
			failed(t, d.Failures, "fails", "test/a.test.js", line, "")
		})
	}
}

func TestCargoIsRun(t *testing.T) {
	needs(t, "cargo", "rustc")
	f := newFolder(t, "Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn fails() {\n    assert_eq!(add(1, 1), 3);\n}\n")
	r, err := f.call(TestRun(), args{"timeout": 600})
	tooltest.Fails(t, err, CodeTests)
	failed(t, tested(t, r, 1, 1, 0).Failures, "fails", "src/lib.rs", 12, "left: 2")
	f.put("src/lib.rs", "pub fn add() -> i32 {\n    \"a\"\n}\n")
	r, err = f.call(TypecheckTool(), nil)
	tooltest.Fails(t, err, CodeTypes)
	if d := data[Typechecked](t, r); d.Count == 0 || d.Errors[0].File != "src/lib.rs" || d.Errors[0].Line != 2 {
		t.Errorf("typecheck = %+v", d)
	}
}

func TestCtestIsRun(t *testing.T) {
	needs(t, "cmake", "ctest", "cc")
	f := newFolder(t, "CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(calc C)\nenable_testing()\nadd_executable(good good.c)\nadd_executable(bad bad.c)\nadd_test(NAME good COMMAND good)\nadd_test(NAME bad COMMAND bad)\n",
		"good.c", "int main(void) { return 0; }\n", "bad.c", "#include <assert.h>\nint main(void) {\n  assert(1 == 2);\n  return 0;\n}\n")
	r, err := f.call(TestRun(), args{"timeout": 300})
	tooltest.Fails(t, err, CodeTests)
	failed(t, tested(t, r, 1, 1, 0).Failures, "bad", "bad.c", 3, "Assertion")
	f.put("good.c", "int main(void) { return x; }\n")
	r, err = f.call(TestRun(), args{"timeout": 300})
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 0, 1, 0)
	failed(t, d.Failures, "build", "good.c", 1, "undeclared")
	if !d.BuildFailed {
		t.Error("build_failed is not set")
	}
}

func TestMakeIsRun(t *testing.T) {
	needs(t, "make")
	f := newFolder(t, "Makefile", "all:\n\t@echo built\n\ntest: all\n\t@echo '4 passed, 0 failed, 1 skipped'\n")
	p, err := f.plan(TestRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Asks) != 1 || !strings.Contains(p.Asks[0], "4 passed") || p.Level != toolkit.Moderate {
		t.Errorf("asks = %q at level %s", p.Asks, p.Level)
	}
	r, err := f.call(TestRun(), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text)
	}
	tested(t, r, 4, 0, 1)
	if r, err = f.call(BuildTool(), nil); err != nil || !data[Built](t, r).OK {
		t.Errorf("%v\n%s", err, r.Text)
	}
}
