package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// dirent is one name read from a directory.
type dirent struct {
	name string
	typ  fs.FileMode
}

// batchSize is how many entries one worker visits before others may help: big
// enough that the queue costs nothing, small enough that one flat directory of
// many files is shared.
const batchSize = 64

// maxHandles bounds the directory handles that waiting work keeps open; beyond
// it directories are opened again from the workspace.
const maxHandles = 128

// walkCounters are the counts of a walk in progress.
type walkCounters struct {
	ignored, tooDeep, failed atomic.Int64
	mu                       sync.Mutex
	failures                 []string
}

func (c *walkCounters) fail(rel string, err error) {
	c.failed.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) < maxFailures {
		if rel == "" {
			rel = "."
		}
		c.failures = append(c.failures, fmt.Sprintf("%s: %v", rel, underlying(err)))
	}
}

func (c *walkCounters) snapshot() WalkStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return WalkStats{
		Ignored: c.ignored.Load(), TooDeep: c.tooDeep.Load(), Failed: c.failed.Load(),
		Failures: slices.Clone(c.failures),
	}
}

// enter opens the directory of an item and reads it. It returns nil if it cannot
// be read or is not to be walked.
func (w *walker) enter(it *dirItem) (*walkDir, []dirent) {
	var dir *walkDir
	var err error
	if it.parent != nil {
		dir, err = it.parent.openDir(it.name)
	} else {
		dir, err = w.fs.openWalkDir(it.rel)
	}
	if err != nil {
		w.stats.fail(it.rel, err)
		return nil, nil
	}
	entries, err := dir.read()
	if err != nil {
		w.stats.fail(it.rel, err)
		dir.release()
		return nil, nil
	}
	if gitShaped(entries) {
		w.stats.ignored.Add(1)
		dir.release()
		return nil, nil
	}
	if w.opts.Gitignore {
		for i := range entries {
			if entries[i].name != ".gitignore" || entries[i].typ != 0 {
				continue
			}
			if text, _, err := dir.readInto(".gitignore", nil, maxIgnoreFile); err == nil {
				if rules := parseIgnore(string(text)); rules != nil {
					it.ignore = &ignoreNode{up: it.ignore, rules: rules, base: it.rel}
				}
			}
		}
	}
	return dir, entries
}

// gitShaped reports whether a directory with these entries is a git directory.
func gitShaped(entries []dirent) bool {
	var head, objects, refs, common bool
	for i := range entries {
		switch entries[i].name {
		case "HEAD":
			head = true
		case "objects":
			objects = true
		case "refs":
			refs = true
		case "commondir":
			common = true
		}
	}
	return head && ((objects && refs) || common)
}

// entry fills e for one name and reports whether it is to be visited.
func (w *walker) entry(e *Entry, dir *walkDir, it *dirItem, d *dirent) bool {
	isDir := d.typ == fs.ModeDir
	if d.name == ".git" {
		return false
	}
	if (w.opts.SkipHidden && d.name[0] == '.') || (isDir && w.opts.SkipDeps && dependencyDirs[d.name]) {
		w.stats.ignored.Add(1)
		return false
	}
	rel := d.name
	if it.rel != "" {
		rel = it.rel + "/" + d.name
	}
	if it.ignore != nil && it.ignore.ignored(rel, d.name, isDir) {
		w.stats.ignored.Add(1)
		return false
	}
	rule, _ := checkComponent(dir.folded, foldName(d.name))
	if rule == RuleGit {
		return false
	}
	if rule == "" {
		rule, _ = w.fs.protect.checkPath(rel)
	}
	*e = Entry{Path: rel, Type: d.typ, Rule: rule, Depth: it.depth, dir: dir, name: d.name}
	return true
}

// visitOne visits an entry and reports whether it is a directory to enter.
func (w *walker) visitOne(e *Entry, it *dirItem) (descend bool, err error) {
	if w.entries.Add(1) > int64(w.opts.MaxEntries) {
		return false, errFull
	}
	if err := w.visit(e); err != nil {
		return false, err
	}
	if e.Type != fs.ModeDir || e.Rule != "" {
		return false, nil
	}
	if it.depth >= w.opts.MaxDepth {
		w.stats.tooDeep.Add(1)
		return false, nil
	}
	return w.opts.Enter == nil || w.opts.Enter(e.Path), nil
}

