package securitytest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// memory measures how much this program's resident memory grows at most.
type memory struct{ base int64 }

// measure begins: the highest mark is set to what is resident now.
func measure() memory {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err != nil {
		return memory{heap()}
	}
	return memory{status("VmRSS")}
}

// grownMiB is the growth at its highest, in MiB; where the system does not tell,
// that of the heap as it is now.
func (m memory) grownMiB() int64 {
	if high := status("VmHWM"); high > 0 {
		return (high - m.base) >> 20
	}
	return (heap() - m.base) >> 20
}

func heap() int64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapSys)
}

// status reads a size from /proc/self/status, in bytes; 0: not known.
func status(key string) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key+":" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// running returns the processes whose command line holds a text.
func running(t *testing.T, text string) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("processes cannot be listed here")
	}
	var found []string
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		line := string(bytes.ReplaceAll(data, []byte{0}, []byte(" ")))
		if strings.Contains(line, text) && !strings.HasSuffix(filepath.Dir(name), "/"+strconv.Itoa(os.Getpid())) {
			found = append(found, line)
		}
	}
	return found
}
