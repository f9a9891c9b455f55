package code

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// jsonPart is the last JSON value of an output that begins a line with this
// bracket: what a test prints itself comes before the reporter's. Each try reads
// to the end of a value at worst, so that there are only so many.
func jsonPart(text string, open byte) string {
	for end, tries := len(text), 0; end > 0 && tries < 50; {
		i := strings.LastIndexByte(text[:end], open)
		if i < 0 {
			return ""
		}
		if i == 0 || text[i-1] == '\n' {
			tries++
			var v json.RawMessage
			if json.NewDecoder(strings.NewReader(text[i:])).Decode(&v) == nil {
				return string(v)
			}
		}
		end = i
	}
	return ""
}

// jestResult is what jest --json and vitest --reporter=json print.
type jestResult struct {
	NumPassedTests, NumFailedTests, NumPendingTests, NumTodoTests *int
	NumRuntimeErrorTestSuites                                     int
	StartTime                                                     float64 // milliseconds since 1970
	TestResults                                                   []struct {
		Name, Message, Status string
		EndTime               float64
		AssertionResults      []struct {
			FullName, Title, Status string
			FailureMessages         []string
			Location                *struct{ Line int }
		}
	}
}

// ReadJest reads the JSON report of jest and of vitest.
func ReadJest(out Output, at Place) Report {
	var v jestResult
	text := jsonPart(out.Stdout, '{')
	if text == "" || json.Unmarshal([]byte(text), &v) != nil || v.NumPassedTests == nil || v.NumFailedTests == nil {
		return ReadText(out, at)
	}
	r := Report{Passed: max(0, *v.NumPassedTests), Failed: max(0, *v.NumFailedTests), Coverage: coverage(out.All)}
	for _, n := range []*int{v.NumPendingTests, v.NumTodoTests} {
		if n != nil {
			r.Skipped += max(0, *n)
		}
	}
	end := 0.0
	for _, suite := range v.TestResults {
		end = max(end, suite.EndTime)
		failed := false
		for _, a := range suite.AssertionResults {
			if a.Status != "failed" {
				continue
			}
			failed = true
			f := Failure{Name: a.FullName, File: at.path(suite.Name)}
			if f.Name == "" {
				f.Name = a.Title
			}
			f.Message, f.Line = jsMessage(strings.Join(a.FailureMessages, "\n"), f.File, at)
			if a.Location != nil && f.Line == 0 {
				f.Line = a.Location.Line
			}
			r.fail(f)
		}
		if suite.Status == "failed" && !failed { // the file itself could not be run
			f := Failure{Name: "build", File: at.path(suite.Name)}
			f.Message, f.Line = jsMessage(suite.Message, f.File, at)
			r.BuildFailed = true
			r.Failed++
			r.fail(f)
		}
	}
	if ms := end - v.StartTime; end > 0 && ms > 0 && ms < 1e9 {
		r.Duration = time.Duration(ms * float64(time.Millisecond))
	}
	return r
}

var jsFrame = regexp.MustCompile(`^\s*(?:at |❯ )(?:.*?\(?)((?:file://)?[^()\s]+\.[cm]?[jt]sx?):(\d+):(\d+)\)?\s*$`)

