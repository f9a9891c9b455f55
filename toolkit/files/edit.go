package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type editArgs struct {
	Path       string `json:"path" min:"1" alias:"file_path,filePath,filepath,file,filename,file_name,uri,target_file"`
	OldString  string `json:"old_string" doc:"text that is there now" alias:"old_str,old_text,oldText,old,search,find,old_content"`
	NewString  string `json:"new_string" doc:"text to put in its place" alias:"new_str,new_text,newText,new,replace,replacement,replace_with,new_content"`
	ReplaceAll bool   `json:"replace_all,omitempty" doc:"every occurrence" default:"false" alias:"all,global"`
}

// Edited is the data of edit_file. Nearest is empty: a text that is not found
// is an error, whose hint has the nearest lines.
type Edited struct {
	Path         string   `json:"path"`
	Replacements int      `json:"replacements"`
	Diff         string   `json:"diff"`
	MatchKind    string   `json:"match_kind"`
	Nearest      []string `json:"nearest"`
}

// EditFile replaces one piece of a file. The piece may differ from the file in
// ways that the ladder forgives, as long as it is found in one place only.
func EditFile() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "edit_file",
		Summary:  "Replace one piece of a file. old_string must be in the file exactly once.",
		Category: "filesystem",
		Level:    toolkit.Moderate,
		Tier:     tiers.Essential,
	}, planEdit, runEdit)
}

// edit is a change that the ladder found.
type edit struct {
	change
	doc   *document
	match *matched
}

func planEdit(ctx context.Context, w *toolkit.Workspace, a editArgs) (toolkit.Plan, error) {
	e, err := prepareEdit(ctx, w, a)
	if err != nil {
		return toolkit.Plan{}, err
	}
	added, removed := countDiff(unified(e.target.Path, e.old, e.new))
	p := e.plan(fmt.Sprintf("%s +%d -%d", path.Base(e.target.Path), added, removed))
	if words := matchWords[e.match.kind]; words != "" {
		p.Preview.Notes = append(p.Preview.Notes, "match: "+words)
	}
	if n := len(e.match.spans); n > 1 {
		p.Preview.Notes = append(p.Preview.Notes, fmt.Sprintf("%d places change", n))
	}
	if len(strings.TrimSpace(string(e.new))) == 0 {
		p.Asks = append(p.Asks, fmt.Sprintf("it would empty %s, which has %d bytes", e.target.Path, len(e.old)))
	}
	return p, nil
}

// prepareEdit finds the place and makes the new content.
func prepareEdit(ctx context.Context, w *toolkit.Workspace, a editArgs) (*edit, error) {
	switch {
	case a.OldString == "":
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "old_string is empty, so there is nothing to find.").
			WithHint("Copy the text to replace, or use write_file for a whole file.")
	case a.OldString == a.NewString:
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "old_string and new_string are the same, so nothing would change.").
			WithHint("Put the changed text into new_string.")
	}
	t, err := w.Files.Locate(a.Path)
	if err != nil {
		return nil, explain(ctx, w, a.Path, err)
	}
	if !t.Exists {
		return nil, notFound(ctx, w, a.Path)
	}
	old, err := readForChange(ctx, w, a.Path, t)
	if err != nil {
		return nil, err
	}
	if guard.IsBinary(old) {
		return nil, toolkit.Errorf(CodeBinary, "%s is a binary file, which cannot be edited as text.", t.Path)
	}
	e := &edit{change: change{target: t, old: old}, doc: newDocument(old)}
	var several *ambiguous
	e.match, several = climb(e.doc, a.OldString, a.NewString, a.ReplaceAll)
	switch {
	case several != nil:
		return nil, ambiguousError(t.Path, several)
	case e.match == nil:
		return nil, noMatch(e.doc, t.Path, a)
	}
	e.new = e.doc.replace(e.match.spans)
	if string(e.new) == string(old) {
		return nil, toolkit.Errorf(toolkit.CodeInvalid, "the edit of %s would change nothing: the file already has this text.", t.Path).
			WithHint("Go on, or read the file to see it.")
	}
	return e, nil
}

