package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chela/store"
)

// writer is the child process of the crash tests: it stores messages and calls
// and says on its output which are finished, until it is killed.
func writer(dir string) int {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "chela.db"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	id := os.Getenv("CHELA_TEST_SESSION")
	now := time.Now()
	if err := s.PutSession(ctx, store.Session{ID: id, Workspace: "/w", Created: now, Updated: now}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	limit := 1 << 30
	if n := os.Getenv("CHELA_TEST_LIMIT"); n != "" {
		fmt.Sscan(n, &limit)
	}
	for i := range limit {
		m := store.Message{ID: fmt.Sprintf("%s-m%d", id, i), Session: id, Turn: i, Role: store.RoleAssistant, Content: strings.Repeat("x", i%5000), Created: time.Now()}
		if _, err := s.AppendMessage(ctx, m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("m", m.ID)
		c := store.Call{ID: fmt.Sprintf("%s-c%d", id, i), Session: id, Turn: i, Tool: "exec", State: store.CallRunning, EmittedAt: time.Now()}
		e := store.AuditEntry{Kind: store.AuditIntent, At: time.Now().UnixNano(), Session: id, Call: c.ID, Tool: c.Tool}
		if c, err = s.PutAudited(ctx, c, e); err == nil {
			c.State, c.Output = store.CallDone, "done"
			e.Kind, e.Outcome = store.AuditOutcome, "done"
			_, err = s.PutAudited(ctx, c, e)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("c", c.ID)
	}
	if err := s.Close(); err != nil {
		return 1
	}
	return 0
}

func startWriter(t *testing.T, dir, session, limit string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "CHELA_TEST_WRITER="+dir, "CHELA_TEST_SESSION="+session, "CHELA_TEST_LIMIT="+limit)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// What a process said was finished is there after it was killed, each time,
// whatever it was doing. The number of runs is small here; `make bench` does
// two hundred.
func TestKilledAtAnyMomentNothingFinishedIsLost(t *testing.T) {
	runs := 6
	if v := os.Getenv("CHELA_TEST_KILLS"); v != "" {
		fmt.Sscan(v, &runs)
	}
	dir := t.TempDir()
	for run := range runs {
		session := fmt.Sprintf("s%d", run)
		cmd, lines := startWriter(t, dir, session, "")
		finished := map[string]bool{}
		last := ""
		for stop := 7 + run*13%40; len(finished) < stop && lines.Scan(); {
			last = lines.Text()
			finished[last] = true
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it had said before the kill reached it
			if l := lines.Text(); strings.Count(l, "-") == 1 {
				finished[l] = true
			}
		}
		_ = cmd.Wait() // it was killed
		s, err := store.Open(t.Context(), filepath.Join(dir, "chela.db"))
		if err != nil {
			t.Fatalf("run %d, after %q: %v", run, last, err)
		}
		if s.Recovered() != "" {
			t.Fatalf("run %d: the database was damaged", run)
		}
		checkFinished(t, s, session, finished)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkFinished(t *testing.T, s *store.Store, session string, finished map[string]bool) {
	t.Helper()
	messages, err := s.Messages(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := s.Calls(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range messages {
		have["m "+m.ID] = true
	}
	for _, c := range calls {
		have["c "+c.ID] = c.State == store.CallDone
	}
	for id := range finished {
		if !have[id] {
			t.Errorf("%s was finished and is lost", id)
		}
	}
	// The audit is whole, and what it does not know the end of did not finish.
	r, err := s.VerifyAudit(t.Context(), "")
	if err != nil || !r.OK {
		t.Fatalf("the audit: %+v, %v", r, err)
	}
	for _, row := range r.Open {
		if row.Session == session && have["c "+row.Call] {
			t.Errorf("call %s has finished, and the audit knows its intent only", row.Call)
		}
	}
}

func TestTwoProgramsWriteAtOnce(t *testing.T) {
	dir := t.TempDir()
	const each = "60"
	a, outA := startWriter(t, dir, "a", each)
	b, outB := startWriter(t, dir, "b", each)
	count := func(s *bufio.Scanner) <-chan int {
		n := make(chan int, 1)
		go func() {
			c := 0
			for s.Scan() {
				c++
			}
			n <- c
		}()
		return n
	}
	na, nb := count(outA), count(outB)
	if got := <-na; got != 120 {
		t.Errorf("the first said %d", got)
	}
	if got := <-nb; got != 120 {
		t.Errorf("the second said %d", got)
	}
	for _, cmd := range []*exec.Cmd{a, b} {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, filepath.Join(dir, "chela.db"))
	for _, id := range []string{"a", "b"} {
		m, err := s.Messages(t.Context(), id)
		if err != nil || len(m) != 60 {
			t.Errorf("%s: %d messages, %v", id, len(m), err)
		}
	}
	if r := verify(t, s); !r.OK || r.Rows != 240 || len(r.Open) != 0 {
		t.Errorf("two programs did not make one chain: %+v", r)
	}
}

// A disk that fills up fails the write with a clear error; what was finished
// before is there, and the next start works.
func TestAFullDiskLosesNothing(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to limit the file size with")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// Blocks of 1024 bytes: enough for the schema, not for the writer.
	cmd := exec.CommandContext(t.Context(), bash, "-c", `ulimit -f 900 && exec "$0"`, self)
	cmd.Env = append(os.Environ(), "CHELA_TEST_WRITER="+dir, "CHELA_TEST_SESSION=full")
	var said, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if err := cmd.Run(); err == nil {
		t.Fatal("the writer never met the limit")
	}
	if !strings.Contains(complaint.String(), "disk") {
		t.Errorf("the error says %q", complaint.String())
	}
	finished := map[string]bool{}
	for l := range strings.Lines(said.String()) {
		finished[strings.TrimSpace(l)] = true
	}
	if len(finished) < 10 {
		t.Fatalf("only %d writes before the limit", len(finished))
	}
	s := open(t, filepath.Join(dir, "chela.db"))
	if s.Recovered() != "" {
		t.Error("the database was damaged")
	}
	checkFinished(t, s, "full", finished)
}
