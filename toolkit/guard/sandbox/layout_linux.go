package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountKind is what a path becomes inside. Of two for one path the greater wins.
type mountKind int

const (
	write mountKind = iota // the folder itself, to be written to
	pin                    // the same, so that it cannot be renamed: something below it is protected
	temp                   // a new folder in memory, to be written to
	read                   // itself, to be read
	hide                   // an empty folder, or nothing at all for a file
)

// mount is one entry of the layout, below a root that is read-only.
type mount struct {
	Kind mountKind
	Path string // absolute, without links
	Dir  bool
	Size int64    // of temp, in bytes; 0: unbounded
	ID   identity // of write and pin: what must be there, in case somebody swapped it
}

// maxLink bounds a .git file, as git itself does in spirit.
const maxLink = 4096

// layout turns a policy and what the workspace holds into mounts, parents before
// children, and lists the folders that may be written to.
func layout(p Policy, found look) (mounts []mount, writable []string, err error) {
	l := &plan{mounts: map[string]mount{}}
	root, err := os.OpenRoot(p.Workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("the workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	l.root = root
	l.add(mount{Kind: temp, Path: "/tmp", Dir: true, Size: p.Limits.Temp})
	l.system(p.Network)
	rw := append([]string{p.Workspace}, p.Writable...)
	if p.Cache != "" {
		rw = append(rw, p.Cache)
	}
	for _, dir := range rw {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, nil, fmt.Errorf("a folder to write to: %w", err)
		}
		if real == "/" {
			return nil, nil, errors.New("the root folder is to be written to: work in a project folder")
		}
		info, err := os.Stat(real)
		if err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("%s is to be written to and is no folder: %w", dir, err)
		}
		l.writable = append(l.writable, real)
		l.add(mount{Kind: write, Path: real, Dir: true, ID: identify(info)})
	}
	l.workspace = l.writable[0]
	for _, name := range homeSecrets {
		if p.Home != "" {
			l.hide(filepath.Join(p.Home, name))
		}
	}
	for _, dir := range p.Hidden {
		if err := l.hideOwn(dir); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range p.ReadOnly {
		l.keep(name)
	}
	if err := l.found(found); err != nil {
		return nil, nil, err
	}
	if l.err != nil {
		return nil, nil, l.err
	}
	for _, m := range l.mounts {
		mounts = append(mounts, m)
	}
	slices.SortFunc(mounts, func(a, b mount) int { return strings.Compare(a.Path+"/", b.Path+"/") })
	return mounts, append(l.writable, "/tmp"), nil
}

// plan is a layout in the making.
type plan struct {
	root      *os.Root // the workspace
	workspace string
	writable  []string
	mounts    map[string]mount
	err       error // the first
}

func (l *plan) add(m mount) {
	if old, ok := l.mounts[m.Path]; ok && old.Kind >= m.Kind {
		return
	}
	l.mounts[m.Path] = m
}

// system hides the sockets of the system's services. Docker's is among them, and
// whoever can speak to it owns the machine.
func (l *plan) system(network bool) {
	l.add(mount{Kind: temp, Path: "/run", Dir: true, Size: 1 << 20})
	// The programs of NixOS live here, and the driver of its graphics.
	kept := []string{"/run/current-system", "/run/booted-system", "/run/opengl-driver"}
	if network {
		kept = append(kept, "/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/resolv.conf", "/run/resolvconf/resolv.conf")
	}
	for _, name := range kept {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			l.add(mount{Kind: read, Path: name, Dir: info.IsDir()})
		}
	}
}

// hide makes a file or folder invisible, if it is there.
func (l *plan) hide(name string) { l.protect(hide, name) }

// keep makes a file or folder read-only, if it is there.
func (l *plan) keep(name string) { l.protect(read, name) }

func (l *plan) protect(k mountKind, name string) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return // nothing is there; inside of the writable folders the caller sees to that
	}
	info, err := os.Stat(real)
	if err != nil {
		return
	}
	if k == read && !slices.ContainsFunc(l.writable, func(top string) bool { return real != top && l.holds(top, real) }) {
		return // it is read-only with everything else
	}
	if k == hide && (real == "/" || l.holds(real, l.workspace)) {
		l.fail(fmt.Errorf("the workspace %s is inside %s, which no command may see", l.workspace, real))
		return
	}
	l.add(mount{Kind: k, Path: real, Dir: info.IsDir()})
	l.pinAbove(real)
}

