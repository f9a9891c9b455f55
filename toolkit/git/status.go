package git

import (
	"context"
	"fmt"
	"strings"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Marks is Status for what nobody asked for: it runs git only in a repository
// whose configuration names no programs and leads to no other files. Another
// one is an *Unsafe.
func Marks(ctx context.Context, run *guard.Runner, dir string) (*State, error) {
	found, err := hostileSettings(run, dir)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, &Unsafe{"its settings name programs or other files: " + strings.Join(found, ", ")}
	}
	return Status(ctx, run, dir)
}

// Status reads the state of the work tree that holds a folder of the
// workspace, "" for the workspace itself. Paths in it are relative to that
// folder, and only what is below it is listed. A folder in no repository is a
// *NoRepository.
func Status(ctx context.Context, run *guard.Runner, dir string) (*State, error) {
	r, err := open(ctx, run, dir)
	if err != nil {
		return nil, err
	}
	// A submodule would be asked by a git of its own, with its own settings.
	out, err := r.git(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".")
	if err != nil {
		return nil, err
	}
	return parseStatus(string(out), r.prefix)
}

type statusArgs struct {
	Path  string `json:"path,omitempty" alias:"directory,dir,repo,cwd"`
	Short bool   `json:"short,omitempty" default:"false"`
}

// Listing is the data of git_status. Its lists are bounded; Output is the text.
type Listing struct {
	*State
	Output string `json:"output"`
}

// StatusTool shows the branch and the changed files.
func StatusTool() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "git_status",
		Summary:    "Show the git branch and changed files.",
		Category:   "git",
		Level:      toolkit.Safe,
		Tier:       tiers.Essential,
		ReadOnly:   true,
		Idempotent: true,
	}, planStatus, runStatus, toolkit.AvailableIf(Available))
}

func planStatus(_ context.Context, w *toolkit.Workspace, a statusArgs) (toolkit.Plan, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Plan{}, err
	}
	return careful(w, dir, toolkit.Plan{
		Summary: dir,
		Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: dir}},
	})
}

// folder resolves the path of a repository's folder, "" for the workspace.
func folder(w *toolkit.Workspace, given string) (string, error) {
	if given == "" {
		return ".", nil
	}
	info, err := w.Files.Stat(given)
	if err != nil {
		return "", explain(given, err)
	}
	if !info.IsDir() {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "path %q is a file, not a folder.", given).
			WithHint("Leave path out for the project folder.")
	}
	return info.Path, nil
}

func runStatus(ctx context.Context, w *toolkit.Workspace, a statusArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	dir, err := folder(w, a.Path)
	if err != nil {
		return toolkit.Result{}, err
	}
	if err := unchanged(w, dir, p); err != nil {
		return toolkit.Result{}, err
	}
	s, err := Status(ctx, w.Proc, dir)
	if err != nil {
		return toolkit.Result{}, explain(dir, err)
	}
	text := s.long()
	if a.Short {
		text = s.short()
	}
	shown, cut := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "ask about one folder with path")
	return toolkit.Result{Text: shown, Data: Listing{s.bounded(), shown}, Cut: cut}, nil
}

// maxListed bounds each list in the data.
const maxListed = 1000

// bounded is the state with lists that a screen can hold.
func (s *State) bounded() *State {
	b := *s
	b.Staged = b.Staged[:min(len(b.Staged), maxListed)]
	b.Unstaged = b.Unstaged[:min(len(b.Unstaged), maxListed)]
	b.Untracked = b.Untracked[:min(len(b.Untracked), maxListed)]
	b.Conflicts = b.Conflicts[:min(len(b.Conflicts), maxListed)]
	return &b
}

// branchLine says where the work tree stands.
func (s *State) branchLine() string {
	line := "on branch " + s.Branch
	if s.NoCommits {
		line += ", no commits yet"
	}
	if s.Upstream == "" {
		return line + ", no upstream"
	}
	line += ", upstream " + s.Upstream
	switch {
	case s.Ahead > 0 && s.Behind > 0:
		return fmt.Sprintf("%s, %d ahead and %d behind", line, s.Ahead, s.Behind)
	case s.Ahead > 0:
		return fmt.Sprintf("%s, %d ahead", line, s.Ahead)
	case s.Behind > 0:
		return fmt.Sprintf("%s, %d behind", line, s.Behind)
	}
	return line + ", up to date"
}

func (s *State) long() string {
	var b strings.Builder
	b.WriteString(s.branchLine() + "\n")
	if s.Clean() {
		b.WriteString("nothing changed\n")
		return b.String()
	}
	section := func(title string, n int, line func(int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&b, "%s (%d):\n", title, n)
		for i := range n {
			b.WriteString("  " + line(i) + "\n")
		}
	}
	section("conflicts", len(s.Conflicts), func(i int) string { return s.Conflicts[i] })
	section("staged", len(s.Staged), func(i int) string { return s.Staged[i].line() })
	section("changed, not staged", len(s.Unstaged), func(i int) string { return s.Unstaged[i].line() })
	section("new, untracked", len(s.Untracked), func(i int) string { return s.Untracked[i] })
	return b.String()
}

func (f File) line() string {
	if f.From != "" {
		return fmt.Sprintf("%s: %s -> %s", f.Kind, f.From, f.Path)
	}
	return f.Kind + ": " + f.Path
}

// short is the listing of git status -s -b: two letters and a path.
func (s *State) short() string {
	var b strings.Builder
	b.WriteString("## " + s.branchLine() + "\n")
	letters := map[string]string{
		"modified": "M", "added": "A", "deleted": "D", "renamed": "R", "copied": "C", "type changed": "T",
	}
	staged := map[string]bool{}
	unstaged := map[string]string{}
	for _, f := range s.Unstaged {
		unstaged[f.Path] = letters[f.Kind]
	}
	for _, f := range s.Staged {
		staged[f.Path] = true
		y := unstaged[f.Path]
		if y == "" {
			y = " "
		}
		name := f.Path
		if f.From != "" {
			name = f.From + " -> " + f.Path
		}
		fmt.Fprintf(&b, "%s%s %s\n", letters[f.Kind], y, name)
	}
	for _, f := range s.Unstaged {
		if !staged[f.Path] {
			fmt.Fprintf(&b, " %s %s\n", letters[f.Kind], f.Path)
		}
	}
	for _, p := range s.Conflicts {
		fmt.Fprintf(&b, "UU %s\n", p)
	}
	for _, p := range s.Untracked {
		fmt.Fprintf(&b, "?? %s\n", p)
	}
	return b.String()
}
