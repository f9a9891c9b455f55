package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// dirHandle is a directory's file descriptor. Raw descriptors spare the poller,
// a finalizer and a path per file, which is most of the cost of a walk in Go.
type dirHandle struct{ fd int }

func newWalkDir(h *os.Root, folded string) (*walkDir, error) {
	f, err := h.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return wrapWalkDir(dirHandle{fd}, folded, new(atomic.Int64)), nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (d dirHandle) openDir(name string) (dirHandle, error) {
	fd, err := openat(d.fd, name, unix.O_DIRECTORY)
	return dirHandle{fd}, err
}

func (d dirHandle) openFile(name string) (*os.File, error) {
	fd, err := openat(d.fd, name, 0)
	if err != nil {
		return nil, linkErr(err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// linkErr words the error of O_NOFOLLOW.
func linkErr(err error) error {
	if errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("%w (a link)", ErrNotRegular)
	}
	return err
}

func (d dirHandle) close() { _ = unix.Close(d.fd) }

func (d dirHandle) stat(name string) (size int64, mode fs.FileMode, mtime time.Time, links uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, 0, time.Time{}, 0, err
	}
	mode = fs.FileMode(st.Mode&0o777) | modeType(st.Mode)
	return st.Size, mode, time.Unix(st.Mtim.Unix()), uint64(st.Nlink), nil
}

func modeType(m uint32) fs.FileMode {
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFBLK:
		return fs.ModeDevice
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	}
	return 0
}

func (d dirHandle) readInto(name string, buf []byte, limit int64) ([]byte, bool, error) {
	fd, err := openat(d.fd, name, 0)
	if err != nil {
		return buf[:0], false, linkErr(err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return buf[:0], false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return buf[:0], false, fmt.Errorf("%w (%s)", ErrNotRegular, kind(modeType(st.Mode)))
	}
	limit = min(max(limit, 0), math.MaxInt64-1)
	// One byte more than the size, so that the usual file needs one read to see
	// its end; the size may lie, so it is no more than a hint.
	want := int(min(st.Size, limit, 4<<20)) + 1
	if cap(buf) < want {
		buf = make([]byte, 0, max(want, 32<<10))
	}
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		room := min(int64(cap(buf)-len(buf)), limit+1-int64(len(buf)))
		n, err := unix.Read(fd, buf[len(buf):len(buf)+int(room)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return buf, false, err
		}
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return buf[:limit], true, nil
		}
		// A short read at exactly the known size is the end: files in /proc,
		// whose size is 0, still get the read that says so.
		if n == 0 || (st.Size > 0 && int64(len(buf)) == st.Size && n < int(room)) {
			return buf, false, nil
		}
	}
}

var direntBufs = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// Offsets in struct linux_dirent64.
const (
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

// read returns all names, with types from the directory itself; only file
// systems that give none cost a stat each.
func (d dirHandle) read() ([]dirent, error) {
	bufp, _ := direntBufs.Get().(*[]byte)
	defer direntBufs.Put(bufp)
	var out []dirent
	for {
		n, err := unix.Getdents(d.fd, *bufp)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return out, nil
		}
		for buf := (*bufp)[:n]; len(buf) > direntName; {
			size := int(binary.NativeEndian.Uint16(buf[direntReclen:]))
			name := buf[direntName:size]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if typ := buf[direntType]; string(name) != "." && string(name) != ".." {
				e := dirent{name: string(name)}
				if typ == unix.DT_UNKNOWN {
					var st unix.Stat_t
					if unix.Fstatat(d.fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
						e.typ = modeType(st.Mode)
					}
				} else {
					e.typ = modeType(uint32(typ) << 12) // DT_x is S_IFx >> 12
				}
				out = append(out, e)
			}
			buf = buf[size:]
		}
	}
}
