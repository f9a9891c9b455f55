package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestEditLadder(t *testing.T) {
	const code = "func a() {\n\tif x {\n\t\treturn 1\n\t}\n}\n\nfunc b() {\n\treturn 2\n}\n"
	for _, c := range []struct {
		name          string
		file          string
		old, with     string
		all           bool
		want          string
		kind          string
		wantAmbiguous bool
	}{
		{name: "exact", file: code, old: "return 1", with: "return 3", want: strings.Replace(code, "return 1", "return 3", 1), kind: matchExact},
		{name: "exact, deleting", file: "a\nb\nc\n", old: "b\n", with: "", want: "a\nc\n", kind: matchExact},
		{name: "exact, twice", file: "x\ny\nx\n", old: "x", with: "z", wantAmbiguous: true},
		{name: "exact, all", file: "x\ny\nx\n", old: "x", with: "z", all: true, want: "z\ny\nz\n", kind: matchExact},
		{
			name: "copied line numbers", file: code, old: "     2\t\tif x {\n     3\t\t\treturn 1", with: "     2\t\tif y {\n     3\t\t\treturn 1",
			want: strings.Replace(code, "if x", "if y", 1), kind: matchLineNumbers,
		},
		{
			name: "copied line numbers, not in the new text", file: code, old: "3:\t\treturn 1", with: "\t\treturn 9",
			want: strings.Replace(code, "return 1", "return 9", 1), kind: matchLineNumbers,
		},
		{name: "LF for CRLF", file: "a\r\nb\r\nc\r\n", old: "a\nb", with: "x\ny", want: "x\r\ny\r\nc\r\n", kind: matchLineEndings},
		{name: "CRLF for LF", file: "a\nb\nc\n", old: "a\r\nb", with: "x\r\ny", want: "x\ny\nc\n", kind: matchLineEndings},
		{name: "one line in CRLF gets CRLF", file: "a\r\nb\r\n", old: "a", with: "x\ny", want: "x\r\ny\r\nb\r\n", kind: matchExact},
		{name: "trailing blanks in the file", file: "a  \nb\t\nc\n", old: "a\nb", with: "x", want: "x\nc\n", kind: matchTrailing},
		{name: "blank lines around", file: "a\nb\nc\n", old: "\nb \n\n", with: "\nB\n\n", want: "a\nB\nc\n", kind: matchTrailing},
		{
			name: "indent left out", file: code, old: "if x {\n\treturn 1\n}", with: "if y {\n\treturn 1\n}\nelse()",
			want: strings.Replace(strings.Replace(code, "if x", "if y", 1), "\t}\n", "\t}\n\telse()\n", 1), kind: matchIndentation,
		},
		{
			name: "indent too deep", file: code, old: "\t\t\tif x {\n\t\t\t\treturn 1", with: "\t\t\tif y {\n\t\t\t\treturn 1",
			want: strings.Replace(code, "if x", "if y", 1), kind: matchIndentation,
		},
		{
			name: "spaces for tabs", file: code, old: "    if x {\n        return 1\n    }", with: "    if y {\n        return 1\n    }",
			want: strings.Replace(code, "if x", "if y", 1), kind: matchWhitespace,
		},
		{name: "inner blanks", file: "a  =  1;\nb\n", old: "a = 1;", with: "a = 2;", want: "a = 2;\nb\n", kind: matchWhitespace},
		{
			name: "double escapes", file: "x := \"a\"\ny := 2\n", old: `x := \"a\"\ny := 2`, with: `x := \"b\"\ny := 2`,
			want: "x := \"b\"\ny := 2\n", kind: matchEscapes,
		},
		{
			name: "a similar block", file: "start(alpha)\n  one := compute(first, second)\n  two := finish(one)\nend(omega)\nrest\n",
			old: "start(alpha)\n  one := compute(first, secnd)\n  two := finish(one)\nend(omega)", with: "done()",
			want: "done()\nrest\n", kind: matchBlock,
		},
		{name: "a dissimilar block", file: "s\n  one two three\n  four five\ne\n", old: "s\n  xxxxx yyyyyy\n  zzzzz\ne", with: "d"},
		{name: "ambiguous when loose", file: "\ta()\nx\n\t\ta()\n", old: "    a() ", with: "b()", wantAmbiguous: true},
		{name: "a mark stays", file: "\xef\xbb\xbfa\nb\n", old: "a\n", with: "x\n", want: "\xef\xbb\xbfx\nb\n", kind: matchExact},
		{name: "no newline at the end stays so", file: "a\nb", old: "  b\n", with: "  c\n", want: "a\nc", kind: matchIndentation},
		{name: "blanks alone are exact only", file: "a\n\tb\n", old: "   ", with: "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDocument([]byte(c.file))
			m, several := climb(d, c.old, c.with, c.all)
			switch {
			case c.wantAmbiguous:
				if several == nil {
					t.Fatalf("match = %+v, want an ambiguous one", m)
				}
			case c.kind == "":
				if m != nil || several != nil {
					t.Fatalf("match = %+v, %+v; want none", m, several)
				}
			case m == nil:
				t.Fatalf("no match (%+v)", several)
			default:
				if got := string(d.replace(m.spans)); got != c.want || m.kind != c.kind {
					t.Errorf("by %s:\n%q\nwant by %s:\n%q", m.kind, got, c.kind, c.want)
				}
			}
		})
	}
}

