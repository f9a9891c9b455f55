package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type args map[string]any

func workspace(t *testing.T) *toolkit.Workspace {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	fsys, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := guard.NewRunner(fsys, guard.RunnerOptions{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "API_TOKEN=verysecret"}, KillGrace: 50 * time.Millisecond,
	})
	t.Cleanup(func() {
		if err := errors.Join(run.Close(), fsys.Close()); err != nil {
			t.Error(err)
		}
	})
	return &toolkit.Workspace{Root: dir, Session: "s", Files: fsys, Proc: run}
}

func plan(t *testing.T, w *toolkit.Workspace, a args) (toolkit.Plan, error) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return Exec().Plan(t.Context(), w, raw)
}

func call(t *testing.T, w *toolkit.Workspace, a args, progress func(toolkit.Progress)) (toolkit.Result, error) {
	t.Helper()
	p, err := plan(t, w, a)
	if err != nil {
		t.Fatal(err)
	}
	return Exec().Run(t.Context(), w, p, progress)
}

func TestExec(t *testing.T) {
	w := workspace(t)
	for _, c := range []struct {
		name string
		args args
		want string
	}{
		{"a folder", args{"command": "pwd", "workdir": "sub"}, filepath.Join(w.Root, "sub") + "\n"},
		{"the environment that was given", args{"command": "echo $GREETING", "env": map[string]string{"GREETING": "hi"}}, "hi\n"},
		{"chela's secrets stay with chela", args{"command": "echo [$API_TOKEN]"}, "[]\n"},
		{"no input to wait for", args{"command": "read x; echo got [$x]"}, "got []\n"},
		{"colours are taken off", args{"command": `printf '\033[31mred\033[0m\n'`}, "red\n"},
		{"of a progress bar the end", args{"command": `printf '10%%\r50%%\r100%%\ndone\n'`}, "100%\ndone\n"},
		{"several lines", args{"command": "for i in 1 2; do\n\techo $i\ndone"}, "1\n2\n"},
		{
			"what was left behind is ended, and said",
			args{"command": "sleep 1000 & echo up"},
			"up\n[processes that it left behind were ended: 1; set background to true to keep a server running]\n",
		},
		{"a terminal", args{"command": "test -t 1 && echo tty", "pty": true}, "tty\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := call(t, w, c.args, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
	r, err := call(t, w, args{"command": "echo one; echo two >&2"}, nil)
	d, ok := r.Data.(*Executed)
	if err != nil || !ok || d.Stdout != "one\n" || d.Stderr != "two\n" || !strings.Contains(r.Text, "one\n") || !strings.Contains(r.Text, "two\n") {
		t.Errorf("text %q, data %+v, error %v; want both streams", r.Text, r.Data, err)
	}
	r, err = call(t, w, args{"command": "true"}, nil)
	if err != nil || !strings.HasPrefix(r.Text, "(no output; exit code 0") {
		t.Errorf("text = %q, error %v", r.Text, err)
	}
}

func TestExecPlanShowsWhatRuns(t *testing.T) {
	w := workspace(t)
	p, err := plan(t, w, args{"command": "jobs  -l\n./...", "workdir": "./sub", "timeout": 60, "env": map[string]string{"B": "2", "A": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	shell, err := w.Proc.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	want := toolkit.Preview{
		Kind: toolkit.PreviewCommand, Command: "jobs  -l\n./...", Program: shell.Path, Dir: "sub", Env: []string{"A=1", "B=2"},
		Notes: []string{"not proven to only read: jobs changes the shell or evaluates its arguments"},
	}
	if diff := cmp.Diff(want, p.Preview); diff != "" {
		t.Error(diff)
	}
	if p.Level != toolkit.Dangerous || p.Summary != "jobs -l ./..." {
		t.Errorf("level %v, summary %q", p.Level, p.Summary)
	}
	if p.Deadline != time.Minute {
		t.Errorf("deadline %v for a timeout of a minute", p.Deadline)
	}
	if diff := cmp.Diff([]toolkit.Effect{{Kind: toolkit.Runs, Target: shell.Path}}, p.Effects); diff != "" {
		t.Error(diff)
	}
}

func TestLargeTimeoutsAreMilliseconds(t *testing.T) {
	for given, want := range map[int]time.Duration{1: time.Second, 3600: time.Hour, 3601: 3601 * time.Millisecond, 300000: 5 * time.Minute} {
		if got := (execArgs{Timeout: given}).limit(); got != want {
			t.Errorf("timeout %d is %v, want %v", given, got, want)
		}
	}
}

func TestExecPlanRefuses(t *testing.T) {
	w := workspace(t)
	for _, c := range []struct {
		name string
		args args
		code toolkit.Code
	}{
		{"a hidden carriage return", args{"command": "echo safe\rrm x"}, toolkit.CodeInvalid},
		{"an escape sequence", args{"command": "echo \x1b[2K"}, toolkit.CodeInvalid},
		{"text that reads backwards", args{"command": "echo \u202etxt.exe"}, toolkit.CodeInvalid},
		{"a NUL", args{"command": "a\x00b"}, toolkit.CodeInvalid},
		{"a blank command", args{"command": " \n"}, toolkit.CodeInvalid},
		{"a missing folder", args{"command": "ls", "workdir": "nope"}, toolkit.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan(t, w, c.args)
			tooltest.Fails(t, err, c.code)
		})
	}
	for name, a := range map[string]args{
		"a variable that loads code": {"command": "ls", "env": map[string]string{"LD_PRELOAD": "x.so"}},
		"git's variables":            {"command": "ls", "env": map[string]string{"GIT_SSH_COMMAND": "x"}},
		"a folder outside":           {"command": "ls", "workdir": ".."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan(t, w, a)
			if _, ok := guard.AsDenied(err); !ok {
				t.Fatalf("error = %v, want a refusal by the floor", err)
			}
		})
	}
}

func TestExecFailures(t *testing.T) {
	w := workspace(t)
	t.Run("a code, with the output kept", func(t *testing.T) {
		r, err := call(t, w, args{"command": "echo before; exit 2"}, nil)
		e := tooltest.Fails(t, err, CodeExit)
		d, ok := r.Data.(*Executed)
		if !ok || !strings.Contains(e.Message, "exit code 2") || r.Text != "before\n" || d.ExitCode != 2 || d.Status != "failed" || d.Stdout != "before\n" {
			t.Errorf("error %q, text %q, data %+v", e.Message, r.Text, r.Data)
		}
	})
	t.Run("a timeout, with nothing left", func(t *testing.T) {
		r, err := call(t, w, args{"command": "echo started; sleep 1000 & echo $! >pid; wait", "timeout": 1}, nil)
		e := tooltest.Fails(t, err, toolkit.CodeTimeout)
		d, ok := r.Data.(*Executed)
		if !ok || !d.TimedOut || r.Text != "started\n" || !strings.Contains(e.Hint, "background") {
			t.Errorf("text %q, data %+v, hint %q", r.Text, r.Data, e.Hint)
		}
		pid, err := os.ReadFile(filepath.Join(w.Root, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil && runtime.GOOS == "linux" {
			t.Error("a child is still there")
		}
	})
	t.Run("a missing program", func(t *testing.T) {
		_, err := call(t, w, args{"command": "no-such-program-here"}, nil)
		if e := tooltest.Fails(t, err, CodeExit); !strings.Contains(e.Hint, "not found") {
			t.Errorf("hint %q", e.Hint)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		p, err := plan(t, w, args{"command": "echo ready; sleep 1000"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = Exec().Run(ctx, w, p, func(pr toolkit.Progress) { cancel() })
		tooltest.Fails(t, err, toolkit.CodeCancelled)
	})
}

func TestExecBoundsAFlood(t *testing.T) {
	w := workspace(t)
	r, err := call(t, w, args{"command": "echo first; yes | head -c 3000000; echo last"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Text, "first\n") || !strings.HasSuffix(r.Text, "last\n") || len(r.Text) > keepOutput+100 || r.Cut == nil {
		t.Errorf("%d bytes, cut %+v", len(r.Text), r.Cut)
	}
	d, ok := r.Data.(*Executed)
	if !ok || len(d.Stdout) > keepData+200 {
		t.Errorf("data holds %d bytes", len(d.Stdout))
	}
}

func TestExecStreamsCompleteLines(t *testing.T) {
	w := workspace(t)
	var got []string
	_, err := call(t, w, args{"command": "printf 'one\\ntw'; sleep 0.05; printf 'o\\nend'"}, func(p toolkit.Progress) { got = append(got, p.Text) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("one\ntwo\nend", strings.Join(got, "")); diff != "" {
		t.Error(diff)
	}
	for _, p := range got[:len(got)-1] {
		if !strings.HasSuffix(p, "\n") {
			t.Errorf("the piece %q ends inside a line", p)
		}
	}
}

func TestExecInTheBackground(t *testing.T) {
	w := workspace(t)
	r, err := call(t, w, args{"command": "echo up; exec sleep 1000", "background": true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Data.(*Executed)
	if !ok || d.Status != "running" || d.SessionID == "" || !strings.Contains(r.Text, d.SessionID) {
		t.Fatalf("text %q, data %+v", r.Text, r.Data)
	}
	p, ok := w.Proc.Process(d.SessionID)
	if !ok || !p.Running() {
		t.Fatal("the process is not there")
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestExecRefusesAnotherShellThanThePlanned(t *testing.T) {
	w := workspace(t)
	p, err := plan(t, w, args{"command": "echo hi"})
	if err != nil {
		t.Fatal(err)
	}
	// Another search path finds another shell.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "bash"), []byte("#!/bin/sh\necho evil\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := guard.NewRunner(w.Files, guard.RunnerOptions{Environ: []string{}, Path: []string{other}})
	defer func() { _ = run.Close() }()
	w2 := *w
	w2.Proc = run
	_, err = Exec().Run(t.Context(), &w2, p, nil)
	tooltest.Fails(t, err, toolkit.CodeChanged)
}

// A command that does not end is moved to the background after a while, so
// that the turn goes on; what it prints later reaches nobody who has gone.
func TestExecMovesToTheBackgroundAfterAWhile(t *testing.T) {
	old := moveAfter
	moveAfter = 20 * time.Millisecond
	t.Cleanup(func() { moveAfter = old })
	w := workspace(t)
	var returned atomic.Bool
	r, err := call(t, w, args{"command": "while :; do echo tick; done | head -c 100000000; sleep 1000"}, func(toolkit.Progress) {
		if returned.Load() {
			t.Error("progress after the result")
		}
	})
	returned.Store(true)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Data.(*Executed)
	if !ok || d.Status != "running" || !strings.Contains(r.Text, "moved to the background as session "+d.SessionID) {
		t.Fatalf("text %.80q, data %+v", r.Text, d)
	}
	p, ok := w.Proc.Process(d.SessionID)
	if !ok || !p.Running() {
		t.Fatal("the process is not there")
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
}
