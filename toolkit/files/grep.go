package files

import (
	"context"
	"fmt"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type grepArgs struct {
	Pattern       string `json:"pattern" doc:"regular expression" min:"1" alias:"query,regex,search,text,q"`
	Path          string `json:"path,omitempty" doc:"file or folder" default:"." alias:"directory,dir,folder,paths"`
	Glob          string `json:"glob,omitempty" doc:"only these files: *.go" alias:"include,file_pattern,includes"`
	MaxResults    int    `json:"maxResults,omitempty" default:"50" min:"1" max:"500" alias:"max_results,limit,head_limit"`
	Context       int    `json:"context,omitempty" doc:"lines shown around a match" default:"0" min:"0" max:"20" alias:"context_lines"`
	CaseSensitive bool   `json:"caseSensitive,omitempty" default:"false" alias:"case_sensitive"`
}

// Match is one matching line.
type Match struct {
	File    string   `json:"file"`
	Line    int      `json:"line"` // from 1
	Content string   `json:"content"`
	Before  []string `json:"before"`
	After   []string `json:"after"`
}

// Matches is the data of grep. Total counts all matching lines, shown or not.
type Matches struct {
	Matches       []Match `json:"matches"`
	Total         int     `json:"total"`
	FilesSearched int     `json:"files_searched"`
	Truncated     bool    `json:"truncated"`
}

// Grep searches the contents of files.
func Grep() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "grep",
		Summary:    "Search the contents of files.",
		Category:   "filesystem",
		Level:      toolkit.Safe,
		Tier:       tiers.Essential,
		ReadOnly:   true,
		Foreign:    true,
		Idempotent: true,
	}, planGrep, runGrep)
}

// begin checks what a call names and prepares its search.
func (a grepArgs) begin(ctx context.Context, w *toolkit.Workspace) (*search, guard.Info, error) {
	m, err := compile(a.Pattern, a.CaseSensitive)
	if err != nil {
		return nil, guard.Info{}, err
	}
	g, err := compileGlobs(w, a.Path, "glob", a.Glob)
	if err != nil {
		return nil, guard.Info{}, err
	}
	info, err := searchRoot(ctx, w, a.Path)
	if err != nil {
		return nil, info, err
	}
	return &search{matcher: m, globs: g, root: info.Path, context: a.Context, most: a.MaxResults}, info, nil
}

func planGrep(ctx context.Context, w *toolkit.Workspace, a grepArgs) (toolkit.Plan, error) {
	_, info, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Plan{}, err
	}
	summary := fmt.Sprintf("%q%s", a.Pattern, in(info.Path))
	if a.Glob != "" {
		summary += " " + a.Glob
	}
	return reads(info.Path, "%s", summary), nil
}

func runGrep(ctx context.Context, w *toolkit.Workspace, a grepArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	s, info, err := a.begin(ctx, w)
	if err != nil {
		return toolkit.Result{}, err
	}
	if info.IsDir() {
		err = s.walk(ctx, w.Files)
	} else {
		err = s.single(w.Files, info.Path)
	}
	if err != nil {
		return toolkit.Result{}, explain(ctx, w, a.Path, err)
	}
	return grepResult(s, a, budget(w)), nil
}

// grepReserve is what the closing lines of the text may need of the budget.
const grepReserve = 400

func grepResult(s *search, a grepArgs, room int) toolkit.Result {
	d := Matches{Matches: []Match{}, Total: s.total, FilesSearched: s.files}
	var b strings.Builder
	room -= grepReserve
	all := s.sorted()
	var shownTo place
	for i, m := range all {
		var next *Match
		if i+1 < len(all) {
			next = &all[i+1]
		}
		text, to := matchText(m, next, shownTo, a.Context)
		if b.Len()+len(text) > room && i > 0 {
			break
		}
		b.WriteString(text)
		shownTo = to
		d.Matches = append(d.Matches, m)
	}
	shown := len(d.Matches)
	d.Truncated = shown < d.Total
	res := toolkit.Result{}
	switch {
	case d.Total == 0:
		fmt.Fprintf(&b, "no matches for %q in %s%s", a.Pattern, plural(d.FilesSearched, "file", "files"), in(s.root))
		if d.FilesSearched == 0 && a.Glob != "" {
			fmt.Fprintf(&b, "; no file there matches %q", a.Glob)
		}
		b.WriteString(".\n")
	case d.Truncated:
		hint := "narrow the pattern, or give path or glob"
		fmt.Fprintf(&b, "[%d of %d matches shown; %s]\n", shown, d.Total, hint)
		res.Cut = &toolkit.Truncated{Shown: shown, Total: d.Total, Unit: "matches", Hint: hint}
	default:
		fmt.Fprintf(&b, "[%s, %s searched]\n", plural(d.Total, "match", "matches"), plural(d.FilesSearched, "file", "files"))
	}
	for _, n := range s.notes(d.Total == 0) {
		fmt.Fprintf(&b, "[%s]\n", n)
	}
	res.Text, res.Data = b.String(), d
	return res
}

// place is the last line that was written; the zero value is none.
type place struct {
	file string
	line int
}

// matchText writes a match with the lines around it that were not written yet,
// and leaves the line of the next match to that one: the contexts of
// neighbours are merged, as grep does it. It returns the last line written.
func matchText(m Match, next *Match, shown place, around int) (string, place) {
	if shown.file != m.File {
		shown.line = 0
	}
	var b strings.Builder
	first := m.Line - len(m.Before)
	if around > 0 && shown.file != "" && (shown.file != m.File || first > shown.line+1) {
		b.WriteString("--\n")
	}
	for i, l := range m.Before {
		if n := first + i; n > shown.line {
			fmt.Fprintf(&b, "%s-%d- %s\n", m.File, n, l)
		}
	}
	fmt.Fprintf(&b, "%s:%d: %s\n", m.File, m.Line, m.Content)
	last := m.Line
	for _, l := range m.After {
		if next != nil && next.File == m.File && last+1 == next.Line {
			break
		}
		last++
		fmt.Fprintf(&b, "%s-%d- %s\n", m.File, last, l)
	}
	return b.String(), place{m.File, last}
}

// single searches one file that was named.
func (s *search) single(f *guard.FS, rel string) error {
	data, _, more, err := f.ReadFile(rel, maxSearched)
	if err != nil {
		return err
	}
	s.files = 1
	if guard.IsBinary(data) {
		s.files, s.binary = 0, 1
		return nil
	}
	if more {
		s.large++
	}
	s.globs = &globs{} // the file was named
	s.take(rel, data)
	return nil
}
