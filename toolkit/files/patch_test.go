package files

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

const tenLines = "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\n"

func TestPatchApply(t *testing.T) {
	for _, c := range []struct {
		name, before, patch, after string
		fuzz                       int
		note                       string
	}{
		{"a plain diff", tenLines, "--- a/f.txt\n+++ b/f.txt\n@@ -2,3 +2,3 @@\n l2\n-l3\n+three\n l4\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"git headers", tenLines, "diff --git a/f.txt b/f.txt\nindex 123..456 100644\n--- a/f.txt\n+++ b/f.txt\n@@ -2,3 +2,3 @@ func x()\n l2\n-l3\n+three\n l4\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"no headers", tenLines, "@@ -2,3 +2,3 @@\n l2\n-l3\n+three\n l4\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"no hunk header either", tenLines, "-l3\n+three\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"another name in the header", tenLines, "--- old/f.txt.orig\t2020-01-01\n+++ somewhere/g.txt\t2020-01-01\n@@ -3 +3 @@\n-l3\n+three\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"hunks without numbers", tenLines, "--- a/f.txt\n+++ b/f.txt\n@@\n l2\n-l3\n+three\n@@ ... @@\n-l9\n l10\n", "l1\nl2\nthree\nl4\nl5\nl6\nl7\nl8\nl10\n", 0, ""},
		{"wrong line numbers", tenLines, "@@ -50,3 +50,3 @@\n l2\n-l3\n+three\n l4\n", strings.Replace(tenLines, "l3", "three", 1), 0, "hunk 1: found 48 lines from its line number"},
		{"wrong counts", tenLines, "@@ -2,9 +2,1 @@\n l2\n-l3\n+three\n l4\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"a code block around it", tenLines, "```diff\n@@ -3 +3 @@\n-l3\n+three\n```\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"prose around it", tenLines, "Here is the diff:\n\n--- a/f.txt\n+++ b/f.txt\n@@ -3,1 +3,1 @@\n-l3\n+three\nThat is all.\n", strings.Replace(tenLines, "l3", "three", 1), 0, ""},
		{"context without its blank", "a\n\tb\n\nc\n", "@@ -1,4 +1,4 @@\na\n-\tb\n+\tB\n\n c\n", "a\n\tB\n\nc\n", 0, ""},
		{"blank lines at the end", tenLines, "@@\n l9\n-l10\n+ten\n\n\n", "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nten\n", 0, ""},
		{"two changes in one hunk", tenLines, "@@ -1,5 +1,5 @@\n-l1\n+one\n l2\n l3\n-l4\n+four\n l5\n", "one\nl2\nl3\nfour\nl5\nl6\nl7\nl8\nl9\nl10\n", 0, ""},
		{"fuzz", tenLines, "@@ -1,5 +1,5 @@\n wrong\n l2\n-l3\n+three\n l4\n also wrong\n", strings.Replace(tenLines, "l3", "three", 1), 1, "1 line of context ignored"},
		{"blanks at line ends", "a  \nb\t\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a  \nB\nc\n", 0, "blanks at line ends"},
		{"CRLF is kept", "a\r\nb\r\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n c\n", "a\r\nB\r\nC\r\nc\r\n", 0, ""},
		{"a CRLF diff of an LF file", "a\nb\nc\n", "@@ -1,3 +1,3 @@\r\n a\r\n-b\r\n+B\r\n c\r\n", "a\nB\nc\n", 0, ""},
		{"a diff that changes line ends", "a\r\nb\r\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n", "a\nb\r\n", 0, ""},
		{"no newline at the end stays", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc", 0, ""},
		{"no newline at the end goes", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", 0, ""},
		{"no newline at the end comes", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", 0, ""},
		{"lines after an end without newline", "a\nb", "@@ -2 +2,2 @@\n b\n+c\n", "a\nb\nc", 0, ""},
		{"lines that look like headers", "-- a\n++ b\nc\n", "@@ -1,3 +1,3 @@\n--- a\n-++ b\n+-- A\n+++ B\n c\n", "-- A\n++ B\nc\n", 0, ""},
		{"an insertion by number", "a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n", 0, "line number alone"},
		{"the number decides among equal places", "x\ny\nx\ny\n", "@@ -3,2 +3,2 @@\n-x\n+X\n y\n", "x\ny\nX\ny\n", 0, ""},
		{"the order decides among equal places", "head\nx\ntail\nx\n", "@@\n-tail\n+TAIL\n@@\n-x\n+X\n", "head\nx\nTAIL\nX\n", 0, ""},
		{"a mark of UTF-8", "\xef\xbb\xbfa\nb\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "\xef\xbb\xbfA\nb\n", 0, ""},
		{"bytes that are no UTF-8", "a\n\xff\xfe\nc\n", "@@ -1,1 +1,1 @@\n-a\n+A\n", "A\n\xff\xfe\nc\n", 0, ""},
		{"an anchor", "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 1\n}\n", "@@ func b() {\n-\treturn 1\n+\treturn 2\n", "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 2\n}\n", 0, ""},
		{"the other form", "a\nb\n", "*** Begin Patch\n*** Update File: f.txt\n@@\n a\n-b\n+B\n*** End Patch\n", "a\nB\n", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpace(t, "f.txt", c.before)
			p, err := s.plan(PatchApply(), args{"path": "f.txt", "patch": c.patch})
			if err != nil {
				t.Fatal(err)
			}
			r := s.must(PatchApply(), args{"path": "f.txt", "patch": c.patch})
			if diff := cmp.Diff(c.after, s.get("f.txt")); diff != "" {
				t.Error(diff)
			}
			d := data[Patched](t, r)
			if d.Fuzz != c.fuzz || !d.Applied || d.Path != "f.txt" || d.Hunks == 0 {
				t.Errorf("%+v", d)
			}
			if notes := strings.Join(p.Preview.Notes, "\n"); (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) || !strings.Contains(r.Text, c.note) {
				t.Errorf("notes %q, want %q; result %q", notes, c.note, r.Text)
			}
			if p.Preview.New != guard.ToText([]byte(c.after)) || p.Preview.Old != guard.ToText([]byte(c.before)) || p.Level != toolkit.Moderate {
				t.Errorf("the plan shows %+v", p)
			}
		})
	}
}

func TestPatchApplyRefuses(t *testing.T) {
	for _, c := range []struct {
		name, before, patch string
		code                toolkit.Code
		says                string
	}{
		{"what does not fit", tenLines, "@@ -2,3 +2,3 @@\n l2\n-lthree\n+x\n l4\n", CodePatch, "does not fit"},
		{"a later hunk that does not fit", tenLines, "@@ -1 +1 @@\n-l1\n+x\n@@ -5 +5 @@\n-nosuch\n+y\n", CodePatch, "hunk 2 of 2"},
		{"more than one place", "x\ny\nx\ny\n", "@@\n-x\n+X\n", CodeAmbiguous, "lines 1, 3"},
		{"a number that is neither of two places", "x\na\nx\nb\nx\n", "@@ -2 +2 @@\n-x\n+X\n", CodeAmbiguous, "3 places"},
		{"blank context that fuzz would leave alone", "a\n\nb\n", "@@\n wrong\n \n+x\n wrong too\n", CodePatch, "does not fit"},
		{"an insertion nobody can place", tenLines, "@@\n+x\n", CodePatch, "context"},
		{"what is applied already", tenLines, "@@ -2,2 +2,2 @@\n l2\n-three\n+l3\n", CodePatch, "may be applied"},
		{"no change", tenLines, "@@ -1,2 +1,2 @@\n l1\n l2\n", CodeParse, "no change"},
		{"the same again", tenLines, "@@ -1 +1 @@\n-l1\n+l1\n", CodePatch, "nothing"},
		{"prose", tenLines, "please change line 3", CodeParse, "no change"},
		{"a binary patch", tenLines, "diff --git a/f.txt b/f.txt\nGIT binary patch\nliteral 3\n", CodeParse, "binary"},
		{"a binary file", "a\x00b\n", "@@ -1 +1 @@\n-a\n+b\n", CodeBinary, "binary"},
		{"several files", tenLines, "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-l1\n+x\n--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-l1\n+x\n", toolkit.CodeInvalid, "multi_patch"},
		{"to delete what has more", tenLines, "--- a/f.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-l1\n-l2\n", CodePatch, "8 lines of it would be left"},
		{"to create what is there", tenLines, "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+x\n", CodePatch, "exists"},
		{"an anchor that is not there", tenLines, "@@ nosuch\n-l1\n+x\n", CodePatch, "nosuch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpace(t, "f.txt", c.before)
			_, err := s.call(PatchApply(), args{"path": "f.txt", "patch": c.patch})
			if e := tooltest.Fails(t, err, c.code); !strings.Contains(e.Error(), c.says) {
				t.Errorf("%v, want %q", e, c.says)
			}
			if s.get("f.txt") != c.before {
				t.Error("the file changed")
			}
		})
	}
	s := newSpace(t, "f.txt", tenLines)
	for name, rule := range map[string]guard.Rule{"../f.txt": guard.RuleOutside, ".git/config": guard.RuleGit, ".env": guard.RuleSecret} {
		_, err := s.plan(PatchApply(), args{"path": name, "patch": "@@ -0,0 +1 @@\n+x\n"})
		denied(t, err, rule)
	}
	_, err := s.plan(PatchApply(), args{"path": "f.txt", "patch": "diff --git a/f.txt b/.git/x\nsimilarity index 100%\nrename from f.txt\nrename to .git/x\n"})
	denied(t, err, guard.RuleGit)
}

func TestPatchApplyCreatesDeletesAndMoves(t *testing.T) {
	s := newSpace(t, "f.txt", "a\nb\n", "package.json", "{}\n")
	s.must(PatchApply(), args{"path": "new/deep/n.txt", "patch": "--- /dev/null\n+++ b/new/deep/n.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"})
	if got := s.get("new/deep/n.txt"); got != "one\ntwo" {
		t.Errorf("created %q", got)
	}
	s.must(PatchApply(), args{"path": "m.txt", "patch": "--- a/m.txt\n+++ b/m.txt\n@@\n+as models do\n"})
	if got := s.get("m.txt"); got != "as models do\n" {
		t.Errorf("created %q", got)
	}
	p, err := s.plan(PatchApply(), args{"path": "f.txt", "patch": "diff --git a/f.txt b/g.txt\nsimilarity index 50%\nrename from f.txt\nrename to g.txt\n--- a/f.txt\n+++ b/g.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"})
	if err != nil || len(p.Effects) != 2 || len(p.Facts) != 2 || len(p.Asks) > 0 || p.Preview.Kind != toolkit.PreviewDiff || !strings.Contains(strings.Join(p.Preview.Notes, ""), "f.txt moves to g.txt") {
		t.Fatalf("%+v, %v", p, err)
	}
	r, err := PatchApply().Run(t.Context(), s.w, p, nil)
	if err != nil || s.get("g.txt") != "a\nB\n" || data[Patched](t, r).Path != "g.txt" || len(r.Changed) != 2 {
		t.Errorf("moved: %+v, %v", r, err)
	}
	if info, err := s.w.Files.Locate("f.txt"); err != nil || info.Exists {
		t.Errorf("the old name is there: %v", err)
	}
	del := args{"path": "g.txt", "patch": "--- a/g.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-B\n"}
	if p, err := s.plan(PatchApply(), del); err != nil || len(p.Asks) != 1 {
		t.Errorf("deleting asks %q, %v", p.Asks, err)
	}
	s.must(PatchApply(), del)
	if info, err := s.w.Files.Locate("g.txt"); err != nil || info.Exists {
		t.Errorf("the deleted file is there: %v", err)
	}
	del["reverse"] = true
	s.must(PatchApply(), del)
	if got := s.get("g.txt"); got != "a\nB\n" {
		t.Errorf("brought back %q", got)
	}
	p, err = s.plan(PatchApply(), args{"path": "package.json", "patch": "@@\n-{}\n+{\"a\":1}\n"})
	if err != nil || p.Level != toolkit.Dangerous || len(p.Asks) == 0 {
		t.Errorf("a file that runs later: %v, %q, %v", p.Level, p.Asks, err)
	}
}

func TestAPatchIsNotAppliedToAnotherFile(t *testing.T) {
	s := newSpace(t, "f.txt", tenLines)
	p, err := s.plan(PatchApply(), args{"path": "f.txt", "patch": "@@\n-l3\n+three\n"})
	if err != nil {
		t.Fatal(err)
	}
	s.put("f.txt", tenLines+"more\n")
	_, err = PatchApply().Run(t.Context(), s.w, p, nil)
	tooltest.Fails(t, err, toolkit.CodeChanged)
	if s.get("f.txt") != tenLines+"more\n" {
		t.Error("the file changed")
	}
}
