package files

import (
	"context"
	"encoding/base64"
	"fmt"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type readArgs struct {
	Path     string `json:"path" min:"1" alias:"file_path,filePath,filepath,file,filename,file_name,uri,target_file"`
	Offset   int    `json:"offset,omitempty" doc:"first line, counted from 0" default:"0" min:"0" alias:"start"`
	Lines    int    `json:"lines,omitempty" doc:"how many lines" min:"1" max:"2000" alias:"limit,num_lines,count,max_lines"`
	Encoding string `json:"encoding,omitempty" default:"utf-8" enum:"utf-8,base64"`
}

// Read is the data of read_file. StartLine and EndLine count from 1; both are 0
// when no line is shown. TotalLines is -1 and SHA256 empty for a file too large
// to be read to its end.
type Read struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	Encoding   string `json:"encoding"`
	Size       int64  `json:"size"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Truncated  bool   `json:"truncated"`
	SHA256     string `json:"sha256"`
}

// ReadFile shows a file, or a window of its lines, with line numbers.
func ReadFile() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "read_file",
		Summary:    "Read a text file. Lines come numbered.",
		Category:   "filesystem",
		Level:      toolkit.Safe,
		Tier:       tiers.Essential,
		ReadOnly:   true,
		Foreign:    true,
		Idempotent: true,
	}, planRead, runRead)
}

func planRead(ctx context.Context, w *toolkit.Workspace, a readArgs) (toolkit.Plan, error) {
	info, err := w.Files.Stat(a.Path)
	if denied, ok := guard.AsDenied(err); ok && denied.Rule == guard.RuleSecret && a.Encoding != "base64" {
		return planSecret(ctx, w, a, denied)
	}
	if err != nil {
		return toolkit.Plan{}, explain(ctx, w, a.Path, err)
	}
	if info.IsDir() {
		return toolkit.Plan{}, toolkit.Errorf(CodeNotAFile, "%s is a folder.", a.Path).WithHint("Use directory_tree to list it.")
	}
	if a.Encoding == "base64" && (a.Offset > 0 || a.Lines > 0) {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "offset and lines count lines of text, so they do not go with base64.").
			WithHint("Leave them out.")
	}
	return readPlan(info.Path, a), nil
}

func readPlan(rel string, a readArgs) toolkit.Plan {
	name := path.Base(rel)
	switch {
	case a.Lines > 0:
		return reads(rel, "%s %d-%d", name, a.Offset+1, a.Offset+a.Lines)
	case a.Offset > 0:
		return reads(rel, "%s %d-", name, a.Offset+1)
	}
	return reads(rel, "%s", rel)
}

// planSecret plans to read one file of credentials, which only a person allows.
// As base64 it is not offered: nothing could be redacted in it.
func planSecret(ctx context.Context, w *toolkit.Workspace, a readArgs, denied *guard.Denied) (toolkit.Plan, error) {
	f, err := w.Files.OpenSecret(a.Path)
	if err != nil {
		return toolkit.Plan{}, explain(ctx, w, a.Path, err)
	}
	defer func() { _ = f.Close() }()
	p := readPlan(f.Info().Path, a)
	p.Outside = []string{fmt.Sprintf("%s may hold secrets, and the model would read them: %s", f.Info().Path, denied.Reason)}
	return p.AtLevel(toolkit.Dangerous).WithPrivate(secretRead{}), nil
}

// secretRead marks the plan of a file that is read with a person's leave.
type secretRead struct{}

func runRead(ctx context.Context, w *toolkit.Workspace, a readArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	open := w.Files.Open
	if _, allowed := p.Private().(secretRead); allowed {
		open = w.Files.OpenSecret
	}
	f, err := open(a.Path)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	defer func() { _ = f.Close() }()
	if a.Encoding == "base64" {
		return readBase64(ctx, w, f, a)
	}
	want := a.Lines
	if want == 0 {
		want = maxLines
	}
	win, err := readWindow(ctx, f, a.Offset, want, budget(w)-readReserve)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	rel := f.Info().Path
	if win.binary {
		return toolkit.Result{}, toolkit.Errorf(CodeBinary, "%s is a binary file of %d bytes.", rel, f.Info().Size).
			WithHint(`Read it with encoding "base64" only if you need the bytes.`)
	}
	d := Read{
		Path: rel, Content: win.raw.String(), Encoding: "utf-8", Size: win.size, TotalLines: win.total,
		Truncated: win.shown < win.total || win.total < 0 || win.cutLines > 0, SHA256: win.sum,
	}
	if win.shown > 0 {
		d.StartLine, d.EndLine = a.Offset+1, a.Offset+win.shown
	}
	if win.total >= 0 && a.Offset > 0 && a.Offset >= win.total {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeInvalid, "%s has %s; offset %d is beyond its end.", rel, plural(win.total, "line", "lines"), a.Offset).
			WithHint("Use an offset under %d.", max(win.total, 1))
	}
	res := toolkit.Result{Text: readText(d, win), Data: d}
	if d.Truncated {
		res.Cut = &toolkit.Truncated{Shown: win.shown, Total: win.total, Unit: "lines", Hint: readOn(d)}
	}
	return res, nil
}

// readReserve is what the head and foot of the text may need of the budget.
const readReserve = 400

func readText(d Read, win *window) string {
	if d.Size == 0 {
		return d.Path + " is empty."
	}
	var b strings.Builder
	total := fmt.Sprint(d.TotalLines)
	if d.TotalLines < 0 {
		total = "very many"
	}
	fmt.Fprintf(&b, "%s, lines %d-%d of %s%s\n", d.Path, d.StartLine, d.EndLine, total, win.notes())
	b.WriteString(win.numbered.String())
	if hint := readOn(d); hint != "" {
		fmt.Fprintf(&b, "[%s]\n", hint)
	}
	return b.String()
}

// readOn says how to read what comes after the window, or "".
func readOn(d Read) string {
	if d.TotalLines >= 0 && d.EndLine >= d.TotalLines {
		return ""
	}
	return fmt.Sprintf("more follows: read_file with offset %d", d.EndLine)
}

func readBase64(ctx context.Context, w *toolkit.Workspace, f *guard.File, a readArgs) (toolkit.Result, error) {
	// Four characters for three bytes.
	limit := int64(max(budget(w)-readReserve, 64)) / 4 * 3
	data, info, more, err := w.Files.ReadFile(a.Path, limit)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	d := Read{
		Path: info.Path, Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64",
		Size: f.Info().Size, TotalLines: -1, Truncated: more,
	}
	res := toolkit.Result{Data: d}
	head := fmt.Sprintf("%s, %d bytes, base64\n", d.Path, d.Size)
	if more {
		head = fmt.Sprintf("%s, the first %d of %d bytes, base64\n", d.Path, len(data), d.Size)
		res.Cut = &toolkit.Truncated{Shown: len(data), Total: int(d.Size), Unit: "bytes", Hint: "the rest does not fit"}
	} else {
		d.SHA256 = guard.Hash(data)
		res.Data = d
	}
	res.Text = head + d.Content
	return res, nil
}
