package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela/toolkit/guard"
)

// TestACommandEndsAsItDoesWithout compares runs in and without the sandbox.
func TestACommandEndsAsItDoesWithout(t *testing.T) {
	scripts := map[string]guard.Command{
		"success":              script("echo out; echo err >&2"),
		"exit code":            script("exit 3"),
		"code like a signal":   script("exit 137"),
		"not found":            script("no-such-program"),
		"TERM":                 script("kill -TERM $$"),
		"KILL":                 script("kill -KILL $$"),
		"SEGV":                 script("kill -SEGV $$"),
		"PIPE":                 script("kill -PIPE $$"),
		"no input":             script("read x; echo \"$? [$x]\""),
		"large output":         script("head -c 300000 /dev/zero | tr '\\0' x"),
		"the folder":           {Argv: []string{"pwd"}, Dir: "sub"},
		"quoting":              {Argv: []string{"printf", "%s|", "a b", "", "c'd\"e", "\n$HOME"}},
		"environment":          {Argv: []string{"bash", "-c", "echo $A $LANG $HOME"}, Env: map[string]string{"A": "b c"}},
		"flood":                {Argv: []string{"bash", "-c", "yes"}, OutputLimit: 1 << 20},
		"timeout":              {Argv: []string{"sleep", "1000"}, Timeout: 300 * time.Millisecond},
		"umask and ids":        script("umask; id -u; id -g"),
		"process substitution": script("cat <(echo a) <(echo b)"),
	}
	in := script("cat; echo done")
	in.Stdin = []byte(strings.Repeat("line\n", 50_000))
	scripts["input"] = in
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		for name, c := range scripts {
			t.Run(name, func(t *testing.T) {
				want, err := w.plain.Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				got, err := w.run.Run(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				ignored := []string{"Duration", "Program", "Output", "Stdout", "Stderr", "Process", "Sandbox"}
				if want.Reason == guard.TimedOut || want.Reason == guard.OutputLimit {
					ignored = append(ignored, "Code", "Signal") // of a process that was killed, whichever it was
					ignored = append(ignored, "Leftover")
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(guard.Exit{}, ignored...), cmpopts.IgnoreUnexported(guard.Exit{})); diff != "" {
					t.Errorf("exit (-without +in the sandbox):\n%s\n%s", diff, got.Output.String())
				}
				if want.Reason == guard.OutputLimit {
					return
				}
				if got.Stdout.String() != want.Stdout.String() || got.Stderr.String() != want.Stderr.String() {
					t.Errorf("in the sandbox it printed %.200q and %.200q, without %.200q and %.200q", got.Stdout.String(), got.Stderr.String(), want.Stdout.String(), want.Stderr.String())
				}
			})
		}
	})
}

func TestATerminalIsKept(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		c := script("test -t 0 && test -t 1 && echo yes > /dev/tty && stty size")
		c.PTY = true
		exit, err := w.run.Run(t.Context(), c)
		if err != nil || exit.Code != 0 || exit.Output.String() != "yes\r\n24 80\r\n" {
			t.Errorf("exit = %d %q, %v", exit.Code, exit.Output.String(), err)
		}
	})
}

func TestNothingOfTheTreeIsLeft(t *testing.T) {
	shapes := map[string]string{
		"child":        `sleep %s & exit 0`,
		"own session":  `setsid sleep %s & exit 0`,
		"double fork":  `( setsid sh -c '( sleep %s & )' >/dev/null 2>&1 & ); exit 0`,
		"no trace":     `( env -i setsid /bin/sh -c 'exec sleep %s' </dev/null >/dev/null 2>&1 & ); exit 0`,
		"ignores TERM": `( trap "" TERM HUP INT; sleep %s & ) ; exit 0`,
	}
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		n := 0
		for name, shape := range shapes {
			n++
			unique := fmt.Sprintf("91%d%d", os.Getpid(), n)
			exit := w.sh(fmt.Sprintf(shape, unique))
			if exit.Code != 0 || exit.Leftover < 1 {
				t.Errorf("%s: exit %d, %d left, %s", name, exit.Code, exit.Leftover, exit.Output.String())
			}
			if left := processesLike(unique); len(left) > 0 {
				t.Errorf("%s: left is %v", name, left)
			}
		}
	})
}

func TestACommandCanCleanUpWhenItIsEnded(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		c := script(`trap 'echo cleaned > done; exit 0' TERM; echo > ready; while :; do sleep 0.05; done`)
		proc, err := w.run.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { _, err := os.Stat(filepath.Join(w.ws, "ready")); return err == nil })
		if err := proc.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.read("my project/done"); got != "cleaned\n" {
			t.Errorf("done holds %q", got)
		}
	})
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 4000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatal("it never happened")
}

