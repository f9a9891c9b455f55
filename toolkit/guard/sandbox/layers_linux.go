package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// rulesets are Landlock's versions that this program knows, by number.
var rulesets = []landlock.Config{
	1: landlock.V1, 2: landlock.V2, 3: landlock.V3, 4: landlock.V4, 5: landlock.V5, 6: landlock.V6,
	7: landlock.V7, 8: landlock.V8, 9: landlock.V9, 10: landlock.V10, 11: landlock.V11,
}

// landlockVersion is the newest version that both the kernel and this program
// have; 0: none.
func landlockVersion() int {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return 0
	}
	return min(abi, len(rulesets)-1)
}

// landlocked restricts this thread: everything may be read and executed, files
// are written, made and linked in the given folders only, and outside of the
// sandbox nobody is signalled or reached over an abstract socket. The network is
// left to its namespace, so that servers on the loopback can be tested. Nothing
// is left out silently: a rule that the kernel does not take is an error.
func landlocked(version int, writable []string) error {
	if version < 1 || version >= len(rulesets) {
		return fmt.Errorf("unknown version %d", version)
	}
	full := rulesets[version]
	cfg := landlock.Config{HandledAccessFS: full.HandledAccessFS, Scoped: full.Scoped}
	folders := landlock.RWDirs(append(slices.Clone(writable), "/dev/shm")...)
	terminals := landlock.RWDirs("/dev/pts")
	devs := make([]string, 0, len(devices))
	for _, name := range devices {
		devs = append(devs, "/dev/"+name)
	}
	files := landlock.RWFiles(devs...)
	if version >= 2 {
		folders = folders.WithRefer()
	}
	if version >= 5 {
		terminals, files = terminals.WithIoctlDev(), files.WithIoctlDev()
	}
	if version >= 9 {
		folders = folders.WithResolveUnix()
	}
	fd, flags, err := cfg.NewRulesetFD(landlock.RODirs("/"), folders, terminals, files)
	if err != nil {
		return err
	}
	if fd < 0 {
		return errors.New("there is nothing that it would restrict")
	}
	defer func() { _ = unix.Close(fd) }()
	return llsys.LandlockRestrictSelf(fd, flags)
}

// forbidden are the system calls that no build or test needs and that lead out
// of a sandbox, into the kernel, or around its filter.
var forbidden = []string{
	"mount", "umount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
	"unshare", "setns", "chroot", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"keyctl", "add_key", "request_key", "open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "quotactl_fd",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "syslog",
	"settimeofday", "clock_settime", "stime", "iopl", "ioperm", "vhangup", "nfsservctl", "lookup_dcookie", "modify_ldt", "vm86", "vm86old",
}

// filtered puts a filter on this thread. It forbids what is in forbidden, new
// user namespaces, and sockets of any family but IPv4, IPv6 and netlink: a Unix
// socket would lead to whoever listens in the file system, such as Docker.
// Connected pairs can be made as ever.
func filtered() error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	var names []string
	for _, name := range forbidden {
		if _, ok := info.SyscallNames[name]; ok { // not every machine has each
			names = append(names, name)
		}
	}
	if len(names) < len(forbidden)/2 {
		return fmt.Errorf("only %d system calls of %v are known", len(names), slices.Sorted(maps.Keys(info.SyscallNames)))
	}
	noNamespace := seccomp.NameWithConditions{Name: "clone", Conditions: seccomp.ArgumentConditions{
		{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_NEWUSER},
	}}
	noFamily := seccomp.NameWithConditions{Name: "socket", Conditions: seccomp.ArgumentConditions{
		{Argument: 0, Operation: seccomp.NotEqual, Value: unix.AF_INET},
		{Argument: 0, Operation: seccomp.NotEqual, Value: unix.AF_INET6},
		{Argument: 0, Operation: seccomp.NotEqual, Value: unix.AF_NETLINK},
	}}
	return seccomp.LoadFilter(seccomp.Filter{Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Names: names, NamesWithCondtions: []seccomp.NameWithConditions{noNamespace, noFamily}, Action: seccomp.ActionErrno},
			// Its flags are in memory, where a filter cannot see them. C libraries
			// fall back to clone.
			{Names: []string{"clone3"}, Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
		},
	}})
}
