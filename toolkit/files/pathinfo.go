package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Bounds of what path_info reads of a file to count its lines and to hash it.
const (
	maxCounted = 64 << 20
	maxHashed  = 8 << 20
)

type infoArgs struct {
	Path string `json:"path" min:"1" alias:"file_path,filePath,filepath,file,filename,file_name,uri,directory,dir"`
}

// PathFacts is the data of path_info. Modified is empty, and size 0, when
// nothing is there. Allowed says that tools may read it: a device, a socket or a
// pipe is there but is not read.
type PathFacts struct {
	Input      string `json:"input"`
	Resolved   string `json:"resolved"` // relative to the workspace, links followed
	Exists     bool   `json:"exists"`
	Kind       string `json:"kind"` // file, folder, special, none
	Size       int64  `json:"size"` // bytes
	Mode       string `json:"mode"`
	Modified   string `json:"modified"` // RFC 3339
	Dirname    string `json:"dirname"`
	Basename   string `json:"basename"`
	Extname    string `json:"extname"` // with its dot
	IsAbsolute bool   `json:"isAbsolute"`
	Allowed    bool   `json:"allowed"`
}

// PathInfo takes a path apart and says what is there.
func PathInfo() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "path_info",
		Summary:    "Say what is at a path: kind, size, times, lines, hash, whether git ignores it.",
		Category:   "filesystem",
		Synonyms:   "stat exists file size mode modified checksum sha256 basename dirname extension link",
		Level:      toolkit.Safe,
		Tier:       tiers.Full,
		ReadOnly:   true,
		Idempotent: true,
	}, planInfo, runInfo)
}

func planInfo(ctx context.Context, w *toolkit.Workspace, a infoArgs) (toolkit.Plan, error) {
	switch _, err := w.Files.Stat(a.Path); {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsFunc(a.Path, unicode.IsControl):
		return toolkit.Plan{}, notFound(ctx, w, a.Path) // the name would not be told as what it is
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return toolkit.Plan{}, err
	}
	return reads(a.Path, "%s", a.Path), nil
}

func runInfo(ctx context.Context, w *toolkit.Workspace, a infoArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	rel, err := w.Files.Rel(a.Path)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	link, err := w.Files.Link(a.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	d := PathFacts{
		Input: a.Path, Resolved: rel, Kind: "none", Dirname: path.Dir(rel), Basename: path.Base(rel), Extname: path.Ext(rel),
		IsAbsolute: path.IsAbs(a.Path),
	}
	var more []string
	info, err := w.Files.Stat(a.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	default:
		d.Exists, d.Resolved, d.Size, d.Mode = true, info.Path, info.Size, info.Mode.String()
		d.Modified = info.ModTime.Format(time.RFC3339)
		switch {
		case info.IsDir():
			d.Kind, d.Allowed = "folder", true
		case info.Mode.IsRegular():
			d.Kind, d.Allowed = "file", true
			if more, err = contentFacts(w, a.Path); err != nil {
				return toolkit.Result{}, explain(ctx, w, a.Path, err)
			}
		default:
			d.Kind = "special"
		}
		if info.Nlink > 1 && !info.IsDir() {
			more = append(more, fmt.Sprintf("%d names (hard links)", info.Nlink))
		}
	}
	if link != "" {
		more = append(more, fmt.Sprintf("a symbolic link to %q", link))
	}
	if ignored, err := w.Files.Ignored(a.Path); err == nil && ignored {
		more = append(more, "git ignores it")
	}
	return toolkit.Result{Text: infoText(d, more), Data: d}, nil
}

func infoText(d PathFacts, more []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", d.Input)
	switch {
	case !d.Exists:
		b.WriteString("nothing is there")
	case d.Kind == "file":
		fmt.Fprintf(&b, "file, %s, mode %s, changed %s", plural(int(d.Size), "byte", "bytes"), d.Mode, d.Modified)
	default:
		fmt.Fprintf(&b, "%s, mode %s, changed %s", d.Kind, d.Mode, d.Modified)
	}
	b.WriteByte('\n')
	for _, m := range more {
		b.WriteString(m + "\n")
	}
	fmt.Fprintf(&b, "resolved %s, folder %s, name %s, extension %q\n", d.Resolved, d.Dirname, d.Basename, d.Extname)
	return b.String()
}

// contentFacts says what a file's content is, as far as that is cheap.
func contentFacts(w *toolkit.Workspace, given string) ([]string, error) {
	f, err := w.Files.Open(given)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, larger, err := f.ReadUpTo(maxHashed)
	if err != nil {
		return nil, err
	}
	kind := "binary"
	if !guard.IsBinary(data) {
		count, whole := lineCounter{}, !larger
		count.add(data)
		if larger {
			n, err := io.Copy(&count, io.LimitReader(f, maxCounted-maxHashed))
			if err != nil {
				return nil, err
			}
			whole = n < maxCounted-maxHashed
		}
		kind = fmt.Sprintf("text, %s, line ends %s", plural(count.lines(), "line", "lines"), lineEnds(data))
		if !whole {
			kind = fmt.Sprintf("text, more than %s", plural(count.lines(), "line", "lines"))
		}
	}
	if larger {
		return []string{kind}, nil
	}
	return []string{kind, "sha256 " + guard.Hash(data)}, nil
}

// lineCounter counts the lines that are written to it.
type lineCounter struct {
	ends int
	open bool // the last line has no end yet
}

func (c *lineCounter) add(data []byte) {
	c.ends += bytes.Count(data, []byte("\n"))
	if len(data) > 0 {
		c.open = data[len(data)-1] != '\n'
	}
}

// Write implements io.Writer.
func (c *lineCounter) Write(p []byte) (int, error) {
	c.add(p)
	return len(p), nil
}

func (c *lineCounter) lines() int {
	if c.open {
		return c.ends + 1
	}
	return c.ends
}
