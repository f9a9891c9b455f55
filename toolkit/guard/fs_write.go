package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Expect is what a plan saw of a file before it is replaced. The zero value
// expects nothing and matches anything.
type Expect struct {
	SHA256 string // the content's hash in hex
	Absent bool   // nothing was there
}

// absent is how Changed writes that there is no file.
const absent = "absent"

// maxExpected bounds how much of an existing file is read to hash or extend it.
const maxExpected = 256 << 20

// Written says what a write did.
type Written struct {
	Path    string // the file that was replaced, relative to the workspace, links resolved
	Created bool
	Bytes   int64
	SHA256  string // of the new content, in hex
}

// Hash returns the SHA-256 of data in hex, the form that Expect wants.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Write replaces or creates a file with data; see WriteIf.
func (f *FS) Write(p string, data []byte) (Written, error) { return f.WriteIf(p, data, Expect{}) }

// WriteIf replaces or creates a file if it is still what the plan saw, else it
// returns *Changed. The new content appears at once or not at all: it is written
// to a new file in the same directory, synced and renamed over the old one,
// which keeps its permission bits and, where possible, its owner. The old inode
// is never touched, so other hard links keep the old content. Through a link
// inside the workspace its target is replaced and the link stays. Missing parent
// directories are created. A file without any write permission is refused.
//
// Writers in this program wait for each other. Another program that writes
// between the last check and the rename is not seen; Absent has no such gap
// where the file system has hard links.
func (f *FS) WriteIf(p string, data []byte, expect Expect) (Written, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(p, expect, func([]byte) ([]byte, error) { return data, nil }, false)
}

// Append adds data to the end of a file, creating it if it is missing, with the
// same guarantees as WriteIf. It fails with ErrTooLarge if the result would have
// more than limit bytes.
func (f *FS) Append(p string, data []byte, limit int64, expect Expect) (Written, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(p, expect, func(old []byte) ([]byte, error) {
		if int64(len(old))+int64(len(data)) > limit {
			return nil, fmt.Errorf("append to %s: %w: it would have %d bytes, the limit is %d", p, ErrTooLarge, len(old)+len(data), limit)
		}
		return append(old, data...), nil
	}, true)
}

// write does the work of WriteIf and Append. content makes the new content from
// the old, which is read only if needed.
func (f *FS) write(p string, expect Expect, content func(old []byte) ([]byte, error), needOld bool) (Written, error) {
	loc, err := f.locate(opWrite, p)
	if err != nil {
		return Written{}, err
	}
	if loc.rel == "." {
		return Written{}, fmt.Errorf("write %s: it is a directory", p)
	}
	dir, err := f.openParent(opWrite, p, path.Dir(loc.rel), true)
	if err != nil {
		return Written{}, err
	}
	defer func() { _ = dir.Close() }()
	leaf := path.Base(loc.rel)
	old, err := dir.Lstat(leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return Written{}, fmt.Errorf("write %s: %w", p, underlying(err))
	case !old.Mode().IsRegular():
		return Written{}, fmt.Errorf("write %s: %w (%s)", p, ErrNotRegular, kind(old.Mode()))
	case old.Mode().Perm()&0o222 == 0:
		return Written{}, fmt.Errorf("write %s: the file is read-only (mode %v): make it writable first", p, old.Mode().Perm())
	}
	before, err := f.expected(dir, p, leaf, old, expect, needOld)
	if err != nil {
		return Written{}, err
	}
	data, err := content(before)
	if err != nil {
		return Written{}, err
	}
	if err := f.replace(dir, leaf, old, data, expect); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return Written{}, &Changed{Path: loc.rel, Want: absent, Have: "a file"}
		}
		if _, ok := errors.AsType[*Changed](err); ok {
			return Written{}, err
		}
		return Written{}, fmt.Errorf("write %s: %w; the old content is intact", p, underlying(err))
	}
	return Written{Path: loc.rel, Created: old == nil, Bytes: int64(len(data)), SHA256: Hash(data)}, nil
}

