package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chela/toolkit/guard"
)

// Bounds of the look at a workspace: a large project has some 100,000 entries,
// and a second is what a command may be held up for.
const (
	maxEntries = 300_000
	maxDepth   = 64
	maxLook    = time.Second
	maxShapes  = 2000 // of git and secrets that are protected one by one
	maxReport  = 50
)

// kind is what is special about a path of the workspace.
type kind int

const (
	later  kind = iota // something runs or obeys it
	dotGit             // .git, as a folder, a file or a link
	bare               // a folder that git takes for a repository by its shape
	secret             // credentials, by name
)

// shape is one special path, and by what a change of it shows.
type shape struct {
	kind   kind
	reason string
	mode   fs.FileMode
	id     identity
	link   string
}

// look is what a workspace held at one moment.
type look struct {
	shapes map[string]shape // by path relative to the workspace, with slashes
	short  string           // why not everything was looked at; empty: it was
}

// lookAt walks a workspace. It follows no link, and does not enter git's own
// folders. Only paths that guard takes for special are kept.
func lookAt(ctx context.Context, workspace string) look {
	w := &looker{root: workspace, ctx: ctx, until: time.Now().Add(maxLook), look: look{shapes: map[string]shape{}}}
	w.dir("", 0)
	return w.look
}

type looker struct {
	look
	root  string
	ctx   context.Context
	until time.Time
	seen  int
}

func (w *looker) dir(rel string, depth int) {
	if w.short != "" {
		return
	}
	if depth > maxDepth {
		w.short = fmt.Sprintf("it is deeper than %d folders", maxDepth)
		return
	}
	entries, err := readDir(filepath.Join(w.root, filepath.FromSlash(rel)))
	if err != nil {
		return // it went meanwhile, or may not be read, then not by the command either
	}
	if w.seen += len(entries); w.seen > maxEntries {
		w.short = fmt.Sprintf("it has more than %d entries", maxEntries)
		return
	}
	if w.ctx.Err() != nil || time.Now().After(w.until) {
		w.short = fmt.Sprintf("it took more than %s", maxLook)
		return
	}
	if rel != "" && looksBare(entries) {
		w.keep(rel, bare, "git takes it for a repository and obeys its config")
		return
	}
	for _, e := range entries {
		sub := e.Name()
		if rel != "" {
			sub = rel + "/" + e.Name()
		}
		if strings.EqualFold(e.Name(), ".git") {
			w.keep(sub, dotGit, "git obeys its config and runs its hooks")
			continue
		}
		if reason, ok := guard.HoldsSecrets(sub); ok {
			w.keep(sub, secret, reason)
			continue
		}
		if e.IsDir() {
			w.dir(sub, depth+1)
			continue
		}
		// The scripts of installed packages are as foreign as they were.
		if reason, ok := guard.RunsLater(sub); ok && !strings.Contains("/"+sub, "/node_modules/") {
			w.keep(sub, later, reason)
		}
	}
}

func readDir(name string) ([]fs.DirEntry, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	return d.ReadDir(-1)
}

// looksBare is git's own test for a repository: HEAD with objects and refs, or
// with the commondir of a worktree.
func looksBare(entries []fs.DirEntry) bool {
	var head, objects, refs, common bool
	for _, e := range entries {
		switch strings.ToLower(e.Name()) {
		case "head":
			head = true
		case "objects":
			objects = true
		case "refs":
			refs = true
		case "commondir":
			common = true
		}
	}
	return head && (objects && refs || common)
}

func (w *looker) keep(rel string, k kind, reason string) {
	full := filepath.Join(w.root, filepath.FromSlash(rel))
	info, err := os.Lstat(full)
	if err != nil {
		return
	}
	s := shape{kind: k, reason: reason, mode: info.Mode().Type(), id: identify(info)}
	if s.mode&fs.ModeSymlink != 0 {
		s.link, _ = os.Readlink(full)
	}
	if k != later && info.IsDir() {
		s.id.change = 0 // what is inside of it changes it; it is the folder itself that counts
	}
	w.shapes[rel] = s
}

// since lists what is new or changed, by path. Secrets are not: a command may
// make as many as it likes.
func (l look) since(before look) []guard.Untrusted {
	var out []guard.Untrusted
	for rel, s := range l.shapes {
		old, had := before.shapes[rel]
		if s.kind != secret && (!had || old != s) {
			out = append(out, guard.Untrusted{Path: rel, Reason: s.reason, Changed: had})
		}
	}
	slices.SortFunc(out, func(a, b guard.Untrusted) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// compare looks at the workspace again and adds what it found to the exit.
func compare(workspace string, before look, e *guard.Exit) {
	after := lookAt(context.Background(), workspace)
	e.Untrusted = after.since(before)
	if n := len(e.Untrusted); n > maxReport {
		e.Untrusted = e.Untrusted[:maxReport]
		e.Note = fmt.Sprintf("%d further files that something runs later appeared or changed", n-maxReport)
	}
	if before.short != "" || after.short != "" {
		why := before.short
		if why == "" {
			why = after.short
		}
		e.Note = "the folder was not looked through for files that something runs later: " + why
	}
}
