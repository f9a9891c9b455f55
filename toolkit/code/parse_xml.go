package code

import (
	"encoding/xml"
	"path"
	"regexp"
	"strings"
)

// junitSuite is a JUnit report, as surefire, gradle and ctest write them.
type junitSuite struct {
	XMLName xml.Name
	Time    string       `xml:"time,attr"`
	Suites  []junitSuite `xml:"testsuite"`
	Cases   []struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		File    string      `xml:"file,attr"`
		Line    string      `xml:"line,attr"`
		Skipped *struct{}   `xml:"skipped"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
	} `xml:"testcase"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

var javaFrame = regexp.MustCompile(`^\s*at (?:[\w.@-]+/)*([\w.$]+)\.[\w$<>]+\((\w+\.(?:java|kt|groovy|scala)):(\d+)\)`)

// ReadJUnit reads the reports that a run wrote. Without any the output is read:
// the tests may not have been reached.
func ReadJUnit(out Output, at Place) Report {
	var r Report
	read := false
	for _, data := range out.Reports {
		var s junitSuite
		if xml.Unmarshal(data, &s) != nil {
			continue
		}
		read = true
		r.suite(s, at)
	}
	if !read {
		r, read = textSurefire(out.All, at)
		if !read && len(ReadJavac(out, at)) == 0 {
			r = ReadText(out, at)
		}
	}
	if out.Code != 0 && r.Failed == 0 {
		if problems := ReadJavac(out, at); len(problems) > 0 {
			r.broken(problems)
			r.Failed++
		}
	}
	return r
}

func (r *Report) suite(s junitSuite, at Place) {
	r.Duration += seconds(strings.ReplaceAll(s.Time, ",", ""))
	for _, sub := range s.Suites {
		r.suite(sub, at)
	}
	for _, c := range s.Cases {
		fault := c.Failure
		if fault == nil {
			fault = c.Error
		}
		switch {
		case fault != nil:
			r.Failed++
			f := Failure{Name: strings.TrimPrefix(c.Class+"."+c.Name, "."), File: c.File, Line: number(c.Line), Message: fault.Message}
			if f.Message == "" {
				f.Message, _, _ = strings.Cut(strings.TrimSpace(fault.Text), "\n")
			}
			class, _, _ := strings.Cut(c.Class, "$")
			for _, l := range lines(fault.Text) {
				if m := javaFrame.FindStringSubmatch(l); m != nil && f.Line == 0 && (m[1] == class || strings.HasPrefix(m[1], class+"$")) {
					f.File, f.Line = path.Join(path.Dir(strings.ReplaceAll(class, ".", "/")), m[2]), number(m[3])
				}
			}
			r.fail(f)
		case c.Skipped != nil:
			r.Skipped++
		default:
			r.Passed++
		}
	}
}

var (
	mavenError = regexp.MustCompile(`^\[(ERROR|WARNING)\] (\S+\.(?:java|kt|groovy|scala)):\[(\d+),(\d+)\] (?:error: )?(.*)$`)
	javacError = regexp.MustCompile(`^(?:e: |w: )?(?:file://)?(\S+\.(?:java|kt|kts|groovy|scala)):(\d+):(?:(\d+):?)? (?:(error|warning): )?(.*)$`)
	mavenTest  = regexp.MustCompile(`^\[ERROR\]\s+(\w[\w.$]*?)\.(\w+):(\d+)(?:->\S+)? (.*)$`)
)

// ReadJavac reads compiler errors as maven, gradle and javac print them.
func ReadJavac(out Output, at Place) []Problem {
	var got []Problem
	seen := map[string]bool{}
	for _, l := range lines(out.All) {
		var p Problem
		if m := mavenError.FindStringSubmatch(l); m != nil {
			p = Problem{at.path(m[2]), number(m[3]), number(m[4]), severity(m[1]), "", m[5]}
		} else if m := javacError.FindStringSubmatch(l); m != nil && (m[4] != "" || strings.HasPrefix(l, "e: ") || strings.HasPrefix(l, "w: ")) {
			p = Problem{at.path(m[1]), number(m[2]), number(m[3]), severity(m[4]), "", m[5]}
			if strings.HasPrefix(l, "w: ") {
				p.Severity = "warning"
			}
		} else {
			continue
		}
		if key := p.File + l[strings.IndexByte(l, ':'):]; !seen[key] { // maven says each error twice
			seen[key] = true
			got = append(got, p)
		}
	}
	return got
}

func mavenFailures(text string, at Place) []Failure {
	var r Report
	for _, l := range lines(text) {
		if m := mavenTest.FindStringSubmatch(l); m != nil {
			r.fail(Failure{Name: m[1] + "." + m[2], Line: number(m[3]), Message: m[4]})
		}
	}
	return r.Failures
}

// ReadTRX reads the reports of dotnet test --logger trx.
func ReadTRX(out Output, at Place) Report {
	var r Report
	read := false
	for _, data := range out.Reports {
		var v struct {
			Results []struct {
				Name    string `xml:"testName,attr"`
				Outcome string `xml:"outcome,attr"`
				Message string `xml:"Output>ErrorInfo>Message"`
				Stack   string `xml:"Output>ErrorInfo>StackTrace"`
			} `xml:"Results>UnitTestResult"`
		}
		if xml.Unmarshal(data, &v) != nil {
			continue
		}
		read = true
		for _, t := range v.Results {
			switch t.Outcome {
			case "Passed":
				r.Passed++
			case "Failed", "Error", "Timeout", "Aborted":
				r.Failed++
				f := Failure{Name: t.Name, Message: t.Message}
				f.File, f.Line = dotnetPlace(t.Stack, at)
				r.fail(f)
			default:
				r.Skipped++
			}
		}
	}
	if !read {
		r = ReadText(out, at)
	}
	if out.Code != 0 && r.Failed == 0 {
		if problems := errorsOf(ReadTsc(out, at)); len(problems) > 0 {
			r.broken(problems)
			r.Failed++
		}
	}
	return r
}

var (
	dotnetFrame = regexp.MustCompile(` in (.+):line (\d+)`)
	dotnetCase  = regexp.MustCompile(`^\s+Failed (\S.*?) \[[^\]]*\]$`)
)

func dotnetPlace(stack string, at Place) (string, int) {
	for _, m := range dotnetFrame.FindAllStringSubmatch(stack, -1) {
		if file := at.path(m[1]); own(file) {
			return file, number(m[2])
		}
	}
	return "", 0
}

// dotnetFailures reads the failures that dotnet test prints.
func dotnetFailures(text string, at Place) []Failure {
	var r Report
	var f *Failure
	message := false
	for _, l := range lines(text) {
		if m := dotnetCase.FindStringSubmatch(l); m != nil {
			r.Failures = append(r.Failures, Failure{Name: m[1]})
			f, message = &r.Failures[len(r.Failures)-1], false
			continue
		}
		if f == nil {
			continue
		}
		switch t := strings.TrimSpace(l); {
		case t == "Error Message:":
			message = true
		case t == "Stack Trace:":
			message = false
		case message && t != "":
			f.Message = clip(strings.TrimSpace(f.Message+"\n"+t), maxMessage)
		case f.Line == 0:
			f.File, f.Line = dotnetPlace(l, at)
		}
	}
	return r.Failures
}

var (
	ctestCase  = regexp.MustCompile(`^\s*\d+/\d+ Test\s+#\d+: (\S+) \.+\s*(.*)$`)
	ctestNone  = regexp.MustCompile(`No tests were found`)
	ctestTime  = regexp.MustCompile(`Total Test time \(real\) =\s+([\d.]+) sec`)
	assertLine = regexp.MustCompile(`([\w./\\-]+\.(?:c|cc|cpp|cxx|h|hpp|hh)):(\d+)`)
)

// textCtest reads what ctest --output-on-failure prints.
func textCtest(text string, at Place) (Report, bool) {
	var r Report
	m := ctestSum.FindStringSubmatch(text)
	if m == nil {
		return r, ctestNone.MatchString(text)
	}
	r.Failed = number(m[2])
	r.Passed = max(0, number(m[3])-r.Failed)
	if m := ctestTime.FindStringSubmatch(text); m != nil {
		r.Duration = seconds(m[1])
	}
	var f *Failure
	flush := func() {
		if f != nil {
			r.fail(*f)
		}
		f = nil
	}
	for _, l := range lines(text) {
		if m := ctestCase.FindStringSubmatch(l); m != nil {
			flush()
			switch {
			case strings.Contains(m[2], "Skipped"), strings.Contains(m[2], "Not Run (Disabled)"):
				r.Skipped++
				r.Passed = max(0, r.Passed-1)
			case strings.Contains(m[2], "***"):
				f = &Failure{Name: m[1]}
			}
			continue
		}
		if ctestSum.MatchString(l) {
			flush()
		}
		if f == nil || strings.TrimSpace(l) == "" || strings.HasPrefix(strings.TrimSpace(l), "Start ") {
			continue
		}
		if m := assertLine.FindStringSubmatch(l); m != nil && f.Line == 0 {
			f.File, f.Line = at.path(m[1]), number(m[2])
		}
		if len(f.Message) < maxMessage {
			f.Message = strings.TrimSpace(f.Message + "\n" + l)
		}
	}
	flush()
	return r, true
}

// ReadCtest reads the output of a build and ctest.
func ReadCtest(out Output, at Place) Report {
	r, found := textCtest(out.All, at)
	if !found && out.Code != 0 {
		if problems := errorsOf(ReadCC(out, at)); len(problems) > 0 {
			r.broken(problems)
			r.Failed++
		}
	}
	return r
}

var makeStar = regexp.MustCompile(`^(?:g?make)(?:\[\d+\])?: \*\*\* \[?([^:\]]+):(\d+)[:\]] ?(.*)$|^([^\s:]+):(\d+): \*\*\* (.*)$`)

// ReadCC reads the errors of C and C++ compilers, linkers, cmake and make.
func ReadCC(out Output, at Place) []Problem {
	var got []Problem
	for _, p := range ruled(colonProblems(out.All, at)) {
		if !strings.HasPrefix(p.Message, "*** ") && p.Severity != "note" && !strings.Contains(p.File, "make") {
			got = append(got, p)
		}
	}
	all := lines(out.All)
	for i, l := range all {
		if m := cmakeError.FindStringSubmatch(l); m != nil {
			p := Problem{File: at.path(m[2]), Line: number(m[3]), Severity: severity(m[1])}
			for _, next := range all[i+1:] {
				if strings.TrimSpace(next) != "" {
					p.Message = strings.TrimSpace(next)
					break
				}
			}
			got = append(got, p)
		}
	}
	if len(got) == 0 {
		for _, l := range all {
			if m := makeStar.FindStringSubmatch(l); m != nil {
				got = append(got, Problem{File: at.path(m[1] + m[4]), Line: number(m[2] + m[5]), Severity: "error", Message: strings.TrimSpace(m[3] + m[6])})
			}
		}
	}
	return got
}

var cmakeError = regexp.MustCompile(`^CMake (Error|Warning)(?: \(dev\))? at ([^:]+):(\d+)`)
