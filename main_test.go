package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"chela/engine/ollamatest"
	"chela/toolkit/guard/sandbox"
)

// TestMain makes this test binary be chela when it is started under that name,
// so that scripts and tests run the real program.
func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){"chela": func() { os.Exit(run(context.Background())) }})
}

// TestScripts runs testdata/script against the program, in folders of their
// own and with an OLLAMA_HOST where nothing listens.
func TestScripts(t *testing.T) {
	host := closedPort(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("CHELA_CONFIG_DIR", filepath.Join(e.WorkDir, "config"))
			e.Setenv("CHELA_DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("OLLAMA_HOST", host)
			e.Cd = filepath.Join(e.WorkDir, "project")
			return os.MkdirAll(e.Cd, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(name string) (bool, error) {
			if name == "root" { // may write where others may not
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits runs chela and checks its exit code: exits 3 run 'write x to y'. Its
// output is in the files out and err of $WORK, for grep.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	cmd := exec.Command("chela", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "CHELA_CONFIG_DIR", "CHELA_DATA_DIR", "OLLAMA_HOST", "POOL_TIMEOUT_MS"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	for name, text := range map[string]string{"out": out.String(), "err": errs.String()} {
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), name), []byte(text), 0o600))
	}
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); cmd.ProcessState == nil || got != args[0] {
		ts.Fatalf("chela %s exited with %s (%v), want %s\nstdout: %s\nstderr: %s", strings.Join(args[1:], " "), got, err, args[0], &out, &errs)
	}
}

// closedPort is a loopback address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// process is the real program with a scripted server, in an empty folder.
type process struct {
	t         *testing.T
	srv       *ollamatest.Server
	dir, home string
	out, err  bytes.Buffer
}

func newProcess(t *testing.T) *process {
	return &process{t: t, srv: ollamatest.New(t, ollamatest.Model{Name: "qwen3:8b"}), dir: t.TempDir(), home: t.TempDir()}
}

func (p *process) start(args ...string) *exec.Cmd {
	p.t.Helper()
	p.out.Reset()
	p.err.Reset()
	cmd := exec.CommandContext(p.t.Context(), "chela", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &p.out, &p.err
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+p.srv.Host(), "CHELA_CONFIG_DIR="+p.home+"/config", "CHELA_DATA_DIR="+p.home+"/data")
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return cmd
}

// ends waits for the program and checks its exit code.
func (p *process) ends(cmd *exec.Cmd, code int) {
	p.t.Helper()
	err := cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("%v exited with %d (%v), want %d\nstdout: %s\nstderr: %s", cmd.Args, got, err, code, &p.out, &p.err)
	}
}

func TestADeniedCallShowsInTheExitCode(t *testing.T) {
	p := newProcess(t)
	p.srv.Reply().Call("write_file", `{"path":"a.txt","content":"x"}`)
	p.srv.Reply().Text("I may not.")
	p.ends(p.start("run", "write"), 3)
	if p.out.String() != "I may not.\n" || !strings.Contains(p.err.String(), "1 call was denied because nobody is here to answer") {
		t.Errorf("stdout: %s\nstderr: %s", &p.out, &p.err)
	}
}

// TestInterruptEndsTheTurnAndRecordsIt sends a real ctrl+c to the real program
// while a model is answering.
func TestInterruptEndsTheTurnAndRecordsIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process")
	}
	p := newProcess(t)
	gate := ollamatest.NewGate()
	p.srv.Reply().Text("Half an").Gate(gate)
	cmd := p.start("run", "answer")
	<-gate.Reached()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.ends(cmd, 130)
	if !strings.Contains(p.err.String(), "cancelled") {
		t.Errorf("stderr: %s", &p.err)
	}
	p.ends(p.start("sessions", "list", "--json"), 0)
	if !strings.Contains(p.out.String(), `"title":"answer"`) {
		t.Errorf("sessions: %s", &p.out)
	}
}
