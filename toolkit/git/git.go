// Package git has the tools that ask a repository, and the one way in which
// chela runs git.
//
// It guarantees that reading a repository runs no program that the repository
// names: no hook, file system monitor, pager, external diff, credential helper
// or content filter, whatever its configuration and attributes say. Its
// configuration is read without git first: where it names programs or leads to
// other files, a tool's plan says so and asks, and what nobody asked for, such
// as the marks of the file tree, does not run git at all. Argument
// lists are fixed here; nothing a model says becomes an option. Git never
// writes while reading and never waits for an answer.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

// The codes of git's failures.
const (
	CodeNoRepository toolkit.Code = "NOT_A_REPOSITORY"
	CodeFailed       toolkit.Code = "GIT_ERROR"
	CodeUnsafe       toolkit.Code = "UNSAFE_REPOSITORY"
)

// NoRepository reports that a folder is in no git repository.
type NoRepository struct{ Dir string }

// Error names the folder.
func (e *NoRepository) Error() string { return fmt.Sprintf("%s is in no git repository", e.Dir) }

// Unsafe reports a repository that is not read, because its configuration
// cannot be made harmless.
type Unsafe struct{ Reason string }

// Error says what is wrong with it.
func (e *Unsafe) Error() string { return "the repository is not read: " + e.Reason }

// Failure reports that git ended with an error.
type Failure struct {
	Command string // the subcommand
	Code    int
	Stderr  string // its first lines
}

// Error gives git's own words.
func (e *Failure) Error() string {
	return fmt.Sprintf("git %s failed with code %d: %s", e.Command, e.Code, e.Stderr)
}

// hardened are the settings that come before every subcommand. Settings on the
// command line win over every file.
var hardened = []string{
	"--no-pager", "--no-optional-locks", "--literal-pathspecs",
	"-c", "safe.bareRepository=explicit",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.attributesFile=/dev/null",
	"-c", "core.sshCommand=false",
	"-c", "core.askPass=false",
	"-c", "core.pager=cat",
	"-c", "core.editor=false",
	"-c", "core.alternateRefsCommand=false",
	"-c", "core.quotePath=false",
	"-c", "credential.helper=",
	"-c", "diff.external=",
	"-c", "gpg.program=false",
	"-c", "commit.gpgSign=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "log.showSignature=false",
	"-c", "protocol.ext.allow=never",
	"-c", "submodule.recurse=false",
	"-c", "color.ui=false",
	"-c", "advice.statusHints=false",
}

// ownSettings keep git away from settings other than the repository's own.
var ownSettings = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}

// quietly makes git ask nobody, and reach no other repository: one that was
// cloned in part would otherwise fetch what a diff lacks. Go's exec takes the
// last of two values, so these win.
var quietly = []string{
	"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
	"GIT_PROTOCOL_FROM_USER=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_MERGE_AUTOEDIT=no",
}

var environment = slices.Concat(ownSettings, quietly)

// gitTimeout ends a git that waits for something, such as a pipe that a
// repository includes as its settings.
const gitTimeout = time.Minute

// maxGitOutput is how many bytes of git's output are kept.
const maxGitOutput = 16 << 20

// repo is a repository that was looked at and found harmless to read.
type repo struct {
	run    *guard.Runner
	dir    string // as given, relative to the workspace
	top    string // absolute path of the top of the work tree
	prefix string // from the top of the work tree to dir, with a slash at the end; "" at the top
	quiet  []string
}

