package code

import (
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Output is what a program printed and wrote.
type Output struct {
	Stdout, Stderr string
	All            string   // both in order of arrival
	Code           int      // exit code; -1: it was ended
	Reports        [][]byte // the report files that it wrote
}

// Place says where a program ran, so that the paths it names can be understood.
type Place struct {
	Root   string // the workspace's absolute path
	Dir    string // the folder it ran in, relative to the workspace
	Module string // Go: the module whose folder Dir is
}

// path makes a path that a program printed relative to the workspace. What lies
// elsewhere stays as it is.
func (p Place) path(name string) string {
	name = strings.TrimPrefix(strings.TrimSpace(name), "file://")
	if name == "" {
		return ""
	}
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(p.Root, name)
		if err != nil || !filepath.IsLocal(rel) {
			return filepath.ToSlash(name)
		}
		return filepath.ToSlash(rel)
	}
	return path.Join(p.Dir, filepath.ToSlash(name))
}

// own reports whether a path that path returned is inside the workspace and no
// dependency.
func own(name string) bool {
	return name != "" && !filepath.IsAbs(name) && !strings.HasPrefix(name, "../") && !strings.Contains(name, "node_modules/") &&
		!strings.Contains(name, "site-packages/") && !strings.HasPrefix(name, "node:") && !strings.HasPrefix(name, "<")
}

// Failure is a test that failed, or a place where the build of the tests did.
type Failure struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Report is what a run of tests came to.
type Report struct {
	Passed, Failed, Skipped int
	Duration                time.Duration // by the program's own account; 0: not said
	Coverage                *float64      // percent
	BuildFailed             bool
	Failures                []Failure
}

// Total is the number of tests.
func (r *Report) Total() int { return r.Passed + r.Failed + r.Skipped }

func (r *Report) fail(f Failure) {
	f.Message = clip(f.Message, maxMessage)
	r.Failures = append(r.Failures, f)
}

func (r *Report) cover(percent float64) {
	if percent >= 0 && percent <= 100 {
		r.Coverage = &percent
	}
}

// broken notes that the tests could not be built.
func (r *Report) broken(problems []Problem) {
	r.BuildFailed = true
	for _, p := range problems {
		if p.Severity == "warning" || p.Severity == "note" {
			continue
		}
		r.fail(Failure{Name: "build", File: p.File, Line: p.Line, Message: p.Message})
	}
}

// Problem is one thing that a compiler, checker or linter says.
type Problem struct {
	File     string
	Line     int
	Column   int
	Severity string // error, warning, note
	Rule     string
	Message  string
}

// clip shortens a text to so many bytes, at a character's end, and says so.
func clip(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + " …"
}

// number reads digits; what is too large or none is 0.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1_000_000_000 {
		return 0
	}
	return n
}

// seconds reads a number of seconds.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || f < 0 || f > 1e8 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// lines splits a text, without the ends of lines.
func lines(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// colon is "file:line:column: severity rule: message" with parts left out, as
// most compilers and linters print it.
var colon = regexp.MustCompile(`^\s*((?:[A-Za-z]:)?[^\s:()][^:()]*?):(\d+)(?:[:.-](\d+))?(?:-\d+)?:?\s+(?:-\s+)?(?i:(fatal error|error|warning|note|info)(\[[\w-]+\])?:?\s*)?(.*)$`)

// colonProblems reads that form, wherever it stands in an output.
func colonProblems(text string, at Place) []Problem {
	var out []Problem
	seen := map[Problem]bool{}
	for _, l := range lines(text) {
		m := colon.FindStringSubmatch(l)
		if m == nil || strings.TrimSpace(m[6]) == "" {
			continue
		}
		p := Problem{File: at.path(m[1]), Line: number(m[2]), Column: number(m[3]), Severity: severity(m[4]), Message: strings.TrimSpace(m[6])}
		p.Rule = strings.Trim(m[5], "[]")
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

func severity(word string) string {
	switch strings.ToLower(word) {
	case "warning", "warn", "w":
		return "warning"
	case "note", "info", "help", "information", "suggestion":
		return "note"
	}
	return "error"
}

// errorsOf are the problems that are errors, or all if none is.
func errorsOf(list []Problem) []Problem {
	var out []Problem
	for _, p := range list {
		if p.Severity == "error" {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return list
	}
	return out
}

// trailing is "message (rule)" and "message [rule]".
var trailing = regexp.MustCompile(`^(.*\S)\s+[(\[]([\w@/.,-]+)[)\]]$`)

// ruled moves a rule that stands at the end of messages to its own field.
func ruled(list []Problem) []Problem {
	for i, p := range list {
		if m := trailing.FindStringSubmatch(p.Message); m != nil && p.Rule == "" {
			list[i].Message, list[i].Rule = m[1], m[2]
		}
	}
	return list
}