// sorted walks depth first from one goroutine. The stack holds one handle for
// each level, which maxWalkDepth bounds.
func (w *walker) sorted(start dirItem) error {
	type frame struct {
		dir  *walkDir
		item dirItem
		todo []dirent
	}
	var stack []frame
	defer func() {
		for _, f := range stack {
			f.dir.release()
		}
	}()
	push := func(it dirItem) {
		dir, entries := w.enter(&it)
		if dir == nil {
			return
		}
		slices.SortFunc(entries, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
		stack = append(stack, frame{dir, it, entries})
	}
	push(start)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.todo) == 0 {
			top.dir.release()
			stack = stack[:len(stack)-1]
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		d := top.todo[0]
		top.todo = top.todo[1:]
		var e Entry
		if !w.entry(&e, top.dir, &top.item, &d) {
			continue
		}
		descend, err := w.visitOne(&e, &top.item)
		if err != nil {
			return err
		}
		if descend {
			push(dirItem{parent: top.dir, name: d.name, rel: e.Path, depth: top.item.depth + 1, ignore: top.item.ignore})
		}
	}
	return nil
}

// queue is the shared stack of a parallel walk. Last in, first out keeps it
// short and the handles few.
type queue struct {
	mu      sync.Mutex
	wake    sync.Cond
	items   []dirItem
	busy    int // workers with an item in hand
	waiting int
	stopped bool
	err     error
}

func (q *queue) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.stopped {
		q.stopped, q.err = true, err
	}
	q.wake.Broadcast()
}

func (q *queue) push(items ...dirItem) {
	q.mu.Lock()
	q.items = append(q.items, items...)
	wake := q.waiting > 0
	q.mu.Unlock()
	if wake {
		q.wake.Broadcast()
	}
}

// next waits for an item; false means that the walk is over.
func (q *queue) next(had bool) (dirItem, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if had {
		q.busy--
	}
	for {
		if q.stopped || (len(q.items) == 0 && q.busy == 0) {
			q.wake.Broadcast()
			return dirItem{}, false
		}
		if n := len(q.items); n > 0 {
			it := q.items[n-1]
			q.items[n-1] = dirItem{}
			q.items = q.items[:n-1]
			q.busy++
			return it, true
		}
		q.waiting++
		q.wake.Wait()
		q.waiting--
	}
}

// hungry reports whether another worker has nothing to do.
func (q *queue) hungry() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting > 0 && len(q.items) == 0
}

func (w *walker) parallel(start dirItem) error {
	q := &queue{items: []dirItem{start}}
	q.wake.L = &q.mu
	stop := contextAfter(w.ctx, func(err error) { q.stop(err) })
	defer stop()
	var workers sync.WaitGroup
	for range w.opts.Workers {
		workers.Go(func() {
			it, ok := q.next(false)
			for ok {
				if err := w.process(q, &it); err != nil {
					q.stop(err)
				}
				it, ok = q.next(true)
			}
		})
	}
	workers.Wait()
	for _, it := range q.items {
		it.parent.release()
	}
	if q.err == nil {
		return w.ctx.Err()
	}
	return q.err
}

// process enters one directory, or visits one batch of a big one.
func (w *walker) process(q *queue, it *dirItem) error {
	dir, entries := it.parent, it.batch
	if entries == nil {
		dir, entries = w.enter(it)
		it.parent.release()
		if dir == nil {
			return nil
		}
	}
	defer dir.release()
	var e Entry
	for i := range entries {
		if i%batchSize == 0 {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			// Give the second half away when somebody is idle.
			if rest := entries[i:]; len(rest) > 2*batchSize && q.hungry() {
				half := len(rest) / 2
				other := *it
				other.parent, other.batch = dir.retain(), rest[half:]
				q.push(other)
				return w.processRest(q, it, dir, rest[:half])
			}
		}
		if err := w.one(q, it, dir, &e, &entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// processRest visits what is left of a batch after its second half was given
// away; it may be split again.
func (w *walker) processRest(q *queue, it *dirItem, dir *walkDir, rest []dirent) error {
	part := *it
	part.parent, part.batch = dir.retain(), rest
	return w.process(q, &part)
}

func (w *walker) one(q *queue, it *dirItem, dir *walkDir, e *Entry, d *dirent) error {
	if !w.entry(e, dir, it, d) {
		return nil
	}
	descend, err := w.visitOne(e, it)
	if err != nil || !descend {
		return err
	}
	sub := dirItem{name: d.name, rel: e.Path, depth: it.depth + 1, ignore: it.ignore}
	if dir.open.Load() < maxHandles {
		sub.parent = dir.retain()
	}
	q.push(sub)
	return nil
}

// openWalkDir opens a directory from the workspace for a walk, and proves that
// no link was followed on the way.
func (f *FS) openWalkDir(rel string) (*walkDir, error) {
	if rel == "" {
		rel = "."
	}
	h, err := f.openParent(opList, rel, rel, false)
	if err != nil {
		return nil, err
	}
	folded := ""
	if rel != "." {
		folded = foldName(path.Base(rel))
	}
	d, err := newWalkDir(h, folded)
	return d, errors.Join(err, h.Close())
}
