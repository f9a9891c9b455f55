package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// trial is what a probe's command tries.
type trial struct {
	Inside  string // a folder that it may write to
	Outside string // one that it may not
	Hidden  string // a file that it must not see
	TCP     string // an address where somebody listens
	Unix    string // a socket in the file system where somebody listens
	PID     int    // a process outside
	Size    int64  // the largest file that it may write
}

// outcome is what became of it: for each, true is what a sandbox wants.
type outcome struct {
	Writes     bool // inside
	NoWrite    bool // outside
	NoHidden   bool
	NoTCP      bool
	NoUnix     bool // to that socket
	NoFamily   bool // no Unix socket can even be made
	NoSignal   bool
	NoProcess  bool // the process outside is not in the table
	ReadOnly   bool // the root is mounted read-only
	NoSysctl   bool // the kernel's settings cannot be opened to be written
	NoCaps     bool
	NoUserNS   bool
	NoNewPrivs bool
	SizeHolds  bool
}

// run tries everything and prints the outcome.
func (t *trial) run() int {
	if t == nil {
		return failed
	}
	var o outcome
	o.Writes = os.WriteFile(filepath.Join(t.Inside, "written"), []byte("x"), 0o600) == nil
	o.NoWrite = os.WriteFile(filepath.Join(t.Outside, "escaped"), []byte("x"), 0o600) != nil
	_, err := os.ReadFile(t.Hidden)
	o.NoHidden = err != nil
	o.NoTCP = refuses("tcp", t.TCP)
	o.NoUnix = refuses("unix", t.Unix)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if o.NoFamily = errors.Is(err, unix.EPERM); err == nil {
		_ = unix.Close(fd)
	}
	o.NoSignal = unix.Kill(t.PID, 0) != nil
	name, err := os.ReadFile("/proc/" + strconv.Itoa(t.PID) + "/cmdline")
	_, ownErr := os.ReadFile("/proc/self/cmdline")
	// The number may be somebody's in here too, but the table must work.
	o.NoProcess = ownErr == nil && (err != nil || bytes.Contains(name, []byte(marker)))
	var fs unix.Statfs_t
	o.ReadOnly = unix.Statfs("/", &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
	f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
	if o.NoSysctl = err != nil; err == nil {
		_ = f.Close()
	}
	status, err := os.ReadFile("/proc/self/status")
	none := []byte("\t0000000000000000\n")
	o.NoCaps = err == nil && bytes.Contains(status, append([]byte("CapEff:"), none...)) &&
		bytes.Contains(status, append([]byte("CapPrm:"), none...)) && bytes.Contains(status, append([]byte("CapBnd:"), none...))
	o.NoNewPrivs = bytes.Contains(status, []byte("NoNewPrivs:\t1"))
	o.NoUserNS = errors.Is(unix.Unshare(unix.CLONE_NEWUSER), unix.EPERM)
	o.SizeHolds = sizeHolds(filepath.Join(t.Inside, "large"), t.Size)
	if json.NewEncoder(os.Stdout).Encode(o) != nil {
		return failed
	}
	return 0
}

func refuses(network, address string) bool {
	c, err := net.DialTimeout(network, address, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err != nil
}

// sizeHolds tries to write one byte behind the limit. The signal that comes with
// the refusal is ignored by Go's runtime.
func sizeHolds(name string, limit int64) bool {
	f, err := os.Create(name)
	if err != nil {
		return false
	}
	defer func() { _, _ = f.Close(), os.Remove(name) }()
	_, err = f.WriteAt([]byte("x"), limit)
	return errors.Is(err, unix.EFBIG)
}

// missing names what did not hold of a whole sandbox.
func (o outcome) missing(s Support) error {
	for _, c := range []struct {
		holds bool
		what  string
	}{
		{o.Writes, "the workspace could not be written to"},
		{o.NoWrite && o.ReadOnly, "a file outside of the workspace could be written"},
		{o.NoHidden, "a hidden file could be read"},
		{o.NoTCP, "a TCP connection to the outside was made"},
		{o.NoUnix, "a connection to a Unix socket outside was made"},
		{o.NoSignal, "a process outside could be signalled"},
		{o.NoProcess, "the processes outside could be seen"},
		{o.NoSysctl, "the kernel's settings could be changed"},
		{o.NoCaps, "it had capabilities"},
		{o.NoNewPrivs, "it could gain privileges"},
		{o.NoFamily && o.NoUserNS || !s.Seccomp, "the system call filter did not hold"},
		{o.SizeHolds || !s.Limits, "the limit on file sizes did not hold"},
	} {
		if !c.holds {
			return fmt.Errorf("a trial failed: %s", c.what)
		}
	}
	return nil
}