// victim is a program that is killed while it runs a sandboxed command.
func victim(dir string, b Backend) int {
	files, err := guard.OpenFS(filepath.Join(dir, "my project"), guard.FSOptions{})
	if err != nil {
		return 1
	}
	box := Box{Support: probe(context.Background(), []Backend{b}), Policy: policyOf(dir)}
	run := guard.NewRunner(files, guard.RunnerOptions{Confine: box.Confine}).InSandbox()
	_, err = run.Run(context.Background(), script("setsid sleep 9277"+fmt.Sprint(os.Getppid())+" & echo > ready; wait"))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func TestACommandDiesWithTheProgram(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		self, err := self()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), role+"=victim", "SANDBOX_TEST_WORLD="+w.dir, "SANDBOX_TEST_BACKEND="+string(b))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { _, err := os.Stat(filepath.Join(w.ws, "ready")); return err == nil })
		unique := "9277" + fmt.Sprint(os.Getpid())
		if len(processesLike(unique)) == 0 {
			t.Error("the command does not run")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed: that is the point
		waitFor(t, func() bool { return len(processesLike(unique)) == 0 })
	})
}

// forks starts processes until it cannot, and prints how many.
func forks() int {
	n := 0
	for ; n < 2000; n++ {
		if err := exec.Command("sleep", "1000").Start(); err != nil {
			break
		}
	}
	fmt.Println(n)
	return 0
}

func TestLimitsHold(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		t.Run("processes", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.Processes = 200 })
			if !w.support.Processes {
				t.Skipf("%s cannot limit the processes of uid %d", b, os.Geteuid())
			}
			exit, err := w.run.Run(t.Context(), guard.Command{Argv: []string{"/proc/self/exe"}, Env: map[string]string{role: "forks"}, Timeout: time.Minute})
			var n int
			if _, serr := fmt.Sscan(exit.Stdout.String(), &n); err != nil || serr != nil || n < 50 || n > 200+reservedPIDs {
				t.Errorf("%d processes with a limit of 200: %v, %v, %+v", n, err, serr, exit.Output.String())
			}
		})
		t.Run("fork bomb", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.Processes = 100 })
			if !w.support.Processes {
				t.Skipf("%s cannot limit the processes of uid %d", b, os.Geteuid())
			}
			c := script(`bomb() { bomb | bomb & }; bomb; sleep 1000`)
			c.Timeout = time.Second
			if exit, err := w.run.Run(t.Context(), c); err != nil || exit.Reason != guard.TimedOut {
				t.Errorf("Run = %v %d, %v", exit.Reason, exit.Code, err)
			}
		})
		t.Run("memory", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.AddressSpace = 512 << 20 })
			w.denied("head -c 1000000000 /dev/zero | tail -c 1000000000 | wc -c; exit ${PIPESTATUS[1]}")
			w.works("head -c 1000000 /dev/zero | tail -c 1000000 | wc -c; exit ${PIPESTATUS[1]}")
		})
		t.Run("file size", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.FileSize = 1 << 20 })
			w.denied("head -c 2000000 /dev/zero > large")
			if info, err := os.Stat(filepath.Join(w.ws, "large")); err != nil || info.Size() > 1<<20 {
				t.Errorf("the file has %d bytes, %v", info.Size(), err)
			}
		})
		t.Run("temporary files", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.Temp = 1 << 20 })
			w.denied("head -c 2000000 /dev/zero > /tmp/large")
			w.denied("head -c 20000000 /dev/zero > /run/large || head -c 20000000 /dev/zero > /dev/large")
		})
		t.Run("processor time", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.CPU = time.Second })
			if exit := w.sh("while :; do :; done"); exit.Code == 0 || exit.Reason != guard.Signaled {
				t.Errorf("exit = %v %d %s", exit.Reason, exit.Code, exit.Signal)
			}
		})
		t.Run("open files", func(t *testing.T) {
			w := newWorld(t, b, func(p *Policy) { p.Limits.OpenFiles = 32 })
			if out := w.works("ulimit -n; ulimit -Hn"); out != "32\n32\n" {
				t.Errorf("limits %q", out)
			}
		})
	})
}

func TestNothingStaysBehind(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		count := func() (mounts string, files int) {
			data, err := os.ReadFile("/proc/self/mountinfo")
			if err != nil {
				t.Fatal(err)
			}
			fds, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Fatal(err)
			}
			return string(data), len(fds)
		}
		w.works("true") // what is opened once
		mounts, files := count()
		for range 3 {
			w.works("echo x > /tmp/x; mkdir /tmp/d")
			w.sh("exit 1")
		}
		temps := filepath.Join(w.dir, "temps")
		if err := os.Mkdir(temps, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", temps)
		if s := probe(t.Context(), []Backend{b}); !s.Works() {
			t.Errorf("a second probe found %v: %s", s, s.Reason)
		}
		if left, err := os.ReadDir(temps); err != nil || len(left) != 0 {
			t.Errorf("the probe left %v, %v", left, err)
		}
		if m, f := count(); m != mounts || f != files {
			t.Errorf("mounts changed: %v; %d descriptors, before %d", m != mounts, f, files)
		}
		entries, err := os.ReadDir(w.ws)
		if err != nil || len(entries) != 3 {
			t.Errorf("the workspace holds %v, %v", entries, err)
		}
		w.denied("test -e /tmp/x")
	})
}

