package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestSearchFiles(t *testing.T) {
	s := newSpace(t,
		"main.go", "", "a/one_test.go", "", "a/b/two_test.go", "", "a/b/x.ts", "", "web/app.tsx", "",
		".gitignore", "*.log\n", "a/z.log", "", "node_modules/p/i.ts", "",
	)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"a name at any depth", args{"pattern": "*_test.go"}, "a/b/two_test.go\na/one_test.go\n[2 files]\n"},
		{"a path", args{"pattern": "a/*.go"}, "a/one_test.go\n[1 file]\n"},
		{"any folders", args{"pattern": "**/*.{ts,tsx}"}, "a/b/x.ts\nweb/app.tsx\n[2 files]\n"},
		{"below a folder", args{"pattern": "b/*", "directory": "a"}, "a/b/two_test.go\na/b/x.ts\n[2 files]\n"},
		{"from the workspace, below a folder", args{"pattern": "a/b/*.ts", "directory": "a"}, "a/b/x.ts\n[1 file]\n"},
		{"a leading slash", args{"pattern": "/main.go"}, "main.go\n[1 file]\n"},
		{"a leading slash, below a folder", args{"pattern": "/b/*.ts", "directory": "a"}, "a/b/x.ts\n[1 file]\n"},
		{"the workspace's full path", args{"pattern": s.w.Root + "/a/*.go"}, "a/one_test.go\n[1 file]\n"},
		{"dots in a name", args{"pattern": "..*"}, "no file matches \"..*\". Ignored and dependency folders were left out; give one as directory to look there.\n"},
		{"a part of them", args{"pattern": "*.go", "maxResults": 1}, "a/b/two_test.go\n[1 of 3 files shown; make the pattern narrower, or give directory]\n"},
		{"nothing, with what is near", args{"pattern": "**/mian.go"}, "no file matches \"**/mian.go\". The nearest are: main.go.\n"},
		{
			"nothing, and what was left out",
			args{"pattern": "*.rs"},
			"no file matches \"*.rs\". Ignored and dependency folders were left out; give one as directory to look there.\n",
		},
		{"a dependency folder when named", args{"pattern": "*.ts", "directory": "node_modules"}, "node_modules/p/i.ts\n[1 file]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.must(SearchFiles(), c.args).Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(Found{Files: []string{"main.go"}, Total: 1}, data[Found](t, s.must(SearchFiles(), args{"pattern": "main.go"}))); diff != "" {
		t.Error(diff)
	}
	_, err := s.plan(SearchFiles(), args{"pattern": "a[b"})
	tooltest.Fails(t, err, CodePattern)
	_, err = s.plan(SearchFiles(), args{"pattern": "*", "directory": "main.go"})
	tooltest.Fails(t, err, CodeNotAFolder)
	_, err = s.plan(SearchFiles(), args{"pattern": "*", "directory": "/etc"})
	denied(t, err, guard.RuleOutside)
}

func TestPatternsThatLeaveTheWorkspaceSaySo(t *testing.T) {
	s := newSpace(t, "main.go", "", "a/x.go", "")
	for _, pattern := range []string{"../*", "a/../../*.go", "*.go,!../x", `..\*`, "/etc/*", "/etc/**/*.conf", "~/*"} {
		for name, c := range map[string]struct {
			tool toolkit.Tool
			args args
		}{
			"search_files":   {SearchFiles(), args{"pattern": pattern}},
			"directory_tree": {DirectoryTree(), args{"pattern": pattern}},
			"grep":           {Grep(), args{"pattern": "x", "glob": pattern}},
		} {
			t.Run(name+" "+pattern, func(t *testing.T) {
				_, err := s.plan(c.tool, c.args)
				if e := tooltest.Fails(t, err, CodePattern); !strings.Contains(e.Message, "project folder") || e.Hint == "" {
					t.Errorf("error %q, hint %q", e.Message, e.Hint)
				}
			})
		}
	}
}

func TestDirectoryTree(t *testing.T) {
	s := newSpace(t,
		"main.go", "", "README.md", "", "a/x.go", "", "a/b/y.go", "", "a/b/c/z.go", "",
		".gitignore", "node_modules\n*.log\n", "node_modules/p/i.js", "", "vendor/v.go", "", "x.log", "", ".env", "",
	)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"folders first, dependencies named only", args{}, `./
├── a/
│   ├── b/
│   │   ├── c/
│   │   └── y.go
│   └── x.go
├── node_modules/ (skipped)
├── vendor/ (skipped)
├── .env (protected)
├── .gitignore
├── README.md
└── main.go
[5 folders, 6 files]
`},
		{"one level", args{"path": "a", "depth": 1}, "a/\n├── b/\n└── x.go\n[1 folder, 1 file]\n"},
		{"folders only", args{"path": "a", "include_files": false}, "a/\n└── b/\n    └── c/\n[2 folders, 0 files]\n"},
		{"matching files and their folders", args{"pattern": "z.go", "depth": 5}, "./\n└── a/\n    └── b/\n        └── c/\n            └── z.go\n[3 folders, 1 file]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.must(DirectoryTree(), c.args).Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	_, err := s.plan(DirectoryTree(), args{"path": "nope"})
	tooltest.Fails(t, err, CodeFileNotFound)
	_, err = s.plan(DirectoryTree(), args{"path": "main.go"})
	tooltest.Fails(t, err, CodeNotAFolder)
	_, err = s.plan(DirectoryTree(), args{"path": ".git"})
	denied(t, err, guard.RuleGit)
}

func TestDirectoryTreeShowsTheTopBeforeTheDepth(t *testing.T) {
	s := newSpace(t)
	for i := range 60 {
		s.put(fmt.Sprintf("top%02d/deep.txt", i%20), "")
		s.put(fmt.Sprintf("top00/many%03d.txt", i), "")
	}
	s.w.Budget = 1500
	r := s.must(DirectoryTree(), args{})
	for i := range 20 {
		if !strings.Contains(r.Text, fmt.Sprintf("top%02d/", i)) {
			t.Errorf("top%02d is not shown", i)
		}
	}
	if n := len([]rune(r.Text)); n > 1500 {
		t.Errorf("%d characters for a budget of 1500", n)
	}
	d := data[Tree](t, r)
	if !d.Truncated || d.Directories != 20 || d.Files != 80 || r.Cut == nil {
		t.Fatalf("data = %d folders, %d files, truncated %v; cut %+v", d.Directories, d.Files, d.Truncated, r.Cut)
	}
	shown := strings.Count(d.Tree, "─ top") + strings.Count(d.Tree, "─ many") + strings.Count(d.Tree, "─ deep")
	if diff := cmp.Diff(&toolkit.Truncated{Shown: shown, Total: 100, Unit: "entries", Hint: r.Cut.Hint}, r.Cut); diff != "" {
		t.Error(diff)
	}
}
