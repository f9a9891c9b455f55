//go:build unix

package guard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// bashRunner returns a door with a short grace, and skips without bash.
func bashRunner(t *testing.T, opts RunnerOptions) (*world, *Runner) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("bash is not installed: %v", err)
	}
	w := newWorld(t)
	if opts.KillGrace == 0 {
		opts.KillGrace = 300 * time.Millisecond
	}
	r := NewRunner(w.fs, opts)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, r
}

func bash(script string) []string {
	return []string{"bash", "--norc", "--noprofile", "-c", script}
}

func TestRun(t *testing.T) {
	w, r := bashRunner(t, RunnerOptions{})
	for name, c := range map[string]struct {
		cmd    Command
		code   int
		stdout string
		stderr string
	}{
		"streams":   {cmd: Command{Argv: bash("echo out; echo err >&2; exit 3")}, code: 3, stdout: "out\n", stderr: "err\n"},
		"directory": {cmd: Command{Argv: bash("pwd; cat b.txt"), Dir: "sub"}, stdout: w.dir + "/ws/sub\nbeta"},
		"no input":  {cmd: Command{Argv: bash("read x; echo $?")}, stdout: "1\n"},
		"no tty":    {cmd: Command{Argv: bash("(exec 3<>/dev/tty) 2>/dev/null || echo none")}, stdout: "none\n"},
		"input":     {cmd: Command{Argv: bash("cat"), Stdin: []byte("given")}, stdout: "given"},
		"env":       {cmd: Command{Argv: bash("echo $X $TERM $GIT_TERMINAL_PROMPT"), Env: map[string]string{"X": "1"}}, stdout: "1 dumb 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			exit, err := r.Run(t.Context(), c.cmd)
			if err != nil || exit.Reason != Exited || exit.Code != c.code || exit.Stdout.String() != c.stdout || exit.Stderr.String() != c.stderr {
				t.Errorf("Run = %+v, %v\nstdout %q\nstderr %q", exit.Reason, err, exit.Stdout, exit.Stderr)
			}
		})
	}
	exit, err := r.Run(t.Context(), Command{Argv: bash("kill -SEGV $$")})
	if err != nil || exit.Reason != Signaled || exit.Signal == "" {
		t.Errorf("signaled run = %+v, %v", exit, err)
	}
}

func TestTerminal(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	exit, err := r.Run(t.Context(), Command{Argv: bash("test -t 1 && echo tty"), PTY: true, Timeout: time.Minute})
	if err != nil || strings.TrimSpace(exit.Output.String()) != "tty" {
		t.Errorf("Run = %+v %q, %v", exit.Reason, exit.Output, err)
	}
}

func TestRunRefuses(t *testing.T) {
	w, r := bashRunner(t, RunnerOptions{})
	w.put("ws/bin/tool", "#!/bin/sh\necho planted")
	if err := os.Chmod(filepath.Join(w.dir, "ws/bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.link(filepath.Join(w.dir, "ws/bin/tool"), "outbin/tool")
	w.link("../out", "ws/outlink")
	for name, c := range map[string]struct {
		cmd  Command
		rule Rule
	}{
		"relative program":  {Command{Argv: []string{"./bin/tool"}}, RuleProgram},
		"workspace program": {Command{Argv: []string{w.dir + "/ws/bin/tool"}}, RuleProgram},
		"link to one":       {Command{Argv: []string{w.dir + "/outbin/tool"}}, RuleProgram},
		"outside directory": {Command{Argv: bash("pwd"), Dir: "../out"}, RuleOutside},
		"linked directory":  {Command{Argv: bash("pwd"), Dir: "outlink"}, RuleOutside},
		"git directory":     {Command{Argv: bash("pwd"), Dir: ".git"}, RuleGit},
		"environment":       {Command{Argv: bash("pwd"), Env: map[string]string{"LD_PRELOAD": "x"}}, RuleEnv},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.Run(t.Context(), c.cmd)
			wantDenied(t, err, c.rule)
		})
	}
	for _, argv := range [][]string{nil, {""}, {"no-such-program-here"}, {"bash", "a\x00b"}} {
		if _, err := r.Run(t.Context(), Command{Argv: argv}); err == nil {
			t.Errorf("Run(%q) succeeded", argv)
		}
	}
	poisoned := NewRunner(w.fs, RunnerOptions{Path: []string{".", "", "bin", w.dir + "/ws/bin", w.dir + "/outbin"}})
	defer func() { _ = poisoned.Close() }()
	if got := poisoned.SearchPath(); len(got) != 1 {
		t.Errorf("search path = %q", got)
	}
	_, err := poisoned.LookPath("tool")
	wantDenied(t, err, RuleProgram)
}

