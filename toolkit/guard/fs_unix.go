//go:build unix

package guard

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting on a FIFO or taking a terminal.
const openFlags = unix.O_NONBLOCK | unix.O_NOCTTY

func nlink(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

// keepOwner gives f the owner of the file that it will replace. Only root can
// give files away, so failing is normal.
func keepOwner(f *os.File, old fs.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok || (int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid()) {
		return
	}
	_ = f.Chown(int(st.Uid), int(st.Gid))
}
