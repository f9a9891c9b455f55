package shell

import (
	"context"
	"fmt"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// interruptWait is how long exec_kill waits for a command that was only asked to
// stop, as by ctrl+c.
var interruptWait = 3 * time.Second

type killArgs struct {
	SessionID string `json:"session_id" min:"1" alias:"sessionId,id,session,job,job_id,jobId,process_id,shell_id,bash_id"`
	Signal    string `json:"signal,omitempty" default:"TERM" enum:"TERM,INT,KILL"`
}

// Stopped is the data of exec_kill. ExitCode is -1 where there is none.
type Stopped struct {
	SessionID string `json:"session_id"`
	Signal    string `json:"signal"`
	ExitCode  int    `json:"exit_code"`
}

// ExecKill ends a background command with all that it started.
func ExecKill() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "exec_kill",
		Summary:  "Stop a background command and all its children.",
		Guide:    "TERM is followed by KILL if it does not end; INT only asks, like ctrl+c.",
		Category: "execution",
		Synonyms: "stop end terminate cancel process job server background signal",
		Level:    toolkit.Moderate,
		Tier:     tiers.Full,
	}, planKill, runKill, toolkit.AvailableIf(needsJobs))
}

func planKill(ctx context.Context, w *toolkit.Workspace, a killArgs) (toolkit.Plan, error) {
	if err := needsJobs(ctx, w); err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	j, err := job(w, a.SessionID)
	if err != nil {
		return toolkit.Plan{}, err
	}
	what := j.State().Command
	return toolkit.Plan{
		Summary: fmt.Sprintf("%s %s: %s", a.Signal, j.ID, oneLine(what)),
		Preview: toolkit.Preview{Kind: toolkit.PreviewText, Text: fmt.Sprintf("send %s to session %s (process %d) and its children:\n%s", a.Signal, j.ID, j.PID(), what)},
	}, nil
}

func runKill(ctx context.Context, w *toolkit.Workspace, a killArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	j, err := job(w, a.SessionID)
	if err != nil {
		return toolkit.Result{}, err
	}
	if exit, ended := j.Exit(); ended {
		d := Stopped{SessionID: j.ID, Signal: a.Signal, ExitCode: exit.Code}
		return toolkit.Result{Text: "It had ended before: " + headline(j.State()), Data: d}, nil
	}
	switch a.Signal {
	case "KILL":
		err = j.KillNow(ctx)
	case "INT":
		err = interruptAndWait(ctx, j)
	default:
		err = j.Kill(ctx)
	}
	if err != nil {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeExecution, "session %s was not stopped: %w.", j.ID, err).WithHint("Send KILL.")
	}
	d := Stopped{SessionID: j.ID, Signal: a.Signal, ExitCode: -1}
	exit, ended := j.Exit()
	if !ended {
		return toolkit.Result{Text: "It was asked to stop and still runs: " + headline(j.State()) + "\nSend TERM if it does not end.", Data: d}, nil
	}
	d.ExitCode = exit.Code
	text := "Stopped: " + headline(j.State())
	if exit.Leftover > 0 {
		text += fmt.Sprintf("\nIts %d child processes were ended too.", exit.Leftover)
	}
	return toolkit.Result{Text: text, Data: d}, nil
}

// interruptAndWait asks a job to stop, and gives it a moment.
func interruptAndWait(ctx context.Context, j *guard.Job) error {
	if err := j.Interrupt(); err != nil {
		return err
	}
	t := time.NewTimer(interruptWait)
	defer t.Stop()
	select {
	case <-j.Done():
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
