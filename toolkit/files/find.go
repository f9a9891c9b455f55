package files

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type findArgs struct {
	Pattern    string `json:"pattern" doc:"glob: *_test.go, src/**/*.ts" min:"1" alias:"query,glob,name,file_pattern,filename,q"`
	Directory  string `json:"directory,omitempty" default:"." alias:"path,dir,folder,root"`
	MaxResults int    `json:"maxResults,omitempty" default:"100" min:"1" max:"1000" alias:"max_results,limit"`
}

// Found is the data of search_files. Total counts all files that match.
type Found struct {
	Files     []string `json:"files"`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
}

// SearchFiles lists the files whose path matches a glob, in path order.
func SearchFiles() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "search_files",
		Summary:    "Find files by name or path.",
		Category:   "filesystem",
		Level:      toolkit.Safe,
		Tier:       tiers.Essential,
		ReadOnly:   true,
		Idempotent: true,
	}, planFind, runFind)
}

func (a findArgs) begin(ctx context.Context, w *toolkit.Workspace) (*globs, guard.Info, error) {
	return searchFolder(ctx, w, a.Pattern, a.Directory, "Leave directory out, or name a folder.")
}

func planFind(ctx context.Context, w *toolkit.Workspace, a findArgs) (toolkit.Plan, error) {
	_, root, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Plan{}, err
	}
	return reads(root.Path, "%s%s", a.Pattern, in(root.Path)), nil
}

func runFind(ctx context.Context, w *toolkit.Workspace, a findArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	g, root, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Result{}, err
	}
	var mu sync.Mutex
	var all []string
	opts := guard.WalkOptions{Root: root.Path, Gitignore: true, SkipDeps: true}
	stats, err := w.Files.Walk(ctx, opts, func(e *guard.Entry) error {
		if e.Type.IsDir() || !g.match(e.Path, belowOf(e.Path, root.Path), e.Name()) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, e.Path)
		return nil
	})
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Directory, err)
	}
	slices.Sort(all)
	d := Found{Files: []string{}, Total: len(all)}
	var b strings.Builder
	room := budget(w) - grepReserve
	for i, p := range all[:min(len(all), a.MaxResults)] {
		if b.Len()+len(p)+1 > room && i > 0 {
			break
		}
		b.WriteString(p + "\n")
		d.Files = append(d.Files, p)
	}
	d.Truncated = len(d.Files) < d.Total || stats.Full
	res := toolkit.Result{Data: d}
	switch {
	case d.Total == 0:
		b.WriteString(nothingFound(ctx, w, a, root.Path, stats.Ignored > 0))
	case d.Truncated:
		hint := "make the pattern narrower, or give directory"
		fmt.Fprintf(&b, "[%d of %d files shown; %s]\n", len(d.Files), d.Total, hint)
		res.Cut = &toolkit.Truncated{Shown: len(d.Files), Total: d.Total, Unit: "entries", Hint: hint}
	default:
		fmt.Fprintf(&b, "[%s]\n", plural(d.Total, "file", "files"))
	}
	res.Text = b.String()
	return res, nil
}

// nothingFound says so, with the names that are most like the pattern.
func nothingFound(ctx context.Context, w *toolkit.Workspace, a findArgs, root string, ignored bool) string {
	text := fmt.Sprintf("no file matches %q%s.", a.Pattern, in(root))
	plain := strings.Trim(path.Base(strings.ReplaceAll(a.Pattern, `\`, "/")), "*?{}[]!")
	if len(plain) >= 3 {
		if near := nearest(ctx, w, plain, 5); len(near) > 0 {
			return text + " The nearest are: " + strings.Join(near, ", ") + ".\n"
		}
	}
	if ignored {
		text += " Ignored and dependency folders were left out; give one as directory to look there."
	}
	return text + "\n"
}
