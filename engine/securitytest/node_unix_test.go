//go:build linux || darwin

package securitytest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func makeFIFO(name string) error { return unix.Mkfifo(name, 0o644) }

func makeNode(name, kind string, major, minor uint32) error {
	mode := map[string]uint32{"c": unix.S_IFCHR, "b": unix.S_IFBLK}[kind]
	if mode == 0 {
		return fmt.Errorf("type %q is not c or b", kind)
	}
	return unix.Mknod(name, mode|0o644, int(unix.Mkdev(major, minor)))
}
