package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync/atomic"
)

// Walk limits when the options give none.
const (
	DefaultWalkEntries = 2_000_000
	DefaultWalkDepth   = 256
	maxWalkDepth       = 512 // a walk in order keeps a handle for each level
	maxIgnoreFile      = 1 << 20
)

// WalkOptions says what Walk visits. The zero value visits everything below the
// workspace except git directories.
type WalkOptions struct {
	Root       string // where to start; "" is the workspace
	Gitignore  bool   // leave out what .gitignore files and .git/info/exclude name
	SkipHidden bool   // leave out names that start with a dot
	SkipDeps   bool   // leave out dependency and build folders, see IsDependencyDir
	MaxEntries int    // stop after so many visits; DefaultWalkEntries if 0
	MaxDepth   int    // directories below Root that are entered; DefaultWalkDepth if 0, at most 512
	Workers    int    // at most GOMAXPROCS, which is the default
	// Sorted visits in byte order of the path components, directories before
	// their content, from one goroutine. Without it visits come from several
	// goroutines at once, in no order.
	Sorted bool
	// Enter, if set, is asked before a directory is entered.
	Enter func(rel string) bool
}

// WalkStats says what a walk did.
type WalkStats struct {
	Visited  int64
	Ignored  int64    // left out by .gitignore, SkipHidden or SkipDeps
	TooDeep  int64    // directories not entered because of MaxDepth
	Full     bool     // MaxEntries was reached
	Failed   int64    // directories that could not be read
	Failures []string // the first of them, "path: why"
}

// maxFailures bounds WalkStats.Failures.
const maxFailures = 20

// ErrStopWalk, returned by a visit, ends the walk without an error.
var ErrStopWalk = errors.New("stop the walk")

// Entry is one file, directory, link or special file met by Walk. It is valid
// only during the visit.
type Entry struct {
	Path  string      // relative to the workspace, slashes
	Type  fs.FileMode // type bits only; 0 is a regular file
	Rule  Rule        // the floor's rule that refuses to open it, or ""
	Depth int         // 1 directly below Root

	dir  *walkDir
	name string
}

// Name returns the last component of the path.
func (e *Entry) Name() string { return e.name }

// Info describes the entry itself, not what a link leads to.
func (e *Entry) Info() (Info, error) {
	if e.Rule != "" {
		return Info{}, e.denied(opStat)
	}
	size, mode, mtime, links, err := e.dir.stat(e.name)
	if err != nil {
		return Info{}, fmt.Errorf("stat %s: %w", e.Path, underlying(err))
	}
	return Info{Path: e.Path, Size: size, Mode: mode, ModTime: mtime, Nlink: links}, nil
}

// Open opens a regular file through the handle of its directory: no link is
// followed and no path is looked up again.
func (e *Entry) Open() (*File, error) {
	if e.Rule != "" {
		return nil, e.denied(opRead)
	}
	f, err := e.dir.openFile(e.name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Path, underlying(err))
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%w (%s)", ErrNotRegular, kind(fi.Mode()))
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", e.Path, underlying(err))
	}
	return &File{f: f, info: infoOf(e.Path, fi, false)}, nil
}

// ReadInto reads the file into buf, growing it as needed, and returns the bytes
// and whether there were more than limit. It is the cheapest way to read many
// files: pass the returned slice again. The checks are those of Open.
func (e *Entry) ReadInto(buf []byte, limit int64) (data []byte, truncated bool, err error) {
	if e.Rule != "" {
		return buf[:0], false, e.denied(opRead)
	}
	data, truncated, err = e.dir.readInto(e.name, buf, limit)
	if err != nil {
		return data, false, fmt.Errorf("read %s: %w", e.Path, underlying(err))
	}
	return data, truncated, nil
}

func (e *Entry) denied(op string) error {
	return &Denied{Op: op, Path: e.Path, Rule: e.Rule, Reason: "a walk lists it but does not open it"}
}