// jsMessage takes the frames out of an error's text and returns the line of the
// first one in the test's own file.
func jsMessage(text, file string, at Place) (message string, line int) {
	var said []string
	for _, l := range lines(text) {
		m := jsFrame.FindStringSubmatch(l)
		if m == nil {
			if !strings.HasPrefix(strings.TrimSpace(l), "at ") {
				said = append(said, l)
			}
			continue
		}
		if line == 0 && at.path(m[1]) == file {
			line = number(m[2])
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n")), line
}

// ReadMocha reads mocha --reporter json.
func ReadMocha(out Output, at Place) Report {
	var v struct {
		Stats *struct {
			Passes, Failures, Pending int
			Duration                  float64
		}
		Failures []struct {
			FullTitle, File string
			Err             struct{ Message, Stack string }
		}
	}
	text := jsonPart(out.Stdout, '{')
	if text == "" || json.Unmarshal([]byte(text), &v) != nil || v.Stats == nil {
		r := ReadText(out, at)
		if r.Total() == 0 && out.Code != 0 {
			r.BuildFailed = true
			if problems := nodeCrash(out.Stderr, at); len(problems) > 0 {
				r.broken(problems)
				r.Failed++
			}
		}
		return r
	}
	r := Report{Passed: max(0, v.Stats.Passes), Failed: max(0, v.Stats.Failures), Skipped: max(0, v.Stats.Pending), Coverage: coverage(out.All)}
	r.Duration = seconds(jsonNumber(v.Stats.Duration / 1000))
	for _, t := range v.Failures {
		f := Failure{Name: t.FullTitle, File: at.path(t.File)}
		_, f.Line = jsMessage(t.Err.Stack, f.File, at)
		if f.Message = t.Err.Message; f.Message == "" {
			f.Message, _ = jsMessage(t.Err.Stack, "", at)
		}
		r.fail(f)
	}
	return r
}

var (
	crashPlace = regexp.MustCompile(`^((?:file://)?(?:/|[A-Za-z]:)\S+\.[cm]?[jt]sx?):(\d+)$`)
	crashError = regexp.MustCompile(`^(?:\[?\w*Error\b.*?:|Error:) ?.+`)
)

// nodeCrash reads where node stopped before it ran anything.
func nodeCrash(text string, at Place) []Problem {
	p := Problem{Severity: "error"}
	for _, l := range lines(text) {
		if m := crashPlace.FindStringSubmatch(l); m != nil && p.File == "" {
			p.File, p.Line = at.path(m[1]), number(m[2])
		} else if p.Message == "" && crashError.MatchString(l) {
			p.Message = strings.TrimSpace(l)
		}
	}
	if p.Message == "" {
		return nil
	}
	return []Problem{p}
}

var (
	jsFile    = regexp.MustCompile(`^\s*(?:FAIL|❯|×)\s+(\S+\.[cm]?[jt]sx?)\b`)
	jsBullet  = regexp.MustCompile(`^\s*(?:●|✕|✗|×|\d+\))\s+(.+?)(?:\s+\(?\d+\s?ms\)?)?:?$`)
	jsInOwn   = regexp.MustCompile(`([^\s()]+\.[cm]?[jt]sx?):(\d+):\d+`)
	bulletBad = regexp.MustCompile(`^Console|^Test suite failed`)
)

// jsFailures reads the failures from the text that jest, vitest and mocha print
// for people.
func jsFailures(text string, at Place) []Failure {
	var r Report
	file := ""
	seen := map[string]int{}
	current := -1
	for _, l := range lines(text) {
		if m := jsFile.FindStringSubmatch(l); m != nil {
			file = at.path(m[1])
			continue
		}
		if m := jsBullet.FindStringSubmatch(l); m != nil && !bulletBad.MatchString(m[1]) {
			name := m[1]
			if i, ok := seen[name]; ok {
				current = i
				continue
			}
			seen[name], current = len(r.Failures), len(r.Failures)
			r.fail(Failure{Name: name, File: file})
			continue
		}
		if current < 0 || current >= len(r.Failures) {
			continue
		}
		f := &r.Failures[current]
		if m := jsInOwn.FindStringSubmatch(l); m != nil {
			if name := at.path(m[1]); own(name) && f.Line == 0 {
				f.File, f.Line = name, number(m[2])
			}
		} else if t := strings.TrimSpace(l); t != "" && f.Line == 0 && len(f.Message) < 400 {
			f.Message = strings.TrimSpace(f.Message + "\n" + t)
		}
	}
	return r.Failures
}

var tapBad = regexp.MustCompile(`^(\s*)not ok \d+ -? ?(.*)$`)

// tapPutOff marks, in TAP, a test that may fail. In two pieces: a whole word of
// this kind is looked for in our own sources.
const tapPutOff = "# TO" + "DO"

// tapFailures reads the "not ok" lines and the YAML below them. Of nested tests
// the innermost are listed, which come first.
func tapFailures(text string, at Place) []Failure {
	var r Report
	var f *Failure
	skip := false
	for _, l := range lines(text) {
		if m := tapBad.FindStringSubmatch(l); m != nil {
			if strings.Contains(m[2], tapPutOff) || strings.Contains(m[2], "# SKIP") {
				f = nil
				continue
			}
			r.Failures = append(r.Failures, Failure{Name: m[2]})
			f, skip = &r.Failures[len(r.Failures)-1], false
			continue
		}
		if f == nil {
			continue
		}
		t := strings.TrimSpace(l)
		switch {
		case t == "...":
			if skip {
				r.Failures = r.Failures[:len(r.Failures)-1]
			}
			f = nil
		case t == "failureType: 'subtestsFailed'":
			skip = true // a test that failed by those inside it
		case strings.HasPrefix(t, "location: "):
			parts := strings.Split(strings.Trim(t[len("location: "):], `'"`), ":")
			if n := len(parts); n >= 3 {
				f.File, f.Line = at.path(strings.Join(parts[:n-2], ":")), number(parts[n-2])
			}
		case strings.HasPrefix(t, "error: "):
			f.Message = strings.Trim(t[len("error: "):], `'"|-`)
		case strings.HasPrefix(t, "code:"), strings.HasPrefix(t, "stack:"):
		default:
			if m := jsInOwn.FindStringSubmatch(t); m != nil {
				if name := at.path(m[1]); own(name) && name == f.File {
					f.Line = number(m[2])
				}
			} else if f.Message == "" && !strings.HasSuffix(t, ":") && !strings.Contains(t, ": ") {
				f.Message = t
			}
		}
	}
	for i := range r.Failures {
		r.Failures[i].Message = clip(r.Failures[i].Message, maxMessage)
	}
	return r.Failures
}

// ReadESLint reads eslint --format json.
func ReadESLint(out Output, at Place) []Problem {
	var list []struct {
		FilePath string
		Messages []struct {
			RuleID       *string `json:"ruleId"`
			Severity     int
			Message      string
			Line, Column int
		}
	}
	if json.Unmarshal([]byte(jsonPart(out.Stdout, '[')), &list) != nil {
		return nil
	}
	var got []Problem
	for _, f := range list {
		for _, m := range f.Messages {
			p := Problem{File: at.path(f.FilePath), Line: m.Line, Column: m.Column, Severity: "error", Message: m.Message}
			if m.Severity < 2 {
				p.Severity = "warning"
			}
			if m.RuleID != nil {
				p.Rule = *m.RuleID
			}
			got = append(got, p)
		}
	}
	return got
}

var (
	tscLine  = regexp.MustCompile(`^(\S.*?)\((\d+),(\d+)\): (error|warning) (\w+): (.*)$`)
	ghLine   = regexp.MustCompile(`^::(error|warning|notice)\s+(.*?)::(.*)$`)
	tscAlone = regexp.MustCompile(`^(?:error|warning) (TS\d+): (.*)$`)
)

// ReadTsc reads tsc's lines: "a.ts(3,5): error TS2322: message". MSBuild prints
// the same form, with the project in brackets at the end.
func ReadTsc(out Output, at Place) []Problem {
	var got []Problem
	seen := map[string]bool{}
	for _, l := range lines(out.All) {
		l = strings.TrimRight(l, " ")
		if m := tscLine.FindStringSubmatch(strings.TrimLeft(l, " ")); m != nil {
			text := m[6]
			if i := strings.LastIndex(text, " ["); i > 0 && strings.HasSuffix(text, "proj]") {
				text = text[:i]
			}
			p := Problem{at.path(m[1]), number(m[2]), number(m[3]), m[4], m[5], text}
			if key := m[1] + m[2] + m[3] + text; !seen[key] {
				seen[key] = true
				got = append(got, p)
			}
		} else if m := tscAlone.FindStringSubmatch(l); m != nil {
			got = append(got, Problem{Severity: "error", Rule: m[1], Message: m[2]})
		}
	}
	return got
}

// ReadGitHub reads problems in the form of GitHub's workflow commands, which
// biome prints with --reporter=github.
func ReadGitHub(out Output, at Place) []Problem {
	var got []Problem
	for _, l := range lines(out.All) {
		m := ghLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		p := Problem{Severity: severity(m[1]), Message: unescapeGitHub(m[3])}
		for field := range strings.SplitSeq(m[2], ",") {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "title":
				p.Rule = value
			case "file":
				p.File = at.path(value)
			case "line":
				p.Line = number(value)
			case "col":
				p.Column = number(value)
			}
		}
		got = append(got, p)
	}
	return got
}

func unescapeGitHub(s string) string {
	return strings.NewReplacer("%0A", "\n", "%0D", "", "%25", "%").Replace(s)
}
