package code

import (
	"slices"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/tooltest"
)

var goModule = []string{
	"go.mod", "module example.org/calc\n\ngo 1.21\n",
	"calc.go", "package calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
	"calc_test.go", `package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("wrong")
	}
}

func TestLater(t *testing.T) { t.Skip("not now") }

func TestTable(t *testing.T) {
	for _, n := range []int{1, 2} {
		t.Run("case", func(t *testing.T) {
			if n == 2 {
				t.Errorf("got %d", n)
			}
		})
	}
}
`,
	"sub/sub_test.go", "package sub\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) { t.Log(\"fine\") }\n",
}

func TestGoTestsAreCountedAndFailuresHavePlaces(t *testing.T) {
	f := newFolder(t, goModule...)
	r, err := f.call(TestRun(), args{"timeout": 300})
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 3, 1, 1)
	failed(t, d.Failures, "TestTable/case#01", "calc_test.go", 17, "got 2")
	if d.Framework != "go test" || d.ExitCode != 1 || d.BuildFailed || d.DurationMS < 0 {
		t.Errorf("data = %+v", d)
	}
	if !strings.HasPrefix(r.Text, "go test: 3 passed, 1 failed, 1 skipped") || strings.Contains(r.Text, `"Action"`) {
		t.Errorf("text = %s", r.Text)
	}
}

func TestGoTestsCanBePicked(t *testing.T) {
	f := newFolder(t, goModule...)
	for name, c := range map[string]struct {
		args   args
		passed int
	}{
		"a name":            {args{"grep": "^TestAdd$"}, 1},
		"a folder":          {args{"file": "sub"}, 1},
		"a file":            {args{"file": "sub/sub_test.go"}, 1},
		"a package pattern": {args{"file": "./sub/..."}, 1},
		"a file and a test": {args{"file": "calc_test.go::TestAdd"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := f.call(TestRun(), c.args)
			if err != nil {
				t.Fatalf("%v\n%s", err, r.Text)
			}
			tested(t, r, c.passed, 0, 0)
		})
	}
	r, err := f.call(TestRun(), args{"grep": "TestNone"})
	tooltest.Fails(t, err, CodeNoTests)
	tested(t, r, 0, 0, 0)
}

func TestGoCoverageIsMeasured(t *testing.T) {
	f := newFolder(t, goModule...)
	r, err := f.call(TestRun(), args{"grep": "TestAdd", "coverage": true, "file": "calc_test.go"})
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text)
	}
	if d := tested(t, r, 1, 0, 0); d.Coverage == nil || *d.Coverage != 100 {
		t.Errorf("coverage = %v\n%s", d.Coverage, r.Text)
	}
}

// A package that does not compile is a failure with its place, not a success
// without failures.
func TestAGoPackageThatDoesNotCompileFails(t *testing.T) {
	f := newFolder(t, goModule...)
	f.put("bad/bad.go", "package bad\n\nfunc f() int {\n\treturn \"text\"\n}\n")
	f.put("bad/bad_test.go", "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) {}\n")
	r, err := f.call(TestRun(), args{"file": "bad"})
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 0, 1, 0)
	if !d.BuildFailed {
		t.Error("build_failed is not set")
	}
	failed(t, d.Failures, "build", "bad/bad.go", 4, "cannot use")
	r, err = f.call(TypecheckTool(), args{"path": "bad/bad.go"})
	tooltest.Fails(t, err, CodeTypes)
	if c := data[Typechecked](t, r); c.OK || c.Count == 0 || c.Errors[0].File != "bad/bad.go" || c.Errors[0].Line != 4 || c.Errors[0].Col == 0 {
		t.Errorf("typecheck = %+v", c)
	}
	r, err = f.call(BuildTool(), args{"script": "bad"})
	tooltest.Fails(t, err, CodeBuild)
	if b := data[Built](t, r); b.OK || len(b.Errors) == 0 || b.Errors[0].File != "bad/bad.go" || b.Errors[0].Line != 4 {
		t.Errorf("build = %+v", b)
	}
}

func TestAGoTestThatPanicsIsAFailure(t *testing.T) {
	f := newFolder(t, "go.mod", "module m\n\ngo 1.21\n", "a_test.go", "package m\n\nimport \"testing\"\n\nfunc TestBoom(t *testing.T) {\n\tvar p *int\n\t*p = 1\n}\n")
	r, err := f.call(TestRun(), nil)
	tooltest.Fails(t, err, CodeTests)
	d := tested(t, r, 0, 1, 0)
	failed(t, d.Failures, "TestBoom", "a_test.go", 7, "nil pointer")
}

func TestGoChecksOfASoundProject(t *testing.T) {
	f := newFolder(t, goModule...)
	r, err := f.call(TypecheckTool(), nil)
	if err != nil || !data[Typechecked](t, r).OK {
		t.Fatalf("%v\n%s", err, r.Text)
	}
	f.put("print.go", "package calc\n\nimport \"fmt\"\n\nfunc show() { fmt.Printf(\"%d\\n\", \"x\") }\n")
	r, err = f.call(TypecheckTool(), nil)
	tooltest.Fails(t, err, CodeTypes)
	if d := data[Typechecked](t, r); d.Count != 1 || d.Errors[0].File != "print.go" || d.Errors[0].Line != 5 {
		t.Errorf("vet = %+v\n%s", d, r.Text)
	}
	if r, err = f.call(BuildTool(), nil); err != nil || !data[Built](t, r).OK {
		t.Errorf("%v\n%s", err, r.Text)
	}
}

func TestGofmtReportsAndWrites(t *testing.T) {
	f := newFolder(t, goModule...)
	const ugly = "package calc\nfunc  b( ) { }\n"
	f.put("b.go", ugly)
	r, err := f.call(FormatTool(), args{"path": ".", "check": true})
	tooltest.Fails(t, err, CodeUnformed)
	if d := data[Formatted](t, r); !slices.Equal(d.ChangedFiles, []string{"b.go"}) || d.OK || len(r.Changed) != 0 {
		t.Errorf("check = %+v, changed %v", d, r.Changed)
	}
	if f.get("b.go") != ugly {
		t.Fatal("a check changed the file")
	}
	p, err := f.plan(FormatTool(), args{"path": "b.go"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: "b.go"}) {
		t.Errorf("the plan does not say what it writes: %v", p.Effects)
	}
	r, err = f.call(FormatTool(), args{"path": "."})
	if err != nil {
		t.Fatal(err)
	}
	if d := data[Formatted](t, r); !slices.Equal(d.ChangedFiles, []string{"b.go"}) || !d.OK {
		t.Errorf("format = %+v", d)
	}
	if len(r.Changed) != 1 || r.Changed[0].Path != "b.go" || f.get("b.go") == ugly {
		t.Errorf("changed = %v", r.Changed)
	}
}
