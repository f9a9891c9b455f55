package files

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// maxPatchFiles bounds the files of one patch: a person is to read all of it.
const maxPatchFiles = 100

// The operations of a patch on a file.
const (
	opAdd    = "add"
	opUpdate = "update"
	opMove   = "move"
	opDelete = "delete"
)

// patchState is a file as it was, and as a patch leaves it.
type patchState struct {
	change
	exists bool        // afterwards
	from   *patchState // what was moved here
	made   []string    // folders that are missing now, the deepest first
	hunks  int
	fuzz   int
	notes  []string
}

func (s *patchState) existed() bool { return s.target.Exists }

// changed reports whether the file is another one afterwards.
func (s *patchState) changed() bool {
	return s.existed() != s.exists || s.exists && string(s.old) != string(s.new)
}

// operation is what happens to the file; a move is told of its new place.
func (s *patchState) operation() string {
	switch {
	case s.from != nil:
		return opMove
	case !s.existed():
		return opAdd
	case !s.exists:
		return opDelete
	}
	return opUpdate
}

// patchSet is a patch applied to the files of a workspace in memory.
type patchSet struct {
	ctx  context.Context
	w    *toolkit.Workspace
	dir  string // what relative paths are below
	list []*patchState
}

// state returns a file by any of its names.
func (p *patchSet) state(name string) (*patchState, error) {
	given := name
	if p.dir != "" && !path.IsAbs(name) && !strings.HasPrefix(name, "~/") {
		given = path.Join(p.dir, name)
	}
	t, err := p.w.Files.Locate(given)
	if err != nil {
		return nil, explain(p.ctx, p.w, given, err)
	}
	if i := slices.IndexFunc(p.list, func(s *patchState) bool { return s.target.Path == t.Path }); i >= 0 {
		return p.list[i], nil
	}
	if len(p.list) == maxPatchFiles {
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "the patch changes more than %d files.", maxPatchFiles).WithHint("Send it in parts.")
	}
	s := &patchState{change: change{target: t}, exists: t.Exists}
	if s.old, err = readForChange(p.ctx, p.w, given, t); err != nil {
		return nil, err
	}
	s.new = s.old
	for dir := path.Dir(t.Path); dir != "."; dir = path.Dir(dir) {
		d, err := p.w.Files.Locate(dir)
		if err != nil {
			return nil, explain(p.ctx, p.w, dir, err)
		}
		if d.Exists {
			if !d.Info.IsDir() {
				return nil, toolkit.Errorf(CodeNotAFolder, "%s is a file, so nothing can be inside it.", dir).WithHint("Choose another path.")
			}
			break
		}
		s.made = append(s.made, dir)
	}
	p.list = append(p.list, s)
	return s, nil
}

// apply applies one section.
func (p *patchSet) apply(v section) error {
	if v.old == "" {
		s, err := p.state(v.new)
		if err != nil {
			return err
		}
		return p.create(s, v)
	}
	s, err := p.state(v.old)
	if err != nil {
		return err
	}
	if !s.exists {
		if v.old == v.new && v.onlyAdds() {
			return p.create(s, v) // a new file, as many models write it
		}
		return notFound(p.ctx, p.w, s.target.Path)
	}
	if guard.IsBinary(s.new) && len(v.hunks) > 0 {
		return toolkit.Errorf(CodeBinary, "%s is a binary file, which cannot be patched as text.", s.target.Path)
	}
	done, err := applyHunks(s.target.Path, s.new, v.hunks)
	if err != nil {
		return err
	}
	s.hunks, s.fuzz, s.notes = s.hunks+len(v.hunks), max(s.fuzz, done.fuzz), append(s.notes, done.notes...)
	switch {
	case v.new == "":
		if n := countLines(done.data); n > 0 && len(v.hunks) > 0 {
			return toolkit.Errorf(CodePatch, "the patch deletes %s, but %s of it would be left.", s.target.Path, plural(n, "line", "lines")).
				WithHint("Read the file: it has more than the patch takes out.")
		}
		s.exists, s.new = false, nil
	case v.new != v.old:
		return p.move(s, v.new, done.data)
	default:
		s.new = done.data
	}
	return nil
}

func (v section) onlyAdds() bool {
	for _, h := range v.hunks {
		if slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op != '+' }) {
			return false
		}
	}
	return len(v.hunks) > 0
}

func (p *patchSet) create(s *patchState, v section) error {
	if s.exists {
		return toolkit.Errorf(CodePatch, "the patch creates %s, which exists.", s.target.Path).WithHint("Update it instead.")
	}
	done, err := applyHunks(s.target.Path, nil, v.hunks)
	if err != nil {
		return err
	}
	s.exists, s.new, s.hunks = true, done.data, s.hunks+len(v.hunks)
	return nil
}

