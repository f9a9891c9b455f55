package files

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// maxNearWalk bounds how many entries are looked at for a suggestion: a wrong
// path must not cost more than a search.
const maxNearWalk = 20_000

// nearest returns up to n paths of the workspace most like the given one. A
// file of the same name elsewhere comes first, then names with few edits.
func nearest(ctx context.Context, w *toolkit.Workspace, given string, n int) []string {
	want := strings.ToLower(path.Clean(strings.ReplaceAll(given, `\`, "/")))
	base := path.Base(want)
	if base == "." || base == "/" || len(base) > 120 {
		return nil
	}
	type candidate struct {
		path  string
		score int
	}
	var mu sync.Mutex
	var found []candidate
	opts := guard.WalkOptions{Gitignore: true, SkipDeps: true, MaxEntries: maxNearWalk}
	_, err := w.Files.Walk(ctx, opts, func(e *guard.Entry) error {
		if e.Rule != "" {
			return nil
		}
		score, ok := likeness(base, want, strings.ToLower(e.Name()), strings.ToLower(e.Path))
		if !ok {
			return nil
		}
		p := e.Path
		if e.Type.IsDir() {
			p += "/"
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, candidate{p, score})
		return nil
	})
	if err != nil {
		return nil // a suggestion is a courtesy
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(a.score-b.score, len(a.path)-len(b.path), strings.Compare(a.path, b.path))
	})
	var out []string
	for _, c := range found[:min(n, len(found))] {
		out = append(out, c.path)
	}
	return out
}

// likeness scores a path against the wanted one; smaller is better.
func likeness(base, want, name, full string) (int, bool) {
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case name == base:
		return levenshtein.ComputeDistance(path.Dir(want), path.Dir(full)), true
	case len(stem) >= 3 && strings.Contains(name, stem):
		return 100 + len(name) - len(stem), true
	}
	if diff := len(name) - len(base); diff > 4 || diff < -4 {
		return 0, false
	}
	d := levenshtein.ComputeDistance(base, name)
	return 100 + 10*d, d <= max(1, len(base)/3)
}
