package code

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/shell"
)

// finished is how a command ended.
type finished struct {
	out   Output
	took  time.Duration
	step  int    // how many of Before succeeded
	fault error  // it did not come to its own end
	note  string // what the sandbox noticed
	cut   bool   // output was left out between its head and its tail
}

// run executes what was prepared. The commands before the last must succeed.
func (p *prepared) run(ctx context.Context, w *toolkit.Workspace, progress func(toolkit.Progress)) (finished, error) {
	if p.exec != nil {
		return p.runLine(ctx, w, progress)
	}
	var f finished
	begun := time.Now()
	write, end := p.stream(progress)
	defer end()
	for i, argv := range append(p.Before[:len(p.Before):len(p.Before)], p.Argv) {
		left := p.limit - time.Since(begun)
		if left <= 0 {
			f.fault = p.late()
			return f, nil
		}
		exit, err := w.Proc.Run(ctx, guard.Command{
			Argv: argv, Dir: shownDir(p.Dir), OwnEnv: p.Env, Timeout: left, MaxOutput: keepOutput, OnOutput: write, Program: &p.programs[i],
		})
		if err != nil {
			var changed *guard.Changed
			if errors.As(err, &changed) {
				return f, toolkit.Errorf(toolkit.CodeChanged, "the program changed since the call was planned: %w.", err).WithHint("Call the tool again.")
			}
			return f, toolkit.Errorf(toolkit.CodeExecution, "%s could not be started: %w.", argv[0], err)
		}
		f.note += exit.Distrust()
		f.took = time.Since(begun)
		f.cut = exit.Output.Dropped > 0
		f.out = Output{Stdout: captured(exit.Stdout), Stderr: captured(exit.Stderr), All: captured(exit.Output), Code: exit.Code}
		switch exit.Reason {
		case guard.Exited:
		case guard.TimedOut:
			f.fault = p.late()
		case guard.OutputLimit:
			f.fault = toolkit.Errorf(toolkit.CodeExecution, "%s printed more than %d MiB and was stopped.", p.Tool, guard.DefaultOutputLimit>>20)
		case guard.Cancelled:
			f.fault = toolkit.Errorf(toolkit.CodeCancelled, "%s was stopped.", p.Tool)
		default:
			f.fault = toolkit.Errorf(toolkit.CodeExecution, "%s was ended by a signal: %s.", p.Tool, exit.Signal)
		}
		if f.fault != nil || exit.Code != 0 {
			break
		}
		f.step = i
	}
	f.out.Reports = reports(w, p.Command, begun)
	return f, nil
}

func (p *prepared) late() error {
	return toolkit.Errorf(toolkit.CodeTimeout, "%s did not end within %s and was stopped.", p.Tool, p.limit).
		WithHint("Run a part of it, or give a larger timeout.")
}

func captured(c guard.Captured) string { return shell.Plain(c.String()) }

// runLine runs a shell command line through exec.
func (p *prepared) runLine(ctx context.Context, w *toolkit.Workspace, progress func(toolkit.Progress)) (finished, error) {
	res, err := shell.Exec().Run(ctx, w, *p.exec, progress)
	d, ok := res.Data.(*shell.Executed)
	if !ok {
		return finished{}, err
	}
	f := finished{took: time.Duration(d.DurationMS) * time.Millisecond}
	f.out = Output{Stdout: d.Stdout, Stderr: d.Stderr, All: res.Text, Code: d.ExitCode}
	if fault := toolkit.AsError(err); fault != nil && (d.Status != "failed" || fault.Code != shell.CodeExit) {
		f.fault = fault
	}
	if d.Status == "running" {
		f.fault = toolkit.Errorf(toolkit.CodeTimeout, "the command still runs, in the background as session %s.", d.SessionID).
			WithHint("Look at it with exec_status.")
	}
	return f, nil
}

// stream passes on what a person wants to see while the program runs.
func (p *prepared) stream(progress func(toolkit.Progress)) (write func([]byte), end func()) {
	pass, end := shell.Stream(progress)
	if p.Live == nil {
		return pass, end
	}
	var mu sync.Mutex
	var held []byte
	return func(chunk []byte) {
		mu.Lock()
		defer mu.Unlock()
		held = append(held, chunk...)
		for {
			i := bytes.IndexByte(held, '\n')
			if i < 0 {
				break
			}
			if show := p.Live(string(held[:i])); show != "" {
				pass([]byte(show + "\n"))
			}
			held = held[i+1:]
		}
		if len(held) > 1<<20 {
			held = nil // a line that long is no news for people
		}
	}, end
}

const (
	maxReports    = 500
	maxReportSize = 8 << 20
)

// reports reads the files that a run wrote. Those that were made for us alone
// are removed.
func reports(w *toolkit.Workspace, c Command, since time.Time) [][]byte {
	var out [][]byte
	for _, pattern := range c.Reports {
		for _, name := range matching(space{w}, c.Dir, pattern) {
			info, err := w.Files.Stat(name)
			// File systems keep times more coarsely than clocks do.
			if err != nil || info.ModTime.Before(since.Add(-2*time.Second)) || len(out) >= maxReports {
				continue
			}
			if data, _, err := w.Files.ReadAll(name, maxReportSize); err == nil {
				out = append(out, data)
			}
			if strings.HasPrefix(path.Base(name), trxPrefix) {
				_ = w.Files.Remove(name) // a report that stays is no harm
			}
		}
	}
	return out
}

// matching are the files that a pattern of path.Match means, component by
// component.
func matching(t Tree, dir, pattern string) []string {
	first, rest, more := strings.Cut(pattern, "/")
	var out []string
	for _, name := range t.Names(dir) {
		sub, folder := strings.CutSuffix(name, "/")
		if ok, err := path.Match(first, sub); !ok || err != nil || folder != more {
			continue
		}
		if more {
			out = append(out, matching(t, path.Join(dir, sub), rest)...)
		} else {
			out = append(out, path.Join(dir, sub))
		}
	}
	return out
}

// place says where a command ran.
func (p *prepared) place(w *toolkit.Workspace) Place {
	return Place{Root: w.Root, Dir: p.Dir, Module: p.Module}
}

// tail is the end of what a program printed.
func (f finished) tail() string {
	text := strings.TrimSpace(f.out.All)
	if len(text) > rawTail {
		text = "…" + strings.ToValidUTF8(text[len(text)-rawTail:], "")
	}
	return text
}
