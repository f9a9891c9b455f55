package code

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
)

type testArgs struct {
	Command  string `json:"command,omitempty" alias:"cmd,script"`
	File     string `json:"file,omitempty" doc:"test file or package" alias:"path,package,file_path,target"`
	Grep     string `json:"grep,omitempty" doc:"test name pattern" alias:"pattern,filter,name,test_name"`
	Coverage bool   `json:"coverage,omitempty" default:"false"`
	Timeout  int    `json:"timeout,omitempty" default:"120" min:"1" max:"3600" alias:"timeout_seconds"`
}

// Tested is the data of test_run.
type Tested struct {
	Framework   string    `json:"framework"`
	Command     string    `json:"command"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	Skipped     int       `json:"skipped"`
	Total       int       `json:"total"`
	DurationMS  int64     `json:"duration_ms"`
	ExitCode    int       `json:"exit_code"`
	BuildFailed bool      `json:"build_failed"`
	Failures    []Failure `json:"failures"`
	Coverage    *float64  `json:"coverage"` // percent; null: not measured
	RawTail     string    `json:"raw_tail"` // the end of the output of a run that failed
}

// TestRun runs the project's tests.
func TestRun() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "test_run",
		Summary:  "Run the project's tests; report counts and failures.",
		Category: "test",
		Synonyms: "unit tests pytest jest vitest mocha go test cargo test ctest junit coverage",
		Level:    toolkit.Moderate,
		Tier:     tiers.Standard,
		Foreign:  true,
	}, planTest, runTest, toolkit.AvailableIf(available(Test)))
}

func planTest(ctx context.Context, w *toolkit.Workspace, a testArgs) (toolkit.Plan, error) {
	limit := time.Duration(a.Timeout) * time.Second
	if line := strings.TrimSpace(a.Command); line != "" {
		c := Command{Tool: "manual", Dir: ".", Line: line, Tests: ReadMake}
		if a.File != "" || a.Grep != "" || a.Coverage {
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "command comes with file, grep or coverage, which it does not use.").
				WithHint("Write them into command, or leave command out.")
		}
		return plan(ctx, w, c, limit)
	}
	o, err := target(w, "file", a.File)
	if err != nil {
		return toolkit.Plan{}, err
	}
	o.Grep, o.Coverage = a.Grep, a.Coverage
	c, err := choose(w, Test, o)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p, err := plan(ctx, w, c, limit)
	if err == nil && c.Line != "" {
		p = p.AtLevel(toolkit.Moderate) // the person wrote it, in the settings
	}
	return p, err
}

func runTest(ctx context.Context, w *toolkit.Workspace, a testArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	c, err := unchanged(ctx, w, a, p, planTest)
	if err != nil {
		return toolkit.Result{}, err
	}
	f, err := c.run(ctx, w, progress)
	if err != nil {
		return toolkit.Result{}, err
	}
	r := c.outcome(f, c.place(w))
	locate(space{w}, c.Dir, r.Failures)
	d := Tested{
		Framework: c.Tool, Command: c.ran(), Passed: r.Passed, Failed: r.Failed, Skipped: r.Skipped, Total: r.Total(), DurationMS: r.Duration.Milliseconds(),
		ExitCode: f.out.Code, BuildFailed: r.BuildFailed, Failures: slices.Clip(r.Failures[:min(len(r.Failures), maxListed)]), Coverage: r.Coverage,
	}
	if d.Failures == nil {
		d.Failures = []Failure{}
	}
	var fault error
	switch {
	case f.fault != nil:
		fault = f.fault
	case r.BuildFailed:
		fault = toolkit.Errorf(CodeTests, "the tests could not be built.").WithHint("Fix the errors above first.")
	case r.Failed > 0:
		fault = toolkit.Errorf(CodeTests, "%s failed.", counted(r.Failed, "test"))
	case r.Total() == 0 && (f.out.Code == 0 || noTests(f.out)):
		fault = toolkit.Errorf(CodeNoTests, "no tests were found.").WithHint("Check file and grep, or write a test.")
	case f.out.Code != 0:
		fault = toolkit.Errorf(CodeTests, "%s ended with exit code %d, and no failed test was reported.", c.Tool, f.out.Code)
	}
	if fault != nil {
		d.RawTail = f.tail()
	}
	text, cut := toolkit.Bound(r.text(c.Command, d)+f.note, min(w.OutputBudget(), toolkit.MaxBudget), "run one file with file, or one test with grep")
	return toolkit.Result{Text: text, Data: &d, Cut: cut}, fault
}

// outcome reads what the tests came to.
func (p *prepared) outcome(f finished, at Place) Report {
	var r Report
	if f.step < len(p.Before) && f.out.Code != 0 && p.Problems != nil && len(p.Before) > 0 && !strings.Contains(f.out.All, "Test project") {
		r.broken(errorsOf(p.Problems(f.out, at)))
		r.Failed = 1
	} else {
		r = p.Tests(f.out, at)
	}
	if r.Duration == 0 {
		r.Duration = f.took
	}
	return r
}

// noTests reports that the program said so with its exit code or in words, where
// that is not also what it says when tests could not be run.
func noTests(out Output) bool {
	return strings.Contains(out.All, "no tests ran in") || strings.Contains(out.All, " deselected in ") || strings.Contains(out.All, "No test files found") || strings.Contains(out.All, "No tests found")
}

// locate finds the files of failures that are known only by the end of their
// path, as Java's frames have it.
func locate(t Tree, dir string, failures []Failure) {
	for i, f := range failures {
		if f.File == "" || path.Ext(f.File) != ".java" && path.Ext(f.File) != ".kt" {
			continue
		}
		for _, root := range []string{"src/test/java", "src/test/kotlin", "src/main/java", "src/main/kotlin"} {
			full := dir + "/" + root + "/" + f.File
			if _, ok := t.Read(full); ok {
				failures[i].File = strings.TrimPrefix(full, "./")
				break
			}
		}
	}
}

// text is what the model reads: the counts, then each failure.
func (r *Report) text(c Command, d Tested) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d passed, %d failed, %d skipped in %s", d.Framework, r.Passed, r.Failed, r.Skipped, rounded(r.Duration))
	if r.Coverage != nil {
		fmt.Fprintf(&b, ", coverage %.1f%%", *r.Coverage)
	}
	b.WriteByte('\n')
	for _, n := range c.Notes {
		b.WriteString("note: " + n + "\n")
	}
	for _, f := range d.Failures {
		b.WriteString("\nFAIL " + f.Name)
		if f.File != "" {
			b.WriteString(" (" + where(f.File, f.Line, 0) + ")")
		}
		b.WriteByte('\n')
		for _, l := range lines(f.Message) {
			b.WriteString("  " + l + "\n")
		}
	}
	if more := len(r.Failures) - len(d.Failures); more > 0 {
		fmt.Fprintf(&b, "\nand %d more failures\n", more)
	}
	if len(r.Failures) == 0 && d.RawTail != "" {
		b.WriteString("\n" + d.RawTail + "\n")
	}
	return b.String()
}

// where is a place as compilers print it.
func where(file string, line, column int) string {
	switch {
	case line == 0:
		return file
	case column == 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// counted is a number with its word.
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
