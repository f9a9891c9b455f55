package shell

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// CodeNoSession says that there is no background command with an id.
const CodeNoSession toolkit.Code = "SESSION_NOT_FOUND"

type statusArgs struct {
	SessionID string `json:"session_id,omitempty" alias:"sessionId,id,session,job,job_id,jobId,process_id,shell_id,bash_id"`
	Tail      int    `json:"tail,omitempty" default:"50" min:"1" max:"500" alias:"lines"`
	Wait      int    `json:"wait,omitempty" doc:"seconds to wait for news" default:"0" min:"0" max:"60" alias:"timeout"`
}

// Background is one background command in the data of exec_status.
type Background struct {
	SessionID  string    `json:"session_id"`
	Command    string    `json:"command"`
	Status     string    `json:"status"` // running, completed, failed, timeout, killed
	ExitCode   int       `json:"exit_code"`
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
}

// Status is the data of exec_status. NextOffset is how many bytes the command
// had printed; 0 for a list.
type Status struct {
	Sessions   []Background `json:"sessions"`
	Output     string       `json:"output"`
	NextOffset int64        `json:"next_offset"`
}

// ExecStatus shows background commands and what they print.
func ExecStatus() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:       "exec_status",
		Summary:    "See background commands and their newest output.",
		Guide:      "Without session_id it lists them. Set wait rather than asking again and again.",
		Category:   "execution",
		Synonyms:   "background process job server log output poll running tail",
		Level:      toolkit.Safe,
		Tier:       tiers.Standard,
		ReadOnly:   true,
		Idempotent: true,
		Foreign:    true,
	}, planStatus, runStatus, toolkit.AvailableIf(needsJobs))
}

func needsJobs(_ context.Context, w *toolkit.Workspace) error {
	if w.Jobs == nil {
		return fmt.Errorf("background processes are kept in sessions only")
	}
	return nil
}

// job finds a job by its id, or by the only one there can be meant.
func job(w *toolkit.Workspace, id string) (*guard.Job, error) {
	if j, ok := w.Jobs.Get(strings.TrimSpace(id)); ok {
		return j, nil
	}
	e := toolkit.Errorf(CodeNoSession, "there is no background command %q.", id)
	var ids []string
	for _, j := range w.Jobs.List() {
		ids = append(ids, j.ID)
	}
	if len(ids) == 0 {
		return nil, e.WithHint("None was started in this session. Use exec with background set to true.")
	}
	return nil, e.WithHint("There are: %s.", strings.Join(ids, ", "))
}

func planStatus(ctx context.Context, w *toolkit.Workspace, a statusArgs) (toolkit.Plan, error) {
	if err := needsJobs(ctx, w); err != nil {
		return toolkit.Plan{}, toolkit.Errorf(toolkit.CodeUnavailable, "%w.", err)
	}
	if a.SessionID == "" {
		return toolkit.Plan{Summary: "all background commands"}, nil
	}
	j, err := job(w, a.SessionID)
	if err != nil {
		return toolkit.Plan{}, err
	}
	return toolkit.Plan{Summary: j.ID + ": " + oneLine(j.State().Command)}, nil
}

func runStatus(ctx context.Context, w *toolkit.Workspace, a statusArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	wait := time.Duration(a.Wait) * time.Second
	if a.SessionID == "" {
		awaitEnd(ctx, w.Jobs.List(), wait)
		return overview(w), nil
	}
	j, err := job(w, a.SessionID)
	if err != nil {
		return toolkit.Result{}, err
	}
	awaitNews(ctx, j, wait)
	return detail(w, j, a.Tail), nil
}

// awaitEnd waits until one of the jobs that run has ended.
func awaitEnd(ctx context.Context, jobs []*guard.Job, wait time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var waiting sync.WaitGroup
	for _, j := range jobs {
		if !j.Running() {
			continue
		}
		waiting.Go(func() {
			select {
			case <-j.Done():
				cancel()
			case <-ctx.Done():
			}
		})
	}
	waiting.Wait()
}

