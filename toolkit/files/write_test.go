package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestWriteFile(t *testing.T) {
	s := newSpace(t, "old.txt", "a\nb\nc\n", "dir/x", "x")
	for _, c := range []struct {
		name, path string
		args       args
		content    string
		text       string
		change     toolkit.Change
	}{
		{
			"creates", "new.txt",
			args{"content": "hi\n"},
			"hi\n", "wrote 3 bytes to new.txt (new file, 1 line)",
			toolkit.Change{Path: "new.txt", Kind: "created", Added: 1},
		},
		{
			"replaces", "old.txt",
			args{"content": "a\nB\nc\n"},
			"a\nB\nc\n", "wrote 6 bytes to old.txt (3 lines, +1 -1)",
			toolkit.Change{Path: "old.txt", Kind: "changed", Added: 1, Removed: 1},
		},
		{
			"appends", "old.txt",
			args{"content": "d\n", "append": true},
			"a\nB\nc\nd\n", "wrote to the end of old.txt (now 4 lines, 8 bytes)",
			toolkit.Change{Path: "old.txt", Kind: "changed", Added: 1},
		},
		{
			"makes folders when asked", "p/q/r.txt",
			args{"content": "x", "createDirs": true},
			"x", "wrote 1 bytes to p/q/r.txt (new file, 1 line)",
			toolkit.Change{Path: "p/q/r.txt", Kind: "created", Added: 1},
		},
		{
			"text that looks dangerous is text", "m.sql",
			args{"content": "DROP TABLE x; reboot"},
			"DROP TABLE x; reboot", "wrote 20 bytes to m.sql (new file, 1 line)",
			toolkit.Change{Path: "m.sql", Kind: "created", Added: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.args["path"] = c.path
			r := s.must(WriteFile(), c.args)
			if got := s.get(c.path); got != c.content {
				t.Errorf("content = %q, want %q", got, c.content)
			}
			if r.Text != c.text {
				t.Errorf("text = %q, want %q", r.Text, c.text)
			}
			if diff := cmp.Diff([]toolkit.Change{c.change}, r.Changed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWriteFilePlanShowsTheWholeChange(t *testing.T) {
	s := newSpace(t, "old.txt", "a\n", "crlf.txt", "a\r\nb\r\n")
	p, err := s.plan(WriteFile(), args{"path": "old.txt", "content": "b\n", "append": true})
	if err != nil {
		t.Fatal(err)
	}
	want := toolkit.Preview{Kind: toolkit.PreviewDiff, Path: "old.txt", Old: "a\n", New: "a\nb\n"}
	if diff := cmp.Diff(want, p.Preview); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]toolkit.Effect{{Kind: toolkit.Writes, Target: "old.txt"}}, p.Effects); diff != "" {
		t.Error(diff)
	}
	if p.Level != toolkit.Moderate || p.Summary != "old.txt +1 -0" || len(p.Asks) > 0 {
		t.Errorf("level %v, summary %q, asks %q", p.Level, p.Summary, p.Asks)
	}
	if s.get("old.txt") != "a\n" {
		t.Error("planning wrote")
	}
	p, err = s.plan(WriteFile(), args{"path": "crlf.txt", "content": "a\nb\n"})
	if err != nil || len(p.Preview.Notes) != 1 {
		t.Errorf("notes %q, error %v; want a word about line ends", p.Preview.Notes, err)
	}
}

func TestWriteFileAsks(t *testing.T) {
	s := newSpace(t, "old.txt", "a\n", ".github/workflows/ci.yml", "on: push\n", "sub/x", "")
	if err := os.Symlink("../.github/workflows/ci.yml", filepath.Join(s.dir, "sub/link.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  args
		level toolkit.Level
		want  string
	}{
		{"before emptying a file", args{"path": "old.txt", "content": " \n"}, toolkit.Moderate, "empty old.txt"},
		{"before writing what runs later", args{"path": ".github/workflows/ci.yml", "content": "x"}, toolkit.Dangerous, "CI runs it"},
		{"also through a link", args{"path": "sub/link.txt", "content": "x"}, toolkit.Dangerous, "CI runs it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := s.plan(WriteFile(), c.args)
			if err != nil {
				t.Fatal(err)
			}
			if p.Level != c.level || !strings.Contains(strings.Join(p.Asks, "; "), c.want) {
				t.Errorf("level %v, asks %q; want %v and %q", p.Level, p.Asks, c.level, c.want)
			}
		})
	}
}

func TestWriteFileRefuses(t *testing.T) {
	s := newSpace(t, "dir/x", "x", "ro.txt", "x")
	if err := os.Chmod(filepath.Join(s.dir, "ro.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args args
		code toolkit.Code
		hint string
	}{
		{"a missing folder, by name", args{"path": "a/b/c.txt", "content": "x"}, CodeNoParent, "createDirs"},
		{"a folder", args{"path": "dir", "content": "x"}, CodeNotAFile, "file in it"},
		{"a folder's name", args{"path": "new/", "content": "x"}, CodeNotAFile, "Name the file"},
		{"a file as folder", args{"path": "dir/x/y", "content": "x", "createDirs": true}, CodeNotAFolder, "another path"},
		{"a read-only file", args{"path": "ro.txt", "content": "x"}, CodeReadOnly, "writable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.plan(WriteFile(), c.args)
			if e := tooltest.Fails(t, err, c.code); !strings.Contains(e.Hint, c.hint) {
				t.Errorf("hint = %q, want %q in it", e.Hint, c.hint)
			}
		})
	}
	for path, rule := range map[string]guard.Rule{
		".env": guard.RuleSecret, "../x": guard.RuleOutside, ".git/config": guard.RuleGit, "dir/HEAD": guard.RuleGit, "/etc/passwd": guard.RuleOutside,
	} {
		_, err := s.plan(WriteFile(), args{"path": path, "content": "x"})
		denied(t, err, rule)
	}
}

func TestWritesRefuseWhatChangedSinceThePlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		tool   toolkit.Tool
		args   args
		meddle func(*space)
	}{
		{"a replaced file", WriteFile(), args{"path": "f.txt", "content": "new"}, func(s *space) { s.put("f.txt", "other") }},
		{"a file that appeared", WriteFile(), args{"path": "g.txt", "content": "new"}, func(s *space) { s.put("g.txt", "other") }},
		{"an edited file", EditFile(), args{"path": "f.txt", "old_string": "old", "new_string": "new"}, func(s *space) { s.put("f.txt", "old other") }},
		{"an edited file without the text", EditFile(), args{"path": "f.txt", "old_string": "old", "new_string": "new"}, func(s *space) { s.put("f.txt", "other") }},
		{"a file that went away", WriteFile(), args{"path": "f.txt", "content": "new"}, func(s *space) {
			if err := os.Remove(filepath.Join(s.dir, "f.txt")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpace(t, "f.txt", "old")
			p, err := s.plan(c.tool, c.args)
			if err != nil {
				t.Fatal(err)
			}
			c.meddle(s)
			_, err = c.tool.Run(t.Context(), s.w, p, nil)
			tooltest.Fails(t, err, toolkit.CodeChanged)
		})
	}
}
