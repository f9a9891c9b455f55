package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// Limits on what a path may look like: Linux's PATH_MAX, and its limit on links
// followed for one path.
const (
	maxPathBytes = 4096
	maxLinks     = 40
)

// Rel returns the clean workspace-relative slash path that p means, without
// touching any file. It refuses paths that leave the workspace by name; links
// are judged when a file is opened.
func (f *FS) Rel(p string) (string, error) { return f.rel("use", p) }

// makes reports whether an operation can give something a name: names with
// control characters are only ever read.
func makes(op string) bool { return op == opWrite || op == opMkdir || op == opRename }

func (f *FS) rel(op, p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New(`path is empty: name a file or directory, "." for the workspace`)
	case len(p) > maxPathBytes:
		return "", fmt.Errorf("path of %d bytes is longer than %d", len(p), maxPathBytes)
	case strings.ContainsRune(p, 0):
		return "", fmt.Errorf("path %q contains a NUL byte", p)
	case makes(op) && strings.ContainsFunc(p, unicode.IsControl):
		return "", fmt.Errorf("path %q contains control characters: name it without", p)
	}
	outside := func(reason string) (string, error) {
		return "", &Denied{Op: op, Path: p, Rule: RuleOutside, Reason: reason}
	}
	local := p
	if local == "~" || strings.HasPrefix(local, "~/") {
		if f.home == "" {
			return outside("the home directory is outside the workspace")
		}
		local = filepath.Join(f.home, local[1:])
	}
	if filepath.IsAbs(local) {
		rel, ok := f.insideAbs(local)
		if !ok {
			return outside("only files inside " + f.dir + " can be used")
		}
		local = rel
	}
	local = filepath.Clean(local)
	if !filepath.IsLocal(local) {
		return outside("it leads out of the workspace " + f.dir)
	}
	return filepath.ToSlash(local), nil
}

// insideAbs makes an absolute path relative to the workspace, by either name of
// the workspace.
func (f *FS) insideAbs(abs string) (string, bool) {
	for _, dir := range []string{f.dir, f.given} {
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// located is a path whose links have been followed.
type located struct {
	rel    string      // no component is a link
	info   fs.FileInfo // nil when nothing is there
	linked bool        // a link was followed on the way
}

// resolve follows the links in rel one component at a time, inside the
// workspace. The tail below the first missing component is kept literally. What
// it returns is a plan: whoever opens it verifies afterwards.
func (f *FS) resolve(op, given, rel string) (located, error) {
	todo := strings.Split(rel, "/")
	out := located{rel: "."}
	links := 0
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		if c == "." || c == "" {
			continue
		}
		if c == ".." {
			if out.rel == "." {
				return located{}, &Denied{Op: op, Path: given, Rule: RuleOutside, Reason: "a link on the way leads out of the workspace"}
			}
			out.rel = path.Dir(out.rel)
			continue
		}
		next := path.Join(out.rel, c)
		info, err := f.root.Lstat(filepath.FromSlash(next))
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			out.rel, out.info = path.Join(append([]string{next}, todo...)...), nil
			if !filepath.IsLocal(out.rel) {
				return located{}, &Denied{Op: op, Path: given, Rule: RuleOutside, Reason: "a link on the way leads out of the workspace"}
			}
			return out, nil
		}
		if err != nil {
			return located{}, fmt.Errorf("%s %s: %w", op, given, underlying(err))
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			out.rel, out.info = next, info
			continue
		}
		out.linked = true
		if links++; links > maxLinks {
			return located{}, fmt.Errorf("%s %s: more than %d links on the way: a loop", op, given, maxLinks)
		}
		target, err := f.root.Readlink(filepath.FromSlash(next))
		if err != nil {
			return located{}, fmt.Errorf("%s %s: %w", op, given, underlying(err))
		}
		if filepath.IsAbs(target) {
			inside, ok := f.insideAbs(filepath.Clean(target))
			if !ok {
				return located{}, &Denied{
					Op: op, Path: given, Rule: RuleOutside,
					Reason: fmt.Sprintf("the link %s leads to %s, outside the workspace", next, target),
				}
			}
			target, out.rel = inside, "."
		}
		out.info = nil
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	if out.info == nil {
		info, err := f.root.Lstat(filepath.FromSlash(out.rel))
		if err != nil {
			return located{}, fmt.Errorf("%s %s: %w", op, given, underlying(err))
		}
		out.info = info
	}
	return out, nil
}

// locate turns a path into a resolved one that the floor permits. The name rules
// see both the literal and the resolved path.
func (f *FS) locate(op, given string) (located, error) {
	rel, err := f.rel(op, given)
	if err != nil {
		return located{}, err
	}
	if err := f.permit(op, given, rel, false); err != nil {
		return located{}, err
	}
	loc, err := f.resolve(op, given, rel)
	if err != nil {
		return located{}, err
	}
	if err := f.permit(op, given, loc.rel, loc.linked); err != nil {
		return located{}, err
	}
	return loc, f.checkGitShape(op, given, loc.rel)
}

func (f *FS) permit(op, given, rel string, linked bool) error {
	rule, reason := f.protect.check(rel, op == opSecret)
	if rule == "" {
		return nil
	}
	if linked {
		reason = fmt.Sprintf("it leads to %s: %s", rel, reason)
	}
	return &Denied{Op: op, Path: given, Rule: rule, Reason: reason}
}

// gitDirNames are the entries of a git directory that git obeys or that, beside
// a HEAD file, make a directory look like one.
var gitDirNames = map[string]bool{
	"objects": true, "refs": true, "config": true, "config.worktree": true, "hooks": true,
	"info": true, "commondir": true, "gitdir": true, "packed-refs": true, "index": true,
}

// checkGitShape refuses paths inside a directory that git would take for a
// repository by its shape alone: a bare repository, or the target of a .git
// file. For writes it also refuses to complete such a shape.
func (f *FS) checkGitShape(op, given, rel string) error {
	writing := op != opRead && op != opSecret && op != opList && op != opStat
	parts := strings.Split(rel, "/")
	if writing && foldName(parts[len(parts)-1]) == "head" && op != opMkdir {
		return &Denied{Op: op, Path: given, Rule: RuleGit, Reason: "a HEAD file makes its directory look like a git repository"}
	}
	for i := range parts {
		dir := strings.Join(parts[:i], "/")
		if dir == "" {
			dir = "."
		}
		if !f.hasFile(dir, "HEAD") {
			continue
		}
		if (f.hasFile(dir, "objects") && f.hasFile(dir, "refs")) || f.hasFile(dir, "commondir") {
			return &Denied{Op: op, Path: given, Rule: RuleGit, Reason: dir + " is a git directory by its shape"}
		}
		if writing && gitDirNames[foldName(parts[i])] {
			return &Denied{Op: op, Path: given, Rule: RuleGit, Reason: "it would make " + dir + " look like a git directory"}
		}
	}
	return nil
}

func (f *FS) hasFile(dir, name string) bool {
	_, err := f.root.Lstat(filepath.FromSlash(path.Join(dir, name)))
	return err == nil
}

// underlying drops the wrapper that repeats a path which the caller names too.
func underlying(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
