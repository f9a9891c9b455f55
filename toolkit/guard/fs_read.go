package guard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Operations, as they appear in refusals.
const (
	opRead   = "read"
	opSecret = "read a secret" // with a person's leave
	opList   = "list"
	opStat   = "stat"
	opWrite  = "write"
	opMkdir  = "mkdir"
	opRemove = "remove"
	opRename = "rename"
)

// Info describes a file or directory.
type Info struct {
	Path    string // relative to the workspace, slashes, links resolved
	Size    int64  // bytes; what the file system says, which a read may exceed
	Mode    fs.FileMode
	ModTime time.Time
	Nlink   uint64 // hard links; more than 1 means that other paths show the same bytes. 0 if unknown
	Linked  bool   // a symbolic link was followed to get here
}

// IsDir reports whether it is a directory.
func (i Info) IsDir() bool { return i.Mode.IsDir() }

func infoOf(rel string, fi fs.FileInfo, linked bool) Info {
	return Info{Path: rel, Size: fi.Size(), Mode: fi.Mode(), ModTime: fi.ModTime(), Nlink: nlink(fi), Linked: linked}
}

// File is a regular file opened for reading. It is not safe for concurrent use,
// except for ReadAt.
type File struct {
	f    *os.File
	info Info
}

// Info returns what was known of the file when it was opened.
func (f *File) Info() Info { return f.info }

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) { return f.f.Read(p) }

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

// ReadUpTo returns at most limit bytes from where the file stands; more says that
// there were others.
func (f *File) ReadUpTo(limit int64) (data []byte, more bool, err error) {
	return readLimited(f, limit, f.info.Size)
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }

// Close releases the file.
func (f *File) Close() error { return f.f.Close() }

// openTries bounds how often an open that lost a race is repeated.
const openTries = 3

// openVerified opens what given means, with flags that neither create nor
// truncate, and proves that the handle is the object at a path that the floor
// permits: after the open, the path still has no link in it and still names the
// opened object. Swapping links meanwhile makes it fail, never leak.
func (f *FS) openVerified(op, given string) (*os.File, located, fs.FileInfo, error) {
	for range openTries {
		loc, err := f.locate(op, given)
		if err != nil {
			return nil, loc, nil, err
		}
		if loc.info == nil {
			return nil, loc, nil, fmt.Errorf("%s %s: %w", op, given, fs.ErrNotExist)
		}
		if (op == opRead || op == opSecret) && !loc.info.Mode().IsRegular() {
			return nil, loc, nil, fmt.Errorf("%s %s: %w (%s)", op, given, ErrNotRegular, kind(loc.info.Mode()))
		}
		file, err := f.root.OpenFile(filepath.FromSlash(loc.rel), os.O_RDONLY|openFlags, 0)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "escapes") {
				continue
			}
			return nil, loc, nil, fmt.Errorf("%s %s: %w", op, given, underlying(err))
		}
		if f.opened != nil {
			f.opened(loc.rel)
		}
		fi, err := file.Stat()
		if err == nil && f.stillThere(loc.rel, fi) {
			return file, loc, fi, nil
		}
		_ = file.Close()
	}
	return nil, located{}, nil, fmt.Errorf("%s %s: %w: try again", op, given, ErrRaced)
}

// stillThere reports whether rel has no link in it and names the object fi. It
// goes down by handles: each directory is proved to be the entry of the one
// above before anything is looked up in it. Looking rel up again by its path
// would follow a link that is swapped in between two components.
func (f *FS) stillThere(rel string, fi fs.FileInfo) bool {
	if rel == "." {
		root, err := f.root.Stat(".")
		return err == nil && os.SameFile(root, fi)
	}
	dir := f.root
	defer func() {
		if dir != f.root {
			_ = dir.Close()
		}
	}()
	for {
		name, below, more := strings.Cut(rel, "/")
		entry, err := dir.Lstat(name)
		if err != nil || entry.Mode()&fs.ModeSymlink != 0 {
			return false
		}
		if !more {
			return os.SameFile(entry, fi)
		}
		next, err := dir.OpenRoot(name)
		if err != nil {
			return false
		}
		if dir != f.root {
			_ = dir.Close()
		}
		dir, rel = next, below
		if opened, err := dir.Stat("."); err != nil || !os.SameFile(opened, entry) {
			return false
		}
	}
}

