package code

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	pytestEnd     = regexp.MustCompile(`^=*\s*((?:\d+ \w+(?:, )?)+) in ([\d.]+)s`)
	pytestHead    = regexp.MustCompile(`^_{3,} (.+?) _{3,}$`)
	pytestPlace   = regexp.MustCompile(`^(\S[^:]*\.py):(\d+): (.*)$`)
	pytestSummary = regexp.MustCompile(`^(FAILED|ERROR) (\S+?\.py)(?:::(\S+(?:\[.*?\])?))?(?: - (.*))?$`)
	pytestError   = regexp.MustCompile(`^E\s{1,7}(.*)$`)
	pytestNone    = regexp.MustCompile(`^=*\s*no tests ran in ([\d.]+)s`)
)

// textPytest reads what pytest prints with --tb=short.
func textPytest(text string, at Place) (Report, bool) {
	var r Report
	found := false
	all := lines(text)
	for _, l := range all {
		if m := pytestEnd.FindStringSubmatch(l); m != nil {
			found = true
			r = summary(countWord.FindAllStringSubmatch(m[1], -1))
			r.Duration = seconds(m[2])
		} else if m := pytestNone.FindStringSubmatch(l); m != nil {
			found = true
			r.Duration = seconds(m[1])
		}
	}
	if !found {
		return r, false
	}
	sections := pytestSections(all, at)
	for _, l := range all {
		m := pytestSummary.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		f := Failure{Name: m[3], File: at.path(m[2]), Message: m[4]}
		for i, s := range sections {
			heading := strings.ReplaceAll(m[3], "::", ".")
			if s.Name == "" || m[3] != "" && s.Name != heading && !strings.HasSuffix(s.Name, " of "+heading) || m[3] == "" && !strings.Contains(s.Name, m[2]) {
				continue
			}
			if s.Message != "" {
				f.Message = s.Message
			}
			if s.Line > 0 {
				f.File, f.Line = s.File, s.Line
			}
			sections[i].Name = "" // of two with one name each has its own
			break
		}
		if f.Name == "" {
			f.Name = "collection"
			r.BuildFailed = true
		}
		r.fail(f)
	}
	return r, true
}

// pytestSections reads the blocks of the failures: where the test itself stood
// last, and the message.
func pytestSections(all []string, at Place) []Failure {
	var out []Failure
	var first string // the file of the block's first place: the test's own
	for _, l := range all {
		if m := pytestHead.FindStringSubmatch(l); m != nil {
			out = append(out, Failure{Name: m[1]})
			first = ""
			continue
		}
		if len(out) == 0 {
			continue
		}
		f := &out[len(out)-1]
		if strings.HasPrefix(l, "====") {
			out = append(out, Failure{}) // what follows belongs to no block
		} else if m := pytestPlace.FindStringSubmatch(l); m != nil {
			file := at.path(m[1])
			if !own(file) {
				continue
			}
			if first == "" {
				first = file
			}
			if file == first {
				f.File, f.Line = file, number(m[2])
			}
		} else if m := pytestError.FindStringSubmatch(l); m != nil && len(f.Message) < maxMessage {
			f.Message = strings.TrimPrefix(f.Message+"\n"+strings.TrimRight(m[1], " "), "\n")
		}
	}
	return out
}

// ReadPytest reads the output of pytest.
func ReadPytest(out Output, at Place) Report {
	r, ok := textPytest(out.Stdout, at)
	if !ok {
		r = ReadText(out, at)
	}
	r.Coverage = coverage(out.Stdout)
	return r
}

var (
	unitHead  = regexp.MustCompile(`^(?:FAIL|ERROR): (\S+) ?\(?(.*?)\)?$`)
	unitPlace = regexp.MustCompile(`^\s+File "([^"]+)", line (\d+)`)
)

func unittestFailures(text string, at Place) []Failure {
	var r Report
	var f *Failure
	flush := func() {
		if f != nil {
			r.fail(*f)
		}
		f = nil
	}
	for _, l := range lines(text) {
		if m := unitHead.FindStringSubmatch(l); m != nil {
			flush()
			f = &Failure{Name: m[1]}
			continue
		}
		switch {
		case f == nil:
		case strings.HasPrefix(l, "Ran ") && unittest.MatchString(l):
			flush()
		case unitPlace.MatchString(l):
			m := unitPlace.FindStringSubmatch(l)
			if file := at.path(m[1]); own(file) && (f.File == "" || f.File == file) {
				f.File, f.Line = file, number(m[2])
			}
		case l != "" && l[0] != ' ' && !strings.HasPrefix(l, "---") && !strings.HasPrefix(l, "===") && !strings.HasPrefix(l, "Traceback"):
			f.Message = strings.TrimSpace(f.Message + "\n" + l)
		}
	}
	flush()
	return r.Failures
}

// ReadRuff reads ruff check --output-format=json.
func ReadRuff(out Output, at Place) []Problem {
	var list []struct {
		Code     *string
		Message  string
		Filename string
		Location struct{ Row, Column int }
	}
	if json.Unmarshal([]byte(jsonPart(out.Stdout, '[')), &list) != nil {
		return colonProblems(out.All, at)
	}
	var got []Problem
	for _, v := range list {
		p := Problem{File: at.path(v.Filename), Line: v.Location.Row, Column: v.Location.Column, Severity: "error", Message: v.Message}
		if v.Code != nil {
			p.Rule = *v.Code
		}
		got = append(got, p)
	}
	return got
}

var flake = regexp.MustCompile(`^([A-Z]+\d+) (.*)$`)

// ReadFlake8 reads flake8's lines: "a.py:1:1: F401 message".
func ReadFlake8(out Output, at Place) []Problem {
	list := colonProblems(out.Stdout, at)
	for i, p := range list {
		if m := flake.FindStringSubmatch(p.Message); m != nil {
			list[i].Rule, list[i].Message = m[1], m[2]
		}
	}
	return list
}

// ReadMypy reads mypy's lines: "a.py:3: error: message  [rule]". Notes explain
// the line above them and are not counted.
func ReadMypy(out Output, at Place) []Problem {
	var got []Problem
	for _, p := range ruled(colonProblems(out.All, at)) {
		if p.Severity != "note" {
			got = append(got, p)
		}
	}
	return got
}

// ReadPyright reads pyright --outputjson, whose lines count from 0.
func ReadPyright(out Output, at Place) []Problem {
	var v struct {
		GeneralDiagnostics []struct {
			File, Severity, Message, Rule string
			Range                         struct{ Start struct{ Line, Character int } }
		}
	}
	if json.Unmarshal([]byte(jsonPart(out.Stdout, '{')), &v) != nil {
		return colonProblems(out.All, at)
	}
	var got []Problem
	for _, d := range v.GeneralDiagnostics {
		if s := severity(d.Severity); s != "note" {
			got = append(got, Problem{at.path(d.File), d.Range.Start.Line + 1, d.Range.Start.Character + 1, s, d.Rule, d.Message})
		}
	}
	return got
}
