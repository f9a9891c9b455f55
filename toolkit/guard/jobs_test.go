//go:build unix

package guard

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// startJob starts a script as a job of a table.
func startJob(t *testing.T, table *Jobs, r *Runner, script string) *Job {
	t.Helper()
	j := &Job{Kind: JobCommand, What: script}
	if err := table.Start(t.Context(), r, Command{Argv: bash(script)}, j); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJobsEndWithTheirTable(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	var changes atomic.Int32
	table, other := NewJobs(nil, func() { changes.Add(1) }), NewJobs(nil, nil)
	t.Cleanup(other.Close)
	one, two, kept := startJob(t, table, r, "sleep 1000"), startJob(t, table, r, "true"), startJob(t, other, r, "sleep 1000")
	<-two.Done()
	if _, ok := other.Get(one.ID); ok || len(other.List()) != 1 {
		t.Error("a table knows another's job")
	}
	table.Close()
	if one.Running() || !kept.Running() {
		t.Errorf("after Close: own job runs %v, another table's %v", one.Running(), kept.Running())
	}
	if n := changes.Load(); n != 4 {
		t.Errorf("%d changes were told, want 4", n)
	}
	if s := table.Snapshot(); len(s) != 2 || s[0].State != JobKilled || s[1].State != JobCompleted || s[1].ExitCode != 0 {
		t.Errorf("%+v", s)
	}
	late := &Job{Kind: JobCommand}
	if err := table.Start(t.Context(), r, Command{Argv: bash("sleep 1000")}, late); err == nil || late.Running() {
		t.Errorf("a closed table took a job: %v", err)
	}
}

func TestJobsAreBounded(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	table := NewJobs(nil, nil)
	t.Cleanup(table.Close)
	var last *Job
	for range maxEndedJobs + 3 {
		last = startJob(t, table, r, "true")
		<-last.Done()
	}
	table.wg.Wait()
	if list := table.List(); len(list) != maxEndedJobs || list[maxEndedJobs-1] != last {
		t.Errorf("%d ended jobs are remembered", len(list))
	}
	for range MaxJobs {
		startJob(t, table, r, "sleep 1000")
	}
	err := table.Start(t.Context(), r, Command{Argv: bash("true")}, &Job{})
	if err == nil || !strings.Contains(err.Error(), "exec_kill") {
		t.Errorf("one too many: %v", err)
	}
}

func TestAJobsStateHidesSecretsAndIsShort(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	table := NewJobs(NewRedactor(nil, []Secret{{Kind: "key", Value: "hunter2hunter2"}}), nil)
	t.Cleanup(table.Close)
	j := startJob(t, table, r, "echo first; printf 'it is hunter2hunter2 %0300d\\n\\n' 1")
	<-j.Done()
	s := j.State()
	if strings.Contains(s.Command+s.LastLine, "hunter2") || !strings.HasPrefix(s.LastLine, "it is ") || len(s.LastLine) > maxLastLine {
		t.Errorf("%+v", s)
	}
}

func TestAnInteractiveProcessAnswers(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	p, err := r.Start(t.Context(), Command{Argv: bash("while read x; do echo got $x; echo err >&2; done"), Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		if err := p.Send(t.Context(), []byte(word+"\n")); err != nil {
			t.Fatal(err)
		}
		for {
			news := p.News()
			if strings.HasSuffix(p.Output().String(), "got "+word+"\nerr\n") {
				break
			}
			<-news
		}
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.News() // of an ended process there is nothing to wait for
	if err := p.Send(t.Context(), []byte("x")); err == nil {
		t.Error("an ended process took a message")
	}
	if err := p.Interrupt(); err == nil {
		t.Error("an ended process was interrupted")
	}
}

func TestSendDoesNotWaitForEver(t *testing.T) {
	_, r := bashRunner(t, RunnerOptions{})
	p, err := r.Start(t.Context(), Command{Argv: bash("sleep 1000"), Interactive: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.Send(ctx, make([]byte, 1<<20)); err == nil {
		t.Error("a message was read that nobody reads")
	}
	quiet, err := r.Start(t.Context(), Command{Argv: bash("true")})
	if err != nil {
		t.Fatal(err)
	}
	if err := quiet.Send(t.Context(), []byte("x")); err == nil {
		t.Error("a process without an open input took a message")
	}
}
