package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// FileDiff is one file of a comparison.
type FileDiff struct {
	Path      string `json:"path"` // relative to the folder that was asked about
	Kind      string `json:"kind"` // modified, added, deleted, renamed, type changed, conflict
	From      string `json:"from,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Binary    bool   `json:"binary,omitempty"`
	Hidden    bool   `json:"hidden,omitempty"` // a file of secrets: its text is not shown
}

func (f FileDiff) line() string {
	text := File{f.Path, f.Kind, f.From}.line()
	switch {
	case f.Hidden:
		return text + ", not shown: it holds secrets"
	case f.Binary:
		return text + ", binary"
	}
	return fmt.Sprintf("%s +%d -%d", text, f.Additions, f.Deletions)
}

// plainDiff makes a diff the same in every repository, and runs no program.
var plainDiff = []string{
	"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
	"--submodule=short", "--ignore-submodules=dirty", "--relative",
}

// patchDiff makes a diff print the text, with full ids of what is in the files.
var patchDiff = []string{"--patch", "--full-index", "--unified=3", "--inter-hunk-context=0"}

// comparison says what is compared: the index or the work tree with a commit, or
// two commits. Ids are full, so nothing in it comes from a caller as it is.
type comparison struct {
	cached bool
	ids    []string
}

func (c comparison) args(format ...string) []string {
	args := append(append([]string{"diff", "--find-renames"}, plainDiff...), format...)
	if c.cached {
		args = append(args, "--cached")
	}
	return append(args, c.ids...)
}

// difference is the outcome of a comparison.
type difference struct {
	files   []FileDiff
	patch   string
	tooLong bool // the patch is too long to read, and left out
}

// compare compares what is below r.dir, or only some paths of it. The text of
// files that hold secrets is left out.
func (r *repo) compare(ctx context.Context, w *toolkit.Workspace, c comparison, only ...string) (difference, error) {
	var d difference
	out, err := r.git(ctx, append(append(c.args("--raw", "--numstat", "--no-abbrev", "-z"), "--"), only...)...)
	if err != nil {
		return d, err
	}
	if d.files, err = parseDiffList(string(out)); err != nil {
		return d, err
	}
	hidden := false
	var shown []string
	for i := range d.files {
		f := &d.files[i]
		if f.Hidden = r.secret(w, f.Path) || f.From != "" && r.secret(w, f.From); f.Hidden {
			hidden = true
			continue
		}
		shown = append(shown, f.Path)
		if f.From != "" {
			shown = append(shown, f.From)
		}
	}
	if len(shown) == 0 {
		return d, nil
	}
	if hidden {
		only = shown
	}
	if len(only) > maxPaths {
		d.tooLong = true
		return d, nil
	}
	out, err = r.git(ctx, append(append(c.args(patchDiff...), "--"), only...)...)
	if d.tooLong = errors.Is(err, errFlood); d.tooLong {
		return d, nil
	}
	d.patch = guard.ToText(out)
	return d, err
}

// maxPaths bounds the paths of one command line.
const maxPaths = 2000

// secret reports whether the floor keeps a file from being read.
func (r *repo) secret(w *toolkit.Workspace, rel string) bool {
	denied, ok := guard.AsDenied(w.Files.CheckNamed(r.inWorkspace(rel), false))
	return ok && denied.Rule != guard.RuleOutside // a link is compared as a link
}

// sums are the added and removed lines of all files.
func (d difference) sums() (added, removed int) {
	for _, f := range d.files {
		added += f.Additions
		removed += f.Deletions
	}
	return added, removed
}

// list is the files in words, a line each.
func (d difference) list() string {
	added, removed := d.sums()
	var b strings.Builder
	fmt.Fprintf(&b, "%s, +%d -%d\n", plural(len(d.files), "file"), added, removed)
	for _, f := range d.files {
		b.WriteString("  " + f.line() + "\n")
	}
	return b.String()
}

// text is the list and the patch.
func (d difference) text() string {
	text := d.list()
	if d.tooLong {
		return text + "(the text of these changes is too long to show)\n"
	}
	if d.patch == "" {
		return text
	}
	return text + "\n" + d.patch
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "h") {
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// parseDiffList reads the output of diff --raw --numstat -z: a record for each
// file, and then its lines.
func parseDiffList(out string) ([]FileDiff, error) {
	files := []FileDiff{}
	at := map[string]int{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	next := func(i *int) (string, bool) {
		*i++
		if *i >= len(fields) || fields[*i] == "" {
			return "", false
		}
		return fields[*i], true
	}
	for i := 0; i < len(fields); i++ {
		rec := fields[i]
		bad := fmt.Errorf("git diff: the record %.200q is not understood", rec)
		if rec == "" {
			continue
		}
		if raw, ok := strings.CutPrefix(rec, ":"); ok {
			parts := strings.Fields(raw)
			if strings.HasPrefix(raw, ":") { // a merge of several: in conflict
				parts = []string{"", "", "", "", "U"}
			}
			if len(parts) != 5 {
				return nil, bad
			}
			name, ok := next(&i)
			if !ok {
				return nil, bad
			}
			letter := parts[4][0]
			f := FileDiff{Path: name, Kind: kinds[letter]}
			switch letter {
			case 'R', 'C':
				if f.Path, ok = next(&i); !ok {
					return nil, bad
				}
				f.From = name
			case 'U':
				f.Kind = "conflict"
			}
			if f.Kind == "" {
				f.Kind = "modified"
			}
			if old, seen := at[f.Path]; seen { // a conflict is listed twice
				files[old].Kind = "conflict"
				continue
			}
			at[f.Path] = len(files)
			files = append(files, f)
			continue
		}
		parts := strings.SplitN(rec, "\t", 3)
		if len(parts) != 3 {
			return nil, bad
		}
		name := parts[2]
		if name == "" {
			if _, ok := next(&i); !ok {
				return nil, bad
			}
			var ok bool
			if name, ok = next(&i); !ok {
				return nil, bad
			}
		}
		n, ok := at[name]
		if !ok {
			return nil, bad
		}
		f := &files[n]
		f.Binary = parts[0] == "-"
		f.Additions, _ = strconv.Atoi(parts[0]) // "-" of a binary file counts as 0
		f.Deletions, _ = strconv.Atoi(parts[1])
	}
	return slices.Clip(files), nil
}
