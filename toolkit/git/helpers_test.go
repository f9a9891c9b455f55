package git

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a real folder with a workspace on it.
type project struct {
	t   testing.TB
	dir string
	w   *toolkit.Workspace

	home string   // of whoever runs the tools
	env  []string // of git
}

func newProject(t testing.TB, root ...string) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	if len(root) > 0 {
		dir = root[0]
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Ada\n\temail = ada@example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := guard.NewRunner(fsys, guard.RunnerOptions{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}})
	t.Cleanup(func() {
		if err := errors.Join(run.Close(), fsys.Close()); err != nil {
			t.Error(err)
		}
	})
	return &project{t, dir, &toolkit.Workspace{Root: dir, Session: "s", Files: fsys, Proc: run, Secret: guard.NewRedactor(nil, nil)}, home, nil}
}

// git runs git as a person would, behind the guard's back.
func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir + "/../none", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t",
	}
	cmd.Env = append(cmd.Env, p.env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("git %q: %v: %s", args, err, errs.Bytes())
	}
	return string(out)
}

func (p *project) put(rel, content string) {
	p.t.Helper()
	full := filepath.Join(p.dir, rel)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// committed makes a repository with one commit.
func committed(t testing.TB, files ...string) *project {
	p := newProject(t)
	p.git("init", "-q", "-b", "main")
	for i := 0; i+1 < len(files); i += 2 {
		p.put(files[i], files[i+1])
	}
	p.git("add", "-A")
	p.git("commit", "-q", "--allow-empty", "-m", "first")
	return p
}

func (p *project) call(a map[string]any) (toolkit.Result, error) { return p.use(StatusTool(), a) }

// planned makes the plan of a call.
func (p *project) planned(tool toolkit.Tool, a map[string]any) (toolkit.Plan, error) {
	p.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		p.t.Fatal(err)
	}
	return tool.Plan(p.t.Context(), p.w, raw)
}

// use plans a call and runs it.
func (p *project) use(tool toolkit.Tool, a map[string]any) (toolkit.Result, error) {
	p.t.Helper()
	plan, err := p.planned(tool, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	return tool.Run(p.t.Context(), p.w, plan, nil)
}

// does fails when the call fails.
func (p *project) does(tool toolkit.Tool, a map[string]any) toolkit.Result {
	p.t.Helper()
	r, err := p.use(tool, a)
	if err != nil {
		p.t.Fatalf("%s %v: %v", tool.Spec().Name, a, err)
	}
	return r
}

// refuses fails unless the plan of the call fails with this code, and returns
// what it says.
func (p *project) refuses(tool toolkit.Tool, a map[string]any, code toolkit.Code) string {
	p.t.Helper()
	_, err := p.planned(tool, a)
	var e *toolkit.Error
	if !errors.As(err, &e) || e.Code != code {
		p.t.Errorf("%s %v: error %v, want %s", tool.Spec().Name, a, err, code)
		return ""
	}
	return err.Error()
}

// stale fails unless running a plan now is refused because the world changed.
func (p *project) stale(tool toolkit.Tool, plan toolkit.Plan) {
	p.t.Helper()
	_, err := tool.Run(p.t.Context(), p.w, plan, nil)
	var e *toolkit.Error
	if !errors.As(err, &e) || e.Code != toolkit.CodeChanged {
		p.t.Errorf("%s ran, or says %v, want %s", tool.Spec().Name, err, toolkit.CodeChanged)
	}
}
