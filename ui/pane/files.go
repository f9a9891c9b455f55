package pane

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chela/themes"
	"chela/ui/intent"
	"chela/ui/safetext"
)

// ReadDir is the action of asking for a folder's content, which then comes with
// [Files.SetDir].
type ReadDir struct{ Path string }

// FileNode is a file or folder in the tree.
type FileNode struct {
	Path    string // relative to the root, with slashes
	Dir     bool
	Mark    string // git's: M, A, D, U, ?; empty: none. On a folder: something in it has one.
	Ignored bool   // by git
}

// FileTree is what is known of a folder and what is below it.
type FileTree struct {
	Root    string                // its name
	Branch  string                // git's, if it is a repository
	Changed int                   // files that git has a mark for
	Dirs    map[string][]FileNode // children by folder, "" the root; only folders that were read
	Err     string                // why the folder cannot be read
}

// Files shows the project's files as a tree, with git's marks.
type Files struct {
	st      *themes.Styles
	focused bool
	tree    FileTree
	open    map[string]bool
	rows    []fileRow // what is unfolded, in order
	sel     int
	view    viewport
	width   int // drawn last
}

// fileRow is a line of the tree.
type fileRow struct {
	FileNode
	depth int
	inner bool // a folder with something changed in it
}

// NewFiles returns an empty tree.
func NewFiles(st *themes.Styles) *Files { return &Files{st: st, open: map[string]bool{}} }

// Restyle draws everything in other styles from now on.
func (f *Files) Restyle(st *themes.Styles) { f.st = st }

// SetFocused shows the selection, or hides it.
func (f *Files) SetFocused(on bool) { f.focused = on }

// SetTree replaces everything that is known. Open folders stay open, and what
// was selected stays so if it is still there. The tree's map is the pane's from
// then on.
func (f *Files) SetTree(t FileTree) {
	if t.Dirs == nil {
		t.Dirs = map[string][]FileNode{}
	}
	for _, nodes := range t.Dirs {
		sortNodes(nodes)
	}
	f.tree = t
	f.rebuild()
}

// SetDir sets the content of one folder.
func (f *Files) SetDir(dir string, nodes []FileNode) {
	if f.tree.Dirs == nil {
		f.tree.Dirs = map[string][]FileNode{}
	}
	sortNodes(nodes)
	f.tree.Dirs[dir] = nodes
	f.rebuild()
}

// rebuild lists the rows anew and finds the selected one among them; if it is
// gone, its nearest folder is selected.
func (f *Files) rebuild() {
	selected, known := f.selected()
	changed := f.foldersWithMarks()
	f.rows = f.rows[:0]
	f.list("", 0, changed)
	f.sel = max(0, min(f.sel, len(f.rows)-1))
	for p := selected.Path; known && p != "." && p != ""; p = path.Dir(p) {
		if i := f.index(p); i >= 0 {
			f.sel = i
			return
		}
	}
}

func (f *Files) list(dir string, depth int, changed map[string]bool) {
	for _, n := range f.tree.Dirs[dir] {
		f.rows = append(f.rows, fileRow{n, depth, n.Dir && (n.Mark != "" || changed[n.Path])})
		if n.Dir && f.open[n.Path] && n.Path != dir {
			f.list(n.Path, depth+1, changed)
		}
	}
}

// foldersWithMarks finds the folders above everything that has a mark.
func (f *Files) foldersWithMarks() map[string]bool {
	out := map[string]bool{}
	for _, nodes := range f.tree.Dirs {
		for _, n := range nodes {
			if n.Mark == "" {
				continue
			}
			for p := path.Dir(n.Path); p != "." && p != "/" && !out[p]; p = path.Dir(p) {
				out[p] = true
			}
		}
	}
	return out
}

func (f *Files) selected() (fileRow, bool) {
	if f.sel < 0 || f.sel >= len(f.rows) {
		return fileRow{}, false
	}
	return f.rows[f.sel], true
}

func (f *Files) index(p string) int {
	for i, r := range f.rows {
		if r.Path == p {
			return i
		}
	}
	return -1
}

// Expanded lists the open folders that can be seen, to be read again.
func (f *Files) Expanded() []string {
	var out []string
	for _, r := range f.rows {
		if r.Dir && f.open[r.Path] {
			out = append(out, r.Path)
		}
	}
	return out
}

