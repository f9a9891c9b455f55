package guard

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Program identifies an executable, so that what a person approved is what runs.
type Program struct {
	Path    string // absolute, as found; what is executed
	Real    string // absolute, links resolved
	Size    int64
	ModTime time.Time

	info fs.FileInfo
}

// Same reports whether two programs are the same file with the same content, as
// far as identity, size and time tell.
func (p Program) Same(o Program) bool {
	return p.Path == o.Path && p.Real == o.Real && p.Size == o.Size && p.ModTime.Equal(o.ModTime) &&
		p.info != nil && o.info != nil && os.SameFile(p.info, o.info)
}

// SearchPath returns the directories in which programs are looked for: the
// absolute ones of PATH that exist, lie outside the workspace and are not
// writable for everybody.
func (r *Runner) SearchPath() []string { return append([]string(nil), r.path...) }

// searchDirs filters a PATH value.
func searchDirs(list []string, workspace string) []string {
	var out []string
	for _, dir := range list {
		if !filepath.IsAbs(dir) {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || insideDir(workspace, real) || insideDir(workspace, dir) {
			continue
		}
		info, err := os.Stat(real)
		if err != nil || !info.IsDir() || (runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0) {
			continue
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

func insideDir(dir, p string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// LookPath finds a program: a plain name in SearchPath, or an absolute path.
// Relative paths and programs inside the workspace are refused, also by a link.
func (r *Runner) LookPath(name string) (Program, error) {
	deny := func(reason string) (Program, error) {
		return Program{}, &Denied{Op: "run", Path: name, Rule: RuleProgram, Reason: reason}
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return Program{}, fmt.Errorf("program %q: name one", name)
	}
	if filepath.IsAbs(name) {
		if insideDir(r.workspace, filepath.Clean(name)) {
			return deny("it is inside the workspace, where anything could have written it; run it through its interpreter")
		}
		return r.program(name, filepath.Clean(name))
	}
	if strings.ContainsAny(name, `/\`) {
		return deny("it is a relative path; give a program's name, or run a script through its interpreter")
	}
	for _, dir := range r.path {
		for _, ext := range programExts(name) {
			full := filepath.Join(dir, name+ext)
			if info, err := os.Stat(full); err == nil && executable(info) {
				return r.program(name, full)
			}
		}
	}
	return Program{}, fmt.Errorf("program %q is not installed: not found in %s", name, strings.Join(r.path, string(filepath.ListSeparator)))
}

func (r *Runner) program(name, full string) (Program, error) {
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return Program{}, fmt.Errorf("program %q: %w", name, err)
	}
	if insideDir(r.workspace, real) {
		return Program{}, &Denied{Op: "run", Path: name, Rule: RuleProgram, Reason: "it is a link to " + real + " inside the workspace"}
	}
	info, err := os.Stat(real)
	if err != nil {
		return Program{}, fmt.Errorf("program %q: %w", name, err)
	}
	if !executable(info) {
		return Program{}, fmt.Errorf("program %q: %s is not an executable file", name, full)
	}
	return Program{Path: full, Real: real, Size: info.Size(), ModTime: info.ModTime(), info: info}, nil
}

func executable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

func programExts(name string) []string {
	if runtime.GOOS != "windows" || filepath.Ext(name) != "" {
		return []string{""}
	}
	return []string{".exe", ".com", ".bat", ".cmd"}
}
