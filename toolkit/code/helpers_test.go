package code

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type args map[string]any

// folder is a real project with a workspace on it.
type folder struct {
	t   testing.TB
	dir string
	w   *toolkit.Workspace
}

// newFolder makes a project from pairs of a name and a content.
func newFolder(t testing.TB, files ...string) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{t: t, dir: dir}
	for i := 0; i < len(files); i += 2 {
		f.put(files[i], files[i+1])
	}
	fsys, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Caches of compilers and package managers are in the home folder.
	run := guard.NewRunner(fsys, guard.RunnerOptions{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GOFLAGS=-mod=mod"}, PassEnv: []string{"GOFLAGS"}, KillGrace: 50 * time.Millisecond,
	})
	t.Cleanup(func() {
		if err := errors.Join(run.Close(), fsys.Close()); err != nil {
			t.Error(err)
		}
	})
	f.w = &toolkit.Workspace{Root: dir, Session: "s", Files: fsys, Proc: run, Config: &toolkit.Config{}}
	return f
}

func (f *folder) put(rel, content string) {
	f.t.Helper()
	full := filepath.Join(f.dir, rel)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) get(rel string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, rel))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f *folder) plan(tool toolkit.Tool, a args) (toolkit.Plan, error) {
	f.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		f.t.Fatal(err)
	}
	return tool.Plan(f.t.Context(), f.w, raw)
}

func (f *folder) call(tool toolkit.Tool, a args) (toolkit.Result, error) {
	f.t.Helper()
	p, err := f.plan(tool, a)
	if err != nil {
		f.t.Fatal(err)
	}
	return tool.Run(f.t.Context(), f.w, p, nil)
}

// data is the data of a result, as a type.
func data[T any](t testing.TB, r toolkit.Result) T {
	t.Helper()
	d, ok := r.Data.(*T)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return *d
}

// needs skips a test whose programs are not installed.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("not tested against the real program: %s is not installed", p)
		}
	}
}

// tested checks counts, and returns the data.
func tested(t testing.TB, r toolkit.Result, passed, failed, skipped int) Tested {
	t.Helper()
	d := data[Tested](t, r)
	if d.Passed != passed || d.Failed != failed || d.Skipped != skipped || d.Total != passed+failed+skipped {
		t.Fatalf("passed, failed, skipped, total = %d, %d, %d, %d; want %d, %d, %d\n%s\n%s", d.Passed, d.Failed, d.Skipped, d.Total, passed, failed, skipped, r.Text, d.RawTail)
	}
	return d
}

// failed checks that there is a failure of this name, place and message.
func failed(t testing.TB, list []Failure, name, file string, line int, message string) {
	t.Helper()
	if !slices.ContainsFunc(list, func(f Failure) bool {
		return f.Name == name && f.File == file && f.Line == line && strings.Contains(f.Message, message)
	}) {
		t.Errorf("no failure %s at %s:%d with %q in %+v", name, file, line, message, list)
	}
}
