package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

type writeArgs struct {
	Path       string `json:"path" min:"1" alias:"file_path,filePath,filepath,file,filename,file_name,uri,target_file"`
	Content    string `json:"content" doc:"whole text of the file" alias:"contents,text,file_text,data,body,code"`
	Append     bool   `json:"append,omitempty" doc:"add to the end instead" default:"false"`
	CreateDirs bool   `json:"createDirs,omitempty" doc:"make missing folders" default:"false" alias:"create_dirs,create_directories,mkdir,parents"`
}

// Written is the data of write_file.
type Written struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"` // bytes of the whole file now
	Appended bool   `json:"appended"`
	Created  bool   `json:"created"`
	Diff     string `json:"diff"`
}

// WriteFile creates a file, replaces it, or adds to its end.
func WriteFile() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "write_file",
		Summary:  "Create a file or replace all of it. To change a part, use edit_file.",
		Category: "filesystem",
		Level:    toolkit.Moderate,
		Tier:     tiers.Essential,
	}, planWrite, runWrite)
}

func planWrite(ctx context.Context, w *toolkit.Workspace, a writeArgs) (toolkit.Plan, error) {
	c, err := prepareWrite(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	added, removed := countDiff(unified(c.target.Path, c.old, c.new))
	name := path.Base(c.target.Path)
	summary := fmt.Sprintf("%s +%d -%d", name, added, removed)
	if !c.target.Exists {
		summary = fmt.Sprintf("%s new, +%d", c.target.Path, added)
	}
	p := c.plan(summary)
	if c.target.Exists && !a.Append && len(strings.TrimSpace(string(c.old))) > 0 && strings.TrimSpace(a.Content) == "" {
		p.Asks = append(p.Asks, fmt.Sprintf("it would empty %s, which has %d bytes", c.target.Path, len(c.old)))
	}
	if c.target.Exists && !a.Append && lineEnds(c.old) == "CRLF" && lineEnds(c.new) == "LF" {
		p.Preview.Notes = append(p.Preview.Notes, "line ends change from CRLF to LF")
	}
	return p, nil
}

// prepareWrite reads what is there and makes what will be there.
func prepareWrite(ctx context.Context, w *toolkit.Workspace, a writeArgs) (*change, error) {
	if strings.HasSuffix(a.Path, "/") {
		return nil, toolkit.Errorf(CodeNotAFile, "%q names a folder.", a.Path).WithHint("Name the file to write.")
	}
	t, err := w.Files.Locate(a.Path)
	if err != nil {
		return nil, explain(ctx, w, a.Path, err)
	}
	if !t.Exists {
		if err := checkParent(ctx, w, t.Path, a.CreateDirs); err != nil {
			return nil, err
		}
	}
	c := &change{target: t, new: []byte(a.Content)}
	if c.old, err = readForChange(ctx, w, a.Path, t); err != nil {
		return nil, err
	}
	if a.Append {
		c.new = append(append([]byte(nil), c.old...), a.Content...)
		if len(c.new) > maxEditable {
			return nil, toolkit.Errorf(CodeTooLarge, "%s would have %d bytes; the limit is %d.", a.Path, len(c.new), maxEditable).
				WithHint("Write to another file.")
		}
	}
	return c, nil
}

// checkParent demands that the folder of a new file exists, or may be made.
func checkParent(ctx context.Context, w *toolkit.Workspace, rel string, create bool) error {
	missing := ""
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		t, err := w.Files.Locate(dir)
		if err != nil {
			return explain(ctx, w, dir, err)
		}
		if t.Exists {
			if !t.Info.IsDir() {
				return toolkit.Errorf(CodeNotAFolder, "%s is a file, so nothing can be inside it.", dir).WithHint("Choose another path.")
			}
			break
		}
		missing = dir
	}
	if missing == "" || create {
		return nil
	}
	return toolkit.Errorf(CodeNoParent, "the folder %s does not exist.", missing).
		WithHint("Correct the path, or set createDirs to true.")
}

func runWrite(ctx context.Context, w *toolkit.Workspace, a writeArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	expect, err := expectation(p)
	if err != nil {
		return toolkit.Result{}, err
	}
	c, err := prepareWrite(ctx, w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	written, err := w.Files.WriteIf(a.Path, c.new, expect)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	ch, diff := outcome(written.Path, written.Created, c.old, c.new)
	shortDiff, _ := toolkit.Bound(diff, budget(w), "")
	d := Written{Path: written.Path, Size: written.Bytes, Appended: a.Append, Created: written.Created, Diff: shortDiff}
	lines := plural(countLines(c.new), "line", "lines")
	text := fmt.Sprintf("wrote %d bytes to %s (%s, +%d -%d)", d.Size, d.Path, lines, ch.Added, ch.Removed)
	switch {
	case written.Created:
		text = fmt.Sprintf("wrote %d bytes to %s (new file, %s)", d.Size, d.Path, lines)
	case a.Append:
		text = fmt.Sprintf("wrote to the end of %s (now %s, %d bytes)", d.Path, lines, d.Size)
	}
	return toolkit.Result{Text: text, Data: d, Changed: []toolkit.Change{ch}}, nil
}

func countLines(data []byte) int {
	n := strings.Count(string(data), "\n")
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}