func (l *plan) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// holds reports whether dir is above or the same as name.
func (l *plan) holds(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// pinAbove makes the folders between a writable one and what is protected in it
// mount points, for these cannot be renamed: otherwise a command could move the
// folder away, with what is protected in it, and make another in its place.
func (l *plan) pinAbove(name string) {
	for _, top := range l.writable {
		if !l.holds(top, name) {
			continue
		}
		for dir := filepath.Dir(name); dir != top && l.holds(top, dir); dir = filepath.Dir(dir) {
			info, err := l.lstat(top, dir)
			if err != nil || !info.IsDir() {
				l.fail(fmt.Errorf("%s changed while the sandbox was prepared", dir))
				return
			}
			l.add(mount{Kind: pin, Path: dir, Dir: true, ID: identify(info)})
		}
	}
}

// lstat looks at a path below the workspace without leaving it, whoever swaps
// folders for links meanwhile: what it returns is an identity inside.
func (l *plan) lstat(top, name string) (fs.FileInfo, error) {
	if top != l.workspace {
		return os.Lstat(name)
	}
	rel, err := filepath.Rel(top, name)
	if err != nil {
		return nil, err
	}
	return l.root.Lstat(rel)
}

// hideOwn hides a folder that must never be reached, whether or not it exists.
func (l *plan) hideOwn(dir string) error {
	if err := l.noLinks(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		above := dir
		for err != nil && above != filepath.Dir(above) {
			above = filepath.Dir(above)
			_, err = os.Lstat(above)
		}
		real, err := filepath.EvalSymlinks(above)
		if err != nil {
			return fmt.Errorf("hiding %s: %w", dir, err)
		}
		inside := slices.ContainsFunc(l.writable, func(top string) bool { return l.holds(top, real) })
		if !inside {
			return nil // nobody can make it from inside
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making %s, so that it can be hidden: %w", dir, err)
		}
	}
	l.hide(dir)
	return nil
}

// noLinks refuses a path to one of chela's folders that goes through a link which
// a command could replace: links cannot be protected.
func (l *plan) noLinks(dir string) error {
	for name := filepath.Clean(dir); name != "/"; name = filepath.Dir(name) {
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return fmt.Errorf("hiding %s: %w", dir, err)
		}
		if slices.ContainsFunc(l.writable, func(top string) bool { return l.holds(top, parent) }) {
			return fmt.Errorf("%s is a link in a folder that commands write to, so chela's folder %s cannot be protected: work in a folder further down", name, dir)
		}
	}
	return nil
}

// found protects what the workspace holds of git and masks its secrets.
func (l *plan) found(seen look) error {
	n := 0
	for rel, s := range seen.shapes {
		full := filepath.Join(l.workspace, filepath.FromSlash(rel))
		if s.kind == later {
			continue
		}
		if n++; n > maxShapes {
			return fmt.Errorf("the workspace has more than %d repositories and secret files: work in a folder further down", maxShapes)
		}
		switch {
		case s.kind == secret && s.mode&fs.ModeSymlink != 0:
			// What it leads to is protected where it is, or is no secret.
		case s.kind == secret:
			l.hide(full)
		default:
			l.keep(full)
			l.gitFile(full, s)
		}
	}
	l.keep(filepath.Join(l.workspace, ".chela"))
	return nil
}

// gitFile protects the repository that a .git file leads to, and the one that
// this in turn shares its config with.
func (l *plan) gitFile(name string, s shape) {
	dir := name
	if s.mode.IsRegular() {
		text, ok := readShort(name)
		target, is := strings.CutPrefix(text, "gitdir:")
		if !ok || !is {
			return
		}
		if dir = strings.TrimSpace(target); !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(name), dir)
		}
		l.keep(dir)
	}
	if common, ok := readShort(filepath.Join(dir, "commondir")); ok {
		if common = strings.TrimSpace(common); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		l.keep(common)
	}
}

func readShort(name string) (string, bool) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLink {
		return "", false
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0) // no pipe that came meanwhile holds it up
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxLink))
	return string(data), err == nil
}