func TestWithoutASandboxNothingRuns(t *testing.T) {
	refuses := func(t *testing.T, s Support, wants string) {
		t.Helper()
		w := openWorld(t, makeWorld(t), s)
		_, err := w.run.Run(t.Context(), script("echo x > ran"))
		if err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("Run with %+v = %v, want an error with %q", s, err, wants)
		}
		if _, err := os.Stat(filepath.Join(w.ws, "ran")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the command ran: %v", err)
		}
		proc, err := w.run.Start(t.Context(), script("echo x > ran"))
		if err == nil {
			<-proc.Done()
			if exit, _ := proc.Exit(); exit.Refused() == nil {
				t.Errorf("in the background it ended with %+v", exit)
			}
		}
		if _, err := os.Stat(filepath.Join(w.ws, "ran")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the command ran in the background: %v", err)
		}
	}
	t.Run("none", func(t *testing.T) { refuses(t, Support{Reason: "because"}, "because") })
	t.Run("bubblewrap went", func(t *testing.T) {
		refuses(t, Support{Backend: Bubblewrap, Bwrap: "/nonexistent/bwrap"}, "bwrap")
	})
	t.Run("bubblewrap does nothing", func(t *testing.T) {
		refuses(t, Support{Backend: Bubblewrap, Bwrap: "/bin/true"}, "did not start")
	})
	each(t, func(t *testing.T, b Backend) {
		s := supports[b]()
		if !s.Works() {
			t.Skipf("no sandbox by %s here: %s", b, s.Reason)
		}
		s.Landlock = 99
		refuses(t, s, "landlock")
	})
}

func TestAFolderThatChangesMeanwhileIsNoticed(t *testing.T) {
	w := newWorld(t, Namespaces)
	box := Box{Support: w.support, Policy: policyOf(w.dir)}
	cmd := exec.Command("/bin/sh", "-c", "echo x > ran")
	cmd.Dir = filepath.Join(w.ws, "sub")
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	after, err := box.Confine(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(cmd.Dir, cmd.Dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(cmd.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Run() // how it ends is in the report
	exit := guard.Exit{Reason: guard.Exited}
	after(&exit)
	if err := exit.Refused(); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("refused: %v", err)
	}
}

func TestWhatRunsLaterIsReported(t *testing.T) {
	each(t, func(t *testing.T, b Backend) {
		w := newWorld(t, b)
		put(t, filepath.Join(w.ws, "package.json"), "{}")
		put(t, filepath.Join(w.ws, ".vscode/tasks.json"), "{}")
		put(t, filepath.Join(w.ws, "node_modules/a/package.json"), "{}")
		exit := w.sh(`mkdir -p new/.git bare/objects bare/refs .github/workflows node_modules/b && echo > new/.git/config && echo > bare/HEAD &&
			echo '{"scripts":{}}' > package.json && echo > .github/workflows/ci.yml && echo > ordinary.txt && echo > .env &&
			echo '{}' > node_modules/b/package.json && echo "gitdir: /tmp" > sub/.git`)
		want := []guard.Untrusted{
			{Path: ".github/workflows/ci.yml"}, {Path: "bare"}, {Path: "new/.git"}, {Path: "package.json", Changed: true}, {Path: "sub/.git"},
		}
		if diff := cmp.Diff(want, exit.Untrusted, cmpopts.IgnoreFields(guard.Untrusted{}, "Reason")); diff != "" {
			t.Errorf("untrusted (-want +got):\n%s", diff)
		}
		for _, u := range exit.Untrusted {
			if u.Reason == "" {
				t.Errorf("%s has no reason", u.Path)
			}
		}
		if exit := w.sh("cat package.json > /dev/null"); len(exit.Untrusted) != 0 || exit.Note != "" {
			t.Errorf("reading reported %v, %q", exit.Untrusted, exit.Note)
		}
	})
}

// BenchmarkStart measures what a sandboxed true costs.
func BenchmarkStart(b *testing.B) {
	for _, backend := range append([]Backend{None}, backends...) {
		b.Run("sandbox="+string(backend), func(b *testing.B) {
			var w *world
			if backend == None {
				w = openWorld(b, makeWorld(b), Support{})
				w.run = w.plain
			} else {
				w = newWorld(b, backend)
			}
			for b.Loop() {
				if _, err := w.run.Run(b.Context(), guard.Command{Argv: []string{"true"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
