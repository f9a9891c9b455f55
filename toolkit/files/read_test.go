package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestReadFile(t *testing.T) {
	s := newSpace(t,
		"four.txt", "one\ntwo\nthree\nfour\n",
		"crlf.txt", "a\r\nb\r\n",
		"bom.txt", "\xef\xbb\xbfx\n",
		"noend.txt", "x\ny",
		"latin.txt", "caf\xe9\n",
		"empty.txt", "",
		"bin", "a\x00b",
	)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"whole", args{"path": "four.txt"}, "four.txt, lines 1-4 of 4\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n"},
		{
			"a window counts from 0",
			args{"path": "four.txt", "offset": 1, "lines": 2},
			"four.txt, lines 2-3 of 4\n     2\ttwo\n     3\tthree\n[more follows: read_file with offset 3]\n",
		},
		{"the end", args{"path": "four.txt", "offset": 3}, "four.txt, lines 4-4 of 4\n     4\tfour\n"},
		{"CRLF is said", args{"path": "crlf.txt"}, "crlf.txt, lines 1-2 of 2 (CRLF line ends)\n     1\ta\n     2\tb\n"},
		{"a mark is said", args{"path": "bom.txt"}, "bom.txt, lines 1-1 of 1 (byte order mark)\n     1\tx\n"},
		{"no last newline is said", args{"path": "noend.txt"}, "noend.txt, lines 1-2 of 2 (no newline at the end)\n     1\tx\n     2\ty\n"},
		{"odd bytes are said", args{"path": "latin.txt"}, "latin.txt, lines 1-1 of 1 (not UTF-8: odd bytes are shown as \uFFFD)\n     1\tcaf\uFFFD\n"},
		{"empty", args{"path": "empty.txt"}, "empty.txt is empty."},
		{"base64", args{"path": "bin", "encoding": "base64"}, "bin, 3 bytes, base64\nYQBi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.must(ReadFile(), c.args).Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadFileData(t *testing.T) {
	s := newSpace(t, "four.txt", "one\ntwo\nthree\nfour\n")
	r := s.must(ReadFile(), args{"path": "four.txt", "offset": 1, "lines": 2})
	want := Read{
		Path: "four.txt", Content: "two\nthree\n", Encoding: "utf-8", Size: 19, StartLine: 2, EndLine: 3, TotalLines: 4,
		Truncated: true, SHA256: guard.Hash([]byte("one\ntwo\nthree\nfour\n")),
	}
	if diff := cmp.Diff(want, data[Read](t, r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&toolkit.Truncated{Shown: 2, Total: 4, Unit: "lines", Hint: "more follows: read_file with offset 3"}, r.Cut); diff != "" {
		t.Error(diff)
	}
}

func TestReadFileRefuses(t *testing.T) {
	s := newSpace(t, "main.go", "x\n", "bin", "a\x00b", "dir/x", "", ".env", "SECRET=1", "engine/turn.go", "x")
	for _, c := range []struct {
		name string
		args args
		code toolkit.Code
		hint string
	}{
		{"a missing file, naming the nearest", args{"path": "src/turn.go"}, CodeFileNotFound, "engine/turn.go"},
		{"a misspelt file", args{"path": "mian.go"}, CodeFileNotFound, "main.go"},
		{"a path from the wrong root", args{"path": "/engine/turn.go"}, CodeFileNotFound, `use "engine/turn.go"`},
		{"a guessed absolute path", args{"path": "/home/me/" + filepath.Base(s.dir) + "/main.go"}, CodeFileNotFound, `use "main.go"`},
		{"a wildcard", args{"path": "*.go"}, CodeFileNotFound, "search_files"},
		{"a folder", args{"path": "dir"}, CodeNotAFile, "directory_tree"},
		{"a binary", args{"path": "bin"}, CodeBinary, "base64"},
		{"an offset beyond the end", args{"path": "main.go", "offset": 1}, toolkit.CodeInvalid, "under 1"},
		{"a window of base64", args{"path": "bin", "encoding": "base64", "offset": 1}, toolkit.CodeInvalid, "Leave"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.call(ReadFile(), c.args)
			if e := tooltest.Fails(t, err, c.code); !strings.Contains(e.Hint, c.hint) {
				t.Errorf("hint = %q, want it to name %q", e.Hint, c.hint)
			}
		})
	}
	_, err := s.plan(ReadFile(), args{"path": ".env", "encoding": "base64"})
	denied(t, err, guard.RuleSecret)
	_, err = s.plan(ReadFile(), args{"path": "../x"})
	denied(t, err, guard.RuleOutside)
}

// A file of credentials is read only with a person's leave, and what else the
// floor forbids is not read even then.
func TestReadFileAsksForSecrets(t *testing.T) {
	s := newSpace(t, ".env", "SECRET=1\n", ".env.d/.git/config", "x", "sub/server.pem", "x")
	p, err := s.plan(ReadFile(), args{"path": ".env"})
	if err != nil || p.Level != toolkit.Dangerous || len(p.Outside) != 1 || !strings.Contains(p.Outside[0], ".env") {
		t.Fatalf("plan %+v, %v", p, err)
	}
	r, err := ReadFile().Run(t.Context(), s.w, p, nil)
	if err != nil || !strings.Contains(r.Text, "SECRET=1") {
		t.Errorf("read %q, %v", r.Text, err)
	}
	_, err = s.plan(ReadFile(), args{"path": ".env.d/.git/config"})
	denied(t, err, guard.RuleGit)
	if err := os.Symlink("../../etc/passwd", filepath.Join(s.dir, "id_rsa")); err != nil {
		t.Fatal(err)
	}
	_, err = s.plan(ReadFile(), args{"path": "id_rsa"})
	denied(t, err, guard.RuleOutside)
	if _, err = s.plan(ReadFile(), args{"path": "sub/id_rsa"}); err == nil {
		t.Error("a missing one is planned")
	}
}

func TestReadFileStaysInItsBudget(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d of a long file\n", i)
	}
	s := newSpace(t, "long.txt", b.String(), "wide.txt", strings.Repeat("ä", 300_000)+"\nnext\n")
	s.w.Budget = 4000
	for _, name := range []string{"long.txt", "wide.txt"} {
		r := s.must(ReadFile(), args{"path": name})
		if n := len([]rune(r.Text)); n > 4000 || n < 1500 {
			t.Errorf("%s: %d characters for a budget of 4000", name, n)
		}
		if r.Cut == nil || !data[Read](t, r).Truncated {
			t.Errorf("%s: nothing says that it was cut", name)
		}
	}
	// Reading on by the hint reaches every line once.
	next, seen := 0, 0
	for next >= 0 {
		d := data[Read](t, s.must(ReadFile(), args{"path": "long.txt", "offset": next}))
		if d.StartLine != next+1 {
			t.Fatalf("offset %d starts at line %d", next, d.StartLine)
		}
		seen += d.EndLine - d.StartLine + 1
		if next = d.EndLine; d.EndLine == d.TotalLines {
			next = -1
		}
	}
	if seen != 5000 {
		t.Errorf("%d lines seen, want 5000", seen)
	}
}