func TestProgramOfThePlanMustBeTheSame(t *testing.T) {
	w, _ := bashRunner(t, RunnerOptions{})
	w.put("tools/hi", "#!/bin/sh\necho one")
	tool := filepath.Join(w.dir, "tools/hi")
	if err := os.Chmod(tool, 0o755); err != nil {
		t.Fatal(err)
	}
	r := NewRunner(w.fs, RunnerOptions{Path: []string{filepath.Dir(tool)}})
	defer func() { _ = r.Close() }()
	prog, err := r.LookPath("hi")
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := r.Run(t.Context(), Command{Argv: []string{"hi"}, Program: &prog}); err != nil || exit.Stdout.String() != "one\n" {
		t.Fatalf("Run = %q, %v", exit.Stdout, err)
	}
	w.put("tools/hi", "#!/bin/sh\necho another")
	var changed *Changed
	if _, err := r.Run(t.Context(), Command{Argv: []string{"hi"}, Program: &prog}); !errors.As(err, &changed) {
		t.Errorf("a replaced program: %v", err)
	}
}

func TestChildrenDoNotSeeSecrets(t *testing.T) {
	t.Setenv("FAKE_TOKEN", "hunter2hunter2")
	t.Setenv("GIT_EXTERNAL_DIFF", "evil")
	_, r := bashRunner(t, RunnerOptions{PassEnv: []string{"CHELA_TEST_*"}})
	exit, err := r.Run(t.Context(), Command{Argv: []string{"env"}})
	if err != nil {
		t.Fatal(err)
	}
	out := exit.Output.String()
	if strings.Contains(out, "hunter2") || strings.Contains(out, "evil") || !strings.Contains(out, "PATH=/") {
		t.Errorf("environment:\n%s", out)
	}
}

func TestCheckEnv(t *testing.T) {
	for _, name := range []string{
		"LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH", "GOPATH", "GIT_SSH_COMMAND", "git_dir", "NPM_CONFIG_X", "BASH_ENV", "ENV", "NODE_OPTIONS",
		"PYTHONSTARTUP", "PERL5LIB", "EDITOR", "GIT_EDITOR", "PAGER", "IFS", "PROMPT_COMMAND", "BASH_FUNC_x%%", "", "A=B", "A\x00", "CHELA_RUN", "HTTPS_PROXY",
	} {
		if err := CheckEnv(name, "x"); err == nil {
			t.Errorf("CheckEnv(%q) allowed", name)
		}
	}
	for _, name := range []string{"FOO", "DEBUG", "CGO_ENABLED", "RUST_BACKTRACE", "PORT", "ENVIRONMENT"} {
		if err := CheckEnv(name, "x"); err != nil {
			t.Errorf("CheckEnv(%q) = %v", name, err)
		}
	}
	wantDenied(t, CheckEnv("x", "() { :; }; id"), RuleEnv)
}

