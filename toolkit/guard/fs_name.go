package guard

import (
	"path/filepath"
	"strings"
)

// CheckNamed judges a path that a command line names, by its name and by where
// its links lead, without opening it. Relative paths start in the workspace,
// "~/" is the home directory. What it refuses is a *Denied: chela's own state
// wherever it is (for a write also the folders that hold it), git's own files,
// secrets, and with [RuleOutside] everything outside the workspace.
//
// It is no door: the command itself opens the path later. It keeps a person
// from having to see in a command line what the other tools refuse.
func (f *FS) CheckNamed(p string, writes bool) error {
	op := opRead
	if writes {
		op = opWrite
	}
	abs := filepath.FromSlash(p)
	switch {
	case abs == "~" || strings.HasPrefix(abs, "~"+string(filepath.Separator)):
		if f.home == "" {
			return &Denied{Op: op, Path: p, Rule: RuleOutside, Reason: "the home directory is outside the workspace"}
		}
		abs = filepath.Join(f.home, abs[1:])
	case !filepath.IsAbs(abs):
		abs = f.dir + string(filepath.Separator) + abs
	}
	abs = physical(abs)
	if err := f.checkOwn(op, p, abs, writes); err != nil {
		return err
	}
	rel, inside := f.insideAbs(abs)
	if !inside {
		return &Denied{Op: op, Path: p, Rule: RuleOutside, Reason: "only files inside " + f.dir + " can be used"}
	}
	rel = filepath.ToSlash(rel)
	if err := f.permit(op, p, rel, false); err != nil {
		return err
	}
	loc, err := f.resolve(op, p, rel)
	if _, denied := AsDenied(err); denied {
		return err
	}
	if err != nil {
		return nil // nothing that could be opened, such as a loop of links
	}
	if err := f.permit(op, p, loc.rel, loc.linked); err != nil {
		return err
	}
	return f.checkGitShape(op, p, loc.rel)
}

// physical removes ".." from an absolute path as the system does: by where the
// links before it lead, not by the names.
func physical(abs string) string {
	volume := filepath.VolumeName(abs)
	cur := volume + string(filepath.Separator)
	for c := range strings.SplitSeq(abs[len(volume):], string(filepath.Separator)) {
		switch c {
		case "", ".":
		case "..":
			if real, err := filepath.EvalSymlinks(cur); err == nil {
				cur = real
			}
			cur = filepath.Dir(cur)
		default:
			cur = filepath.Join(cur, c)
		}
	}
	return cur
}

// checkOwn refuses chela's own state, by the name given and by what its links
// lead to.
func (f *FS) checkOwn(op, given, abs string, writes bool) error {
	for _, form := range []string{abs, resolveExisting(abs)} {
		folded := foldAbs(form)
		for _, own := range f.own {
			if within(folded, own) || writes && within(own, folded) {
				return &Denied{Op: op, Path: given, Rule: RuleOwnState, Reason: "this is chela's own state, which no tool may touch"}
			}
		}
	}
	return nil
}

// foldAbs is an absolute path in the form in which names are compared; "" is
// the root, below which everything is.
func foldAbs(p string) string {
	folded := foldPath(filepath.ToSlash(p))
	if folded == "" {
		return ""
	}
	return "/" + folded
}
