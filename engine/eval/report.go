package eval

import (
	"context"
	"fmt"
	"io"
	"strings"

	"chela/engine"
)

// Feature is a part of the engine that can be switched off.
type Feature struct {
	Name string
	What string // what is missing without it
	Off  engine.Features
}

// Features are all parts that the evaluation switches off, one at a time.
func Features() []Feature {
	return []Feature{
		{"rescue", "calls in text stay text", engine.Features{Rescue: true}},
		{"audit", "what the server makes of an answer is believed", engine.Features{Audit: true}},
		{"tap", "the raw tokens are not asked for", engine.Features{Tap: true}},
		{"repair", "names and arguments must be right at once", engine.Features{Repair: true}},
		{"modes", "calls are asked for in one way", engine.Features{Modes: true}},
		{"guards", "nobody notices that it does not get on", engine.Features{Guards: true}},
		{"window", "nothing gives way when the window fills", engine.Features{Window: true}},
	}
}

// Each runs tasks one after the other. progress hears of each; it may be nil.
func Each(ctx context.Context, tasks []Task, s Setup, progress func(*Run)) ([]*Run, error) {
	var out []*Run
	for i := range tasks {
		r, err := Execute(ctx, &tasks[i], s)
		if err != nil {
			return out, fmt.Errorf("running %q: %w", tasks[i].Name, err)
		}
		out = append(out, r)
		if progress != nil {
			progress(r)
		}
	}
	return out, nil
}

// Select picks tasks.
func Select(tasks []Task, want func(*Task) bool) []Task {
	var out []Task
	for i := range tasks {
		if want(&tasks[i]) {
			out = append(out, tasks[i])
		}
	}
	return out
}

// Done counts the runs that succeeded.
func Done(runs []*Run) int {
	n := 0
	for _, r := range runs {
		if r.Fault == nil {
			n++
		}
	}
	return n
}

// Cost adds up the answers and the prompts' tokens of runs.
func Cost(runs []*Run) (answers, prompt int) {
	for _, r := range runs {
		answers += r.Steps
		prompt += r.Prompt
	}
	return answers, prompt
}

// LostBy lists the tasks that are done in one list of runs and not in the
// other, which has the same tasks in the same order.
func LostBy(all, without []*Run) []string {
	var out []string
	for i, r := range all {
		if r.Fault == nil && without[i].Fault != nil {
			out = append(out, r.Task.Name)
		}
	}
	return out
}

// Table writes runs as a Markdown table.
func Table(w io.Writer, runs []*Run) error {
	var b strings.Builder
	b.WriteString("| Task | Measures | Done | Answers | Prompt tokens | Tokens | Rescued | Repaired | Nudges | Mode changes | Compactions |\n")
	b.WriteString("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range runs {
		done := "yes"
		if r.Fault != nil {
			done = "**no**: " + cell(r.Fault.Error())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %s | %s | %s | %s | %s |\n", cell(r.Task.Name), cell(r.Task.About), done,
			r.Steps, r.Prompt, r.Tokens, count(r.Rescues), count(r.Repairs), count(r.Nudges), count(r.Modes), count(r.Compactions))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// count is a number that is left out if it is nothing.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// cell makes a text fit for a table.
func cell(s string) string {
	const most = 100
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