// Open opens a regular file for reading. It never blocks on a FIFO or device:
// those fail with ErrNotRegular.
func (f *FS) Open(p string) (*File, error) { return f.open(opRead, p) }

// OpenSecret is Open for a file of credentials that a person allowed to be read,
// this once and by this path. All the rest of the floor holds.
func (f *FS) OpenSecret(p string) (*File, error) { return f.open(opSecret, p) }

func (f *FS) open(op, p string) (*File, error) {
	file, loc, fi, err := f.openVerified(op, p)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("read %s: %w (%s)", p, ErrNotRegular, kind(fi.Mode()))
	}
	return &File{f: file, info: infoOf(loc.rel, fi, loc.linked)}, nil
}

// ReadFile returns at most limit bytes of a regular file. Truncated says that
// there were more. The cap counts bytes read, so growing and sparse files
// cannot exceed it. A limit of 0 or less means no bytes.
func (f *FS) ReadFile(p string, limit int64) (data []byte, info Info, truncated bool, err error) {
	file, err := f.Open(p)
	if err != nil {
		return nil, Info{}, false, err
	}
	defer func() { _ = file.Close() }()
	data, truncated, err = readLimited(file, limit, file.info.Size)
	if err != nil {
		return nil, file.info, false, fmt.Errorf("read %s: %w", p, underlying(err))
	}
	return data, file.info, truncated, nil
}

// ReadAll returns a whole regular file, or ErrTooLarge if it has more than
// limit bytes.
func (f *FS) ReadAll(p string, limit int64) ([]byte, Info, error) {
	data, info, truncated, err := f.ReadFile(p, limit)
	if err != nil {
		return nil, info, err
	}
	if truncated {
		return nil, info, fmt.Errorf("read %s: %w: more than %d bytes; read a part of it", p, ErrTooLarge, limit)
	}
	return data, info, nil
}

// readLimited reads up to limit bytes and says whether more followed.
func readLimited(r io.Reader, limit, size int64) ([]byte, bool, error) {
	limit = min(max(limit, 0), math.MaxInt64-1)
	// The size is a hint for the first allocation only: it may lie.
	buf := make([]byte, 0, min(max(size, 0), limit, 1<<20)+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		room := min(int64(cap(buf)-len(buf)), limit+1-int64(len(buf)))
		n, err := r.Read(buf[len(buf) : len(buf)+int(room)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf[:limit], true, nil
		}
		if errors.Is(err, io.EOF) {
			return buf, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// Stat describes what p leads to, following links inside the workspace.
func (f *FS) Stat(p string) (Info, error) {
	loc, err := f.locate(opStat, p)
	if err != nil {
		return Info{}, err
	}
	if loc.info == nil {
		return Info{}, fmt.Errorf("stat %s: %w", p, fs.ErrNotExist)
	}
	return infoOf(loc.rel, loc.info, loc.linked), nil
}

// DirEntry is one name in a directory.
type DirEntry struct {
	Name string
	Mode fs.FileMode // the type bits only
	Rule Rule        // the rule that refuses to open it, or ""
}

// ReadDir lists at most limit names of a directory in byte order; more says that
// there were others. Names that the floor protects are listed, with their rule.
func (f *FS) ReadDir(p string, limit int) (entries []DirEntry, more bool, err error) {
	dir, loc, fi, err := f.openVerified(opList, p)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = dir.Close() }()
	if !fi.IsDir() {
		return nil, false, fmt.Errorf("list %s: not a directory", p)
	}
	list, err := dir.ReadDir(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("list %s: %w", p, underlying(err))
	}
	if len(list) > limit {
		list, more = list[:limit], true
	}
	for _, e := range list {
		rule, _ := f.protect.check(path.Join(loc.rel, e.Name()), false)
		entries = append(entries, DirEntry{Name: e.Name(), Mode: e.Type(), Rule: rule})
	}
	slices.SortFunc(entries, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return entries, more, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a special file"
}
