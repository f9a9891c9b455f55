package code

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func float(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1
	}
	return f
}

func jsonNumber(f float64) string { return fmt.Sprintf("%f", f) }

var (
	countWord  = regexp.MustCompile(`\b(\d+) (passed|passing|failed|failing|failures?|errors?|skipped|pending|todo|ignored|xfailed|xpassed|deselected)\b`)
	countAfter = regexp.MustCompile(`(?i)^[#ℹ\s]*(pass|fail|skipped|todo|cancelled)\s+(\d+)\s*$`)
	surefire   = regexp.MustCompile(`Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)`)
	unittest   = regexp.MustCompile(`^Ran (\d+) tests? in ([\d.]+)s`)
	unitResult = regexp.MustCompile(`^(?:OK|FAILED)(?: \((.*)\))?$`)
	ctestSum   = regexp.MustCompile(`(\d+)% tests passed, (\d+) tests? failed out of (\d+)`)
	dotnetSum  = regexp.MustCompile(`Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+), Total:\s+(\d+)`)
	cargoSum   = regexp.MustCompile(`test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored`)
	goOK       = regexp.MustCompile(`^(ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))`)
	goCase     = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) \(`)
	durations  = regexp.MustCompile(`(?i)(?:\bin|duration:?|time:?|finished in)\s+([\d.]+)\s?(ms|s|m)\b`)
	allFiles   = regexp.MustCompile(`(?m)(?:All files|TOTAL|Statements|^Lines)[^\d\n]*(?:\d+\s+\d+\s+)?([\d.]+)\s?%?`)
)

// ReadText reads the outcome of tests from any output: the summary that the
// known programs print, and the failures where their form is known.
func ReadText(out Output, at Place) Report {
	text := out.All
	for _, read := range []func(string, Place) (Report, bool){textCargo, textGo, textSurefire, textDotnet, textCtest, textUnittest, textPytest, textTAP} {
		if r, ok := read(text, at); ok {
			common(&r, text)
			return r
		}
	}
	var r Report
	for _, l := range lines(text) {
		words := countWord.FindAllStringSubmatch(l, -1)
		if len(words) == 0 {
			continue
		}
		line := summary(words)
		// Jest counts suites before it counts tests; mocha prints a line for each word.
		if len(words) > 1 || strings.HasPrefix(strings.TrimSpace(l), "Tests") {
			r.Passed, r.Failed, r.Skipped = line.Passed, line.Failed, line.Skipped
			if len(words) > 1 && !strings.Contains(l, "Suites") && !strings.Contains(l, "Files") {
				break
			}
			continue
		}
		r.Passed, r.Failed, r.Skipped = max(r.Passed, line.Passed), max(r.Failed, line.Failed), max(r.Skipped, line.Skipped)
	}
	r.Failures = jsFailures(text, at)
	common(&r, text)
	return r
}

// common reads duration and coverage where the program's own form had none.
func common(r *Report, text string) {
	if m := durations.FindAllStringSubmatch(text, -1); r.Duration == 0 && m != nil {
		last := m[len(m)-1]
		r.Duration = seconds(last[1])
		switch last[2] {
		case "ms":
			r.Duration /= 1000
		case "m":
			r.Duration *= 60
		}
	}
	if r.Coverage == nil {
		r.Coverage = coverage(text)
	}
}

// coverage reads the total of a coverage table or summary.
func coverage(text string) *float64 {
	var r Report
	for _, l := range lines(text) {
		if m := allFiles.FindStringSubmatch(l); m != nil {
			r.cover(float(m[1]))
			if r.Coverage != nil {
				return r.Coverage
			}
		}
	}
	return nil
}

// summary adds the words of one summary line.
func summary(words [][]string) Report {
	var r Report
	for _, w := range words {
		n := number(w[1])
		switch w[2] {
		case "passed", "passing", "xpassed":
			r.Passed += n
		case "skipped", "pending", "todo", "ignored", "xfailed":
			r.Skipped += n
		case "deselected":
		default:
			r.Failed += n
		}
	}
	return r
}

func textGo(text string, at Place) (Report, bool) {
	var r Report
	found := false
	for _, l := range lines(text) {
		if goOK.MatchString(l) {
			found = true
		}
		m := goCase.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		found = true
		switch m[1] {
		case "PASS":
			r.Passed++
		case "SKIP":
			r.Skipped++
		default:
			r.Failed++
			r.fail(Failure{Name: m[2], Message: "see the output"})
		}
	}
	if !found {
		return r, false
	}
	// The place of a failure follows its line.
	i := -1
	for _, l := range lines(text) {
		if m := goCase.FindStringSubmatch(l); m != nil {
			if m[1] == "FAIL" {
				i++
			}
		} else if m := goPlace.FindStringSubmatch(l); m != nil && i >= 0 && i < len(r.Failures) && r.Failures[i].Line == 0 {
			r.Failures[i] = Failure{r.Failures[i].Name, at.path(m[1]), number(m[2]), clip(m[3], maxMessage)}
		}
	}
	for _, l := range lines(text) {
		if strings.HasPrefix(l, "FAIL\t") && (strings.Contains(l, "[build failed]") || strings.Contains(l, "[setup failed]")) {
			r.Failed++
			r.BuildFailed = true
		} else if r.Passed == 0 && strings.HasPrefix(l, "ok ") && !strings.Contains(l, "[no tests to run]") {
			r.Passed++ // without -v only packages are counted
		}
	}
	if r.BuildFailed {
		r.broken(goBuildProblems(text, at))
	}
	return r, true
}

func textSurefire(text string, at Place) (Report, bool) {
	var r Report
	m := surefire.FindAllStringSubmatch(text, -1)
	if m == nil {
		return r, false
	}
	// Each class has a line of its own with "Time elapsed", and each module a total.
	for _, l := range lines(text) {
		m := surefire.FindStringSubmatch(l)
		if m == nil || strings.Contains(l, "Time elapsed") {
			continue
		}
		run, failed, skipped := number(m[1]), number(m[2])+number(m[3]), number(m[4])
		r.Failed, r.Skipped, r.Passed = r.Failed+failed, r.Skipped+skipped, r.Passed+max(0, run-failed-skipped)
	}
	r.Failures = mavenFailures(text, at)
	return r, true
}

func textDotnet(text string, at Place) (Report, bool) {
	var r Report
	m := dotnetSum.FindAllStringSubmatch(text, -1)
	for _, s := range m {
		r.Failed, r.Passed, r.Skipped = r.Failed+number(s[1]), r.Passed+number(s[2]), r.Skipped+number(s[3])
	}
	if m == nil {
		return r, false
	}
	r.Failures = dotnetFailures(text, at)
	return r, true
}

func textUnittest(text string, at Place) (Report, bool) {
	var r Report
	found := false
	for _, l := range lines(text) {
		if m := unittest.FindStringSubmatch(l); m != nil {
			found = true
			r.Passed, r.Duration = number(m[1]), seconds(m[2])
		} else if m := unitResult.FindStringSubmatch(strings.TrimSpace(l)); m != nil && found {
			for part := range strings.SplitSeq(m[1], ", ") {
				name, n, _ := strings.Cut(part, "=")
				switch name {
				case "failures", "errors", "unexpected successes":
					r.Failed += number(n)
				case "skipped", "expected failures":
					r.Skipped += number(n)
				}
			}
			r.Passed = max(0, r.Passed-r.Failed-r.Skipped)
		}
	}
	if found {
		r.Failures = unittestFailures(text, at)
	}
	return r, found
}

// textTAP reads the summary and the failures of node --test and other programs
// that print the Test Anything Protocol.
func textTAP(text string, at Place) (Report, bool) {
	var r Report
	found := false
	for _, l := range lines(text) {
		if m := countAfter.FindStringSubmatch(l); m != nil && strings.ContainsAny(l, "#ℹ") {
			found = true
			switch n := number(m[2]); strings.ToLower(m[1]) {
			case "pass":
				r.Passed = n
			case "fail", "cancelled":
				r.Failed += n
			default:
				r.Skipped += n
			}
		}
		if ms, ok := strings.CutPrefix(l, "# duration_ms "); ok {
			r.Duration = seconds(ms) / 1000
		}
	}
	if !found && strings.HasPrefix(text, "TAP version") {
		found = true
		for _, l := range lines(text) {
			switch {
			case strings.HasPrefix(l, "ok ") && strings.Contains(l, "# SKIP"):
				r.Skipped++
			case strings.HasPrefix(l, "ok "):
				r.Passed++
			case strings.HasPrefix(l, "not ok "):
				r.Failed++
			}
		}
	}
	if found {
		r.Failures = tapFailures(text, at)
	}
	return r, found
}

// rounded is a duration as people read it.
func rounded(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
