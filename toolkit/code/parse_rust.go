package code

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	cargoCase  = regexp.MustCompile(`^---- (\S.*?) stdout ----$`)
	cargoPanic = regexp.MustCompile(`panicked at (?:'.*', )?([^\s:]+\.rs):(\d+)(?::\d+)?:?$`)
	cargoAt    = regexp.MustCompile(`^\s*--> ([^\s:]+):(\d+):(\d+)$`)
	cargoError = regexp.MustCompile(`^(error|warning)(?:\[(\w+)\])?: (.*)$`)
	cargoDone  = regexp.MustCompile(`finished in ([\d.]+)s`)
)

// textCargo reads what cargo test prints.
func textCargo(text string, at Place) (Report, bool) {
	var r Report
	found := false
	var f *Failure
	flush := func() {
		if f != nil {
			r.fail(*f)
		}
		f = nil
	}
	for _, l := range lines(text) {
		if m := cargoSum.FindStringSubmatch(l); m != nil {
			found = true
			r.Passed, r.Failed, r.Skipped = r.Passed+number(m[1]), r.Failed+number(m[2]), r.Skipped+number(m[3])
			if d := cargoDone.FindStringSubmatch(l); d != nil {
				r.Duration += seconds(d[1])
			}
			continue
		}
		if m := cargoCase.FindStringSubmatch(l); m != nil {
			flush()
			f = &Failure{Name: m[1]}
			continue
		}
		switch {
		case f == nil:
		case l == "failures:":
			flush()
		case cargoPanic.MatchString(l):
			m := cargoPanic.FindStringSubmatch(l)
			if f.Line == 0 {
				f.File, f.Line, f.Message = at.path(m[1]), number(m[2]), ""
			}
		case l == "stack backtrace:":
			flush() // it says no more than the panic did
		case strings.HasPrefix(l, "note: "), strings.TrimSpace(l) == "":
		default:
			f.Message = strings.TrimSpace(f.Message + "\n" + l)
		}
	}
	flush()
	return r, found
}

// ReadCargo reads the output of cargo test; a crate that does not compile counts
// as one failure.
func ReadCargo(out Output, at Place) Report {
	r, found := textCargo(out.Stdout, at)
	if problems := errorsOf(rustText(out.Stderr, at)); out.Code != 0 && r.Failed == 0 && len(problems) > 0 && problems[0].Severity == "error" {
		r.broken(problems)
		r.Failed++
	} else if !found && out.Code == 0 {
		return ReadText(out, at)
	}
	return r
}

// rustText reads rustc's diagnostics as people see them.
func rustText(text string, at Place) []Problem {
	var got []Problem
	open := false
	for _, l := range lines(text) {
		if m := cargoError.FindStringSubmatch(l); m != nil {
			open = !strings.HasPrefix(m[3], "could not compile") && !strings.HasPrefix(m[3], "aborting due") && !strings.HasPrefix(m[3], "build failed")
			if open {
				got = append(got, Problem{Severity: m[1], Rule: m[2], Message: m[3]})
			}
		} else if m := cargoAt.FindStringSubmatch(l); m != nil && open && len(got) > 0 && got[len(got)-1].Line == 0 {
			p := &got[len(got)-1]
			p.File, p.Line, p.Column = at.path(m[1]), number(m[2]), number(m[3])
		}
	}
	return got
}

// ReadCargoJSON reads --message-format=json of cargo check, build and clippy.
func ReadCargoJSON(out Output, at Place) []Problem {
	var got []Problem
	seen := map[Problem]bool{}
	for _, l := range lines(out.Stdout) {
		var v struct {
			Reason  string
			Message struct {
				Level, Message string
				Code           *struct{ Code string }
				Spans          []struct {
					FileName    string `json:"file_name"`
					LineStart   int    `json:"line_start"`
					ColumnStart int    `json:"column_start"`
					IsPrimary   bool   `json:"is_primary"`
					Label       *string
				}
			}
		}
		if !strings.HasPrefix(l, "{") || json.Unmarshal([]byte(l), &v) != nil || v.Reason != "compiler-message" {
			continue
		}
		m := v.Message
		p := Problem{Severity: severity(m.Level), Message: m.Message}
		if m.Code != nil {
			p.Rule = m.Code.Code
		}
		for _, s := range m.Spans {
			if s.IsPrimary {
				p.File, p.Line, p.Column = at.path(s.FileName), s.LineStart, s.ColumnStart
				if s.Label != nil && *s.Label != "" && *s.Label != m.Message {
					p.Message += ": " + *s.Label
				}
				break
			}
		}
		if p.File != "" && !seen[p] { // the last messages only count the others
			seen[p] = true
			got = append(got, p)
		}
	}
	if len(got) == 0 && out.Code != 0 {
		return rustText(out.Stderr, at)
	}
	return got
}

// liveCargo leaves the JSON out of what is shown while cargo runs.
func liveCargo(line string) string {
	if strings.HasPrefix(line, "{") {
		return ""
	}
	return line
}
