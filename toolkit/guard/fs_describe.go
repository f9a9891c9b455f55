package guard

import (
	"fmt"
	"io/fs"
	"path"
)

const opLink = "read the link"

// Link returns where p leads if it is a symbolic link itself, as the link says
// it; empty: it is none, or nothing is there.
func (f *FS) Link(p string) (string, error) {
	rel, err := f.Rel(p)
	if err != nil || rel == "." {
		return "", err
	}
	parent, leaf, _, err := f.locateLeafPath(opLink, p)
	if err != nil {
		return "", err
	}
	dir, err := f.openParent(opLink, p, parent, false)
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Close() }()
	info, err := dir.Lstat(leaf)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	target, err := dir.Readlink(leaf)
	if err != nil {
		return "", fmt.Errorf("read the link %s: %w", p, underlying(err))
	}
	return target, nil
}

// Ignored reports whether the workspace's .gitignore files, or its
// .git/info/exclude, leave out a path or a folder above it. What git's own
// configuration leaves out, and whether git has the file all the same, is not
// looked at.
func (f *FS) Ignored(p string) (bool, error) {
	rel, err := f.Rel(p)
	if err != nil || rel == "." {
		return false, err
	}
	for i := range len(rel) + 1 {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		above := rel[:i]
		isDir := i < len(rel)
		if !isDir {
			info, err := f.Stat(p)
			isDir = err == nil && info.IsDir()
		}
		if f.ignoreAbove(above).ignored(above, path.Base(above), isDir) {
			return true, nil
		}
	}
	return false, nil
}
