package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// maxSnapshot bounds what of one file is kept for undoing, in bytes. Larger
// ones are changed all the same; their plan shows what changes.
const maxSnapshot = 16 << 20

// Absent is the hash of a file that is not there.
const Absent = "absent"

// snapshot keeps what the files hold that a call is about to write. What cannot
// be kept because the store fails stops the call; what cannot be read (too
// large, no file) is left to the tool.
func (p *Pipeline) snapshot(ctx context.Context, s *step) (paths []string, err error) {
	files := s.env.Workspace.Files
	if files == nil || p.Store == nil {
		return nil, nil
	}
	var list []store.Snapshot
	for _, path := range written(s.plan) {
		v := store.Snapshot{Call: s.rec.ID, Path: path, Created: p.now()}
		data, _, err := files.ReadAll(path, maxSnapshot)
		switch {
		case err == nil:
			v.Existed, v.Before = true, data
		case !errors.Is(err, fs.ErrNotExist):
			continue
		}
		list, paths = append(list, v), append(paths, path)
	}
	return paths, p.Store.PutSnapshots(context.WithoutCancel(ctx), list)
}

// noteAfter notes what a call left of its files, so that undoing it later can
// tell whether somebody changed them since.
func (p *Pipeline) noteAfter(ctx context.Context, s *step, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	after := map[string]string{}
	for _, path := range paths {
		data, _, err := s.env.Workspace.Files.ReadAll(path, maxSnapshot)
		switch {
		case err == nil:
			after[path] = guard.Hash(data)
		case errors.Is(err, fs.ErrNotExist):
			after[path] = Absent
		}
	}
	return p.Store.SetSnapshotsAfter(context.WithoutCancel(ctx), s.rec.ID, maps.Clone(after))
}

// Past is what calls changed, for the undo tool; nil without a store.
func (p *Pipeline) Past() toolkit.Past {
	if p.Store == nil {
		return nil
	}
	return past{p.Store}
}

// past answers the undo tool from the store.
type past struct{ store *store.Store }

// Before returns what a call's files held before it.
func (h past) Before(ctx context.Context, call string) ([]toolkit.Snapshot, error) {
	list, err := h.store.Snapshots(ctx, call)
	out := make([]toolkit.Snapshot, len(list))
	for i, v := range list {
		out[i] = toolkit.Snapshot{Path: v.Path, Existed: v.Existed, Before: v.Before, After: v.After}
	}
	return out, err
}
