package guard

import (
	"context"
	"sync/atomic"
)

// walkDir is an open directory of a walk, shared by the work that needs it and
// closed by the last of it. Its methods to open and read are per system.
type walkDir struct {
	dirHandle
	folded string        // folded base name, for rules about a directory and a name
	refs   atomic.Int32  // users besides the first
	open   *atomic.Int64 // handles of the whole walk that are open
}

func wrapWalkDir(h dirHandle, folded string, open *atomic.Int64) *walkDir {
	open.Add(1)
	return &walkDir{dirHandle: h, folded: folded, open: open}
}

// openDir opens a directory inside d without following a link.
func (d *walkDir) openDir(name string) (*walkDir, error) {
	h, err := d.dirHandle.openDir(name)
	if err != nil {
		return nil, err
	}
	return wrapWalkDir(h, foldName(name), d.open), nil
}

func (d *walkDir) retain() *walkDir {
	d.refs.Add(1)
	return d
}

// release ends one use; nil is allowed.
func (d *walkDir) release() {
	if d != nil && d.refs.Add(-1) < 0 {
		d.open.Add(-1)
		d.close()
	}
}

// contextAfter calls f with the context's error when it ends, until the returned
// function is called.
func contextAfter(ctx context.Context, f func(error)) func() bool {
	return context.AfterFunc(ctx, func() { f(context.Cause(ctx)) })
}
