package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGitignoreAgreesWithGit compares with git itself over trees of names and
// patterns that cover gitignore(5).
func TestGitignoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skipf("git is not installed: %v", err)
	}
	w := newWorld(t)
	files := []string{
		"foo", "foo.log", "a/foo", "a/b/foo", "a/b/c/d.txt", "a/x.min.js", "x.js", "bar/foo/q", "doc/a.txt", "doc/b/c.txt", "doc/b/d/e.txt",
		"#hash", "!bang", "sp ace", "trail", "{a,b}", "a1", "a2", "aX", "deep/node_modules/m/x", "build", "sub2/build/x", "k/keep.log", "z[1]",
		"foobar", "fooXbar", "a/b/zzz", "back\\slash", ".hidden", "abc/abc/abc", "UPPER", "upper",
	}
	for _, f := range files {
		w.put("ws/"+f, "")
	}
	patterns := []string{
		"foo", "/foo", "foo/", "*.log\n!keep.log", "a/b", "a/**", "a/**/foo", "**/foo", "**/b/foo", "/a/*/foo", "*.min.js", "doc/*.txt", "doc/**/*.txt",
		"\\#hash", "# comment", "\\!bang", "sp ace", "trail   ", "trail\\ ", "{a,b}", "a[0-9]", "a[!0-9]", "a[^0-9]", "node_modules", "node_modules/", "build/", "/build",
		"*\n!a\n!a/**", "*\n!*/\n!*.txt", "foo*bar", "foo?bar", "z\\[1\\]", "[", "a/\n!a/foo", "abc/abc", "/abc/abc/abc", "**", "*", "/*\n!/doc", "doc/**\n!doc/b/", ".*", "upper", "**/", "a/b/", "!foo\nfoo",
		"foo\n!foo", "x.js\r", "\ufefffoo", "*.j?", "**foo", "a**b", "d*/b/**/e.txt",
	}
	if err := exec.Command(git, "-C", w.fs.Dir(), "init", "-q").Run(); err != nil {
		t.Skipf("git init does not work here: %v", err)
	}
	for _, p := range patterns {
		t.Run(strings.ReplaceAll(p, "\n", ";"), func(t *testing.T) {
			w.put("ws/.gitignore", p+"\n")
			cmd := exec.Command(git, "-C", w.fs.Dir(), "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false", "ls-files", "-z", "-o", "--exclude-standard")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
			slices.Sort(want)
			got := []string{}
			all, _ := walked(t, w, WalkOptions{Gitignore: true, Sorted: true})
			for _, e := range all {
				if !strings.HasSuffix(e, "/") {
					got = append(got, e)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pattern %q (-git +walk):\n%s", p, diff)
			}
		})
	}
	if err := os.RemoveAll(filepath.Join(w.fs.Dir(), ".git")); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseIgnore(f *testing.F) {
	for _, s := range []string{"*.log\n!a", "/x/**/y/", "[a-", "\\", "{a}", "!\n/\n**/"} {
		f.Add(s, "a/b.log")
	}
	f.Fuzz(func(_ *testing.T, text, rel string) {
		if rules := parseIgnore(text); rules != nil {
			node := &ignoreNode{rules: rules}
			node.ignored(rel, rel[strings.LastIndexByte(rel, '/')+1:], len(rel)%2 == 0)
		}
	})
}