// ambiguousError says where the text is. Lines come in order, one a place, so a
// line that has it more than once stands there more than once.
func ambiguousError(rel string, a *ambiguous) error {
	const most = 10
	places := len(a.lines)
	if a.lines[0] == a.lines[places-1] {
		return toolkit.Errorf(CodeAmbiguous, "old_string is in %s %d times, all on line %d.", rel, places, a.lines[0]).
			WithHint("Copy the whole line into old_string, and changed into new_string, or set replace_all to true.")
	}
	var at []string
	for i := 0; i < places; {
		if len(at) == most {
			at = append(at, fmt.Sprintf("and %d more", places-i))
			break
		}
		here := 1
		for i+here < places && a.lines[i+here] == a.lines[i] {
			here++
		}
		where := fmt.Sprint(a.lines[i])
		if here > 1 {
			where += fmt.Sprintf(" (%d times)", here)
		}
		at = append(at, where)
		i += here
	}
	return toolkit.Errorf(CodeAmbiguous, "old_string is in %s %d times, at lines %s.", rel, places, strings.Join(at, ", ")).
		WithHint("Add lines before or after it to old_string so that it occurs once, or set replace_all to true.")
}

// shortFile is how many lines a model can well write again as a whole.
const shortFile = 60

func noMatch(d *document, rel string, a editArgs) error {
	e := toolkit.Errorf(CodeNoMatch, "old_string is not in %s.", rel)
	if there := strings.TrimSpace(a.NewString); len(there) > 8 {
		if i := strings.Index(d.text, strings.ReplaceAll(there, "\r\n", "\n")); i >= 0 {
			return e.WithHint("new_string is there already, at line %d: this edit may be done.", d.lineAt(i)+1)
		}
	}
	other := ""
	if len(d.starts) <= shortFile {
		other = " Or write the whole file with write_file: it is short."
	}
	near := closest(d, a.OldString)
	if len(near) == 0 {
		return e.WithHint("Read the file and copy the text from it.%s", other)
	}
	return e.WithHint("The nearest lines, to copy without their numbers:\n%s%s", strings.Join(near, "  ...\n"), strings.TrimLeft(other, " "))
}

func runEdit(ctx context.Context, w *toolkit.Workspace, a editArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	expect, err := expectation(p)
	if err != nil {
		return toolkit.Result{}, err
	}
	// The file is checked before the place is looked for again: a file that
	// changed must say so, not that the text is missing.
	if t, err := w.Files.Locate(a.Path); err == nil && t.Exists {
		if data, _, err := w.Files.ReadAll(t.Path, maxEditable); err == nil && guard.Hash(data) != expect.SHA256 {
			return toolkit.Result{}, explain(ctx, w, a.Path, &guard.Changed{Path: t.Path, Want: expect.SHA256, Have: guard.Hash(data)})
		}
	}
	e, err := prepareEdit(ctx, w, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	written, err := w.Files.WriteIf(a.Path, e.new, expect)
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	ch, diff := outcome(written.Path, false, e.old, e.new)
	shortDiff, _ := toolkit.Bound(diff, budget(w), "")
	d := Edited{
		Path: written.Path, Replacements: len(e.match.spans), Diff: shortDiff, MatchKind: e.match.kind, Nearest: []string{},
	}
	return toolkit.Result{Text: editText(e, ch, d), Data: d, Changed: []toolkit.Change{ch}}, nil
}

// editText tells the model what changed and shows the first place as it is now.
func editText(e *edit, ch toolkit.Change, d Edited) string {
	var b strings.Builder
	fmt.Fprintf(&b, "edited %s: %s, +%d -%d lines.", d.Path, plural(d.Replacements, "replacement", "replacements"), ch.Added, ch.Removed)
	if words := matchWords[d.MatchKind]; words != "" {
		fmt.Fprintf(&b, " Match was not exact: %s.", words)
	}
	b.WriteByte('\n')
	now := newDocument(e.new)
	first := e.match.spans[0]
	from := e.doc.lineAt(first.start)
	to := from + strings.Count(first.with, "\n") + 1
	const around, most = 2, 20
	from, to = max(0, from-around), min(len(now.starts), to+around)
	cut := to - from - most
	for i := from; i < min(to, from+most); i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, firstRunes(now.line(i), closestWidth))
	}
	if cut > 0 {
		fmt.Fprintf(&b, "[%d more lines]\n", cut)
	}
	return b.String()
}
