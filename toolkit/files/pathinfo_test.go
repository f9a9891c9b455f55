package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestPathInfo(t *testing.T) {
	s := newSpace(t, "src/a.go", "one\ntwo\nlast", "win.txt", "a\r\nb\r\n", "bin", "a\x00b", ".gitignore", "*.log\nbuild/\n!keep.log\n", "x.log", "", "keep.log", "", "build/out/f.txt", "", ".env", "K=1\n")
	if err := os.Chmod(filepath.Join(s.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "src/a.go", "broken": "nowhere", "away": "/etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(s.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, kind, resolved string
		size                 int64
		has, lacks           []string
	}{
		{"src/a.go", "file", "src/a.go", 12, []string{"12 bytes", "3 lines", "line ends LF", "sha256 " + guard.Hash([]byte("one\ntwo\nlast")), `extension ".go"`}, []string{"link", "ignores"}},
		{s.dir + "/src/../src/a.go", "file", "src/a.go", 12, []string{"3 lines"}, nil},
		{"win.txt", "file", "win.txt", 6, []string{"2 lines, line ends CRLF"}, nil},
		{"bin", "file", "bin", 3, []string{"binary", "-rwxr-xr-x", "sha256"}, []string{"lines"}},
		{"src", "folder", "src", -1, []string{"src: folder"}, []string{"sha256"}},
		{".", "folder", ".", -1, nil, nil},
		{"link", "file", "src/a.go", 12, []string{`a symbolic link to "src/a.go"`}, nil},
		{"broken", "none", "broken", 0, []string{"nothing is there", `a symbolic link to "nowhere"`}, nil},
		{"src/none.txt", "none", "src/none.txt", 0, []string{"nothing is there"}, []string{"link"}},
		{"no/such/dir", "none", "no/such/dir", 0, []string{"nothing is there"}, nil},
		{"x.log", "file", "x.log", 0, []string{"git ignores it", "0 lines"}, nil},
		{"keep.log", "file", "keep.log", 0, nil, []string{"ignores"}},
		{"build", "folder", "build", -1, []string{"git ignores it"}, nil},
		{"build/out/f.txt", "file", "build/out/f.txt", 0, []string{"git ignores it"}, nil},
	} {
		r := s.must(PathInfo(), args{"path": c.path})
		d := data[PathFacts](t, r)
		if d.Kind != c.kind || d.Resolved != c.resolved || d.Exists != (c.kind != "none") || d.Allowed != d.Exists || c.size >= 0 && d.Size != c.size || d.IsAbsolute != filepath.IsAbs(c.path) {
			t.Errorf("%s: %+v", c.path, d)
		}
		for _, want := range c.has {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: no %q in\n%s", c.path, want, r.Text)
			}
		}
		for _, bad := range c.lacks {
			if strings.Contains(r.Text, bad) {
				t.Errorf("%s: %q in\n%s", c.path, bad, r.Text)
			}
		}
	}
	_, err := s.call(PathInfo(), args{"path": "new\rname"})
	tooltest.Fails(t, err, CodeFileNotFound)
	for name, rule := range map[string]guard.Rule{"../x": guard.RuleOutside, "away": guard.RuleOutside, ".env": guard.RuleSecret, ".git/config": guard.RuleGit} {
		_, err := s.plan(PathInfo(), args{"path": name})
		denied(t, err, rule)
	}
}

func TestPathInfoCountsWithinBounds(t *testing.T) {
	s := newSpace(t)
	f, err := os.Create(filepath.Join(s.dir, "big.txt"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 1<<20-1) + "\n"
	for range 9 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r := s.must(PathInfo(), args{"path": "big.txt"}); !strings.Contains(r.Text, "text, 9 lines") || strings.Contains(r.Text, "sha256") {
		t.Error(r.Text)
	}
	if err := os.Truncate(filepath.Join(s.dir, "big.txt"), 1<<40); err != nil {
		t.Skip("no sparse files here")
	}
	if r := s.must(PathInfo(), args{"path": "big.txt"}); !strings.Contains(r.Text, "more than") {
		t.Error(r.Text)
	}
}
