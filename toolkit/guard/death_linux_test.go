package guard

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// helperDir is the variable that turns the test binary into a program which
// runs a command in that directory until it is killed.
const helperDir = "GUARD_TEST_HELPER_DIR"

func runHelper(dir string) {
	f, err := OpenFS(dir, FSOptions{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, err = NewRunner(f, RunnerOptions{}).Run(context.Background(), Command{Argv: bash("echo $$ >pid; exec sleep 1000")})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestACommandDiesWithTheProgram(t *testing.T) {
	if dir := os.Getenv(helperDir); dir != "" {
		runHelper(dir)
	}
	w, _ := bashRunner(t, RunnerOptions{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestACommandDiesWithTheProgram$")
	cmd.Env = append(os.Environ(), helperDir+"="+filepath.Join(w.dir, "ws"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFile(t, filepath.Join(w.dir, "ws/pid"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: that is the point
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if !alive(pid) {
			return
		}
		<-tick.C
	}
	t.Errorf("process %d survived its parent", pid)
}
