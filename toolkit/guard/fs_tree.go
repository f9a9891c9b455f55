package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
)

// MkdirAll creates a directory and its missing parents. An existing directory
// is no error.
func (f *FS) MkdirAll(p string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	loc, err := f.locate(opMkdir, p)
	if err != nil {
		return err
	}
	if loc.info != nil {
		if loc.info.IsDir() {
			return nil
		}
		return fmt.Errorf("mkdir %s: %s is there already", p, kind(loc.info.Mode()))
	}
	dir, err := f.openParent(opMkdir, p, loc.rel, true)
	if err != nil {
		return err
	}
	return dir.Close()
}

// Remove deletes one file, link or empty directory. A link is deleted itself,
// not what it leads to.
func (f *FS) Remove(p string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	parent, leaf, _, err := f.locateLeafPath(opRemove, p)
	if err != nil {
		return err
	}
	dir, err := f.openParent(opRemove, p, parent, false)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Remove(leaf); err != nil {
		return fmt.Errorf("remove %s: %w", p, underlying(err))
	}
	return nil
}

// Rename moves a file, link or directory inside the workspace. The new name
// must be free. Directories that hold chela's own state cannot be moved.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fromDir, _, fromRel, err := f.locateLeafPath(opRename, from)
	if err != nil {
		return err
	}
	if f.protect.containsOwn(fromRel) {
		return &Denied{Op: opRename, Path: from, Rule: RuleOwnState, Reason: "it holds chela's own state"}
	}
	toDir, _, toRel, err := f.locateLeafPath(opRename, to)
	if err != nil {
		return err
	}
	// Both ends are opened and verified, so that the rename below can only fail
	// if links are swapped after this; os.Root keeps it inside the workspace.
	for _, d := range []string{fromDir, toDir} {
		h, err := f.openParent(opRename, to, d, true)
		if err != nil {
			return err
		}
		if err := h.Close(); err != nil {
			return fmt.Errorf("rename %s: %w", from, err)
		}
	}
	if _, err := f.root.Lstat(filepath.FromSlash(toRel)); err == nil {
		return fmt.Errorf("rename %s to %s: %w: remove it first", from, to, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rename %s to %s: %w", from, to, underlying(err))
	}
	if err := f.root.Rename(filepath.FromSlash(fromRel), filepath.FromSlash(toRel)); err != nil {
		return fmt.Errorf("rename %s to %s: %w", from, to, underlying(err))
	}
	return nil
}

// locateLeafPath resolves links in the directory part of p only.
func (f *FS) locateLeafPath(op, p string) (dir, leaf, rel string, err error) {
	given, err := f.rel(op, p)
	if err != nil {
		return "", "", "", err
	}
	if given == "." {
		return "", "", "", fmt.Errorf("%s %s: the workspace itself cannot be changed", op, p)
	}
	if err := f.permit(op, p, given, false); err != nil {
		return "", "", "", err
	}
	loc, err := f.resolve(op, p, path.Dir(given))
	if err != nil {
		return "", "", "", err
	}
	leaf = path.Base(given)
	rel = path.Join(loc.rel, leaf)
	if err := f.permit(op, p, rel, loc.linked); err != nil {
		return "", "", "", err
	}
	return loc.rel, leaf, rel, f.checkGitShape(op, p, rel)
}
