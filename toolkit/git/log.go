package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

type logArgs struct {
	Path    string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
	Count   int    `json:"count,omitempty" default:"10" min:"1" max:"200" alias:"limit,n,max_count"`
	Oneline bool   `json:"oneline,omitempty" default:"true" alias:"short"`
	Author  string `json:"author,omitempty"`
	Since   string `json:"since,omitempty" doc:"yesterday, 2026-01-31" alias:"after"`
	File    string `json:"file,omitempty" alias:"file_path,filePath,filename"`
}

// Commit is one commit of a history.
type Commit struct {
	Hash    string `json:"hash"` // full
	Author  string `json:"author"`
	Date    string `json:"date"` // RFC 3339, of the author
	Subject string `json:"subject"`
}

// entry is a commit with its message.
type entry struct {
	Commit
	body string // of the message, after the subject
}

// Logged is the data of git_log.
type Logged struct {
	Commits []Commit `json:"commits"`
	Output  string   `json:"output"`
}

// LogTool lists commits.
func LogTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "git_log",
		Summary:    "List commits, the newest first.",
		Category:   "git",
		Synonyms:   "history commits changelog",
		Level:      toolkit.Safe,
		Tier:       tiers.Standard,
		ReadOnly:   true,
		Idempotent: true,
		Foreign:    true,
	}, planLog, runLog, toolkit.AvailableIf(Available))
}

func planLog(_ context.Context, w *toolkit.Workspace, a logArgs) (toolkit.Plan, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	for name, value := range map[string]string{"author": a.Author, "since": a.Since} {
		if err := checkText(name, value); err != nil {
			return toolkit.Plan{}, err
		}
	}
	if _, err := pathsFor(w, dir, a.File); err != nil {
		return toolkit.Plan{}, err
	}
	return careful(w, dir, toolkit.Plan{Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: dir}}})
}

// maxWord bounds a text that becomes the value of one of git's options.
const maxWord = 1024

// checkText refuses control characters in a one-line argument.
func checkText(name, value string) error {
	if len(value) > maxWord || strings.ContainsFunc(value, unicode.IsControl) {
		return toolkit.Errorf(toolkit.CodeInvalid, "%s %q is no short line of text.", name, value).WithHint("Give plain words, or leave %s out.", name)
	}
	return nil
}

func runLog(ctx context.Context, w *toolkit.Workspace, a logArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	r, err := start(ctx, w, dir, p)
	if err != nil {
		return toolkit.Result{}, err
	}
	only, err := pathsFor(w, dir, a.File)
	if err != nil {
		return toolkit.Result{}, err
	}
	h, err := r.head(ctx)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	if h.commit == "" {
		text := "no commits yet\n"
		return toolkit.Result{Text: text, Data: Logged{[]Commit{}, text}}, nil
	}
	if len(only) == 0 && r.prefix != "" {
		only = []string{"."} // a folder's history is that of what is below it
	}
	args := []string{"--fixed-strings", "--regexp-ignore-case"}
	if a.Author != "" {
		args = append(args, "--author="+a.Author)
	}
	if a.Since != "" {
		args = append(args, "--since="+strings.Trim(a.Since, `"'`))
	}
	commits, err := r.commits(ctx, a.Count, append(args, h.commit), only)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	var b strings.Builder
	list := make([]Commit, 0, len(commits))
	for _, c := range commits {
		list = append(list, c.Commit)
		b.WriteString(c.text(a.Oneline))
	}
	if len(commits) == 0 {
		b.WriteString("no commits match\n")
	}
	if len(commits) == a.Count {
		fmt.Fprintf(&b, "[the newest %d; a larger count shows more]\n", a.Count)
	}
	text, cut := toolkit.Bound(b.String(), min(w.OutputBudget(), toolkit.MaxBudget), "ask for fewer with count, since or file")
	return toolkit.Result{Text: text, Data: Logged{list, text}, Cut: cut}, nil
}

func (c entry) text(oneline bool) string {
	day, _, _ := strings.Cut(c.Date, "T")
	if oneline {
		return fmt.Sprintf("%s %s %s (%s)\n", c.short(), day, c.Subject, c.Author)
	}
	text := fmt.Sprintf("commit %s\n%s, %s\n\n    %s\n", c.Hash, c.Author, c.Date, c.Subject)
	if c.body != "" {
		text += "\n    " + strings.ReplaceAll(c.body, "\n", "\n    ") + "\n"
	}
	return text + "\n"
}

func (c Commit) short() string { return c.Hash[:min(len(c.Hash), 9)] }

// commits lists at most so many commits. The arguments are fixed options and
// full ids; paths go behind --.
func (r *repo) commits(ctx context.Context, count int, args, paths []string) ([]entry, error) {
	full := append([]string{
		"log", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--no-mailmap", "--encoding=UTF-8", "--no-notes",
		"--max-count=" + strconv.Itoa(count), "--format=%H%x1f%an%x1f%aI%x1f%s%x1f%b",
	}, args...)
	out, err := r.git(ctx, append(append(full, "--"), paths...)...)
	if err != nil {
		return nil, err
	}
	return parseLog(string(out))
}

// parseLog reads the commits of git log in the format of commits.
func parseLog(out string) ([]entry, error) {
	list := []entry{}
	for rec := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if rec == "" {
			continue
		}
		f := strings.SplitN(rec, "\x1f", 5)
		if len(f) != 5 || !objectID(f[0]) {
			return nil, fmt.Errorf("git log: the record %.200q is not understood", rec)
		}
		for i := range f {
			f[i] = guard.ToText([]byte(f[i]))
		}
		list = append(list, entry{Commit{f[0], f[1], f[2], f[3]}, strings.TrimSpace(f[4])})
	}
	return list, nil
}
