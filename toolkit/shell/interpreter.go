package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed" // the drivers
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
)

//go:embed driver/driver.py
var driverPython string

//go:embed driver/driver.js
var driverNode string

// language is how an interpreter is found and driven. The driver reads requests
// from the input and runs them in one namespace.
type language struct {
	programs []string // the first that is installed is used
	argv     []string // after the program
	env      []string
}

var languages = map[string]language{
	"python": {
		programs: []string{"python3", "python"},
		argv:     []string{"-I", "-u", "-c", driverPython},
		env:      []string{"PYTHONIOENCODING=utf-8"},
	},
	"node": {programs: []string{"node", "nodejs"}, argv: []string{"-e", driverNode}, env: []string{"NODE_REPL_HISTORY="}},
}

// find returns the language's program.
func (l language) find(run *guard.Runner) (guard.Program, error) {
	var first error
	for _, name := range l.programs {
		p, err := run.LookPath(name)
		if err == nil {
			return p, nil
		}
		if first == nil {
			first = err
		}
	}
	return guard.Program{}, first
}

// How long interpreters may take. The limits leave room for slow machines.
var (
	interruptGrace = 2 * time.Second // from the interrupt to the answer
	idleLife       = 12 * time.Hour  // of an interpreter
)

// talk is one request and its answer.
type talk struct {
	output string
	lost   int64  // bytes of output that were not kept
	status string // ok, error NAME, interrupted; empty: it never answered
	late   bool   // the time was up
}

// interpreter returns the running interpreter of a name, or starts one. fresh
// says that it was started now, again that one of the name had ended before.
func interpreter(ctx context.Context, w *toolkit.Workspace, l language, prog guard.Program, name, what string) (j *guard.Job, fresh, again bool, err error) {
	old, found := w.Jobs.Interpreter(name)
	if found && old.Running() {
		return old, false, false, nil
	}
	j = &guard.Job{Kind: guard.JobInterpreter, Name: name, What: what}
	err = w.Jobs.Start(ctx, w.Proc, guard.Command{
		Argv: append([]string{prog.Path}, l.argv...), OwnEnv: l.env, Interactive: true, Program: &prog, Timeout: idleLife,
		OutputLimit: 1 << 40, // over all calls; what is kept is bounded all the same
	}, j)
	return j, true, found, err
}

// ask sends code to an interpreter and waits for the answer. When the time is
// up, or ctx ends, the code is interrupted; an interpreter that does not heed
// that is ended. The caller holds the job's turn.
func ask(ctx context.Context, j *guard.Job, code string, limit time.Duration, progress func([]byte)) (talk, error) {
	mark := "chela-" + rand.Text()
	request, err := json.Marshal(map[string]string{"code": code, "mark": mark})
	if err != nil {
		return talk{}, fmt.Errorf("the code cannot be sent: %w", err)
	}
	from := j.Seen()
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := talk{}
	if err := j.Send(timed, append(request, '\n')); err != nil && j.Running() {
		return t, err
	}
	t.answer(timed, j, from, mark, progress)
	if t.status == "" && j.Running() {
		t.late = ctx.Err() == nil
		if j.Interrupt() == nil {
			grace, stop := context.WithTimeout(context.WithoutCancel(ctx), interruptGrace)
			defer stop()
			t.answer(grace, j, from, mark, nil)
		}
		if t.status == "" {
			_ = j.KillNow(context.WithoutCancel(ctx)) // waits without limit, so there is no error
		}
	}
	if t.status == "" { // it ended
		data, next, lost := j.OutputFrom(from)
		j.Look(next)
		t.output, t.lost = string(data), lost
	}
	return t, nil
}

// maxMark is the most bytes that a line with a mark may have.
const maxMark = 512

// answer waits for the mark that ends an answer, until ctx ends.
func (t *talk) answer(ctx context.Context, j *guard.Job, from int64, mark string, progress func([]byte)) {
	shown := from
	for {
		news := j.News()
		data, next, _ := j.OutputFrom(max(from, shown-maxMark))
		if at := bytes.Index(data, []byte("\n"+mark+" ")); at >= 0 {
			if status, _, whole := strings.Cut(string(data[at+len(mark)+2:]), "\n"); whole {
				t.finish(j, from, mark)
				t.status = status
				return
			}
		}
		if fresh := data[max(0, int64(len(data))-(next-shown)):]; progress != nil && len(fresh) > 0 {
			progress(fresh)
		}
		shown = next
		if !j.Running() {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// finish takes the answer up to its mark.
func (t *talk) finish(j *guard.Job, from int64, mark string) {
	data, next, lost := j.OutputFrom(from)
	before, _, _ := bytes.Cut(data, []byte("\n"+mark+" "))
	j.Look(next)
	t.output, t.lost = string(before), lost
}
