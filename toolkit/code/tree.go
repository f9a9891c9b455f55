package code

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
)

// Tree is the little that detection sees of a workspace. Paths are relative to
// it, with slashes; "." is the workspace itself.
type Tree interface {
	// Names lists a folder in byte order; a folder's name ends with a slash. It
	// is empty for what is no folder.
	Names(dir string) []string
	// Read returns a file, if it is there, may be read and is no larger than a
	// manifest is.
	Read(name string) ([]byte, bool)
	// Has reports whether a program is installed outside the workspace.
	Has(program string) bool
}

const (
	maxNames    = 5000    // names of one folder that are looked at
	maxManifest = 2 << 20 // bytes of a manifest; longer ones are not read
)

// space is the Tree of a workspace.
type space struct{ w *toolkit.Workspace }

func (s space) Names(dir string) []string {
	list, _, err := s.w.Files.ReadDir(dir, maxNames)
	if err != nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for _, e := range list {
		name := e.Name
		if e.Mode&fs.ModeSymlink != 0 {
			if info, err := s.w.Files.Stat(path.Join(dir, name)); err == nil && info.IsDir() {
				name += "/"
			}
		} else if e.Mode.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (s space) Read(name string) ([]byte, bool) {
	data, _, err := s.w.Files.ReadAll(name, maxManifest)
	return data, err == nil
}

func (s space) Has(program string) bool {
	_, err := s.w.Proc.LookPath(program)
	return err == nil
}

// site is one folder of a tree, as the kinds of project look at it.
type site struct {
	Tree
	dir   string
	names []string
}

func at(t Tree, dir string) site { return site{t, dir, t.Names(dir)} }

// find returns the first of the names that is a file here, or "". A name may be
// a pattern of path.Match.
func (s site) find(names ...string) string {
	for _, want := range names {
		for _, have := range s.names {
			if ok, err := path.Match(want, have); ok && err == nil && !strings.HasSuffix(have, "/") {
				return have
			}
		}
	}
	return ""
}

// all returns the files here that match one of the patterns.
func (s site) all(patterns ...string) []string {
	var out []string
	for _, have := range s.names {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, have); return ok && err == nil }) {
			out = append(out, have)
		}
	}
	return out
}

// folder reports whether there is a folder of this name.
func (s site) folder(name string) bool { return slices.Contains(s.names, name+"/") }

// text returns a file of this folder, or "".
func (s site) text(name string) string {
	data, _ := s.Read(path.Join(s.dir, name))
	return string(data)
}

// path returns a name of this folder relative to the workspace.
func (s site) path(name string) string { return path.Join(s.dir, name) }

// above are the folders from this one up to the workspace.
func above(dir string) []string {
	dir = path.Clean(dir)
	out := []string{dir}
	for dir != "." && dir != "/" {
		dir = path.Dir(dir)
		out = append(out, dir)
	}
	return out
}

// below makes a path of the workspace relative to a folder of it.
func below(dir, name string) string {
	dir, name = path.Clean(dir), path.Clean(name)
	up := ""
	for dir != "." && dir != name && !strings.HasPrefix(name, dir+"/") {
		dir, up = path.Dir(dir), up+"../"
	}
	switch {
	case dir == name:
		return path.Clean(up + ".")
	case dir == ".":
		return up + name
	}
	return up + strings.TrimPrefix(name, dir+"/")
}