// Select selects a path and opens the folders above it, as far as they were
// read. It reports whether the path is there.
func (f *Files) Select(p string) bool {
	p = path.Clean(p)
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, read := f.tree.Dirs[dir]; read {
			f.open[dir] = true
		}
	}
	f.rebuild()
	i := f.index(p)
	if i >= 0 {
		f.sel, f.view.reveal = i, true
	}
	return i >= 0
}

// Handle carries out an intent.
func (f *Files) Handle(i intent.Intent) Action {
	switch i {
	case intent.Search:
		return FindFile{}
	case intent.Refresh:
		return ReadFiles{}
	}
	r, ok := f.selected()
	if !ok {
		switch i {
		case intent.Mention, intent.Open, intent.Preview, intent.Copy:
			return Say{"there is no file to take"}
		}
		return nil
	}
	if to, ok := f.view.step(i, f.sel, len(f.rows)); ok {
		f.sel = to
		return nil
	}
	switch i {
	case intent.Mention, intent.Open:
		if r.Dir {
			return f.toggle(r)
		}
		return InsertMention{r.Path}
	case intent.Preview:
		if r.Dir {
			return Say{"that is a folder: " + intent.KeyOf(intent.Mention, []intent.Scope{intent.Files}) + " opens it"}
		}
		return PreviewFile{r.Path}
	case intent.Copy:
		return CopyText{r.Path, "the path"}
	case intent.Right:
		return f.enter(r)
	case intent.Left:
		f.leave(r)
	}
	return nil
}

func (f *Files) toggle(r fileRow) Action {
	if f.open[r.Path] {
		delete(f.open, r.Path)
		f.rebuild()
		return nil
	}
	f.open[r.Path] = true
	f.rebuild()
	if _, read := f.tree.Dirs[r.Path]; !read {
		return ReadDir{r.Path}
	}
	return nil
}

// enter opens a folder; in an open one it goes to the first entry.
func (f *Files) enter(r fileRow) Action {
	switch {
	case !r.Dir:
		return nil
	case !f.open[r.Path]:
		return f.toggle(r)
	case f.sel+1 < len(f.rows) && f.rows[f.sel+1].depth > r.depth:
		f.sel++
		f.view.reveal = true
	}
	return nil
}

// leave closes a folder; from what is not an open one it goes to its parent.
func (f *Files) leave(r fileRow) {
	if r.Dir && f.open[r.Path] {
		f.toggle(r)
		return
	}
	if i := f.index(path.Dir(r.Path)); i >= 0 {
		f.sel, f.view.reveal = i, true
	}
}

// Scroll moves by lines, for the mouse wheel; the selection stays.
func (f *Files) Scroll(n int) {
	f.view.top += n
	f.view.reveal = false
}

// Click selects what is drawn in line y. It opens and closes folders; a second
// click on a file shows it.
func (f *Files) Click(y int) Action {
	i := f.view.top + y
	if y < 0 || y >= f.view.height || i >= len(f.rows) {
		return nil
	}
	again := i == f.sel
	f.sel = i
	switch r := f.rows[i]; {
	case r.Dir:
		return f.toggle(r)
	case again:
		return PreviewFile{r.Path}
	}
	return nil
}

// Title is the pane's title, with the branch and how many files differ. It is
// made for the width drawn last: where that has no room for all, the count is
// shortened first and the branch cut then.
func (f *Files) Title() string {
	const name, sep = "Files", " · "
	room := f.width - 3 // the title's edge and blanks
	branch := safetext.Line(f.tree.Branch)
	title := func(branch, changed string) string {
		parts := slices.DeleteFunc([]string{name, branch, changed}, func(s string) bool { return s == "" })
		return strings.Join(parts, sep)
	}
	if f.tree.Changed == 0 {
		return title(branch, "")
	}
	if whole := title(branch, fmt.Sprintf("%d changed", f.tree.Changed)); room <= 0 || ansi.StringWidth(whole) <= room {
		return whole
	}
	short := fmt.Sprintf("±%d", f.tree.Changed)
	if room -= ansi.StringWidth(name + sep + sep + short); room < 2 {
		return title("", short)
	}
	return title(ansi.Truncate(branch, room, "…"), short)
}
