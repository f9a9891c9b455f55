package files

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"chela/toolkit"
)

// globs decides which paths a file pattern means. Several patterns may be
// separated by commas; one that starts with "!" excludes. A pattern without a
// slash is about the name at any depth.
type globs struct {
	want, refuse []string
}

// compileGlobs reads patterns as people and models write them, for a search in
// dir: a slash in front stands for the workspace or dir, the workspace's full
// path for the workspace.
func compileGlobs(w *toolkit.Workspace, dir, field, given string) (*globs, error) {
	g := &globs{}
	for _, p := range splitGlobs(given) {
		p = strings.ReplaceAll(p, `\`, "/")
		list := &g.want
		if rest, not := strings.CutPrefix(p, "!"); not {
			p, list = rest, &g.refuse
		}
		if below, ok := strings.CutPrefix(p, filepath.ToSlash(w.Root)+"/"); ok {
			p = below
		}
		if leaves(w, dir, p) {
			return nil, toolkit.Errorf(CodePattern, "%s %q leads out of the project folder, and only that is searched.", field, given).
				WithHint("Write it relative to the project folder, like src/**/*.go.")
		}
		p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
		if strings.HasSuffix(p, "/") {
			p += "**"
		}
		if p == "" {
			continue
		}
		if !doublestar.ValidatePattern(p) {
			return nil, toolkit.Errorf(CodePattern, "%s %q is not a glob: a bracket or brace is not closed.", field, given).
				WithHint("Write it like *.go, **/*_test.go or *.{ts,tsx}.")
		}
		*list = append(*list, p)
	}
	return g, nil
}

// leaves reports whether a pattern is about files outside of the workspace. Of
// those with a slash in front only the ones are whose first folder is neither
// in the workspace nor in dir.
func leaves(w *toolkit.Workspace, dir, pattern string) bool {
	first, rest, more := strings.Cut(pattern, "/")
	if first == "~" || slices.Contains(strings.Split(pattern, "/"), "..") {
		return true
	}
	if first != "" || !more {
		return false
	}
	folder, _, more := strings.Cut(rest, "/")
	if !more || folder == "" || strings.ContainsAny(folder, "*?[{") {
		return false
	}
	for _, p := range []string{folder, path.Join(dir, folder)} {
		if _, err := w.Files.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// splitGlobs cuts at commas outside of braces.
func splitGlobs(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// match reports whether the patterns mean a path: rel is relative to the
// workspace, below to the folder of the search.
func (g *globs) match(rel, below, name string) bool {
	one := func(p string) bool {
		if !strings.Contains(p, "/") {
			return doublestar.MatchUnvalidated(p, name)
		}
		return doublestar.MatchUnvalidated(p, below) || (rel != below && doublestar.MatchUnvalidated(p, rel))
	}
	for _, p := range g.refuse {
		if one(p) {
			return false
		}
	}
	for _, p := range g.want {
		if one(p) {
			return true
		}
	}
	return len(g.want) == 0
}

// belowOf makes a path relative to the folder of a search.
func belowOf(rel, dir string) string {
	if dir == "." || dir == "" {
		return rel
	}
	return strings.TrimPrefix(rel, dir+"/")
}
