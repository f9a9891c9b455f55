package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela/toolkit/guard"
)

// role is the variable that makes this test binary another program.
const role = "SANDBOX_TEST_ROLE"

func TestMain(m *testing.M) {
	Main()
	switch os.Getenv(role) {
	case "forks":
		os.Exit(forks())
	case "victim":
		os.Exit(victim(os.Getenv("SANDBOX_TEST_WORLD"), Backend(os.Getenv("SANDBOX_TEST_BACKEND"))))
	}
	goleak.VerifyTestMain(m)
}

// backends are what is tested, each as far as it works here.
var backends = []Backend{Namespaces, Bubblewrap}

var supports = map[Backend]func() Support{
	Namespaces: sync.OnceValue(func() Support { return probe(context.Background(), []Backend{Namespaces}) }),
	Bubblewrap: sync.OnceValue(func() Support { return probe(context.Background(), []Backend{Bubblewrap}) }),
}

// world is a folder with a workspace, a home and an outside. It is not below
// /tmp, where a sandboxed command would see nothing of it anyway.
type world struct {
	t       testing.TB
	dir     string
	ws      string
	support Support
	run     *guard.Runner
	plain   *guard.Runner
}

// secretText stands in every file that a command must not see.
const secretText = "CANARY-7c1f"

func makeWorld(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "chela-sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for name, text := range map[string]string{
		"my project/a.txt": "alpha\n", "my project/.git/config": "[core]\n", "my project/.git/hooks/post-commit.sample": "#!/bin/sh\n",
		"my project/sub/b.txt": "beta\n", "out/file": "outside\n", "out/secret": secretText + "\n",
		"home/.ssh/id_ed25519": secretText + "\n", "home/.netrc": secretText + "\n", "home/data/chela.db": secretText + "\n",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func policyOf(dir string) Policy {
	return Policy{
		Workspace: filepath.Join(dir, "my project"), Home: filepath.Join(dir, "home"), Cache: filepath.Join(dir, "cache"),
		Hidden: []string{filepath.Join(dir, "home/data"), filepath.Join(dir, "home/config")}, Limits: DefaultLimits(),
	}
}

// newWorld makes a world for one backend, or skips when the probe says that it
// cannot work here.
func newWorld(t testing.TB, b Backend, change ...func(*Policy)) *world {
	t.Helper()
	s := supports[b]()
	if !s.Works() {
		t.Skipf("no sandbox by %s here: %s", b, s.Reason)
	}
	return openWorld(t, makeWorld(t), s, change...)
}

func openWorld(t testing.TB, dir string, s Support, change ...func(*Policy)) *world {
	t.Helper()
	p := policyOf(dir)
	for _, f := range change {
		f(&p)
	}
	files, err := guard.OpenFS(p.Workspace, guard.FSOptions{Home: p.Home})
	if err != nil {
		t.Fatal(err)
	}
	box := Box{Support: s, Policy: p}
	plain := guard.NewRunner(files, guard.RunnerOptions{
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + p.Home}, KillGrace: 3 * time.Second, Confine: box.Confine,
	})
	t.Cleanup(func() {
		if err := plain.Close(); err != nil {
			t.Error(err)
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{t: t, dir: dir, ws: p.Workspace, support: s, run: plain.InSandbox(), plain: plain}
}

func script(text string) guard.Command {
	return guard.Command{Argv: []string{"bash", "--norc", "--noprofile", "-c", text}, Timeout: time.Minute}
}

// sh runs a script in the sandbox.
func (w *world) sh(text string) guard.Exit {
	w.t.Helper()
	exit, err := w.run.Run(w.t.Context(), script(text))
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if exit.Sandbox != w.support.String() {
		w.t.Fatalf("%s ran in %q, want %q", text, exit.Sandbox, w.support)
	}
	return exit
}

// denied runs a script that must fail.
func (w *world) denied(text string) {
	w.t.Helper()
	if exit := w.sh(text); exit.Code == 0 {
		w.t.Errorf("%s worked: %s", text, exit.Output.String())
	}
}

// works runs a script that must end well, and returns what it printed.
func (w *world) works(text string) string {
	w.t.Helper()
	exit := w.sh(text)
	if exit.Code != 0 {
		w.t.Errorf("%s: exit %d %s: %s", text, exit.Code, exit.Signal, exit.Output.String())
	}
	return exit.Stdout.String()
}

func (w *world) read(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// each runs a test with every backend that works here.
func each(t *testing.T, f func(t *testing.T, b Backend)) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) { f(t, b) })
	}
}

// TestOneSandboxWorksHere fails where all other tests are skipped.
func TestOneSandboxWorksHere(t *testing.T) {
	var reasons []string
	for _, b := range backends {
		s := supports[b]()
		if s.Works() {
			t.Logf("%s as uid %d: %s, processes limited: %v", b, os.Geteuid(), s, s.Processes)
			return
		}
		reasons = append(reasons, s.Reason)
	}
	t.Fatalf("no sandbox works on this Linux, so nothing of it is tested: %s", strings.Join(reasons, "; "))
}

// TestAsAnUnprivilegedUser runs all of this again as nobody.
func TestAsAnUnprivilegedUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is one already")
	}
	if raceDetector {
		t.Skip("it is run without the race detector, which would look at the same code again for minutes")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skipf("setpriv is not installed: %v", err)
	}
	self, err := self()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "chela-sandbox-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	binary := filepath.Join(dir, "sandbox.test")
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "tmp"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", binary, "-test.v", "-test.timeout=5m")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp")}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "FAIL") || strings.Contains(line, "SKIP") || strings.Contains(line, "_test.go:") || strings.Contains(line, "panic") {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestOneSandboxWorksHere") {
		t.Errorf("as nobody: %v", err)
	}
}

// processesLike lists the processes of this machine that have an argument.
func processesLike(arg string) []string {
	var out []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil && strings.Contains("\x00"+string(data)+"\x00", "\x00"+arg+"\x00") {
			out = append(out, fmt.Sprintf("%s: %q", name, data))
		}
	}
	return out
}
