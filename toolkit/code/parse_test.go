package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fixture is a recorded output; /w stands for the workspace.
func fixture(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// stdout is an output of one stream.
func stdout(text string, code int) Output { return Output{Stdout: text, All: text, Code: code} }

var here = Place{Root: "/w", Dir: "."}

func TestReportsOfTests(t *testing.T) {
	for _, c := range []struct {
		name                    string
		read                    func(Output, Place) Report
		out                     Output
		passed, failed, skipped int
		build                   bool
		failures                []Failure // their messages by a part
	}{
		{"vitest", ReadJest, stdout(fixture(t, "vitest.json"), 1), 1, 2, 1, true, []Failure{
			{"math fails", "t/math.test.js", 5, "expected 2 to be 3"}, {"build", "t/broken.test.js", 0, "missing.js"},
		}},
		{"jest", ReadJest, stdout(fixture(t, "jest.json"), 1), 1, 2, 1, true, []Failure{
			{"math fails", "j/math.test.js", 4, "Expected: 3"}, {"build", "j/broken.test.js", 0, "unexpected token"},
		}},
		{"jest after a test's own output", ReadJest, stdout("{\n  \"a\": 1\n}\n"+fixture(t, "jest.json"), 1), 1, 2, 1, true, nil},
		{"mocha", ReadMocha, stdout(fixture(t, "mocha.json"), 1), 1, 1, 1, false, []Failure{{"math fails", "m/math.js", 5, "2 == 3"}}},
		{"mocha's text", ReadText, stdout(fixture(t, "mocha.txt"), 1), 1, 1, 1, false, nil},
		{"jest's text", ReadText, stdout(fixture(t, "jest.txt"), 1), 1, 1, 1, false, []Failure{{"math › fails", "math.test.js", 4, "Expected: 3"}}},
		{"node --test", ReadText, stdout(fixture(t, "node.tap"), 1), 1, 1, 1, false, []Failure{{"fails", "n/a.test.js", 5, "2 == 3"}}},
		{"pytest", ReadPytest, stdout(fixture(t, "pytest.txt"), 1), 2, 2, 1, false, []Failure{
			{"test_fails", "test_calc.py", 5, "assert 2 == 3"}, {"TestMore::test_n[2]", "test_calc.py", 19, "not one"},
		}},
		{"pytest that cannot import", ReadPytest, stdout(fixture(t, "pytest-broken.txt"), 2), 0, 1, 0, true, []Failure{{"collection", "test_broken.py", 1, "nothing_here"}}},
		{"unittest", ReadText, stdout(fixture(t, "unittest.txt"), 1), 1, 1, 1, false, nil},
		{"cargo test", ReadCargo, stdout(fixture(t, "cargo.txt"), 101), 1, 1, 1, false, []Failure{{"tests::fails", "src/lib.rs", 10, "left: 2"}}},
		{"cargo test that does not compile", ReadCargo, Output{Stderr: fixture(t, "cargo-broken.err"), Code: 101}, 0, 1, 0, true, []Failure{{"build", "src/main.rs", 1, "mismatched types"}}},
		{"surefire", ReadJUnit, Output{Code: 1, Reports: [][]byte{[]byte(fixture(t, "surefire.xml"))}}, 1, 1, 1, false, []Failure{
			{"org.example.CalcTest.fails", "org/example/CalcTest.java", 14, "expected: <3>"},
		}},
		{"maven that does not compile", ReadJUnit, stdout(fixture(t, "maven.txt"), 1), 0, 1, 0, true, []Failure{{"build", "src/main/java/org/example/Calc.java", 5, "incompatible types"}}},
		{"ctest", ReadCtest, stdout(fixture(t, "ctest.txt"), 8), 1, 1, 0, false, []Failure{{"bad", "bad.c", 3, "Assertion"}}},
		{"ctest whose build failed", ReadCtest, stdout(fixture(t, "cc.txt"), 2), 0, 1, 0, true, []Failure{{"build", "good.c", 1, "undeclared"}}},
		{"dotnet test", ReadTRX, Output{Code: 1, Reports: [][]byte{[]byte(fixture(t, "dotnet.trx"))}}, 1, 1, 1, false, []Failure{{"Calc.Tests.Fails", "Tests.cs", 12, "Expected: 3"}}},
		{"dotnet that does not compile", ReadTRX, stdout(fixture(t, "dotnet.txt"), 1), 0, 1, 0, true, []Failure{{"build", "Calc.cs", 5, "Cannot implicitly"}}},
		{"a plain summary", ReadText, stdout("3 passed, 0 failed, 0 skipped\n", 0), 3, 0, 0, false, nil},
		{"go test -v", ReadText, stdout("=== RUN   TestA\n    a_test.go:5: wrong\n--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1\n--- PASS: TestB (0.00s)\nFAIL\nFAIL\tm\t0.01s\n", 1), 1, 1, 0, false, []Failure{{"TestA", "a_test.go", 7, "got 1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.read(c.out, here)
			if r.Passed != c.passed || r.Failed != c.failed || r.Skipped != c.skipped || r.BuildFailed != c.build {
				t.Errorf("passed, failed, skipped, build failed = %d, %d, %d, %v; want %d, %d, %d, %v", r.Passed, r.Failed, r.Skipped, r.BuildFailed, c.passed, c.failed, c.skipped, c.build)
			}
			for _, f := range c.failures {
				failed(t, r.Failures, f.Name, f.File, f.Line, f.Message)
			}
		})
	}
}

func TestAJestLikeSummaryGivesAllItsNumbers(t *testing.T) {
	r := ReadText(stdout("FAIL src/a.test.ts\n  ● adds\n\n    wrong\n\nTests: 1 failed, 2 skipped, 3 passed, 6 total\nDuration 1.5s\nAll files | 87.5 | 80 |\n", 1), here)
	if r.Passed != 3 || r.Failed != 1 || r.Skipped != 2 || r.Total() != 6 || r.Duration != 1500*time.Millisecond || r.Coverage == nil || *r.Coverage != 87.5 {
		t.Errorf("report = %+v", r)
	}
	if len(r.Failures) != 1 || r.Failures[0].File != "src/a.test.ts" {
		t.Errorf("failures = %+v", r.Failures)
	}
}

func TestCoverageIsTheTotal(t *testing.T) {
	if r := ReadPytest(stdout(fixture(t, "pytest.txt"), 1), here); r.Coverage == nil || *r.Coverage != 21 {
		t.Errorf("coverage = %v", r.Coverage)
	}
}

func TestProblemsHavePlaceRuleAndMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(Output, Place) []Problem
		text string
		want Problem // the message by a part
	}{
		{"tsc", ReadTsc, "tsc.txt", Problem{"a.ts", 1, 7, "error", "TS2322", "not assignable"}},
		{"msbuild", ReadTsc, "dotnet.txt", Problem{"Calc.cs", 5, 16, "error", "CS0029", "Cannot implicitly convert type 'string' to 'int'"}},
		{"eslint", ReadESLint, "eslint.json", Problem{"l/a.js", 2, 5, "error", "no-undef", "not defined"}},
		{"biome", ReadGitHub, "biome.txt", Problem{"l/a.js", 2, 7, "error", "lint/suspicious/noDoubleEquals", "Using =="}},
		{"mypy", ReadMypy, "mypy.txt", Problem{"a.py", 2, 10, "error", "assignment", "Incompatible types"}},
		{"flake8", ReadFlake8, "flake8.txt", Problem{"a.py", 1, 1, "error", "F401", "imported but unused"}},
		{"cargo check", ReadCargoJSON, "cargo-check.json", Problem{"src/main.rs", 1, 26, "error", "E0308", "mismatched types"}},
		{"maven", ReadJavac, "maven.txt", Problem{"src/main/java/org/example/Calc.java", 5, 16, "error", "", "incompatible types"}},
		{"gcc", ReadCC, "cc.txt", Problem{"good.c", 1, 25, "error", "", "undeclared"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range c.read(stdout(fixture(t, c.text), 1), here) {
				if message := p.Message; strings.Contains(message, c.want.Message) {
					p.Message = c.want.Message
					if p == c.want {
						return
					}
				}
			}
			t.Errorf("want %+v in %+v", c.want, c.read(stdout(fixture(t, c.text), 1), here))
		})
	}
	ruff := `[{"code":"F401","filename":"/w/a.py","location":{"row":1,"column":8},"message":"os imported but unused"}]`
	if got := ReadRuff(stdout(ruff, 1), here); len(got) != 1 || got[0] != (Problem{"a.py", 1, 8, "error", "F401", "os imported but unused"}) {
		t.Errorf("ruff = %+v", got)
	}
	pyright := `{"generalDiagnostics":[{"file":"/w/a.py","severity":"error","message":"bad","rule":"reportX","range":{"start":{"line":1,"character":9}}}]}`
	if got := ReadPyright(stdout(pyright, 1), here); len(got) != 1 || got[0] != (Problem{"a.py", 2, 10, "error", "reportX", "bad"}) {
		t.Errorf("pyright = %+v", got)
	}
}

