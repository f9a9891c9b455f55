package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// treeShapes start a process that writes its ID to the file "pid" and then
// stays, in the ways in which processes get away from their parent.
var treeShapes = map[string]string{
	"child":             `sh -c 'echo $$ >pid; exec sleep 1000' & wait`,
	"grandchild":        `sh -c "sh -c 'echo \$\$ >pid; exec sleep 1000' & wait" & wait`,
	"own session":       `setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait`,
	"double fork":       `( setsid sh -c '( sh -c "echo \$\$ >pid; exec sleep 1000" & ) ' >/dev/null 2>&1 & ); wait; sleep 1000`,
	"clean environment": `env -i setsid /bin/sh -c 'echo $$ >pid; exec sleep 1000' & wait`,
	"ignores TERM":      `sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.1; done' & wait`,
	"orphan, clean env": `( env -i setsid /bin/sh -c 'echo $$ >pid; exec sleep 1000' & ) ; sleep 1000`,
	"stopped":           `sh -c 'echo $$ >pid; kill -STOP $$; sleep 1000' & wait`,
}

func waitFile(t *testing.T, p string) int {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		data, err := os.ReadFile(p)
		if pid, perr := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && perr == nil {
			return pid
		}
		<-tick.C
	}
	t.Fatalf("%s never appeared", p)
	return 0
}

func alive(pid int) bool {
	p, ok := readProc(pid)
	return ok && p.state != 'Z' && p.state != 'X'
}

func TestTheWholeTreeDies(t *testing.T) {
	for _, tool := range []string{"setsid", "env"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: %v", tool, err)
		}
	}
	for name, script := range treeShapes {
		t.Run(name, func(t *testing.T) {
			w, r := bashRunner(t, RunnerOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			type result struct {
				exit Exit
				err  error
			}
			got := make(chan result, 1)
			go func() {
				exit, err := r.Run(ctx, Command{Argv: bash(script)})
				got <- result{exit, err}
			}()
			pid := waitFile(t, filepath.Join(w.dir, "ws/pid"))
			cancel()
			res := <-got
			if res.err != nil || res.exit.Reason != Cancelled {
				t.Errorf("Run = %+v, %v", res.exit.Reason, res.err)
			}
			if alive(pid) {
				t.Errorf("process %d survived", pid)
			}
		})
	}
}

func TestLeftoversOfAFinishedCommandDie(t *testing.T) {
	for name, detach := range map[string]string{"holding the pipe": "", "silent": ">/dev/null 2>&1"} {
		t.Run(name, func(t *testing.T) {
			w, r := bashRunner(t, RunnerOptions{})
			script := fmt.Sprintf(`setsid sh -c 'echo $$ >pid; exec sleep 1000' %s & while [ ! -s pid ]; do sleep 0.01; done; echo done`, detach)
			exit, err := r.Run(t.Context(), Command{Argv: bash(script)})
			if err != nil || exit.Reason != Exited || exit.Stdout.String() != "done\n" || exit.Leftover != 1 {
				t.Errorf("Run = %+v, %v", exit, err)
			}
			if pid := waitFile(t, filepath.Join(w.dir, "ws/pid")); alive(pid) {
				t.Errorf("process %d survived", pid)
			}
		})
	}
}

func TestTimeoutEndsTheTree(t *testing.T) {
	w, r := bashRunner(t, RunnerOptions{})
	exit, err := r.Run(t.Context(), Command{Argv: bash("echo $$ >pid; sleep 1000 | cat"), Timeout: 200 * time.Millisecond})
	if err != nil || exit.Reason != TimedOut {
		t.Errorf("Run = %+v, %v", exit.Reason, err)
	}
	if pid := waitFile(t, filepath.Join(w.dir, "ws/pid")); alive(pid) {
		t.Errorf("process %d survived", pid)
	}
}

// TestKillingOneTreeSparesAnother runs two commands side by side.
func TestKillingOneTreeSparesAnother(t *testing.T) {
	w, r := bashRunner(t, RunnerOptions{})
	p, err := r.Start(t.Context(), Command{Argv: bash("setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait")})
	if err != nil {
		t.Fatal(err)
	}
	pid := waitFile(t, filepath.Join(w.dir, "ws/pid"))
	if _, err := r.Run(t.Context(), Command{Argv: bash("sleep 1000 & exit 0")}); err != nil {
		t.Fatal(err)
	}
	if !alive(pid) || !p.Running() {
		t.Error("the other tree was ended too")
	}
}
