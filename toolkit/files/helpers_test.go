package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// space is a real folder with a workspace on it.
type space struct {
	t   testing.TB
	dir string
	w   *toolkit.Workspace
}

// newSpace makes a workspace with files, given as path and content.
func newSpace(t testing.TB, files ...string) *space {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &space{t, dir, &toolkit.Workspace{Root: dir, Session: "s", Files: fsys}}
	for i := 0; i+1 < len(files); i += 2 {
		s.put(files[i], files[i+1])
	}
	return s
}

func (s *space) put(rel, content string) {
	s.t.Helper()
	p := filepath.Join(s.dir, rel)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) get(rel string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, rel))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// args are the arguments of a call.
type args map[string]any

func (a args) json(t testing.TB) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *space) plan(tool toolkit.Tool, a args) (toolkit.Plan, error) {
	s.t.Helper()
	return tool.Plan(s.t.Context(), s.w, a.json(s.t))
}

// call plans and runs.
func (s *space) call(tool toolkit.Tool, a args) (toolkit.Result, error) {
	s.t.Helper()
	p, err := s.plan(tool, a)
	if err != nil {
		return toolkit.Result{}, err
	}
	return tool.Run(s.t.Context(), s.w, p, nil)
}

func (s *space) must(tool toolkit.Tool, a args) toolkit.Result {
	s.t.Helper()
	r, err := s.call(tool, a)
	if err != nil {
		s.t.Fatalf("%s %v: %v", tool.Spec().Name, a, err)
	}
	return r
}

func denied(t testing.TB, err error, rule guard.Rule) {
	t.Helper()
	d, ok := guard.AsDenied(err)
	if !ok || d.Rule != rule {
		t.Fatalf("error = %v, want a refusal by %s", err, rule)
	}
}

// data is the result's data as its type.
func data[T any](t testing.TB, r toolkit.Result) T {
	t.Helper()
	d, ok := r.Data.(T)
	if !ok {
		t.Fatalf("data is %T", r.Data)
	}
	return d
}
