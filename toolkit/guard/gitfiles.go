package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxGitFile bounds each of git's files that is read here; the largest real
// ones have some kilobytes.
const maxGitFile = 1 << 20

// GitFile is one of a repository's configuration files.
type GitFile struct {
	Path string // absolute
	Data []byte
}

// GitConfig finds the repository that git would use in a folder of the
// workspace, "" for the workspace itself, and returns its configuration files.
// It runs nothing. The repository may lie above the workspace. Outside of any
// repository it returns none; a file that is not regular or too large is an
// error, as is one that cannot be read.
//
// It is for looking at what a repository would make git do, before git runs.
func (r *Runner) GitConfig(dir string) ([]GitFile, error) {
	handle, loc, fi, err := r.fs.openVerified("look for git in", orDot(dir))
	if err != nil {
		return nil, err
	}
	_ = handle.Close()
	if !fi.IsDir() {
		return nil, fmt.Errorf("look for git in %s: not a directory", dir)
	}
	gitDir, err := findGitDir(filepath.Join(r.workspace, filepath.FromSlash(loc.rel)))
	if err != nil || gitDir == "" {
		return nil, err
	}
	common := gitDir
	switch data, err := readGitFile(filepath.Join(gitDir, "commondir")); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if common = strings.TrimSpace(string(data)); !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	}
	var out []GitFile
	seen := map[string]bool{}
	for _, name := range []string{filepath.Join(common, "config"), filepath.Join(common, "config.worktree"), filepath.Join(gitDir, "config"), filepath.Join(gitDir, "config.worktree")} {
		if seen[name] {
			continue
		}
		seen[name] = true
		data, err := readGitFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, GitFile{name, data})
	}
	return out, nil
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// findGitDir looks for .git in a folder and those above it, as git does.
func findGitDir(dir string) (string, error) {
	for {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotGit)
		switch {
		case err == nil && info.IsDir():
			return dotGit, nil
		case err == nil:
			data, err := readGitFile(dotGit)
			if err != nil {
				return "", err
			}
			target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
			if !ok {
				return "", fmt.Errorf("%s is no git file", dotGit)
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return target, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

func readGitFile(name string) ([]byte, error) {
	h, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("git's file %s: %w", name, underlying(err))
	}
	defer func() { _ = h.Close() }()
	info, err := h.Stat()
	if err != nil {
		return nil, fmt.Errorf("git's file %s: %w", name, underlying(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("git's file %s: %w", name, ErrNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(h, maxGitFile+1))
	if err != nil {
		return nil, fmt.Errorf("git's file %s: %w", name, underlying(err))
	}
	if len(data) > maxGitFile {
		return nil, fmt.Errorf("git's file %s: %w: more than %d bytes", name, ErrTooLarge, maxGitFile)
	}
	return data, nil
}