// open looks at the repository that holds a folder. It runs git only to read
// names and settings.
func open(ctx context.Context, run *guard.Runner, dir string) (*repo, error) {
	r := &repo{run: run, dir: dir}
	out, err := r.git(ctx, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 2 { // a folder with a line end in its name
		return nil, &Failure{"rev-parse", 0, fmt.Sprintf("unexpected answer %q", out)}
	}
	r.top, r.prefix = lines[0], lines[1]
	if !r.holds(lines[0]) {
		return nil, &Unsafe{"its work tree is set to another place, " + lines[0]}
	}
	if r.quiet, err = r.filters(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// holds reports whether the folder is inside the work tree whose top this is:
// a repository can name any place of the machine as its work tree.
func (r *repo) holds(top string) bool {
	rel, err := filepath.Rel(top, filepath.Join(r.run.Dir(), filepath.FromSlash(r.dir)))
	return err == nil && filepath.IsLocal(rel)
}

// filters returns settings that switch off every content filter which the
// repository's configuration names: status compares files through them.
func (r *repo) filters(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	var quiet []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		rest, ok := strings.CutPrefix(name, "filter.")
		dot := strings.LastIndexByte(rest, '.')
		if !ok || dot < 0 || seen[rest[:dot]] {
			continue
		}
		driver := rest[:dot]
		seen[driver] = true
		if strings.ContainsAny(driver, "=\n") {
			return nil, &Unsafe{fmt.Sprintf("the name of its content filter %q cannot be switched off", driver)}
		}
		for _, key := range []string{"clean", "smudge", "process"} {
			quiet = append(quiet, "-c", "filter."+driver+"."+key+"=")
		}
		quiet = append(quiet, "-c", "filter."+driver+".required=false")
	}
	return quiet, nil
}

// git runs one subcommand and returns what it printed.
func (r *repo) git(ctx context.Context, args ...string) ([]byte, error) {
	out, _, err := r.do(ctx, invocation{args: args})
	return out, err
}

// invocation is one run of git.
type invocation struct {
	args    []string
	stdin   []byte
	config  []string      // further settings, each name=value; they win over the fixed ones
	env     []string      // in place of environment
	also    []string      // further variables; they win
	timeout time.Duration // 0: gitTimeout
	magic   bool          // git gives itself paths with magic, as stash does; no path here is a caller's
}

// do runs git and returns what it printed on both streams.
func (r *repo) do(ctx context.Context, c invocation) (stdout []byte, stderr string, err error) {
	argv := append([]string{"git"}, hardened...)
	if c.magic {
		argv = slices.DeleteFunc(argv, func(a string) bool { return a == "--literal-pathspecs" })
	}
	argv = append(argv, r.quiet...)
	for _, kv := range c.config {
		argv = append(argv, "-c", kv)
	}
	argv = append(argv, c.args...)
	if c.env == nil {
		c.env = environment
	}
	timeout := cmp.Or(c.timeout, gitTimeout)
	exit, err := r.run.Run(ctx, guard.Command{
		Argv: argv, Dir: r.dir, Stdin: c.stdin, OwnEnv: slices.Concat(c.env, c.also), MaxOutput: 2 * maxGitOutput, Timeout: timeout,
	})
	if err != nil {
		return nil, "", err
	}
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	stderr = strings.TrimSpace(guard.ToText(exit.Stderr.Head))
	failed := func(why string) error {
		return &Failure{Command: c.args[0], Code: exit.Code, Stderr: why}
	}
	switch {
	case exit.Reason == guard.Exited && exit.Code == 0 && exit.Stdout.Dropped == 0:
		return append(exit.Stdout.Head, exit.Stdout.Tail...), stderr, nil
	case strings.Contains(stderr, "not a git repository"), strings.Contains(stderr, "must be run in a work tree"):
		return nil, stderr, &NoRepository{r.shown()}
	case strings.Contains(stderr, "dubious ownership"):
		return nil, stderr, &Unsafe{"it belongs to another user; run chela as that user, or change its owner"}
	case strings.Contains(stderr, "cannot use bare repository"):
		return nil, stderr, &Unsafe{"it is a bare repository inside the project"}
	case exit.Reason == guard.TimedOut:
		return nil, stderr, failed(fmt.Sprintf("it did not end within %s", timeout))
	case exit.Stdout.Dropped > 0:
		return nil, stderr, fmt.Errorf("%w: %w", errFlood, failed(fmt.Sprintf("it printed %d bytes, too many to read", exit.Stdout.Total)))
	}
	if stderr == "" { // some commands say on stdout why they fail
		stderr = strings.TrimSpace(guard.ToText(exit.Stdout.Head))
	}
	short := stderr
	if len(short) > maxStderr {
		short = strings.ToValidUTF8(short[:maxStderr], "")
	}
	return nil, stderr, failed(short)
}

// maxStderr bounds what is repeated of git's own words.
const maxStderr = 800

// errFlood reports output beyond maxGitOutput.
var errFlood = errors.New("too much output")

// refused reports whether git ended with this code, as it does to say no.
func refused(err error, code int) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.Code == code
}

func (r *repo) shown() string {
	if r.dir == "" || r.dir == "." {
		return "the project folder"
	}
	return r.dir
}

// explain turns a failure into an error for the model.
func explain(dir string, err error) error {
	var none *NoRepository
	var unsafe *Unsafe
	var failed *Failure
	switch {
	case errors.As(err, &none):
		return toolkit.Errorf(CodeNoRepository, "%w.", err).WithHint("Git tools do not work here. Go on without them.")
	case errors.As(err, &unsafe):
		return toolkit.Errorf(CodeUnsafe, "%w.", err).WithHint("Tell the user.")
	case errors.As(err, &failed):
		return toolkit.Errorf(CodeFailed, "%w.", err)
	case errors.Is(err, fs.ErrNotExist):
		return toolkit.Errorf(toolkit.CodeInvalid, "there is no folder %q.", dir).WithHint("Leave path out for the project folder.")
	}
	return err
}

// careful is the plan of a git tool in a folder: where the repository's settings
// name programs or other files, it says so, is dangerous, and asks. Every git
// tool makes its plan through it, and relies on what it saw.
func careful(w *toolkit.Workspace, dir string, p toolkit.Plan) (toolkit.Plan, error) {
	found, err := hostileSettings(w.Proc, dir)
	if err != nil {
		return toolkit.Plan{}, explain(dir, err)
	}
	if len(found) == 0 {
		return p, nil
	}
	p.Asks = append(p.Asks, "the repository's settings name programs or other files, which are switched off for this: "+strings.Join(found, ", "))
	said := "settings of the repository: " + strings.Join(found, ", ")
	if p.Preview.Text != "" {
		said += "\n\n" + p.Preview.Text
	}
	p.Preview.Kind, p.Preview.Text = toolkit.PreviewText, said
	p.Facts = append(p.Facts, toolkit.Fact{Kind: factSettings, Target: dir, Value: strings.Join(found, ", ")})
	return p.AtLevel(toolkit.Dangerous), nil
}

const factSettings = "git-settings"

// unchanged refuses to run when the repository's settings are not those that the
// plan spoke of.
func unchanged(w *toolkit.Workspace, dir string, p toolkit.Plan) error {
	found, err := hostileSettings(w.Proc, dir)
	if err != nil {
		return explain(dir, err)
	}
	said := ""
	for _, f := range p.Facts {
		if f.Kind == factSettings {
			said = f.Value
		}
	}
	if strings.Join(found, ", ") != said {
		return toolkit.Errorf(toolkit.CodeChanged, "the repository's settings changed since the call was planned.").WithHint("Call the tool again.")
	}
	return nil
}

// Available returns nil if git is installed.
func Available(_ context.Context, w *toolkit.Workspace) error {
	_, err := w.Proc.LookPath("git")
	return err
}
