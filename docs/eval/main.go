// Command eval measures what the engine does for models that fail, and writes
// docs/evaluation.md. With a model's name it measures that model of the Ollama
// server instead, and prints the table.
//
//	go run ./docs/eval docs/evaluation.md
//	go run ./docs/eval docs/evaluation.md qwen3:8b
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"chela/engine"
	"chela/engine/eval"
	"chela/engine/ollama"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: eval FILE.md [MODEL]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 3 {
		err = model(ctx, os.Args[2])
	} else {
		err = write(ctx, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

// model measures one model of the Ollama server, or the built-in one, by the
// tasks that mean the same for any.
func model(ctx context.Context, name string) error {
	s := eval.Setup{Model: name}
	want := (*eval.Task).Plain
	if name == engine.PocketModel {
		want = func(t *eval.Task) bool { return t.Pocket }
	} else {
		var err error
		if s.Server, err = ollama.New(""); err != nil {
			return err
		}
	}
	tasks := eval.Select(eval.Tasks(), want)
	runs, err := eval.Each(ctx, tasks, s, progress(name, len(tasks)))
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d of %d\n\n", name, eval.Done(runs), len(runs))
	return eval.Table(os.Stdout, runs)
}

// progress writes a line for each task.
func progress(what string, total int) func(*eval.Run) {
	n := 0
	return func(r *eval.Run) {
		n++
		state := "done"
		if r.Fault != nil {
			state = "not done: " + r.Fault.Error()
		}
		fmt.Fprintf(os.Stderr, "%s %d/%d %s: %s\n", what, n, total, r.Task.Name, state)
	}
}

// write measures the flawed model and the built-in one, and writes the page.
func write(ctx context.Context, file string) error {
	tasks := eval.Tasks()
	all, err := eval.Each(ctx, tasks, eval.Setup{}, progress("all on", len(tasks)))
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, intro, len(tasks), eval.Done(all), len(tasks))
	if err := eval.Table(&b, all); err != nil {
		return err
	}
	b.WriteString(features)
	answers, prompt := eval.Cost(all)
	fmt.Fprintf(&b, "| nothing | | %d of %d | %d | %dk | | |\n", eval.Done(all), len(tasks), answers, (prompt+500)/1000)
	for _, f := range eval.Features() {
		runs, err := eval.Each(ctx, tasks, eval.Setup{Off: f.Off}, nil)
		if err != nil {
			return err
		}
		lost := eval.LostBy(all, runs)
		fmt.Fprintf(os.Stderr, "without %s: %d of %d\n", f.Name, eval.Done(runs), len(tasks))
		answers, prompt := eval.Cost(runs)
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %d | %dk | %d | %s |\n", f.Name, f.What, eval.Done(runs), len(tasks), answers, (prompt+500)/1000, len(lost), strings.Join(lost, "; "))
	}
	able := eval.Select(tasks, func(t *eval.Task) bool { return t.Pocket })
	runs, err := eval.Each(ctx, able, eval.Setup{Model: engine.PocketModel}, progress("pocket", len(able)))
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, pocket, eval.Done(runs), len(able))
	if err := eval.Table(&b, runs); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

const intro = `# Evaluation

Made by ` + "`make eval`" + `. %d small tasks, each in a real engine with the real tools, on a folder and a store of its own; success is what is on disk or in the answer in the end.

The model here is a program. It knows the right next step of each task, and writes it as models do that fail: its output goes through Ollama's own parsers, so that calls leak, get lost, change their tool or come out of a quotation as they do on a server. It sees only what the engine sends: results, errors, nudges, the prompt of the call mode. So the numbers say what the engine makes of a flawed answer, and nothing about how often a given model gives one. ` + "`make eval MODEL=qwen3:8b`" + ` measures a real model by the tasks that have no flaw of their own.

## All on: %d of %d

`

const features = `
## One part switched off at a time

The same tasks again. A task is lost to a part if it is done with all of them and not without it. What one part does not mend another often does, at the price of more answers: without repair, a call that stays wrong is forced.

| Switched off | Then | Done | Answers | Prompt tokens | Lost | Which |
|---|---|---|---:|---:|---:|---|
`

const pocket = `
## The built-in model: %d of %d

The tasks that it was trained for, with the real network.

`
