package guard

// WriteTarget is where a write to a path would go.
type WriteTarget struct {
	Path   string // relative to the workspace, slashes, links resolved
	Exists bool
	Info   Info // only if Exists
}

// Locate says what a write to p would replace or create, and refuses what
// Write would refuse by name or place. It has no effect, so that a plan can
// name the true file; the write itself checks again.
func (f *FS) Locate(p string) (WriteTarget, error) {
	loc, err := f.locate(opWrite, p)
	if err != nil {
		return WriteTarget{}, err
	}
	t := WriteTarget{Path: loc.rel, Exists: loc.info != nil}
	if t.Exists {
		t.Info = infoOf(loc.rel, loc.info, loc.linked)
	}
	return t, nil
}

// Dir returns the absolute path of the workspace that commands run in.
func (r *Runner) Dir() string { return r.workspace }