func TestFloodIsBounded(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	exit, err := r.Run(t.Context(), Command{Argv: []string{"yes"}, MaxOutput: 1000, OutputLimit: 20 << 20})
	if err != nil || exit.Reason != OutputLimit {
		t.Fatalf("Run = %+v, %v", exit.Reason, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(exit.Output.Head) != 500 || len(exit.Output.Tail) != 500 || exit.Output.Dropped < 10<<20 {
		t.Errorf("kept %d + %d, dropped %d", len(exit.Output.Head), len(exit.Output.Tail), exit.Output.Dropped)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
}

func TestOutputArrivesWholeAndInOrder(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	var got bytes.Buffer
	exit, err := r.Run(t.Context(), Command{Argv: bash("for i in {1..2000}; do echo line $i; done"), OnOutput: func(b []byte) { got.Write(b) }})
	if err != nil || got.String() != exit.Output.String() || strings.Count(got.String(), "\n") != 2000 || !strings.HasSuffix(got.String(), "line 2000\n") {
		t.Errorf("got %d bytes of %d, %v", got.Len(), exit.Output.Total, err)
	}
}

func TestRingKeepsHeadAndTail(t *testing.T) {
	r := newRing(10)
	var all []byte
	for i := range 40 {
		chunk := bytes.Repeat([]byte{byte('a' + i%26)}, i%7+1)
		all = append(all, chunk...)
		r.write(chunk)
		c := r.captured()
		if c.Total != int64(len(all)) || int64(len(c.Head)+len(c.Tail))+c.Dropped != c.Total || !bytes.HasPrefix(all, c.Head) || !bytes.HasSuffix(all, c.Tail) {
			t.Fatalf("after %q: %+v", all, c)
		}
		data, next, lost := r.from(3)
		if want := c.Total - min(3, c.Total); next != c.Total || int64(len(data))+lost != want {
			t.Fatalf("from(3) = %d bytes, %d, %d of %d", len(data), next, lost, c.Total)
		}
	}
}

func TestBackground(t *testing.T) {
	w, r := bashRunner(t, RunnerOptions{})
	p, err := r.Start(t.Context(), Command{Argv: bash("echo started; exec sleep 1000")})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := r.Process(p.ID); !ok || got != p || !p.Running() || len(r.Processes()) != 1 {
		t.Error("the process is not in the table")
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	exit, ok := p.Exit()
	if !ok || exit.Reason != Killed {
		t.Errorf("Exit = %+v, %v", exit, ok)
	}
	moved, err := r.Run(t.Context(), Command{Argv: bash("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two"), BackgroundAfter: 50 * time.Millisecond})
	if err != nil || moved.Reason != Background || moved.Process == nil {
		t.Fatalf("Run = %+v, %v", moved, err)
	}
	w.put("ws/go", "")
	<-moved.Process.Done()
	data, next, lost := moved.Process.OutputFrom(4)
	if string(data) != "two\n" || next != 8 || lost != 0 {
		t.Errorf("OutputFrom = %q, %d, %d", data, next, lost)
	}
	quick, err := r.Run(t.Context(), Command{Argv: bash("true"), BackgroundAfter: time.Minute})
	if err != nil || quick.Reason != Exited || len(r.Processes()) != 2 {
		t.Errorf("Run = %+v, %v, %d processes", quick.Reason, err, len(r.Processes()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Start(ctx, Command{Argv: bash("true")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start after cancel = %v", err)
	}
	last, err := r.Start(t.Context(), Command{Argv: bash("sleep 1000")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || last.Running() {
		t.Errorf("Close = %v, running %v", err, last.Running())
	}
	if _, err := r.Start(t.Context(), Command{Argv: bash("true")}); err == nil {
		t.Error("started after Close")
	}
}

func TestASandboxedRunnerRunsInTheSandboxOrNotAtAll(t *testing.T) {
	no := errors.New("no sandbox")
	_, r := bashRunner(t, RunnerOptions{Confine: func(context.Context, *exec.Cmd) (func(*Exit), error) { return nil, no }})
	if _, err := r.InSandbox().Run(t.Context(), Command{Argv: bash("true")}); !errors.Is(err, no) {
		t.Errorf("Run with a refusing sandbox = %v", err)
	}
	if _, err := r.Run(t.Context(), Command{Argv: bash("true")}); err != nil {
		t.Errorf("Run of the plain view = %v", err)
	}
	_, bare := bashRunner(t, RunnerOptions{})
	if _, err := bare.InSandbox().Run(t.Context(), Command{Argv: bash("true")}); err == nil {
		t.Error("a command ran without any sandbox")
	}
}

func TestTheSandboxHasTheLastWordOnAnExit(t *testing.T) {
	calls := 0
	note := func(e *Exit) { calls++; e.Note = "seen" }
	_, r := bashRunner(t, RunnerOptions{Confine: func(context.Context, *exec.Cmd) (func(*Exit), error) { return note, nil }})
	boxed := r.InSandbox()
	if exit, err := boxed.Run(t.Context(), Command{Argv: bash("true")}); err != nil || exit.Note != "seen" || calls != 1 {
		t.Errorf("Run = %+v, %v after %d calls", exit, err, calls)
	}
	proc, err := boxed.Start(t.Context(), Command{Argv: bash("exit 3")})
	if err != nil {
		t.Fatal(err)
	}
	<-proc.Done()
	if shared, ok := r.Process(proc.ID); !ok || shared != proc {
		t.Error("the plain view does not know a process of the sandboxed one")
	}
	if exit, _ := proc.Exit(); exit.Note != "seen" || exit.Code != 3 || calls != 2 {
		t.Errorf("exit = %+v after %d calls", exit, calls)
	}
	failed := errors.New("no namespaces")
	_, r = bashRunner(t, RunnerOptions{Confine: func(context.Context, *exec.Cmd) (func(*Exit), error) {
		return func(e *Exit) { e.Refuse(failed) }, nil
	}})
	if _, err := r.InSandbox().Run(t.Context(), Command{Argv: bash("true")}); !errors.Is(err, failed) {
		t.Errorf("Run that the sandbox refused = %v", err)
	}
}