func (p *patchSet) move(s *patchState, to string, data []byte) error {
	t, err := p.state(to)
	switch {
	case err != nil:
		return err
	case t == s:
		s.new = data
		return nil
	case t.exists:
		return toolkit.Errorf(CodePatch, "the patch moves %s to %s, which exists.", s.target.Path, t.target.Path).WithHint("Choose another name.")
	}
	t.exists, t.new, t.hunks, t.fuzz, t.notes = true, data, s.hunks, s.fuzz, s.notes
	if s.existed() && !t.existed() && s.from == nil {
		t.from = s
	}
	s.exists, s.new, s.hunks, s.notes = false, nil, 0, nil
	return nil
}

// changes are the files that are different afterwards, in the order of the
// patch. It is an error if there are none.
func (p *patchSet) changes() ([]*patchState, error) {
	for _, s := range p.list {
		if s.from != nil && s.from.exists { // its old name was taken again
			s.from = nil
		}
	}
	list := slices.DeleteFunc(slices.Clone(p.list), func(s *patchState) bool { return !s.changed() })
	if len(list) == 0 {
		return nil, toolkit.Errorf(CodePatch, "the patch would change nothing: the files are as it leaves them.")
	}
	return list, nil
}

// movedAway reports whether a file of the list is one that was moved.
func movedAway(list []*patchState, s *patchState) bool {
	return slices.ContainsFunc(list, func(o *patchState) bool { return o.from == s })
}

// plan states what the patch does to all files.
func (p *patchSet) plan(list []*patchState) (toolkit.Plan, error) {
	out := toolkit.Plan{Preview: toolkit.Preview{Kind: toolkit.PreviewText}}
	added, removed := 0, 0
	var names []string
	for _, s := range list {
		one := s.plan("")
		if one.Level == toolkit.Dangerous && len(one.Asks) > 0 {
			out = out.AtLevel(toolkit.Dangerous)
		}
		out.Effects, out.Facts = append(out.Effects, one.Effects...), append(out.Facts, one.Facts...)
		out.Asks = append(out.Asks, one.Asks...)
		prefix := ""
		if len(list) > 1 {
			prefix = s.target.Path + ": "
		}
		for _, n := range slices.Concat(one.Preview.Notes, s.notes) {
			out.Preview.Notes = append(out.Preview.Notes, prefix+n)
		}
		if s.from != nil {
			out.Preview.Notes = append(out.Preview.Notes, fmt.Sprintf("%s moves to %s", s.from.target.Path, s.target.Path))
		}
		gone := !s.exists && !movedAway(list, s)
		if gone {
			out.Asks = append(out.Asks, fmt.Sprintf("it deletes %s, which has %d bytes", s.target.Path, len(s.old)))
		} else if s.exists && s.existed() && len(strings.TrimSpace(string(s.new))) == 0 && len(s.old) > 0 {
			out.Asks = append(out.Asks, fmt.Sprintf("it would empty %s, which has %d bytes", s.target.Path, len(s.old)))
		}
		if movedAway(list, s) {
			continue // shown at its new place
		}
		old, diff := s.before(), ""
		if len(list) > 1 {
			if len(old)+len(s.new) > maxDiffInput {
				return out, toolkit.Errorf(CodeTooLarge, "%s is too large to be changed together with other files.", s.target.Path).WithHint("Change it alone, with patch_apply.")
			}
			diff = s.diff()
		} else {
			diff = unified(s.target.Path, old, s.new)
		}
		a, r := countDiff(diff)
		added, removed = added+a, removed+r
		names = append(names, path.Base(s.target.Path))
		out.Preview.Text += diff
	}
	if len(names) == 1 {
		s := list[slices.IndexFunc(list, func(s *patchState) bool { return !movedAway(list, s) })]
		out.Preview = toolkit.Preview{Kind: toolkit.PreviewDiff, Path: s.target.Path, Old: shown(s.before()), New: shown(s.new), Notes: out.Preview.Notes}
	}
	out.Summary = fmt.Sprintf("%s +%d -%d", strings.Join(names, ", "), added, removed)
	if len(names) > 3 {
		out.Summary = fmt.Sprintf("%d files +%d -%d: %s …", len(names), added, removed, strings.Join(names[:3], ", "))
	}
	return out, nil
}

// before is what the file held, wherever it was.
func (s *patchState) before() []byte {
	if s.from != nil {
		return s.from.old
	}
	return s.old
}

// diff is the whole change as text, with its names.
func (s *patchState) diff() string {
	name := s.target.Path
	head := ""
	switch {
	case s.from != nil:
		head = fmt.Sprintf("rename from %s\nrename to %s\n", s.from.target.Path, name)
	case !s.existed():
		head = fmt.Sprintf("new file %s\n", name)
	case !s.exists:
		head = fmt.Sprintf("deleted file %s\n", name)
	}
	if guard.IsBinary(s.before()) {
		return head + shown(s.before())
	}
	return head + unified(name, s.before(), s.new)
}