// dependencyDirs are folders that package managers and builds fill.
var dependencyDirs = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, "vendor": true, "target": true,
	"dist": true, "build": true, "out": true, "__pycache__": true, ".venv": true, "venv": true, ".tox": true,
	".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, ".gradle": true, ".next": true, ".nuxt": true,
	".svelte-kit": true, ".turbo": true, ".cache": true, ".parcel-cache": true, ".terraform": true,
	"site-packages": true, "Pods": true, "DerivedData": true, "_build": true, "deps": true, "elm-stuff": true,
	".stack-work": true, "dist-newstyle": true, ".dart_tool": true, "coverage": true, ".hg": true, ".svn": true,
}

// IsDependencyDir reports whether a directory of this name usually holds
// dependencies, build output or caches rather than what a person wrote.
func IsDependencyDir(name string) bool { return dependencyDirs[name] }

// dirItem is one directory to enter.
type dirItem struct {
	parent *walkDir // open handle, or nil to open rel from the workspace
	name   string
	rel    string // "" for the workspace
	depth  int    // of the directory's entries
	ignore *ignoreNode
	batch  []dirent // entries of parent to visit instead of a directory to enter
}

// walker is the state of one walk.
type walker struct {
	fs      *FS
	ctx     context.Context
	opts    WalkOptions
	visit   func(*Entry) error
	entries atomic.Int64
	stats   walkCounters
}

// Walk visits what is below opts.Root. Links are visited, never followed; git
// directories, by name or by shape, are left out; what the floor protects is
// visited with its rule but cannot be opened. It ends at the first error of a
// visit, at a limit, or when ctx ends, with the context's error. Directories that
// cannot be read are counted, not fatal.
func (f *FS) Walk(ctx context.Context, opts WalkOptions, visit func(*Entry) error) (WalkStats, error) {
	if opts.Root == "" {
		opts.Root = "."
	}
	if opts.MaxEntries <= 0 {
		opts.MaxEntries = DefaultWalkEntries
	}
	if opts.MaxDepth <= 0 {
		opts.MaxDepth = DefaultWalkDepth
	}
	opts.MaxDepth = min(opts.MaxDepth, maxWalkDepth)
	if procs := runtime.GOMAXPROCS(0); opts.Workers <= 0 || opts.Workers > procs {
		opts.Workers = procs
	}
	loc, err := f.locate(opList, opts.Root)
	if err != nil {
		return WalkStats{}, err
	}
	if loc.info == nil {
		return WalkStats{}, fmt.Errorf("walk %s: %w", opts.Root, fs.ErrNotExist)
	}
	if !loc.info.IsDir() {
		return WalkStats{}, fmt.Errorf("walk %s: not a directory", opts.Root)
	}
	start := loc.rel
	if start == "." {
		start = ""
	}
	w := &walker{fs: f, ctx: ctx, opts: opts, visit: visit}
	item := dirItem{rel: start, depth: 1}
	if opts.Gitignore {
		item.ignore = f.ignoreAbove(start)
	}
	if opts.Sorted {
		err = w.sorted(item)
	} else {
		err = w.parallel(item)
	}
	stats := w.stats.snapshot()
	stats.Visited = min(w.entries.Load(), int64(opts.MaxEntries))
	stats.Full = w.entries.Load() > int64(opts.MaxEntries)
	if errors.Is(err, ErrStopWalk) || errors.Is(err, errFull) {
		err = nil
	}
	return stats, err
}

// errFull ends a walk that reached MaxEntries.
var errFull = errors.New("walk is full")

// ignoreAbove loads the rules that hold in start: info/exclude and the
// .gitignore files above it. The one in start itself is found when it is read.
func (f *FS) ignoreAbove(start string) *ignoreNode {
	var node *ignoreNode
	add := func(base, file string) {
		h, err := f.root.OpenFile(filepath.FromSlash(file), os.O_RDONLY|openFlags, 0)
		if err != nil {
			return
		}
		defer func() { _ = h.Close() }()
		if rules := readIgnore(h); rules != nil {
			node = &ignoreNode{up: node, rules: rules, base: base}
		}
	}
	add("", ".git/info/exclude")
	for i := range len(start) {
		switch {
		case i == 0:
			add("", ".gitignore")
		case start[i] == '/':
			add(start[:i], path.Join(start[:i], ".gitignore"))
		}
	}
	return node
}

func readIgnore(h *os.File) *ignoreRules {
	if fi, err := h.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(h, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return parseIgnore(string(text))
}
