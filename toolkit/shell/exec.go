// Package shell has the tools that run commands: at once, in the background, and
// in an interpreter that remembers.
//
// It guarantees: what was analysed is what runs: the text that the plan shows is
// passed to bash as one argument, and bash and the programs that the text names
// are the files that they were when the plan was made; a command that was not
// proven to only read is dangerous; what it names by a literal path is held
// against the floor before anything runs; it runs in a folder of the workspace, in a clean environment, without a terminal or
// input, and its whole process tree is gone when the call ends. What stays in the
// background, and an interpreter between two calls, belongs to one session, is
// in its table of jobs, and is gone with it.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/guard/command"
)

// moveAfter is when a command that is waited for moves to the background: long
// enough for most builds and tests, short enough that a server somebody started
// by mistake does not hold up the turn until its timeout.
var moveAfter = 2 * time.Minute

// The codes of a command's failures.
const (
	CodeExit  toolkit.Code = "EXIT_ERROR"
	CodeSpawn toolkit.Code = "SPAWN_ERROR"
	CodeFlood toolkit.Code = "OUTPUT_LIMIT"
)

const (
	maxSeconds = 3600      // larger timeouts are milliseconds
	keepOutput = 512 << 10 // bytes kept of a command's output
	keepData   = 32 << 10  // characters of each stream in the data
)

type execArgs struct {
	Command    string            `json:"command" min:"1" alias:"cmd,script,commands,code,shell_command"`
	Workdir    string            `json:"workdir,omitempty" alias:"cwd,dir,directory,working_directory,working_dir"`
	Timeout    int               `json:"timeout,omitempty" doc:"seconds" default:"300" min:"1" max:"3600000" alias:"timeout_seconds,timeout_ms"`
	Background bool              `json:"background,omitempty" doc:"do not wait; for servers" default:"false" alias:"run_in_background,is_background"`
	Env        map[string]string `json:"env,omitempty" alias:"environment"`
	PTY        bool              `json:"pty,omitempty" default:"false"`
}

// limit is the timeout as a duration.
func (a execArgs) limit() time.Duration {
	if a.Timeout > maxSeconds {
		return time.Duration(a.Timeout) * time.Millisecond
	}
	return time.Duration(a.Timeout) * time.Second
}

