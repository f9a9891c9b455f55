//go:build !linux

package guard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// dirHandle is a directory opened through os.Root, which every system has.
type dirHandle struct{ root *os.Root }

func newWalkDir(h *os.Root, folded string) (*walkDir, error) {
	own, err := h.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return wrapWalkDir(dirHandle{own}, folded, new(atomic.Int64)), nil
}

// sameEntry proves that no link was followed: the name itself is the object.
func (d dirHandle) sameEntry(name string, fi fs.FileInfo) error {
	now, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(now, fi) {
		return fmt.Errorf("%w (a link)", ErrNotRegular)
	}
	return nil
}

func (d dirHandle) openDir(name string) (dirHandle, error) {
	sub, err := d.root.OpenRoot(name)
	if err != nil {
		return dirHandle{}, err
	}
	fi, err := sub.Stat(".")
	if err == nil {
		err = d.sameEntry(name, fi)
	}
	if err != nil {
		return dirHandle{}, errors.Join(err, sub.Close())
	}
	return dirHandle{sub}, nil
}

func (d dirHandle) openFile(name string) (*os.File, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil {
		err = d.sameEntry(name, fi)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d dirHandle) close() { _ = d.root.Close() }

func (d dirHandle) stat(name string) (size int64, mode fs.FileMode, mtime time.Time, links uint64, err error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return 0, 0, time.Time{}, 0, err
	}
	return fi.Size(), fi.Mode(), fi.ModTime(), nlink(fi), nil
}

func (d dirHandle) readInto(name string, buf []byte, limit int64) ([]byte, bool, error) {
	f, err := d.openFile(name)
	if err != nil {
		return buf[:0], false, err
	}
	defer func() { _ = f.Close() }()
	fi, err := f.Stat()
	if err != nil {
		return buf[:0], false, err
	}
	if !fi.Mode().IsRegular() {
		return buf[:0], false, fmt.Errorf("%w (%s)", ErrNotRegular, kind(fi.Mode()))
	}
	data, more, err := readLimited(f, limit, fi.Size())
	return append(buf[:0], data...), more, err
}

func (d dirHandle) read() ([]dirent, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list, err := f.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	out := make([]dirent, 0, len(list))
	for _, e := range list {
		out = append(out, dirent{name: e.Name(), typ: e.Type()})
	}
	return out, nil
}
