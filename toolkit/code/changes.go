package code

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// maxWatched bounds the files that are compared before and after a program that
// rewrites them.
const maxWatched = 20_000

// state is what the files below a folder hold, by path: size, time and hash.
type state map[string]string

// look notes the files with one of the endings. A file that changes within the
// resolution of its time still changes its hash.
func look(ctx context.Context, w *toolkit.Workspace, dir string, exts []string) state {
	s := state{}
	// What cannot be walked is not compared; the formatter's own words remain.
	_, _ = w.Files.Walk(ctx, guard.WalkOptions{Root: dir, Gitignore: true, SkipDeps: true, MaxEntries: maxWatched, Sorted: true}, func(e *guard.Entry) error {
		if !e.Type.IsRegular() || e.Rule != "" || !slices.Contains(exts, path.Ext(e.Path)) {
			return nil
		}
		data, more, err := e.ReadInto(nil, maxManifest)
		if err == nil && !more {
			s[e.Path] = guard.Hash(data)
		}
		return nil
	})
	return s
}

// changes are the files that differ from an earlier state.
func (s state) changes(after state) []toolkit.Change {
	var out []toolkit.Change
	for name, hash := range after {
		if old, ok := s[name]; !ok {
			out = append(out, toolkit.Change{Path: name, Kind: "created"})
		} else if old != hash {
			out = append(out, toolkit.Change{Path: name, Kind: "changed"})
		}
	}
	for name := range s {
		if _, ok := after[name]; !ok {
			out = append(out, toolkit.Change{Path: name, Kind: "deleted"})
		}
	}
	slices.SortFunc(out, func(a, b toolkit.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// writing adds to a plan the files that the call may change: so many of them by
// name, which makes it possible to undo the call, else their folder.
func writing(w *toolkit.Workspace, p toolkit.Plan, o Options) toolkit.Plan {
	ready, ok := p.Private().(*prepared)
	if !ok {
		return p
	}
	files := o.Files
	if len(files) == 0 && o.IsFile {
		files = []string{o.Target}
	}
	if len(files) == 0 {
		dir := o.Target
		if dir == "" {
			dir = ready.Dir
		}
		if files = sources(space{w}, dir, ready.Exts, 12); len(files) >= maxFiles {
			files = []string{dir}
		}
	}
	for _, f := range files {
		p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: f})
	}
	return p
}

// listed names some files in a line.
func listed(files []string) string {
	const most = 20
	if len(files) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), len(files)-most)
	}
	return strings.Join(files, ", ")
}