// Executed is the data of exec. LogPath is empty: the output is kept with the
// call, in the store.
type Executed struct {
	Status     string `json:"status"` // completed, failed, timeout, killed, running
	ExitCode   int    `json:"exit_code"`
	Signal     string `json:"signal"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	DurationMS int64  `json:"duration_ms"`
	TimedOut   bool   `json:"timed_out"`
	SessionID  string `json:"session_id"`
	LogPath    string `json:"log_path"`
}

// Exec runs a shell command.
func Exec() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "exec",
		Foreign:  true,
		Summary:  "Run a shell command in the project folder.",
		Category: "execution",
		Level:    toolkit.Dangerous,
		Tier:     tiers.Essential,
	}, planExec, runExec, toolkit.AvailableIf(available))
}

func available(_ context.Context, w *toolkit.Workspace) error {
	_, _, err := findShell(w.Proc)
	return err
}

// findShell returns the shell and the arguments before the command. Start-up
// files are not read: they belong to the person's own sessions.
func findShell(run *guard.Runner) (guard.Program, []string, error) {
	if p, err := run.LookPath("bash"); err == nil {
		return p, []string{p.Path, "--norc", "--noprofile", "-c"}, nil
	}
	p, err := run.LookPath("sh")
	if err != nil {
		return p, nil, fmt.Errorf("no shell was found: %w", err)
	}
	return p, []string{p.Path, "-c"}, nil
}

const factProgram = "program"

func programFact(p guard.Program) toolkit.Fact {
	return toolkit.Fact{Kind: factProgram, Target: p.Path, Value: fmt.Sprintf("%s %d bytes %d", p.Real, p.Size, p.ModTime.UnixNano())}
}

func planExec(ctx context.Context, w *toolkit.Workspace, a execArgs) (toolkit.Plan, error) {
	if strings.TrimSpace(a.Command) == "" {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "command is empty.").WithHint("Give a shell command, like ls.")
	}
	env := make([]string, 0, len(a.Env))
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if err := guard.CheckEnv(name, a.Env[name]); err != nil {
			return toolkit.Plan{}, err
		}
		env = append(env, name+"="+a.Env[name])
	}
	dir := ""
	if a.Workdir != "" {
		info, err := w.Files.Stat(a.Workdir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "workdir %q does not exist.", a.Workdir).
				WithHint("Leave workdir out for the project folder.")
		case err != nil:
			return toolkit.Plan{}, err
		case !info.IsDir():
			return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeInvalid, "workdir %q is a file, not a folder.", a.Workdir)
		}
		if dir = info.Path; dir == "." {
			dir = ""
		}
	}
	prog, _, err := findShell(w.Proc)
	if err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	j, err := judge(ctx, w, a.Command, dir)
	if err != nil {
		return toolkit.Plan{}, err
	}
	effects, facts, all := programs(w.Proc, j.report)
	switch {
	case !isBash(prog):
		j.doubt("there is no bash here, and other shells read some commands differently")
	case !all:
		j.doubt("a program in it was not found")
	case len(env) > 0:
		j.doubt("it gets an environment of its own")
	case a.Background:
		j.doubt("it stays in the background")
	}
	p := toolkit.Plan{
		Summary:  oneLine(j.report.Run),
		Effects:  append([]toolkit.Effect{{Kind: toolkit.Runs, Target: prog.Path}}, effects...),
		Preview:  toolkit.Preview{Kind: toolkit.PreviewCommand, Command: j.report.Run, Program: prog.Path, Dir: dir, Env: env},
		Facts:    slices.Concat([]toolkit.Fact{programFact(prog)}, facts, scripts(w, j.report, dir)),
		Deadline: a.limit(), Asks: j.asks, Outside: j.outside,
	}
	if a.Background {
		p.Preview.Notes = append(p.Preview.Notes, fmt.Sprintf("runs in the background, for %s at most", a.limit()))
		p.Deadline = 0
	}
	if j.readOnly {
		p.ReadOnly = true
		p = p.AtLevel(toolkit.Moderate)
	} else {
		p.Preview.Notes = append(p.Preview.Notes, "not proven to only read: "+j.why)
	}
	if level := w.Proc.Level(); level != "" {
		p.Preview.Notes = append(p.Preview.Notes, "runs in the sandbox: "+level)
	}
	return p.WithPrivate(prog), nil
}

func isBash(p guard.Program) bool { return filepath.Base(p.Path) == "bash" }

func oneLine(command string) string { return strings.Join(strings.Fields(command), " ") }

func runExec(ctx context.Context, w *toolkit.Workspace, a execArgs, p toolkit.Plan, progress func(toolkit.Progress)) (toolkit.Result, error) {
	prog, argv, err := findShell(w.Proc)
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(CodeSpawn, "%w.", err)
	}
	text := p.Preview.Command
	r := command.Analyse(text, command.Options{})
	_, facts, _ := programs(w.Proc, r)
	if !slices.Equal(p.Facts, slices.Concat([]toolkit.Fact{programFact(prog)}, facts, scripts(w, r, p.Preview.Dir))) {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeChanged, "the shell %s, or a program or script in the command, is not the file that the plan showed.", prog.Path).
			WithHint("Call exec again.")
	}
	cmd := guard.Command{
		Argv: append(argv, text), Dir: p.Preview.Dir, Env: a.Env, Timeout: a.limit(),
		MaxOutput: keepOutput, PTY: a.PTY, Program: &prog,
	}
	if a.Background {
		return start(ctx, w, cmd, text)
	}
	if a.limit() > moveAfter {
		cmd.BackgroundAfter = moveAfter
	}
	lines := &lineProgress{report: progress}
	cmd.OnOutput = lines.write
	exit, err := w.Proc.Run(ctx, cmd)
	lines.close()
	if err != nil {
		return toolkit.Result{}, spawnError(err)
	}
	if exit.Reason == guard.Background {
		if w.Jobs != nil {
			if err := w.Jobs.Keep(&guard.Job{Process: exit.Process, Kind: guard.JobCommand, What: text}); err != nil {
				return toolkit.Result{}, spawnError(err)
			}
		}
		return moved(w, a, exit), nil
	}
	return foreground(a, exit)
}

// moved is the result of a command that still runs.
func moved(w *toolkit.Workspace, a execArgs, exit guard.Exit) toolkit.Result {
	took := exit.Duration.Round(time.Second)
	d := Executed{Status: "running", ExitCode: -1, SessionID: exit.Process.ID, DurationMS: exit.Duration.Milliseconds(), Stdout: stream(exit.Stdout), Stderr: stream(exit.Stderr)}
	text := plain(exit.Output.String())
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += fmt.Sprintf("[still running after %s: moved to the background as session %s; it is stopped after %s in all]", took, exit.Process.ID, a.limit())
	if w.Jobs != nil {
		text += follow
	}
	return toolkit.Result{Text: text, Data: &d}
}

func spawnError(err error) error {
	var changed *guard.Changed
	if errors.As(err, &changed) {
		return toolkit.Errorf(toolkit.CodeChanged, "the shell changed since the call was planned: %w.", err).WithHint("Call exec again.")
	}
	return toolkit.Errorf(CodeSpawn, "the command could not be started: %w.", err)
}

// follow tells a model how to see what became of a background command.
const follow = " Look at it with exec_status, stop it with exec_kill."

// start runs a command in the background.
func start(ctx context.Context, w *toolkit.Workspace, cmd guard.Command, what string) (toolkit.Result, error) {
	var proc *guard.Process
	var err error
	hint := ""
	if w.Jobs == nil { // outside of a session it lives as long as the program
		proc, err = w.Proc.Start(ctx, cmd)
	} else {
		job := &guard.Job{Kind: guard.JobCommand, What: what}
		err = w.Jobs.Start(ctx, w.Proc, cmd, job)
		proc, hint = job.Process, follow
	}
	if err != nil {
		return toolkit.Result{}, spawnError(err)
	}
	d := Executed{Status: "running", ExitCode: -1, SessionID: proc.ID}
	text := fmt.Sprintf("Started in the background as session %s (process %d). It is stopped after %s.%s", proc.ID, proc.PID(), cmd.Timeout, hint)
	return toolkit.Result{Text: text, Data: &d}, nil
}

// foreground turns the end of a command into a result.
func foreground(a execArgs, exit guard.Exit) (toolkit.Result, error) {
	d := Executed{
		Status: "completed", ExitCode: exit.Code, Signal: exit.Signal, DurationMS: exit.Duration.Milliseconds(),
		Stdout: stream(exit.Stdout), Stderr: stream(exit.Stderr),
	}
	took := exit.Duration.Round(10 * time.Millisecond)
	res := toolkit.Result{Text: plain(exit.Output.String()), Data: &d}
	if exit.Output.Dropped > 0 {
		res.Cut = &toolkit.Truncated{
			Shown: int(exit.Output.Total - exit.Output.Dropped), Total: int(exit.Output.Total), Unit: "bytes",
			Hint: "run it again with its output in a file, and read that",
		}
	}
	if exit.Reason == guard.Exited && exit.Leftover > 0 {
		res.Text += fmt.Sprintf("[processes that it left behind were ended: %d; set background to true to keep a server running]\n", exit.Leftover)
	}
	res.Text += exit.Distrust()
	var fault *toolkit.Error
	switch {
	case exit.Reason == guard.Exited && exit.Code == 0:
		if strings.TrimSpace(res.Text) == "" {
			res.Text = fmt.Sprintf("(no output; exit code 0 after %s)", took)
		}
		return res, nil
	case exit.Reason == guard.Exited:
		d.Status = "failed"
		fault = toolkit.Errorf(CodeExit, "the command ended with exit code %d.", exit.Code)
		switch exit.Code {
		case 127:
			fault = fault.WithHint("A program in it was not found.")
		case 126:
			fault = fault.WithHint("A program in it may not be executed.")
		default:
			if strings.TrimSpace(res.Text) == "" {
				fault = fault.WithHint("It printed nothing.")
			}
		}
	case exit.Reason == guard.TimedOut:
		d.Status, d.TimedOut = "timeout", true
		fault = toolkit.Errorf(toolkit.CodeTimeout, "the command did not end within %s and was stopped.", a.limit()).
			WithHint("Give a larger timeout, or set background to true for a server.")
	case exit.Reason == guard.OutputLimit:
		d.Status = "killed"
		fault = toolkit.Errorf(CodeFlood, "the command printed more than %d MiB and was stopped.", guard.DefaultOutputLimit>>20).
			WithHint("Send its output to a file, or filter it with head or grep.")
	case exit.Reason == guard.Cancelled:
		d.Status = "killed"
		fault = toolkit.Errorf(toolkit.CodeCancelled, "the command was stopped.")
	default:
		d.Status = "killed"
		fault = toolkit.Errorf(CodeExit, "the command was ended by a signal: %s.", exit.Signal).
			WithHint("Something else stopped it, or it ran out of memory.")
	}
	return res, fault
}

// stream is one stream for the data, bounded.
func stream(c guard.Captured) string {
	text, _ := toolkit.Bound(guard.ToText([]byte(c.String())), keepData, "")
	return text
}
