package files

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// patchDisk is what a patch needs of the file door.
type patchDisk interface {
	ReadAll(p string, limit int64) ([]byte, guard.Info, error)
	WriteIf(p string, data []byte, expect guard.Expect) (guard.Written, error)
	Rename(from, to string) error
	Remove(p string) error
}

// committing writes the files of a patch, and knows how to take it back.
type committing struct {
	disk patchDisk
	undo []func() error // the last first
	left []string       // files that could not be put back
}

// commit writes all files of a patch, or none: if one fails, those before it are
// put back. The second result says whether that worked; it is true too when
// nothing was written.
func commit(disk patchDisk, list []*patchState) (clean bool, err error) {
	c := &committing{disk: disk}
	for _, s := range list {
		if s.exists {
			err = c.write(s)
		}
		if err != nil {
			return c.rollBack(), err
		}
	}
	for _, s := range list { // last, since what is gone is the hardest to bring back
		if !s.exists && !movedAway(list, s) {
			err = c.remove(s)
		}
		if err != nil {
			return c.rollBack(), err
		}
	}
	return true, nil
}

func (c *committing) write(s *patchState) error {
	name := s.target.Path
	expect := guard.Expect{Absent: true}
	if s.existed() {
		expect = guard.Expect{SHA256: guard.Hash(s.old)}
	}
	if s.from != nil {
		old := s.from.target.Path
		if err := c.same(s.from); err != nil {
			return err
		}
		if err := c.disk.Rename(old, name); err != nil {
			return err
		}
		c.then(old, func() error { return c.tidy(s, c.disk.Rename(name, old)) })
		if string(s.new) == string(s.from.old) {
			return nil
		}
		expect = guard.Expect{SHA256: guard.Hash(s.from.old)}
	}
	if _, err := c.disk.WriteIf(name, s.new, expect); err != nil {
		return err
	}
	now := guard.Expect{SHA256: guard.Hash(s.new)}
	c.then(name, func() error {
		if s.from == nil && !s.existed() {
			return c.tidy(s, c.disk.Remove(name))
		}
		_, err := c.disk.WriteIf(name, s.before(), now)
		return err
	})
	return nil
}

// tidy removes the folders that were made for a file, if they are empty.
func (c *committing) tidy(s *patchState, err error) error {
	for _, dir := range s.made {
		if err != nil || c.disk.Remove(dir) != nil {
			break // somebody else uses it now
		}
	}
	return err
}

func (c *committing) remove(s *patchState) error {
	if err := c.same(s); err != nil {
		return err
	}
	if err := c.disk.Remove(s.target.Path); err != nil {
		return err
	}
	c.then(s.target.Path, func() error {
		_, err := c.disk.WriteIf(s.target.Path, s.old, guard.Expect{Absent: true})
		return err
	})
	return nil
}

// same demands that a file is still what the plan saw.
func (c *committing) same(s *patchState) error { return unchangedFile(c.disk, s) }

func unchangedFile(disk patchDisk, s *patchState) error {
	data, _, err := disk.ReadAll(s.target.Path, maxEditable)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.existed():
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &guard.Changed{Path: s.target.Path, Want: guard.Hash(s.old), Have: factAbsent}
	case err != nil:
		return err
	case !s.existed():
		return &guard.Changed{Path: s.target.Path, Want: factAbsent, Have: "a file"}
	case guard.Hash(data) != guard.Hash(s.old):
		return &guard.Changed{Path: s.target.Path, Want: guard.Hash(s.old), Have: guard.Hash(data)}
	}
	return nil
}

func (c *committing) then(name string, undo func() error) {
	c.undo = append(c.undo, func() error {
		if err := undo(); err != nil {
			c.left = append(c.left, name)
			return err
		}
		return nil
	})
}

// rollBack takes back what was done, as far as it can.
func (c *committing) rollBack() bool {
	for _, undo := range slices.Backward(c.undo) {
		_ = undo() // noted in left
	}
	return len(c.left) == 0
}

// heldFacts demands that every file of a plan is what the plan saw, before a
// patch is applied again: a file that changed must say so, not that a hunk does
// not fit.
func heldFacts(w *toolkit.Workspace, p toolkit.Plan) error {
	var other []string
	for _, f := range p.Facts {
		data, _, err := w.Files.ReadAll(f.Target, maxEditable)
		have := factAbsent
		switch {
		case err == nil:
			have = guard.Hash(data)
		case !errors.Is(err, fs.ErrNotExist):
			return toolkit.Errorf(toolkit.CodeExecution, "%s cannot be read: %w.", f.Target, err)
		}
		if want := f.Value; have != want && (f.Kind != factAbsent || have != factAbsent) {
			other = append(other, f.Target)
		}
	}
	if len(other) > 0 {
		return toolkit.Errorf(toolkit.CodeChanged, "%s changed since the call was planned.", strings.Join(other, ", ")).
			WithHint("Read it again, then make the patch anew.")
	}
	return nil
}

// sameFacts reports whether a set of changes is the one of a plan.
func sameFacts(p toolkit.Plan, again toolkit.Plan) error {
	if !slices.Equal(p.Facts, again.Facts) {
		return toolkit.Errorf(toolkit.CodeChanged, "the files are not those that the plan showed.").
			WithHint("Call it again.")
	}
	return nil
}
