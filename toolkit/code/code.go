// Package code has the tools that test, check, build and format a project with
// the project's own programs, and the one place that finds out which those are.
//
// It guarantees:
//
//   - Detection reads manifests through the workspace's file door, runs nothing,
//     and says the reason for each command it chooses.
//   - What runs is an argument list that was fixed when the plan was made; no
//     argument of a call becomes an option, and no shell is in between. The
//     exceptions are a command that the call or the settings give: that is a
//     shell command line and is judged like one of exec.
//   - A plan holds on to the programs and to the manifests and scripts that decide
//     what runs: a call whose programs or scripts are not those of its plan is
//     refused. Where the project's own code decides what a call does, the plan
//     asks and shows it.
//   - Programs run through the process door: in a folder of the workspace, with a
//     deadline, bounded output, and nothing of their process tree left behind.
//   - What programs print is read by pure functions, which accept any text.
package code

import (
	"time"

	"chela/toolkit"
)

// The codes of failures.
const (
	CodeTests     toolkit.Code = "TEST_ERROR"      // tests failed, or could not be built or run
	CodeNoTests   toolkit.Code = "NO_TESTS"        // the program ran, and found no test
	CodeTypes     toolkit.Code = "TYPE_ERRORS"     // the checker found errors
	CodeLint      toolkit.Code = "LINT_ERRORS"     // the linter found problems
	CodeBuild     toolkit.Code = "BUILD_FAILED"    // the build failed
	CodeNoBuild   toolkit.Code = "NO_BUILD_SCRIPT" // there is nothing to build with
	CodeFormat    toolkit.Code = "FORMAT_ERROR"    // the formatter failed
	CodeUnformed  toolkit.Code = "NOT_FORMATTED"   // files are not formatted
	CodeNoProject toolkit.Code = "NO_PROJECT_TOOL" // no program for the job was found
)

const (
	// keepOutput is how many bytes of a program's output are kept: reporters
	// that print JSON print it whole.
	keepOutput = 16 << 20
	// checkLimit ends checks that have no timeout of their own, before the pool
	// ends their call (5 minutes unless set).
	checkLimit = 4 * time.Minute
	// maxListed bounds the failures, problems and files that a result lists.
	maxListed = 200
	// maxMessage bounds the message of one failure, in characters.
	maxMessage = 1500
	// rawTail is how many characters of output a failed run keeps, the reference
	// value of the catalogue.
	rawTail = 5000
)

// Job is one of the things that a project has a program for.
type Job string

// The jobs.
const (
	Test      Job = "test"
	Typecheck Job = "typecheck"
	Lint      Job = "lint"
	Build     Job = "build"
	Format    Job = "format"
	Start     Job = "run"
)

// jobs are all of them, in the order in which they are shown.
var jobs = []Job{Build, Test, Lint, Format, Typecheck, Start}