func TestEditFile(t *testing.T) {
	s := newSpace(t, "a.go", "package a\n\nfunc f() {\n\treturn 1\n}\n")
	if err := os.Chmod(filepath.Join(s.dir, "a.go"), 0o751); err != nil {
		t.Fatal(err)
	}
	a := args{"path": "a.go", "old_string": "return 1 ", "new_string": "return 2"}
	p, err := s.plan(EditFile(), a)
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary != "a.go +1 -1" || p.Level != toolkit.Moderate || strings.Join(p.Preview.Notes, "") != "match: indentation adjusted" {
		t.Errorf("summary %q, level %v, notes %q", p.Summary, p.Level, p.Preview.Notes)
	}
	r := s.must(EditFile(), a)
	want := "edited a.go: 1 replacement, +1 -1 lines. Match was not exact: indentation adjusted.\n" +
		"     2\t\n     3\tfunc f() {\n     4\t\treturn 2\n     5\t}\n"
	if r.Text != want {
		t.Errorf("text = %q\nwant   %q", r.Text, want)
	}
	d := data[Edited](t, r)
	if d.MatchKind != matchIndentation || d.Replacements != 1 || !strings.Contains(d.Diff, "+\treturn 2") {
		t.Errorf("data = %+v", d)
	}
	if got := s.get("a.go"); got != "package a\n\nfunc f() {\n\treturn 2\n}\n" {
		t.Errorf("content = %q", got)
	}
	if info, err := os.Stat(filepath.Join(s.dir, "a.go")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("mode = %v (%v), want it kept", info.Mode(), err)
	}
}

func TestEditFileRefuses(t *testing.T) {
	s := newSpace(t, "a.go", "x := 1\ny := compute(first)\nx := 1\n", "bin", "a\x00b", "done.go", "value := newName(1)\n",
		"twice.txt", "a, a\n", "thrice.txt", "b, b\nb\n", "many.txt", strings.Repeat("c\n", 12))
	for _, c := range []struct {
		name string
		args args
		code toolkit.Code
		want string
	}{
		{"an empty text", args{"path": "a.go", "old_string": "", "new_string": "x"}, toolkit.CodeInvalid, "write_file"},
		{"no change", args{"path": "a.go", "old_string": "x", "new_string": "x"}, toolkit.CodeInvalid, "new_string"},
		{"two places, by line", args{"path": "a.go", "old_string": "x := 1", "new_string": "z"}, CodeAmbiguous, "at lines 1, 3"},
		{"two places on one line", args{"path": "twice.txt", "old_string": "a", "new_string": "z"}, CodeAmbiguous, "2 times, all on line 1"},
		{"places that share a line", args{"path": "thrice.txt", "old_string": "b", "new_string": "z"}, CodeAmbiguous, "3 times, at lines 1 (2 times), 2"},
		{"more places than are named", args{"path": "many.txt", "old_string": "c", "new_string": "z"}, CodeAmbiguous, "12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, and 2 more"},
		{"a text that is not there, with the nearest", args{"path": "a.go", "old_string": "y := compute(second)", "new_string": "z"}, CodeNoMatch, "     2\ty := compute(first)"},
		{"an edit that is done", args{"path": "done.go", "old_string": "value := oldName(2)", "new_string": "value := newName(1)"}, CodeNoMatch, "there already, at line 1"},
		{"a binary", args{"path": "bin", "old_string": "a", "new_string": "b"}, CodeBinary, "binary"},
		{"a missing file", args{"path": "b.go", "old_string": "a", "new_string": "b"}, CodeFileNotFound, "a.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.plan(EditFile(), c.args)
			if e := tooltest.Fails(t, err, c.code); !strings.Contains(e.Error(), c.want) {
				t.Errorf("error = %q, want %q in it", e.Error(), c.want)
			}
		})
	}
	_, err := s.plan(EditFile(), args{"path": ".env", "old_string": "a", "new_string": "b"})
	denied(t, err, guard.RuleSecret)
}
