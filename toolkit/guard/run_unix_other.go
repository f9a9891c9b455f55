//go:build unix && !linux

package guard

import "syscall"

func setDeathSignal(*syscall.SysProcAttr) {}
