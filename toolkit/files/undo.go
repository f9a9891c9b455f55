package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// UndoName is the name of the tool that undoes calls. Only a person has it.
const UndoName = "undo"

type undoArgs struct {
	Calls []string `json:"calls" doc:"ids of the calls, the newest first"`
}

// Undone is the data of undo.
type Undone struct {
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"`
}

// Undo puts files back to what they held before calls changed them, byte for
// byte, all of them or none. A file that was changed since by anybody else is a
// fault: nothing of theirs is lost. It is no tool of the catalogue, since no
// model may call it; being a tool, it passes the same steps, is recorded, and
// can be undone itself.
func Undo() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: UndoName, Summary: "Put files back to what they held before calls changed them.", Category: "filesystem",
		Level: toolkit.Safe, Tier: tiers.Full,
	}, planUndo, runUndo)
}

// restore is what one file becomes again.
type restore struct {
	path    string
	existed bool
	before  []byte
	now     []byte // as the last of the calls left it
	gone    bool   // it is not there now
}

// restores finds what the files become, from the newest call to the oldest.
func restores(ctx context.Context, w *toolkit.Workspace, calls []string) ([]restore, error) {
	if w.Past == nil {
		return nil, toolkit.Errorf(toolkit.CodeUnavailable, "undo works only where calls are recorded.")
	}
	var out []restore
	for _, call := range calls {
		list, err := w.Past.Before(ctx, call)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			i := slices.IndexFunc(out, func(r restore) bool { return r.path == s.Path })
			if i >= 0 { // a later call changed it too: this one's "before" is what counts
				out[i].existed, out[i].before = s.Existed, s.Before
				continue
			}
			r := restore{path: s.Path, existed: s.Existed, before: s.Before}
			r.now, _, err = w.Files.ReadAll(s.Path, maxUndo)
			if r.gone = errors.Is(err, fs.ErrNotExist); err != nil && !r.gone {
				return nil, err
			}
			hash := "absent"
			if !r.gone {
				hash = guard.Hash(r.now)
			}
			if hash != s.After {
				return nil, toolkit.Errorf(toolkit.CodeChanged, "%s was changed since that call, so undoing it would lose what came later.", s.Path).
					WithHint("Undo the later changes first, or put the file right by hand.")
			}
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "there is nothing to undo: no file was changed, or what it held is not kept any more.")
	}
	return out, nil
}

// maxUndo is the largest file that is restored; what is kept is no larger.
const maxUndo = 16 << 20

func planUndo(ctx context.Context, w *toolkit.Workspace, a undoArgs) (toolkit.Plan, error) {
	list, err := restores(ctx, w, a.Calls)
	if err != nil {
		return toolkit.Plan{}, err
	}
	p := toolkit.Plan{Preview: toolkit.Preview{Kind: toolkit.PreviewText}}
	var names []string
	var text strings.Builder
	for _, r := range list {
		names = append(names, r.path)
		p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: r.path})
		fact := toolkit.Fact{Kind: "sha256", Target: r.path, Value: guard.Hash(r.now)}
		if r.gone {
			fact = toolkit.Fact{Kind: "absent", Target: r.path}
		}
		p.Facts = append(p.Facts, fact)
		text.WriteString(unified(r.path, r.now, r.before))
	}
	p.Preview.Text = text.String()
	p.Summary = "back to before: " + strings.Join(names, ", ")
	return p.WithPrivate(list), nil
}

func runUndo(ctx context.Context, w *toolkit.Workspace, a undoArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	list, ok := p.Private().([]restore)
	if !ok {
		var err error
		if list, err = restores(ctx, w, a.Calls); err != nil {
			return toolkit.Result{}, err
		}
	}
	for i, r := range list {
		if err := r.apply(w); err != nil {
			// All or none: what was put back already becomes again what it was.
			for _, done := range list[:i] {
				err = errors.Join(err, done.revert(w))
			}
			return toolkit.Result{}, err
		}
	}
	var res toolkit.Result
	data := Undone{Restored: []string{}, Removed: []string{}}
	for _, r := range list {
		added, removed := countDiff(unified(r.path, r.now, r.before))
		kind := "changed"
		switch {
		case !r.existed:
			kind, data.Removed = "deleted", append(data.Removed, r.path)
		case r.gone:
			kind = "created"
			fallthrough
		default:
			data.Restored = append(data.Restored, r.path)
		}
		res.Changed = append(res.Changed, toolkit.Change{Path: r.path, Kind: kind, Added: added, Removed: removed})
	}
	res.Data = data
	res.Text = fmt.Sprintf("put back %d files", len(list))
	if len(list) == 1 {
		res.Text = "put back " + list[0].path
	}
	return res, nil
}

// apply makes a file what it was, if it is still what the plan saw.
func (r restore) apply(w *toolkit.Workspace) error {
	if !r.existed {
		if r.gone {
			return nil
		}
		data, _, err := w.Files.ReadAll(r.path, maxUndo)
		if err == nil && guard.Hash(data) != guard.Hash(r.now) {
			return toolkit.Errorf(toolkit.CodeChanged, "%s was changed meanwhile.", r.path)
		}
		if err != nil {
			return err
		}
		return w.Files.Remove(r.path)
	}
	expect := guard.Expect{SHA256: guard.Hash(r.now)}
	if r.gone {
		expect = guard.Expect{Absent: true}
	}
	_, err := w.Files.WriteIf(r.path, r.before, expect)
	return err
}

// revert undoes apply.
func (r restore) revert(w *toolkit.Workspace) error {
	if r.gone {
		if !r.existed {
			return nil
		}
		return w.Files.Remove(r.path)
	}
	_, err := w.Files.Write(r.path, r.now)
	return err
}
