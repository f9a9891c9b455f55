package diff

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"chela/themes"
)

const gitPatch = `diff --git a/one.go b/one.go
index 1..2 100644
--- a/one.go
+++ b/one.go
@@ -1,2 +1,3 @@ func f() {
 a
-b
+c
+d
\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
--- "a/tab\tname"	2026-01-01
+++ "b/tab\tname"	2026-01-02
@@ -10,0 +11,1 @@
+y
`

func TestParseReadsWhatGitWrites(t *testing.T) {
	got, err := Parse(gitPatch)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Diff{
		{Path: "one.go", Hunks: []Hunk{{Lines: []Line{
			{Same, "a", 1, 1, false},
			{Deleted, "b", 2, 0, false},
			{Added, "c", 0, 2, false},
			{Added, "d", 0, 3, true},
		}}}},
		{Path: "gone", Hunks: []Hunk{{Lines: []Line{{Deleted, "x", 1, 0, false}}}}},
		{Path: "tab\tname", Hunks: []Hunk{{Skipped: 10, Lines: []Line{{Added, "y", 0, 11, false}}}}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Diff{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseNamesTheFault(t *testing.T) {
	const head = "--- a/x\n+++ b/x\n"
	tests := []struct{ name, patch, want string }{
		{"hunk without a file", "@@ -1 +1 @@\n-a\n+b\n", "before a file's"},
		{"no header", head + "@@ what @@\n", "no hunk header"},
		{"bad range", head + "@@ -x +1 @@\n", `"x" is no range`},
		{"huge range", head + "@@ -99999999999 +1 @@\n", "is no range"},
		{"too short", head + "@@ -1,3 +1,3 @@\n a\n", "ends early: 2 old and 2 new"},
		{"too long", head + "@@ -1,1 +1,2 @@\n-a\n-b\n", "more lines"},
		{"stray sign", head + "@@ -1 +1 @@\n*a\n", `begins with "*"`},
		{"marker first", head + "@@ -1 +1 @@\n\\ No newline\n", "before any line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(tt.patch); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "line ") {
				t.Errorf("got %v, want %q with the line", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(gitPatch, 40)
	f.Add("--- a\n+++ b\n@@ -0,0 +1 @@\n+\x1b[2J\xff\n", 3)
	f.Add("--- a\n+++ b\n@@ -2147483647,1 +2147483647,1 @@\n-a\n+b\n", 70)
	f.Add("@@ - + @@\n", 1)
	f.Fuzz(func(t *testing.T, patch string, width int) {
		diffs, err := Parse(patch)
		if err != nil {
			return
		}
		width = 1 + (width&0x7fffffff)%150
		for _, d := range diffs {
			for _, layout := range []Layout{Unified, Split} {
				for _, line := range styles(themes.Light()).Render(d, width, Options{Layout: layout}).Lines {
					if ansi.StringWidth(line) > width || strings.ContainsAny(ansi.Strip(line), "\x1b\n\r\u009b") {
						t.Fatalf("width %d: %q", width, line)
					}
				}
			}
		}
	})
}
