package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// reservedPIDs are the numbers that the kernel does not give a second time.
const reservedPIDs = 300

// devices are the device files that a command sees.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// capabilities that entering needs: to mount, to bring up the loopback, to give
// up capabilities.
var enterCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// enter builds the layout in namespaces of its own, gives up all capabilities
// and becomes stageInit. It returns only if that failed.
func enter(s spec, argv []string) error {
	if os.Getpid() != 1 {
		return errors.New("entering the sandbox: this is no new process namespace")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("entering the sandbox: making mounts private: %w", err)
	}
	if !s.Network {
		if err := loopback(); err != nil {
			return err
		}
	}
	if err := build(s.Mounts); err != nil {
		return fmt.Errorf("entering the sandbox: %w", err)
	}
	if s.PIDMax && s.Limits.Processes > 0 {
		limit := s.Limits.Processes
		if limit < 4*reservedPIDs {
			limit += reservedPIDs
		}
		// This number is the namespace's own.
		if err := os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(limit)), 0); err != nil {
			return fmt.Errorf("entering the sandbox: limiting the processes: %w", err)
		}
	}
	victimOfMemory()
	// Most of it belongs to root, which may write to its own files without any
	// capability: the settings of the whole kernel are among them.
	if err := readOnly("/proc"); err != nil {
		return fmt.Errorf("entering the sandbox: %w", err)
	}
	if err := dropCaps(); err != nil {
		return err
	}
	s.Stage, s.Mounts = stageInit, ids(s.Mounts)
	args, err := s.args(argv)
	if err != nil {
		return err
	}
	return fmt.Errorf("entering the sandbox: %w", unix.Exec("/proc/self/exe", append([]string{os.Args[0]}, args...), os.Environ()))
}

// ids are the mounts whose identity is to be checked.
func ids(mounts []mount) []mount {
	var out []mount
	for _, m := range mounts {
		if m.Kind == write || m.Kind == pin {
			out = append(out, m)
		}
	}
	return out
}

// build makes everything read-only, without devices, and puts the mounts of the
// layout on it.
func build(mounts []mount) error {
	trees := make([]int, len(mounts))
	for i, m := range mounts {
		if m.Kind == temp || m.Kind == hide && m.Dir {
			continue
		}
		source := m.Path
		if m.Kind == hide {
			source = "/dev/null"
		}
		var err error
		if trees[i], err = clone(source); err != nil {
			return err
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		if m.Kind == read || m.Kind == hide {
			attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
		}
		if err := unix.MountSetattr(trees[i], "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			return fmt.Errorf("restricting %s: %w", m.Path, err)
		}
	}
	dev := make([]int, len(devices))
	for i, name := range devices {
		var err error
		if dev[i], err = clone("/dev/" + name); err != nil {
			return err
		}
	}
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("making everything read-only: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("a process table of its own: %w", err)
	}
	if err := buildDev(dev); err != nil {
		return err
	}
	for i, m := range mounts {
		if err := place(m, trees[i]); err != nil {
			return err
		}
	}
	for _, m := range mounts {
		if m.Kind == hide && m.Dir {
			if err := readOnly(m.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func readOnly(dir string) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &attr); err != nil {
		return fmt.Errorf("making %s read-only: %w", dir, err)
	}
	return nil
}

// clone takes a copy of what is mounted at a path, to be placed later. The path
// has no links, and no link is followed.
func clone(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("taking %s along: %w", path, err)
	}
	return tree, nil
}

// place mounts one entry of the layout. What it is mounted on is made if its
// parent is a folder in memory.
func place(m mount, tree int) error {
	if _, err := os.Lstat(m.Path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(m.Path), 0o755); err != nil {
			return fmt.Errorf("a place for %s: %w", m.Path, err)
		}
		if m.Dir {
			err = os.Mkdir(m.Path, 0o755)
		} else {
			err = os.WriteFile(m.Path, nil, 0o444)
		}
		if err != nil {
			return fmt.Errorf("a place for %s: %w", m.Path, err)
		}
	}
	switch {
	case m.Kind == temp || m.Kind == hide && m.Dir:
		return tmpfs(m)
	default:
		defer func() { _ = unix.Close(tree) }()
		return move(tree, m.Path)
	}
}

func tmpfs(m mount) error {
	options := "mode=0755"
	if m.Path == "/tmp" {
		options = "mode=1777"
	}
	if m.Size > 0 {
		options += ",size=" + strconv.FormatInt(m.Size, 10)
	}
	if err := unix.Mount("tmpfs", m.Path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("covering %s: %w", m.Path, err)
	}
	return nil
}

func move(tree int, path string) error {
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("placing %s: %w", path, err)
	}
	return nil
}

// buildDev makes a /dev with nothing in it that reaches hardware.
func buildDev(trees []int) error {
	if err := tmpfs(mount{Path: "/dev", Size: 1 << 20}); err != nil {
		return err
	}
	for i, name := range devices {
		if err := os.WriteFile("/dev/"+name, nil, 0o666); err != nil {
			return fmt.Errorf("making /dev: %w", err)
		}
		if err := move(trees[i], "/dev/"+name); err != nil {
			return err
		}
		_ = unix.Close(trees[i])
	}
	for _, dir := range []string{"/dev/shm", "/dev/pts"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("making /dev: %w", err)
		}
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=1g"); err != nil {
		return fmt.Errorf("making /dev/shm: %w", err)
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return fmt.Errorf("making /dev/pts: %w", err)
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return fmt.Errorf("making /dev: %w", err)
		}
	}
	return readOnly("/dev")
}

// loopback brings up the only interface of a new network namespace, for servers
// that tests start.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bringing up the loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bringing up the loopback: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("bringing up the loopback: %w", err)
	}
	return nil
}

// dropCaps gives up every capability for good, on this thread, which goes on
// alone when it executes the next stage.
func dropCaps() error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	for c := range uintptr(64) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			if errors.Is(err, unix.EINVAL) {
				break // the kernel has no more of them
			}
			return fmt.Errorf("giving up capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}
