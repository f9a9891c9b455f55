package files

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestGrep(t *testing.T) {
	s := newSpace(t,
		"a.go", "package a\n\n// TODO: first\nfunc F() {}\n",
		"b/b.go", "// todo second\n",
		"b/c.txt", "a todo in text\r\n",
		".gitignore", "out.log\n",
		"out.log", "todo ignored\n",
		"vendor/v.go", "// todo in a dependency\n",
		"bin", "todo\x00todo",
		".env", "TODO=1\n",
	)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{
			"folds case, in path order, without ignored files",
			args{"pattern": "todo"},
			"a.go:3: // TODO: first\nb/b.go:1: // todo second\nb/c.txt:1: a todo in text\n[3 matches, 4 files searched]\n[1 protected file was not searched]\n",
		},
		{"minds case when asked", args{"pattern": "TODO", "caseSensitive": true, "glob": "*.go"}, "a.go:3: // TODO: first\n[1 match, 2 files searched]\n"},
		{"a glob with a slash", args{"pattern": "todo", "glob": "b/**/*.go"}, "b/b.go:1: // todo second\n[1 match, 1 file searched]\n"},
		{"several globs, one excluding", args{"pattern": "todo", "glob": "*.{go,txt},!b.go"}, "a.go:3: // TODO: first\nb/c.txt:1: a todo in text\n[2 matches, 2 files searched]\n"},
		{"one file", args{"pattern": "^func", "path": "a.go"}, "a.go:4: func F() {}\n[1 match, 1 file searched]\n"},
		{"an end before CRLF", args{"pattern": "text$"}, "b/c.txt:1: a todo in text\n[1 match, 4 files searched]\n[1 protected file was not searched]\n"},
		{
			"lines around",
			args{"pattern": "TODO", "glob": "a.go", "context": 1},
			"a.go-2- \na.go:3: // TODO: first\na.go-4- func F() {}\n[1 match, 1 file searched]\n",
		},
		{"a dependency folder when named", args{"pattern": "todo", "path": "vendor"}, "vendor/v.go:1: // todo in a dependency\n[1 match, 1 file searched]\n"},
		{
			"nothing, and where it looked",
			args{"pattern": "zzz", "path": "b"},
			"no matches for \"zzz\" in 2 files in b.\n",
		},
		{
			"nothing, as no file fits the glob",
			args{"pattern": "todo", "glob": "*.rs", "path": "b"},
			"no matches for \"todo\" in 0 files in b; no file there matches \"*.rs\".\n",
		},
		{
			"fewer than there are",
			args{"pattern": "todo", "maxResults": 1, "glob": "*.go"},
			"a.go:3: // TODO: first\n[1 of 2 matches shown; narrow the pattern, or give path or glob]\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.must(Grep(), c.args).Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	r := s.must(Grep(), args{"pattern": "TODO", "glob": "a.go", "context": 1})
	want := Matches{
		Matches: []Match{{File: "a.go", Line: 3, Content: "// TODO: first", Before: []string{""}, After: []string{"func F() {}"}}},
		Total:   1, FilesSearched: 1,
	}
	if diff := cmp.Diff(want, data[Matches](t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestLinesAroundNeighboursAreShownOnce(t *testing.T) {
	s := newSpace(t, "a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b", "1\nx\n")
	for pattern, want := range map[string]string{
		"1|3|9": "a:1: 1\na-2- 2\na:3: 3\na-4- 4\na-5- 5\n--\na-7- 7\na-8- 8\na:9: 9\n--\nb:1: 1\nb-2- x\n",
		"4|5":   "a-2- 2\na-3- 3\na:4: 4\na:5: 5\na-6- 6\na-7- 7\n",
		"2|7":   "a-1- 1\na:2: 2\na-3- 3\na-4- 4\na-5- 5\na-6- 6\na:7: 7\na-8- 8\na-9- 9\n",
	} {
		text := s.must(Grep(), args{"pattern": pattern, "context": 2}).Text
		if diff := cmp.Diff(want, text[:strings.LastIndex(text, "[")]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestGrepRefuses(t *testing.T) {
	s := newSpace(t, "a.go", "x\n")
	for _, c := range []struct {
		name string
		args args
		code toolkit.Code
		want string
	}{
		{"an open group, showing how to escape it", args{"pattern": "f(x"}, CodePattern, `f\(x`},
		{"a lone brace or bracket", args{"pattern": "a[b"}, CodePattern, "at character 2"},
		{"look-around", args{"pattern": "(?=x)y"}, CodePattern, "not supported"},
		{"a huge pattern", args{"pattern": strings.Repeat("a", 1025)}, CodePattern, "1025 bytes"},
		{"a broken glob", args{"pattern": "x", "glob": "*.{go"}, CodePattern, "glob"},
		{"a missing folder", args{"pattern": "x", "path": "nope"}, CodeFileNotFound, "nope"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.plan(Grep(), c.args)
			if e := tooltest.Fails(t, err, c.code); !strings.Contains(e.Error(), c.want) {
				t.Errorf("error = %q, want %q in it", e.Error(), c.want)
			}
		})
	}
	for _, p := range []string{"~/.ssh", "/etc", "../"} {
		_, err := s.plan(Grep(), args{"pattern": "x", "path": p})
		denied(t, err, guard.RuleOutside)
	}
}

func TestGrepIsTheSameEachTime(t *testing.T) {
	s := newSpace(t)
	for i := range 300 {
		s.put(fmt.Sprintf("d%d/f%03d.txt", i%7, i), strings.Repeat("needle here\nnothing\n", 1+i%4))
	}
	first := s.must(Grep(), args{"pattern": "needle", "maxResults": 20})
	d := data[Matches](t, first)
	if len(d.Matches) != 20 || d.FilesSearched != 300 || d.Total != 75*(1+2+3+4) {
		t.Fatalf("%d matches of %d in %d files", len(d.Matches), d.Total, d.FilesSearched)
	}
	for i, m := range d.Matches[1:] {
		if p := d.Matches[i]; p.File > m.File || p.File == m.File && p.Line >= m.Line {
			t.Fatalf("%s:%d comes before %s:%d", p.File, p.Line, m.File, m.Line)
		}
	}
	if d.Matches[0].File != "d0/f000.txt" {
		t.Errorf("the first match is in %s", d.Matches[0].File)
	}
	for range 10 {
		if again := s.must(Grep(), args{"pattern": "needle", "maxResults": 20}); again.Text != first.Text {
			t.Fatal("the result differs from one call to the next")
		}
	}
}

func TestGrepCutsLongLinesAroundTheMatch(t *testing.T) {
	s := newSpace(t, "min.js", strings.Repeat("ä", 5000)+"needle"+strings.Repeat("ö", 5000)+"\n")
	s.w.Budget = 3000
	d := data[Matches](t, s.must(Grep(), args{"pattern": "needle"}))
	if len(d.Matches) != 1 || !strings.Contains(d.Matches[0].Content, "needle") || len(d.Matches[0].Content) > 2*maxContent {
		t.Errorf("content = %+v", d.Matches)
	}
}

// However the lines are found, they are those that the expression matches one
// by one.
func TestMatcherFindsWhatTheExpressionMatches(t *testing.T) {
	patterns := []string{
		"todo", "k", "task", "s+t", "(foo|bar)baz", "a|b|c", "^a", "b$", "^$", `\bto\b`, `\s+x`, "[^x]*y", "x{2,}", "(?i)A", `\Aa`, `z\z`,
		"a.c", "foo(bar)?", "(ab)+c", `.*`, "a.*b", `\w+\s*=`, "[a-c]k", "sS", `\W$`, ".$",
	}
	words := rapid.SampledFrom([]string{
		"todo", "TODO", "task", "Tas\u212A", "\u017Ft", "st", "foobaz", "barBAZ", "a", "b", "c", " ", "\t", "x", "xx", "y", "\n", "\r\n", "\r", "abc",
		"ababc", "foo", "to", "k", "K", "s", "=", "é", "\xff", "z",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "words"), ""))
		pattern := rapid.SampledFrom(patterns).Draw(t, "pattern")
		cased := rapid.Bool().Draw(t, "case")
		m, err := compile(pattern, cased)
		if err != nil {
			t.Fatal(err)
		}
		flags := "(?i)"
		if cased {
			flags = ""
		}
		re := regexp.MustCompile(flags + pattern)
		var want, got []string
		for at := 0; at < len(text); {
			start, end, next := lineAround(text, at)
			if re.Match(text[start:end]) {
				want = append(want, fmt.Sprintf("%d-%d", start, end))
			}
			at = next
		}
		m.lines(text, func(start, end int) bool {
			got = append(got, fmt.Sprintf("%d-%d", start, end))
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q in %q (-want +got):\n%s", pattern, text, diff)
		}
	})
}

func BenchmarkGrep(b *testing.B) {
	s := newSpace(b)
	for i := range 2000 {
		s.put(fmt.Sprintf("d%d/f%d.go", i%50, i), strings.Repeat("func handler(w http.ResponseWriter, r *http.Request) error {\n\treturn nil\n}\n", 40))
	}
	for name, pattern := range map[string]string{"literal": "notfoundhere", "regex": `err[a-z]+\(`, "class": `[a-z]+_[0-9]+`} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.must(Grep(), args{"pattern": pattern})
			}
		})
	}
}
