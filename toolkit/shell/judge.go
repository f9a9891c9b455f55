package shell

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/guard/command"
)

// judged is a command with what the workspace says of it.
type judged struct {
	report   command.Report
	outside  []string // what it names outside the workspace
	asks     []string // what deserves a question of its own
	readOnly bool
	why      string // why it is not proven to only read
}

// judge analyses a command and holds the paths it names against the floor. dir
// is where it runs, relative to the workspace. It has no effects.
func judge(ctx context.Context, w *toolkit.Workspace, text, dir string) (judged, error) {
	j := judged{report: command.Analyse(text, command.Options{})}
	r := &j.report
	switch {
	case r.Devices:
		return j, &guard.Denied{Op: "run", Path: text, Rule: guard.RuleScheme, Reason: r.Reasons[0]}
	case r.Class == command.Refused:
		return j, toolkit.Errorf(toolkit.CodeInvalid, "%s.", r.Reasons[0]).
			WithHint("Write it as an escape like \\r, leave it out, or split the command.")
	}
	if j.readOnly = r.Class == command.ReadOnly; !j.readOnly {
		j.why = r.Reasons[0]
	}
	for _, p := range r.Paths {
		forms := []string{p.Full()}
		// A shell's cd takes ".." by the names, a program by where links lead.
		logical := p
		if logical.Dir != "" {
			logical.Dir = path.Clean(p.Dir)
		}
		if p.Access == command.Enters {
			logical.Text = path.Clean(p.Text)
		}
		if other := logical.Full(); other != forms[0] {
			forms = append(forms, other)
		}
		for _, full := range forms {
			if err := j.path(w, p, below(dir, full)); err != nil {
				return j, err
			}
		}
	}
	for _, t := range r.Trees {
		if j.readOnly {
			j.tree(ctx, w, t, dir)
		}
	}
	for _, a := range r.Env {
		if err := guard.CheckEnv(a.Name, a.Value.Text); err != nil {
			j.asks = append(j.asks, fmt.Sprintf("it sets %s, which decides which code programs load or run", a.Name))
		}
	}
	for _, d := range r.Dangers {
		j.asks = append(j.asks, "danger: "+d)
	}
	return j, nil
}

func (j *judged) doubt(format string, args ...any) {
	if j.readOnly {
		j.readOnly, j.why = false, fmt.Sprintf(format, args...)
	}
}

// path holds one path against the floor. What is protected is refused however
// it is named. What is outside the workspace is refused where the command is
// known to read it or the shell to open it, as the file tools refuse it; what
// would be written there by a program, or entered, is a question.
func (j *judged) path(w *toolkit.Workspace, p command.Path, full string) error {
	writes := p.Access == command.Writes
	err := w.Files.CheckNamed(full, writes)
	denied, refused := guard.AsDenied(err)
	switch {
	case !refused:
		j.inside(w, p, full)
	case denied.Rule != guard.RuleOutside:
		return err
	case p.Access == command.Mentions:
		// It may be a pattern, a URL's path, a flag: no path at all.
	case p.Sure && (p.Redirect || p.Access == command.Reads):
		return err
	default:
		j.doubt("%s is outside the workspace", full)
		verb := map[command.Access]string{command.Reads: "reads", command.Enters: "enters", command.Writes: "changes"}[p.Access]
		if why := fmt.Sprintf("it %s %s, outside the workspace", verb, full); !slices.Contains(j.outside, why) {
			j.outside = append(j.outside, why)
		}
	}
	return nil
}

// inside notes what a path inside the workspace means for the call.
func (j *judged) inside(w *toolkit.Workspace, p command.Path, full string) {
	if !p.Sure {
		j.doubt("where it looks for %s depends on a cd that may fail", p.Text)
	}
	switch p.Access {
	case command.Enters:
		if info, err := w.Files.Stat(full); err != nil || !info.IsDir() {
			j.doubt("%s is no folder now, so where the rest runs is not known", full)
		}
	case command.Writes:
		rel, err := w.Files.Rel(full)
		if err != nil {
			return
		}
		if reason, ok := guard.RunsLater(rel); ok {
			j.asks = append(j.asks, fmt.Sprintf("%s is not only data: %s", rel, reason))
		}
		if p.Redirect && p.Empties {
			if info, err := w.Files.Stat(full); err == nil && info.Mode.IsRegular() && info.Size > 0 {
				j.asks = append(j.asks, fmt.Sprintf("it overwrites %s, which has %d bytes", rel, info.Size))
			}
		}
	}
}

// maxTree bounds the look at what a recursive reader would read.
const maxTree = 20_000

// tree looks whether a program that reads every file below a folder would meet
// one that no tool may read.
func (j *judged) tree(ctx context.Context, w *toolkit.Workspace, t command.Tree, dir string) {
	root := below(dir, t.Path.Full())
	if root == "" {
		root = "."
	}
	info, err := w.Files.Stat(root)
	if err != nil || !info.IsDir() {
		return // a file was judged as a path; what is not there is not read
	}
	if t.Hidden {
		entries, more, err := w.Files.ReadDir(root, maxTree)
		if err != nil || more {
			j.doubt("what is below %s is not known", root)
			return
		}
		for _, e := range entries {
			if e.Name == ".git" {
				j.doubt("it reads git's own files below %s; name a folder", root)
				return
			}
		}
	}
	secret := ""
	stats, err := w.Files.Walk(ctx, guard.WalkOptions{Root: root, SkipHidden: !t.Hidden, MaxEntries: maxTree, Sorted: true}, func(e *guard.Entry) error {
		if e.Rule != "" {
			secret = e.Path
			return guard.ErrStopWalk
		}
		return nil
	})
	switch {
	case secret != "":
		j.doubt("it reads everything below %s, and %s is protected", root, secret)
	case err != nil || stats.Full || stats.TooDeep > 0 || stats.Failed > 0:
		j.doubt("there is more below %s than was looked at", root)
	}
}

// below puts a path that a command names below the folder it runs in.
func below(dir, p string) string {
	if dir == "" || strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	return dir + "/" + p
}

// programs returns the programs that a command starts, found as the shell finds
// them, as effects and facts. all reports that each was found.
func programs(run *guard.Runner, r command.Report) (effects []toolkit.Effect, facts []toolkit.Fact, all bool) {
	all = true
	seen := map[string]bool{}
	for _, p := range r.Programs {
		if p.Shell || p.Name == "" || seen[p.Name] {
			all = all && (p.Shell || p.Name != "")
			continue
		}
		seen[p.Name] = true
		prog, err := run.LookPath(p.Name)
		if err != nil {
			all = false
			continue
		}
		effects = append(effects, toolkit.Effect{Kind: toolkit.Runs, Target: prog.Path})
		facts = append(facts, programFact(prog))
	}
	return effects, facts, all
}
