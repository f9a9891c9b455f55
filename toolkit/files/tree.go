package files

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type treeArgs struct {
	Path         string `json:"path,omitempty" default:"." alias:"directory,dir,folder,root"`
	Depth        int    `json:"depth,omitempty" default:"3" min:"1" max:"10" alias:"max_depth,maxDepth,levels"`
	IncludeFiles bool   `json:"include_files,omitempty" default:"true" alias:"includeFiles,files"`
	Pattern      string `json:"pattern,omitempty" doc:"only these files: *.go" alias:"glob,filter"`
}

// Tree is the data of directory_tree. Directories and Files count what is
// there down to the depth, shown or not.
type Tree struct {
	Tree        string `json:"tree"`
	Directories int    `json:"directories"`
	Files       int    `json:"files"`
	Truncated   bool   `json:"truncated"`
}

// DirectoryTree draws a folder.
func DirectoryTree() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "directory_tree",
		Summary:    "List the files of a folder as a tree.",
		Category:   "filesystem",
		Level:      toolkit.Safe,
		Tier:       tiers.Essential,
		ReadOnly:   true,
		Idempotent: true,
	}, planTree, runTree)
}

func (a treeArgs) begin(ctx context.Context, w *toolkit.Workspace) (*globs, guard.Info, error) {
	return searchFolder(ctx, w, a.Pattern, a.Path, "Use read_file to read it.")
}

func planTree(ctx context.Context, w *toolkit.Workspace, a treeArgs) (toolkit.Plan, error) {
	_, root, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Plan{}, err
	}
	return reads(root.Path, "%s, %s deep", root.Path, plural(a.Depth, "level", "levels")), nil
}

// maxTreeEntries bounds one listing; a person cannot read more, nor can a
// model.
const maxTreeEntries = 100_000

func runTree(ctx context.Context, w *toolkit.Workspace, a treeArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	g, info, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Result{}, err
	}
	if _, _, err := w.Files.ReadDir(info.Path, 1); err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	root := &node{name: info.Path, dir: true}
	byPath := map[string]*node{info.Path: root}
	var mu sync.Mutex
	var files []string
	opts := guard.WalkOptions{
		Root: info.Path, Gitignore: true, MaxDepth: a.Depth, MaxEntries: maxTreeEntries,
		Enter: func(rel string) bool { return !guard.IsDependencyDir(path.Base(rel)) },
	}
	stats, err := w.Files.Walk(ctx, opts, func(e *guard.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Type.IsDir():
			byPath[e.Path] = &node{name: e.Name(), dir: true, note: folderNote(e.Name(), e.Rule), deep: e.Depth == a.Depth}
		case a.IncludeFiles && g.match(e.Path, belowOf(e.Path, info.Path), e.Name()):
			p := e.Path
			byPath[p] = &node{name: e.Name(), note: fileNote(e.Type, e.Rule)}
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	leaveOut(w, info.Path, byPath)
	dirs := assemble(byPath, info.Path, a.Pattern != "")
	d := Tree{Directories: dirs, Files: len(files)}
	var left int
	d.Tree, left = draw(root, budget(w)-grepReserve)
	d.Truncated = left > 0 || stats.Full
	text := d.Tree + fmt.Sprintf("[%s, %s]\n", plural(d.Directories, "folder", "folders"), plural(d.Files, "file", "files"))
	res := toolkit.Result{Data: d}
	if d.Truncated {
		hint := "give path to see one folder, or a smaller depth"
		text += fmt.Sprintf("[%d entries not shown; %s]\n", left, hint)
		total := d.Directories + d.Files
		res.Cut = &toolkit.Truncated{Shown: max(total-left, 0), Total: total, Unit: "entries", Hint: hint}
	}
	if stats.Failed > 0 {
		text += fmt.Sprintf("[%s could not be read]\n", plural(int(stats.Failed), "folder", "folders"))
	}
	res.Text = text
	return res, nil
}

// node is one line of the tree.
type node struct {
	name     string
	note     string // why it is not opened
	dir      bool
	deep     bool // at the depth limit, so its content is not known
	children []*node
	open     int // children that are drawn
}

func folderNote(name string, rule guard.Rule) string {
	switch {
	case rule != "":
		return "(protected)"
	case guard.IsDependencyDir(name):
		return "(skipped)"
	}
	return ""
}

func fileNote(t fs.FileMode, rule guard.Rule) string {
	switch {
	case rule != "":
		return "(protected)"
	case t&fs.ModeSymlink != 0:
		return "(link)"
	case t != 0:
		return "(special)"
	}
	return ""
}

// maxLeftOut bounds the folders that are looked at for dependency folders
// which .gitignore hides.
const maxLeftOut = 64

// leaveOut adds the dependency folders that .gitignore hides: that they exist
// is worth knowing, as their content is not.
func leaveOut(w *toolkit.Workspace, root string, byPath map[string]*node) {
	var dirs []string
	for p, n := range byPath {
		if n.dir && n.note == "" && !n.deep {
			dirs = append(dirs, p)
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, dir := range dirs[:min(len(dirs), maxLeftOut)] {
		entries, _, err := w.Files.ReadDir(dir, 2000)
		if err != nil {
			continue // the walk counted it
		}
		for _, e := range entries {
			p := path.Join(dir, e.Name)
			if e.Mode.IsDir() && guard.IsDependencyDir(e.Name) && byPath[p] == nil {
				byPath[p] = &node{name: e.Name, dir: true, note: "(skipped)"}
			}
		}
	}
}

// assemble joins the nodes to a tree, folders first, and returns the number of
// folders. With only, folders without a matching file are left out.
func assemble(byPath map[string]*node, root string, only bool) (dirs int) {
	paths := make([]string, 0, len(byPath))
	for p := range byPath {
		if p != root {
			paths = append(paths, p)
		}
	}
	// The deepest first, so that a folder's content is complete when it is
	// decided whether to keep it.
	slices.SortFunc(paths, func(a, b string) int {
		if d := strings.Count(b, "/") - strings.Count(a, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, p := range paths {
		n := byPath[p]
		if n.dir && only && len(n.children) == 0 {
			continue
		}
		parent := byPath[path.Dir(p)]
		if parent == nil {
			continue // it was removed while the folder was read
		}
		if n.dir {
			dirs++
		}
		parent.children = append(parent.children, n)
	}
	for _, n := range byPath {
		slices.SortFunc(n.children, func(a, b *node) int {
			if a.dir != b.dir {
				if a.dir {
					return -1
				}
				return 1
			}
			return strings.Compare(a.name, b.name)
		})
	}
	return dirs
}
