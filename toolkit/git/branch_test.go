package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/toolkit"
)

func branched(t *testing.T, r toolkit.Result) Branches {
	t.Helper()
	d, ok := r.Data.(Branches)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}

func (p *project) current() string { return strings.TrimSpace(p.git("branch", "--show-current")) }

func TestBranches(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.does(BranchTool(), map[string]any{"create": "one"})
	if p.current() != "main" {
		t.Error("create checks out")
	}
	p.does(BranchTool(), map[string]any{"create": "fix/two", "checkout": "fix/two"})
	if p.current() != "fix/two" {
		t.Error("create and checkout does not check out")
	}
	p.git("remote", "add", "origin", "https://example.com/x.git")
	p.git("update-ref", "refs/remotes/origin/far", "HEAD")
	d := branched(t, p.does(BranchTool(), map[string]any{"list": true}))
	var got []string
	for _, b := range d.Branches {
		got = append(got, b.Name)
	}
	if d.Current != "fix/two" || strings.Join(got, " ") != "fix/two main one origin/far" || !strings.Contains(d.Output, "* fix/two ") {
		t.Errorf("%v\n%s", got, d.Output)
	}
	plan, err := p.planned(BranchTool(), nil)
	if err != nil || plan.Level != toolkit.Safe {
		t.Errorf("a list is %v, %v", plan.Level, err)
	}
	p.does(BranchTool(), map[string]any{"checkout": "main"})
	p.does(BranchTool(), map[string]any{"delete": "one"})
	if strings.Contains(p.git("branch"), "one") {
		t.Error("it is not deleted")
	}
	p.does(BranchTool(), map[string]any{"checkout": "far"}) // only the remote has it
	if p.current() != "far" || strings.TrimSpace(p.git("config", "branch.far.merge")) != "refs/heads/far" {
		t.Error("the remote's branch is not followed")
	}
}

func TestCheckoutChangesFilesAndSaysWhich(t *testing.T) {
	p := committed(t, "a.txt", "a\n", "b.txt", "b\n")
	p.git("checkout", "-q", "-b", "topic")
	p.put("a.txt", "topic\n")
	p.put("new.txt", "n\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "topic")
	p.git("checkout", "-q", "main")
	p.put("b.txt", "local\n")
	plan, err := p.planned(BranchTool(), map[string]any{"checkout": "topic"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Level != toolkit.Moderate || !strings.Contains(plan.Preview.Text, "modified: a.txt +1 -1\n  added: new.txt +1 -0") || len(plan.Effects) != 3 || len(plan.Preview.Notes) != 1 {
		t.Errorf("%+v", plan)
	}
	r, err := BranchTool().Run(t.Context(), p.w, plan, nil)
	if err != nil || len(r.Changed) != 2 || r.Changed[1] != (toolkit.Change{Path: "new.txt", Kind: "created", Added: 1}) {
		t.Errorf("%+v, %v", r.Changed, err)
	}
	if data, err := os.ReadFile(filepath.Join(p.dir, "b.txt")); err != nil || string(data) != "local\n" {
		t.Errorf("the local change is %q, %v", data, err)
	}
}

func TestNothingIsLost(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.git("checkout", "-q", "-b", "topic")
	p.put("a.txt", "topic\n")
	p.put("new.txt", "n\n")
	p.git("add", "-A")
	p.git("commit", "-qm", "only here")
	p.git("checkout", "-q", "main")
	if text := p.refuses(BranchTool(), map[string]any{"delete": "topic"}, CodeLoses); !strings.Contains(text, `"only here"`) {
		t.Error(text)
	}
	p.put("a.txt", "local\n")
	if text := p.refuses(BranchTool(), map[string]any{"checkout": "topic"}, CodeLoses); !strings.Contains(text, "a.txt") {
		t.Error(text)
	}
	p.git("checkout", "-q", "a.txt")
	p.put("new.txt", "mine\n")
	if text := p.refuses(BranchTool(), map[string]any{"checkout": "topic"}, CodeLoses); !strings.Contains(text, "new.txt") {
		t.Error(text)
	}
	if err := os.Remove(filepath.Join(p.dir, "new.txt")); err != nil {
		t.Fatal(err)
	}
	p.git("checkout", "-q", "--detach")
	p.git("commit", "-q", "--allow-empty", "-m", "nowhere")
	if text := p.refuses(BranchTool(), map[string]any{"checkout": "topic"}, CodeLoses); !strings.Contains(text, `"nowhere"`) {
		t.Error(text)
	}
	p.does(BranchTool(), map[string]any{"create": "saved", "checkout": "saved"})
	p.does(BranchTool(), map[string]any{"checkout": "topic"})
}

func TestBranchSaysWhatIsWrong(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.git("branch", "there")
	for want, args := range map[string]map[string]any{
		"dash":              {"create": "--force"},
		"no name for":       {"create": "a..b"},
		"no name for a bra": {"checkout": "HEAD"},
		"blank":             {"create": "a b"},
		"exists already":    {"create": "there"},
		"two branches":      {"create": "x", "checkout": "y"},
		"goes with neither": {"create": "x", "delete": "there"},
		"checked out.":      {"delete": "main"},
		"checked out alre":  {"checkout": "main"},
		`no branch "x"`:     {"delete": "x"},
		`no branch "y"`:     {"checkout": "y"},
		"no name for a b":   {"delete": "x.lock"},
	} {
		if text := p.refuses(BranchTool(), args, toolkit.CodeInvalid); !strings.Contains(text, want) {
			t.Errorf("%v: %s", args, text)
		}
	}
}

func TestBranchRefusesWhatChangedSinceThePlan(t *testing.T) {
	p := committed(t, "a.txt", "a\n")
	p.git("branch", "topic")
	for _, args := range []map[string]any{{"create": "new"}, {"delete": "topic"}, {"checkout": "topic"}} {
		plan, err := p.planned(BranchTool(), args)
		if err != nil {
			t.Fatal(err)
		}
		p.git("commit", "-q", "--allow-empty", "-m", "x")
		p.stale(BranchTool(), plan)
	}
	plan, err := p.planned(BranchTool(), map[string]any{"checkout": "topic"})
	if err != nil {
		t.Fatal(err)
	}
	p.put("a.txt", "local\n")
	p.stale(BranchTool(), plan)
}
