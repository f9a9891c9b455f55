package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// FSOptions configures the file door of one workspace.
type FSOptions struct {
	// Protected are absolute paths of chela's own directories and files. They
	// are refused for reading and writing whether or not they exist yet.
	Protected []string
	// ExtraSecrets are glob patterns (doublestar syntax, case ignored) of more
	// secret files. Without a slash a pattern matches any path component.
	ExtraSecrets []string
	// Home is what a leading "~/" means; the user's home directory if empty.
	Home string
}

// FS is the file door of one workspace. Paths may be relative to the workspace
// or absolute; everything it returns is a slash path relative to it. FS holds an
// open handle on the workspace directory until Close.
type FS struct {
	root    *os.Root
	dir     string // absolute, links resolved
	given   string // absolute, as given
	home    string
	protect *protection
	own     []string   // absolute, folded: chela's own state, wherever it is
	mu      sync.Mutex // one writer at a time, so that check and rename belong together

	// faultWrite lets tests fail the write of a temporary file; nil otherwise.
	faultWrite func() error
	// opened lets tests see each opened path before it is verified; nil otherwise.
	opened func(rel string)
}

// OpenFS opens the workspace at root. It refuses a root that is missing, not a
// directory, below /proc, /sys or /dev, or inside one of opts.Protected. Links
// in root itself are resolved once, here.
func OpenFS(root string, opts FSOptions) (*FS, error) {
	if root == "" || strings.ContainsRune(root, 0) {
		return nil, fmt.Errorf("workspace %q is not a path: name a directory", root)
	}
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: cannot make it absolute: %w", root, err)
	}
	dir, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("workspace %q cannot be opened: %w; name an existing directory", root, err)
	}
	for _, bad := range []string{"/proc", "/sys", "/dev"} {
		if within(filepath.ToSlash(dir), bad) || within(filepath.ToSlash(given), bad) {
			return nil, fmt.Errorf("workspace %q is inside %s, which holds the system's own files: name a project directory", root, bad)
		}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace %q cannot be read: %w", root, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("workspace %q is a file: name a directory", root)
	}
	protect, err := newProtection(opts.ExtraSecrets)
	if err != nil {
		return nil, err
	}
	home := opts.Home
	if home == "" {
		// Without a home directory every "~/" path is outside, which is safe.
		home, _ = os.UserHomeDir()
	}
	f := &FS{dir: dir, given: given, home: home, protect: protect}
	if err := f.protectOwn(opts.Protected); err != nil {
		return nil, err
	}
	if f.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("workspace %q cannot be opened: %w", root, err)
	}
	return f, nil
}

// protectOwn turns absolute protected paths into workspace-relative ones, in
// both their literal and their resolved form.
func (f *FS) protectOwn(paths []string) error {
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("protected path %q is not absolute", p)
		}
		for _, form := range []string{filepath.Clean(p), resolveExisting(p)} {
			f.own = append(f.own, foldAbs(form))
			for _, dir := range []string{f.dir, f.given} {
				if rel, err := filepath.Rel(form, dir); err == nil && filepath.IsLocal(rel) {
					return fmt.Errorf("workspace %q is inside %s, chela's own state: name a project directory", f.given, p)
				}
				if rel, err := filepath.Rel(dir, form); err == nil && filepath.IsLocal(rel) {
					f.protect.own = append(f.protect.own, foldPath(filepath.ToSlash(rel)))
				}
			}
		}
	}
	return nil
}

// resolveExisting resolves links in the part of an absolute path that exists.
func resolveExisting(p string) string {
	rest := ""
	for cur := filepath.Clean(p); ; {
		if real, err := filepath.EvalSymlinks(cur); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(cur)
		if parent == cur {
			return filepath.Clean(p)
		}
		rest = filepath.Join(filepath.Base(cur), rest)
		cur = parent
	}
}

// Dir returns the workspace's absolute path with links resolved.
func (f *FS) Dir() string { return f.dir }

// Close releases the handle on the workspace. Files opened before stay usable.
func (f *FS) Close() error { return f.root.Close() }
