package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
)

func stashed(t *testing.T, r toolkit.Result) Stashed {
	t.Helper()
	d, ok := r.Data.(Stashed)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

func TestStash(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n")
	do := func(a map[string]any) Stashed { t.Helper(); return stashed(t, p.does(StashTool(), a)) }
	if d := do(map[string]any{"action": "list"}); len(d.Stashes) != 0 || d.Output != "there is no stash\n" {
		t.Errorf("%+v", d)
	}
	p.refuses(StashTool(), map[string]any{"action": "push"}, CodeNothing)
	p.refuses(StashTool(), map[string]any{"action": "pop"}, toolkit.CodeInvalid)
	p.refuses(StashTool(), map[string]any{"action": "clear"}, CodeNothing)
	p.put("a.txt", "first\n")
	p.put("new.txt", "new\n")
	d := do(map[string]any{"action": "push", "message": "--one --index", "include_untracked": true})
	if len(d.Stashes) != 1 || !strings.HasSuffix(d.Stashes[0].Message, "--one --index") || p.git("status", "--short") != "" {
		t.Errorf("%+v, status %q", d, p.git("status", "--short"))
	}
	p.put("b.txt", "second\n")
	do(map[string]any{"action": "push"})
	if d := do(map[string]any{"action": "show", "index": 1}); !strings.Contains(d.Output, "new files: new.txt") || !strings.Contains(d.Output, "+first") || len(d.Stashes) != 2 {
		t.Errorf("%+v", d)
	}
	do(map[string]any{"action": "apply", "index": 1})
	if p.git("status", "--short") != " M a.txt\n?? new.txt\n" {
		t.Errorf("status %q", p.git("status", "--short"))
	}
	if text := p.refuses(StashTool(), map[string]any{"action": "pop", "index": 1}, CodeLoses); !strings.Contains(text, "a.txt, new.txt") {
		t.Error(text)
	}
	do(map[string]any{"action": "pop"})
	if d := do(map[string]any{"action": "list"}); len(d.Stashes) != 1 {
		t.Errorf("%+v", d)
	}
	do(map[string]any{"action": "drop"})
	p.refuses(StashTool(), map[string]any{"action": "drop", "index": 0}, toolkit.CodeInvalid)
	do(map[string]any{"action": "push"})
	do(map[string]any{"action": "clear"})
	if p.git("stash", "list") != "" {
		t.Error("it is not cleared")
	}
}

func TestStashLevelsAndWhatTheyShow(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.put("a.txt", "stashed text\n")
	p.git("stash")
	p.put("b.txt", "b\n")
	p.git("add", "b.txt")
	for action, want := range map[string]toolkit.Level{
		"list": toolkit.Safe, "show": toolkit.Safe, "push": toolkit.Moderate, "pop": toolkit.Moderate, "apply": toolkit.Moderate,
		"drop": toolkit.Dangerous, "clear": toolkit.Dangerous,
	} {
		plan, err := p.planned(StashTool(), map[string]any{"action": action})
		if err != nil || plan.Level != want {
			t.Errorf("%s: %v, %v; want %v", action, plan.Level, err, want)
		}
		if shows := strings.Contains(plan.Preview.Text, "+stashed text"); shows != (action == "pop" || action == "apply" || action == "drop") {
			t.Errorf("%s shows:\n%s", action, plan.Preview.Text)
		}
	}
	p.refuses(StashTool(), map[string]any{"action": "clear", "index": 0}, toolkit.CodeInvalid)
}

func TestAStashWithConflictsIsKept(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.put("a.txt", "stashed\n")
	p.does(StashTool(), map[string]any{"action": "push"})
	p.put("a.txt", "other\n")
	p.git("commit", "-qam", "other")
	r, err := p.use(StashTool(), map[string]any{"action": "pop"})
	if e := toolkit.AsError(err); e == nil || e.Code != CodeConflict || !strings.Contains(e.Message, "a.txt") {
		t.Errorf("error %v", err)
	}
	if d := stashed(t, r); len(d.Stashes) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestStashRefusesWhatChangedSinceThePlan(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.put("a.txt", "b\n")
	p.git("stash")
	for _, action := range []string{"pop", "apply", "drop", "clear"} {
		plan, err := p.planned(StashTool(), map[string]any{"action": action})
		if err != nil {
			t.Fatal(err)
		}
		p.put("a.txt", action+"\n")
		p.git("stash")
		p.stale(StashTool(), plan)
	}
	p.put("a.txt", "c\n")
	plan, err := p.planned(StashTool(), map[string]any{"action": "push"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "a.txt"), []byte("d\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.stale(StashTool(), plan)
}
