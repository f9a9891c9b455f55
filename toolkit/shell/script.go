package shell

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/guard/command"
)

// maxScript is the most that is read of a script, so that a plan stays quick. A
// longer one is known by its size and time only.
const maxScript = 4 << 20

const factScript = "script"

// scriptNames are the endings of files that interpreters run.
var scriptNames = []string{".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".awk", ".sed"}

// scripts returns, as facts, the content of the scripts in the workspace that a
// command names: who allows the command allows what they hold now. They are
// found by the paths in the text; what a script calls in turn is not.
func scripts(w *toolkit.Workspace, r command.Report, dir string) []toolkit.Fact {
	var names []string
	for _, p := range r.Paths {
		names = append(names, below(dir, p.Full()))
	}
	for _, p := range r.Programs {
		if strings.Contains(p.Name, "/") {
			names = append(names, below(dir, p.Name))
		}
	}
	slices.Sort(names)
	var facts []toolkit.Fact
	for _, name := range slices.Compact(names) {
		f, err := w.Files.Open(name)
		if err != nil {
			continue // no file, or one that is refused elsewhere
		}
		if value, ok := script(f); ok {
			facts = append(facts, toolkit.Fact{Kind: factScript, Target: f.Info().Path, Value: value})
		}
		_ = f.Close()
	}
	return slices.Compact(facts)
}

// script says whether a file is one that can be run, and what it holds.
func script(f *guard.File) (string, bool) {
	info := f.Info()
	head := make([]byte, 2)
	n, _ := f.ReadAt(head, 0) // a shorter file is no script by this sign
	runs := info.Mode&0o111 != 0 || bytes.Equal(head[:n], []byte("#!")) || slices.Contains(scriptNames, strings.ToLower(path.Ext(info.Path)))
	if !runs {
		return "", false
	}
	data, more, err := f.ReadUpTo(maxScript)
	if err != nil || more {
		return fmt.Sprintf("%d bytes %d", info.Size, info.ModTime.UnixNano()), true
	}
	return guard.Hash(data), true
}
