package engine

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"chela/engine/event"
	"chela/toolkit/git"
	"chela/toolkit/guard"
)

// Entry is one file or folder of the workspace, for the screen's tree.
type Entry struct {
	Path    string // relative, with slashes
	Dir     bool
	Mark    string // git's mark: M, A, D, R, U (conflict), ? (new); empty: unchanged
	Ignored bool   // by .gitignore
}

// Project is what the file tree shows about the workspace as a whole.
type Project struct {
	Branch  string            // empty: no repository
	Marks   map[string]string // path to git's mark
	Changed int
}

// maxDirEntries bounds one folder of the tree; a folder with more says so.
const maxDirEntries = 2000

// Project reads branch and marks. Outside a repository, without git, or in a
// repository whose settings name programs for git to run, it returns an empty
// one; the last is said once, and git does not run.
func (e *Engine) Project(ctx context.Context) (Project, error) {
	if _, err := e.proc.LookPath("git"); err != nil {
		return Project{}, nil
	}
	st, err := git.Marks(ctx, e.proc, "")
	if err != nil {
		var none *git.NoRepository
		var unsafe *git.Unsafe
		switch {
		case errors.As(err, &none):
			return Project{}, nil
		case errors.As(err, &unsafe):
			e.unread.Do(func() {
				e.stream.Publish("", 0, event.Notice{
					Level: "warn", Text: "The file tree has no git marks: " + unsafe.Error() + ".",
					Hint: "git_status reads it with those settings switched off, after a question.",
				})
			})
			return Project{}, nil
		}
		return Project{}, err
	}
	p := Project{Branch: st.Branch, Marks: st.Marks()}
	p.Changed = len(p.Marks)
	return p, nil
}

// Folder lists one folder of the workspace, folders first, both by name
// without regard to case. more reports that it holds more than are listed.
func (e *Engine) Folder(ctx context.Context, dir string, p Project) (entries []Entry, more bool, err error) {
	list, more, err := e.files.ReadDir(dirOrRoot(dir), maxDirEntries)
	if err != nil {
		return nil, false, err
	}
	kept, err := e.notIgnored(ctx, dir)
	if err != nil {
		return nil, false, err
	}
	for _, d := range list {
		if d.Name == ".git" {
			continue
		}
		full := path.Join(dir, d.Name)
		entries = append(entries, Entry{Path: full, Dir: d.Mode.IsDir(), Mark: p.Marks[full], Ignored: !kept[full]})
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		if a.Dir != b.Dir {
			if a.Dir {
				return -1
			}
			return 1
		}
		return strings.Compare(strings.ToLower(a.Path), strings.ToLower(b.Path))
	})
	return entries, more, nil
}

// notIgnored returns what of a folder .gitignore does not name.
func (e *Engine) notIgnored(ctx context.Context, dir string) (map[string]bool, error) {
	kept := map[string]bool{}
	_, err := e.files.Walk(ctx, guard.WalkOptions{
		Root: dir, Gitignore: true, Sorted: true, MaxEntries: maxDirEntries, Enter: func(string) bool { return false },
	}, func(en *guard.Entry) error {
		kept[en.Path] = true
		return nil
	})
	return kept, err
}

func dirOrRoot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// maxPaths bounds the list of paths for completion and the finder.
const maxPaths = 50_000

// Paths lists the files of the workspace that git would not ignore, in order.
func (e *Engine) Paths(ctx context.Context) ([]string, error) {
	var paths []string
	_, err := e.files.Walk(ctx, guard.WalkOptions{Gitignore: true, SkipDeps: true, Sorted: true, MaxEntries: maxPaths}, func(en *guard.Entry) error {
		if en.Type == 0 {
			paths = append(paths, en.Path)
		}
		return nil
	})
	return paths, err
}

// maxPreview is how much of a file is shown as a preview.
const maxPreview = 512 << 10

// ReadText reads a file for the screen. binary reports that it is no text;
// more that it is longer than what is returned.
func (e *Engine) ReadText(file string) (text string, binary, more bool, err error) {
	data, _, more, err := e.files.ReadFile(file, maxPreview)
	if err != nil {
		return "", false, false, err
	}
	if guard.IsBinary(data) {
		return "", true, more, nil
	}
	return guard.ToText(data), false, more, nil
}