// awaitNews waits until a job has printed a line that nobody saw, or has ended.
func awaitNews(ctx context.Context, j *guard.Job, wait time.Duration) {
	if wait <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		news := j.News()
		if unseen, _, _ := j.OutputFrom(j.Seen()); !j.Running() || strings.ContainsRune(string(unseen), '\n') {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

func background(s guard.JobState) Background {
	return Background{SessionID: s.ID, Command: s.Command, Status: s.State, ExitCode: s.ExitCode, Started: s.Started, DurationMS: s.Duration.Milliseconds()}
}

// headline says in one line what a job is doing.
func headline(s guard.JobState) string {
	took := s.Duration.Round(time.Second)
	if s.Duration < 10*time.Second {
		took = s.Duration.Round(100 * time.Millisecond)
	}
	state := fmt.Sprintf("%s after %s", s.State, took)
	switch s.State {
	case guard.JobRunning:
		state = fmt.Sprintf("running for %s", took)
	case guard.JobCompleted, guard.JobFailed:
		state = fmt.Sprintf("%s with exit code %d after %s", s.State, s.ExitCode, took)
	}
	const most = 200 // of a command in a list
	what, _ := toolkit.Bound(oneLine(s.Command), most, "")
	return fmt.Sprintf("%s: %s: %s", s.ID, state, what)
}

func overview(w *toolkit.Workspace) toolkit.Result {
	d := Status{Sessions: []Background{}}
	var b strings.Builder
	for _, s := range w.Jobs.Snapshot() {
		d.Sessions = append(d.Sessions, background(s))
		b.WriteString(headline(s) + "\n")
		if s.LastLine != "" {
			b.WriteString("    " + strings.TrimSpace(plain(s.LastLine)) + "\n")
		}
	}
	if len(d.Sessions) == 0 {
		b.WriteString("No background commands in this session.")
	}
	return toolkit.Result{Text: b.String(), Data: &d}
}

// detail shows a job's last lines, and which of them nobody saw before.
func detail(w *toolkit.Workspace, j *guard.Job, tail int) toolkit.Result {
	state := j.State() // before the output: what ended has no more of it
	next := j.Output().Total
	if state.State == guard.JobRunning {
		next = lineEnd(j, next)
	}
	seen := min(j.Seen(), next)
	fresh, _, lost := between(j, seen, next)
	old, _, _ := between(j, 0, seen)
	j.Look(next)
	text, cut := lastLines(lines(old), lines(fresh), lost, tail)
	text, bound := toolkit.Bound(text, min(w.OutputBudget(), toolkit.MaxBudget), "ask for fewer lines with tail")
	if bound != nil {
		cut = bound
	}
	d := Status{Sessions: []Background{background(state)}, Output: text, NextOffset: next}
	head := headline(state) + "\n"
	if exit, ended := j.Exit(); ended && exit.Refused() != nil {
		head += fmt.Sprintf("[it was not started: %s]\n", exit.Refused())
	} else if ended {
		head += exit.Distrust()
	}
	return toolkit.Result{Text: head + text, Data: &d, Cut: cut}
}

// lineEnd is the offset after the last complete line before an offset, so that
// no line, and no secret in it, is shown in two pieces. A line without end is
// passed on when it is long.
func lineEnd(j *guard.Job, end int64) int64 {
	data, _, _ := between(j, max(j.Seen(), end-maxPartial), end)
	if i := strings.LastIndexByte(string(data), '\n'); i >= 0 {
		return end - int64(len(data)-i-1)
	}
	if len(data) >= maxPartial {
		return end
	}
	return end - int64(len(data))
}

// between returns the output from one offset to another, and how many bytes of
// it were not kept.
func between(j *guard.Job, from, to int64) (data []byte, next, lost int64) {
	data, next, lost = j.OutputFrom(from)
	return data[:max(0, int64(len(data))-(next-to))], to, lost
}

func lines(data []byte) []string {
	text := strings.TrimSuffix(plain(string(data)), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// lastLines joins the last lines of old and fresh output, with a mark between.
func lastLines(old, fresh []string, lost int64, tail int) (string, *toolkit.Truncated) {
	var b strings.Builder
	var cut *toolkit.Truncated
	mark := "[new:]\n"
	if n := len(fresh); n > tail {
		cut = &toolkit.Truncated{Shown: tail, Total: n, Unit: "lines", Hint: "ask with a larger tail"}
		mark = fmt.Sprintf("[new: the last %d of %d lines]\n", tail, n)
		fresh = fresh[n-tail:]
	}
	if lost > 0 {
		mark = fmt.Sprintf("[%d bytes were not kept]\n", lost) + mark
	}
	if len(fresh) == 0 {
		mark = "[nothing new since the last look]\n"
	}
	if room := tail - len(fresh); room < len(old) {
		old = old[len(old)-room:]
	}
	for _, l := range old {
		b.WriteString(l + "\n")
	}
	if len(old) > 0 || lost > 0 || cut != nil || len(fresh) == 0 {
		b.WriteString(mark)
	}
	for _, l := range fresh {
		b.WriteString(l + "\n")
	}
	return b.String(), cut
}
