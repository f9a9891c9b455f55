package code

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// goEvent is a line of go test -json (go doc test2json).
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// goTest is what was seen of one test or, with no name, of a package.
type goTest struct {
	pkg, name string
	action    string // of its end
	output    strings.Builder
	parent    bool // it has subtests
}

var (
	goPlace    = regexp.MustCompile(`^\s+([\w.-]+\.go):(\d+): ?(.*)$`)
	goFrame    = regexp.MustCompile(`^\s+(/\S+|[A-Za-z]:\S+)_test\.go:(\d+)`)
	goCoverage = regexp.MustCompile(`coverage: ([\d.]+)% of statements`)
)

// ReadGo reads the output of go test -json. A test with subtests is not counted
// beside them; a package that could not be built counts as one failure.
// Coverage is the mean of the packages that have statements.
func ReadGo(out Output, at Place) Report {
	tests := map[string]*goTest{}
	var order []*goTest
	get := func(pkg, name string) *goTest {
		key := pkg + "\x00" + name
		t := tests[key]
		if t == nil {
			t = &goTest{pkg: pkg, name: name}
			tests[key], order = t, append(order, t)
			if i := strings.LastIndexByte(name, '/'); i > 0 {
				if up := tests[pkg+"\x00"+name[:i]]; up != nil {
					up.parent = true
				}
			}
		}
		return t
	}
	var r Report
	var build strings.Builder // what the compiler said, which is no JSON before Go 1.24
	build.WriteString(out.Stderr)
	build.WriteByte('\n')
	var covered []float64
	unbuilt := map[string]bool{}
	elapsed := 0.0
	for _, l := range lines(out.Stdout) {
		var e goEvent
		if !strings.HasPrefix(l, "{") || json.Unmarshal([]byte(l), &e) != nil {
			build.WriteString(l + "\n")
			continue
		}
		switch e.Action {
		case "build-output":
			build.WriteString(e.Output)
		case "output":
			get(e.Package, e.Test).output.WriteString(e.Output)
			if m := goCoverage.FindStringSubmatch(e.Output); m != nil && e.Test == "" && strings.HasPrefix(strings.TrimSpace(e.Output), "coverage:") {
				covered = append(covered, float(m[1]))
			}
			if strings.Contains(e.Output, "[build failed]") || strings.Contains(e.Output, "[setup failed]") {
				unbuilt[e.Package] = true
			}
		case "run":
			get(e.Package, e.Test)
		case "pass", "fail", "skip":
			get(e.Package, e.Test).action = e.Action
			if e.FailedBuild != "" {
				unbuilt[e.Package] = true
			}
			if e.Test == "" {
				elapsed = max(elapsed, e.Elapsed)
			}
		}
	}
	r.Duration = seconds(jsonNumber(elapsed))
	r.count(order, unbuilt, at)
	if len(unbuilt) > 0 {
		r.broken(goBuildProblems(build.String(), at))
		if len(r.Failures) == 0 {
			r.fail(Failure{Name: "build", Message: strings.TrimSpace(build.String())})
		}
		r.Failed += len(unbuilt)
	}
	if len(covered) > 0 {
		sum := 0.0
		for _, c := range covered {
			sum += c
		}
		r.cover(sum / float64(len(covered)))
	}
	return r
}

// count adds up the tests, and describes those that failed.
func (r *Report) count(order []*goTest, unbuilt map[string]bool, at Place) {
	explained := map[string]bool{} // packages with a test that failed
	failedBelow := func(t *goTest) bool {
		return slices.ContainsFunc(order, func(o *goTest) bool {
			return o.pkg == t.pkg && o.action == "fail" && strings.HasPrefix(o.name, t.name+"/")
		})
	}
	for _, t := range order {
		switch {
		case t.name == "":
		case t.action == "":
			// It began and never ended: the process died in it, or was ended.
			r.Failed++
			explained[t.pkg] = true
			r.fail(t.failure(at))
		case t.parent && (t.action != "fail" || failedBelow(t)):
		case t.action == "pass":
			r.Passed++
		case t.action == "skip":
			r.Skipped++
		default:
			r.Failed++
			explained[t.pkg] = true
			r.fail(t.failure(at))
		}
	}
	for _, t := range order {
		if t.name == "" && t.action == "fail" && !explained[t.pkg] && !unbuilt[t.pkg] {
			r.Failed++ // TestMain, an init function, a race after the last test
			r.fail(t.failure(at))
		}
	}
}

// failure describes a failed test by the first place its output names.
func (t *goTest) failure(at Place) Failure {
	f := Failure{Name: t.name}
	if f.Name == "" {
		f.Name = t.pkg
	}
	dir := at.goDir(t.pkg)
	var said []string
	for _, l := range lines(t.output.String()) {
		trimmed := strings.TrimSpace(l)
		if strings.HasPrefix(trimmed, "=== ") || strings.HasPrefix(trimmed, "--- ") || trimmed == "" || trimmed == "FAIL" || strings.HasPrefix(trimmed, "FAIL\t") {
			continue
		}
		if m := goPlace.FindStringSubmatch(l); m != nil {
			if f.Line == 0 {
				f.File, f.Line = path.Join(dir, m[1]), number(m[2])
			}
			l = m[1] + ":" + m[2] + ": " + m[3]
		} else if m := goFrame.FindStringSubmatch(l); m != nil && f.Line == 0 {
			f.File, f.Line = at.path(m[1]+"_test.go"), number(m[2])
		}
		said = append(said, strings.TrimRight(strings.TrimPrefix(l, "    "), " "))
	}
	f.Message = strings.Join(said, "\n")
	if f.Message == "" {
		f.Message = "it failed without a message"
	}
	return f
}

// goDir is the folder of a package.
func (p Place) goDir(pkg string) string {
	if rest, ok := strings.CutPrefix(pkg, p.Module); ok && p.Module != "" && (rest == "" || rest[0] == '/') {
		return path.Join(p.Dir, strings.TrimPrefix(rest, "/"))
	}
	return p.Dir
}

var goCompile = regexp.MustCompile(`^(?:vet: )?(\S+\.(?:go|s|c|mod)):(\d+)(?::(\d+))?: (.*)$`)

// goBuildProblems reads what go build and go vet print: lines below "# package".
func goBuildProblems(text string, at Place) []Problem {
	var out []Problem
	seen := map[Problem]bool{}
	for _, l := range lines(text) {
		m := goCompile.FindStringSubmatch(l)
		if m == nil {
			// A message may go on in lines that begin with a tab.
			if strings.HasPrefix(l, "\t") && len(out) > 0 {
				out[len(out)-1].Message += "\n" + strings.TrimSpace(l)
			}
			continue
		}
		p := Problem{File: at.path(m[1]), Line: number(m[2]), Column: number(m[3]), Severity: "error", Message: m[4]}
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// ReadGoProblems reads the output of go build, go vet and staticcheck.
func ReadGoProblems(out Output, at Place) []Problem { return ruled(goBuildProblems(out.All, at)) }

// liveGo is what a person wants to see of go test -json while it runs.
func liveGo(line string) string {
	var e goEvent
	if json.Unmarshal([]byte(line), &e) != nil {
		return line
	}
	if e.Action == "output" || e.Action == "build-output" {
		return strings.TrimSuffix(e.Output, "\n")
	}
	return ""
}
