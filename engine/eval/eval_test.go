package eval

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"chela/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// execute runs tasks side by side, each in a world of its own.
func execute(t *testing.T, tasks []Task, s Setup) []*Run {
	t.Helper()
	out := make([]*Run, len(tasks))
	var g errgroup.Group
	g.SetLimit(2 * runtime.NumCPU())
	for i := range tasks {
		g.Go(func() error {
			var err error
			out[i], err = Execute(t.Context(), &tasks[i], s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}

// some are one of a few tasks.
func some(tasks []Task) []Task {
	var out []Task
	for i := 0; i < len(tasks); i += share {
		out = append(out, tasks[i])
	}
	return out
}

// byName picks tasks by name.
func byName(t *testing.T, names ...string) []Task {
	t.Helper()
	out := Select(Tasks(), func(k *Task) bool { return slices.Contains(names, k.Name) })
	if len(out) != len(names) {
		t.Fatalf("of %q there are %d tasks", names, len(out))
	}
	return out
}

func TestTaskNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Tasks() {
		if seen[k.Name] || k.Name == "" || k.About == "" || len(k.Turns) == 0 {
			t.Errorf("task %q is incomplete, or there twice", k.Name)
		}
		seen[k.Name] = true
	}
	if len(seen) < 40 {
		t.Errorf("%d tasks", len(seen))
	}
}

// TestWhatIsImpossibleWithoutRescueAndRepairIsDone takes the tasks whose calls
// come out wrong. With nothing that mends them most fail.
func TestWhatIsImpossibleWithoutRescueAndRepairIsDone(t *testing.T) {
	tasks := some(forms())
	without := execute(t, tasks, Setup{Off: engine.Features{Rescue: true, Repair: true, Audit: true, Modes: true}})
	impossible := Select(tasks, func(k *Task) bool {
		return slices.ContainsFunc(without, func(r *Run) bool { return r.Task.Name == k.Name && r.Fault != nil })
	})
	if len(impossible) < 30/share {
		t.Errorf("only %d tasks are impossible without", len(impossible))
	}
	runs := execute(t, impossible, Setup{})
	for _, r := range runs {
		if r.Fault != nil {
			t.Logf("%s: %v", r.Task.Name, r.Fault)
		}
	}
	if done := Done(runs); done*100 < 95*len(runs) {
		t.Errorf("%d of %d are done", done, len(runs))
	}
}

// TestEachPartOfTheEngineIsNeeded holds each part to a task that is done with
// it and not without it.
func TestEachPartOfTheEngineIsNeeded(t *testing.T) {
	proof := map[string]string{
		"rescue": "a JSON fence", "audit": "a body of tags that is dropped", "tap": "a content that the server empties", "repair": "other parameter names, and no grammar",
		"modes": "no tools in the template", "guards": "announced only", "window": "a long session in a small window",
	}
	for _, f := range Features() {
		t.Run(f.Name, func(t *testing.T) {
			tasks := byName(t, proof[f.Name])
			if r := execute(t, tasks, Setup{})[0]; r.Fault != nil {
				t.Errorf("with it: %v", r.Fault)
			}
			if r := execute(t, tasks, Setup{Off: f.Off})[0]; r.Fault == nil {
				t.Errorf("%q is done without it, so it proves nothing", tasks[0].Name)
			}
		})
	}
}

// TestWhatIsOnlyShownNeverRuns holds with every part off but those that look at
// what the server made of an answer.
func TestWhatIsOnlyShownNeverRuns(t *testing.T) {
	tasks := Select(Tasks(), func(k *Task) bool { return len(k.Marks) > 0 })
	if len(tasks) < 4 {
		t.Fatalf("%d tasks", len(tasks))
	}
	configs := append([]Feature{{Name: "all on"}, {Name: "all others", Off: engine.Features{Repair: true, Modes: true, Guards: true, Window: true}}}, Features()...)
	if brief {
		configs = configs[:2]
	}
	for _, f := range configs {
		if f.Off.Audit || f.Off.Tap {
			continue
		}
		for _, r := range execute(t, tasks, Setup{Off: f.Off}) {
			if len(r.Marked) > 0 {
				t.Errorf("%s: %s: %s", f.Name, r.Task.Name, strings.Join(r.Marked, ", "))
			}
		}
	}
	if r := execute(t, byName(t, "a quoted call becomes real"), Setup{Off: engine.Features{Audit: true}})[0]; len(r.Marked) == 0 {
		t.Error("without the audit nothing ran either, so the marks prove nothing")
	}
}

func TestTheBuiltInModelDoesItsTasks(t *testing.T) {
	tasks := Select(Tasks(), func(k *Task) bool { return k.Pocket })
	for _, r := range execute(t, tasks, Setup{Model: engine.PocketModel}) {
		if r.Fault != nil {
			t.Errorf("%s: %v", r.Task.Name, r.Fault)
		}
	}
}

func TestLoopsEndInAResult(t *testing.T) {
	tasks := slices.Concat(loops(), windows())
	if brief {
		tasks = some(tasks)
	}
	for _, r := range execute(t, tasks, Setup{}) {
		if r.Fault != nil {
			t.Errorf("%s: %v", r.Task.Name, r.Fault)
		}
	}
}

func TestTablesHoldEachRun(t *testing.T) {
	tasks := byName(t, "bare JSON", "a write that is cut off")
	runs := execute(t, tasks, Setup{Off: engine.Features{Rescue: true}})
	var b strings.Builder
	if err := Table(&b, runs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| bare JSON |", "**no**: config.txt holds", "| a write that is cut off | half a call must not run | yes |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if got := LostBy(runs, runs); len(got) != 0 {
		t.Errorf("lost to nothing: %v", got)
	}
}