// expected compares the file with what the plan saw and returns its content if
// that had to be read.
func (f *FS) expected(dir *os.Root, p, leaf string, old fs.FileInfo, expect Expect, needOld bool) ([]byte, error) {
	if expect.Absent && old != nil {
		return nil, &Changed{Path: p, Want: absent, Have: "a file"}
	}
	if expect.SHA256 != "" && old == nil {
		return nil, &Changed{Path: p, Want: expect.SHA256, Have: absent}
	}
	if old == nil || (expect.SHA256 == "" && !needOld) {
		return nil, nil
	}
	file, err := dir.OpenFile(leaf, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("write %s: cannot read the old content: %w", p, underlying(err))
	}
	defer func() { _ = file.Close() }()
	if now, err := file.Stat(); err != nil || !os.SameFile(now, old) {
		return nil, &Changed{Path: p, Want: expect.SHA256, Have: "another file"}
	}
	data, more, err := readLimited(file, maxExpected, old.Size())
	if err != nil {
		return nil, fmt.Errorf("write %s: cannot read the old content: %w", p, underlying(err))
	}
	if more {
		return nil, fmt.Errorf("write %s: %w: more than %d bytes", p, ErrTooLarge, int64(maxExpected))
	}
	if have := Hash(data); expect.SHA256 != "" && !strings.EqualFold(have, expect.SHA256) {
		return nil, &Changed{Path: p, Want: expect.SHA256, Have: have}
	}
	return data, nil
}

// replace puts data at leaf in one step, through a temporary file beside it.
func (f *FS) replace(dir *os.Root, leaf string, old fs.FileInfo, data []byte, expect Expect) (err error) {
	perm := fs.FileMode(0o666) // less the umask
	if old != nil {
		perm = 0o600 // until the content is there
	}
	temp := ".chela-" + rand.Text() + ".tmp"
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("cannot create a file in its directory: %w", underlying(err))
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = dir.Remove(temp)
		}
	}()
	if f.faultWrite != nil {
		if err := f.faultWrite(); err != nil {
			return err
		}
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	if old != nil {
		keepOwner(file, old)
		if err := file.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := put(dir, temp, leaf, old, expect); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

// put gives the finished temporary file its name.
func put(dir *os.Root, temp, leaf string, old fs.FileInfo, expect Expect) error {
	if expect.Absent {
		// A link fails if the name exists, which a rename does not.
		if err := dir.Link(temp, leaf); err == nil {
			return dir.Remove(temp)
		} else if errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	now, err := dir.Lstat(leaf)
	switch {
	case errors.Is(err, fs.ErrNotExist) && old == nil:
	case err == nil && old != nil && os.SameFile(now, old) && now.ModTime().Equal(old.ModTime()):
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		return &Changed{Path: leaf, Want: "the file as it was", Have: "another one, written meanwhile"}
	}
	return dir.Rename(temp, leaf)
}

// syncDir makes a rename durable. Not every file system can sync a directory,
// and the content itself is synced already.
func syncDir(dir *os.Root) {
	if d, err := dir.Open("."); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// openParent opens the directory rel, which has no link in it, creating missing
// ones if asked, and proves that the handle is that directory.
func (f *FS) openParent(op, given, rel string, create bool) (*os.Root, error) {
	name := filepath.FromSlash(rel)
	dir, err := f.root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := f.root.MkdirAll(name, 0o777); err != nil {
			return nil, fmt.Errorf("%s %s: cannot create %s: %w", op, given, rel, underlying(err))
		}
		dir, err = f.root.OpenRoot(name)
	}
	if err != nil {
		if isNotDir(err) {
			return nil, fmt.Errorf("%s %s: %s is not a directory", op, given, rel)
		}
		return nil, fmt.Errorf("%s %s: cannot open its directory: %w", op, given, underlying(err))
	}
	info, err := dir.Stat(".")
	if err != nil || !f.stillThere(rel, info) {
		_ = dir.Close()
		return nil, fmt.Errorf("%s %s: %w: try again", op, given, ErrRaced)
	}
	return dir, nil
}
