package sandbox

import (
	"strconv"
	"strings"
)

// Backend is what makes the namespaces.
type Backend string

// The backends.
const (
	None       Backend = ""
	Bubblewrap Backend = "bwrap"      // the program bwrap
	Namespaces Backend = "namespaces" // this program itself
)

// Support is what this machine can do, as far as it was shown. The zero value
// is none.
type Support struct {
	Backend   Backend
	Bwrap     string // the program, for Bubblewrap
	Landlock  int    // the version of its rules; 0: it does not work
	Seccomp   bool
	Limits    bool   // resource limits hold
	Processes bool   // so does the one on processes: root is exempt from it, but for Namespaces on Linux 6.14 and later
	pidMax    bool   // a process namespace has a limit of its own
	Reason    string // why there is no backend; of the others that were tried, why they do not work
}

// Works reports whether commands can be run in a sandbox.
func (s Support) Works() bool { return s.Backend != None }

// String names the layers that hold, such as bwrap+landlock7+seccomp+rlimits,
// or says none.
func (s Support) String() string {
	if !s.Works() {
		return "none"
	}
	layers := []string{string(s.Backend)}
	if s.Landlock > 0 {
		layers = append(layers, "landlock"+strconv.Itoa(s.Landlock))
	}
	if s.Seccomp {
		layers = append(layers, "seccomp")
	}
	if s.Limits {
		layers = append(layers, "rlimits")
	}
	return strings.Join(layers, "+")
}