// Whatever a program prints is read without a fault, and the counts are such
// that a total can be made of them.
func FuzzReaders(f *testing.F) {
	names, err := filepath.Glob("testdata/*.*")
	if err != nil || len(names) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, n := range names {
		f.Add(fixture(f, filepath.Base(n)))
	}
	f.Add(`{"Action":"run","Package":"m","Test":"T/a"}` + "\n" + `{"Action":"fail","Package":"m","Test":"T"}`)
	f.Add("TAP version 13\nnot ok 1 - a\n  ---\n  location: ':::'\n  ...\n")
	f.Fuzz(func(t *testing.T, text string) {
		out := Output{Stdout: text, Stderr: text, All: text, Code: 1, Reports: [][]byte{[]byte(text)}}
		for _, read := range []func(Output, Place) Report{ReadGo, ReadJest, ReadMocha, ReadPytest, ReadCargo, ReadJUnit, ReadTRX, ReadCtest, ReadMake, ReadText} {
			r := read(out, here)
			if r.Passed < 0 || r.Failed < 0 || r.Skipped < 0 || r.Total() < 0 || r.Duration < 0 {
				t.Errorf("impossible counts: %+v", r)
			}
			for _, f := range r.Failures {
				if f.Line < 0 || len(f.Message) > maxMessage+len(" …") {
					t.Errorf("impossible failure: line %d, %d bytes", f.Line, len(f.Message))
				}
			}
		}
		for _, read := range []func(Output, Place) []Problem{
			ReadGoProblems, ReadColon, ReadRuff, ReadFlake8, ReadMypy, ReadPyright, ReadESLint, ReadTsc, ReadGitHub, ReadCargoJSON, ReadJavac, ReadCC, ReadAny, ReadAnyJS,
		} {
			for _, p := range read(out, here) {
				if p.Line < 0 && p.Message == "" {
					t.Errorf("impossible problem: %+v", p)
				}
			}
		}
	})
}
