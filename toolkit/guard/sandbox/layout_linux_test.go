package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planned is the layout of a world, by path relative to it.
func planned(t *testing.T, dir string, p Policy) (map[string]mountKind, error) {
	t.Helper()
	p, err := p.check()
	if err != nil {
		t.Fatal(err)
	}
	mounts, _, err := layout(p, lookAt(t.Context(), p.Workspace))
	out := map[string]mountKind{}
	for i, m := range mounts {
		if i > 0 && mounts[i-1].Path+"/" > m.Path+"/" {
			t.Errorf("%s comes before %s", mounts[i-1].Path, m.Path)
		}
		if rel, err := filepath.Rel(dir, m.Path); err == nil && filepath.IsLocal(rel) {
			out[rel] = m.Kind
		}
	}
	return out, err
}

func TestTheLayoutProtectsFromTheOutsideIn(t *testing.T) {
	dir := makeWorld(t)
	put(t, filepath.Join(dir, "my project/a/b/.git/config"), "")
	put(t, filepath.Join(dir, "my project/a/.env"), "")
	put(t, filepath.Join(dir, "my project/.chela/settings.yml"), "")
	put(t, filepath.Join(dir, "my project/worktree/.git"), "gitdir: "+filepath.Join(dir, "out"))
	put(t, filepath.Join(dir, "my project/trick/.git"), "gitdir: ..")
	got, err := planned(t, dir, policyOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]mountKind{
		"cache": write, "my project": write, "my project/.git": read, "my project/.chela": read, "my project/a": pin, "my project/a/b": pin,
		"my project/a/b/.git": read, "my project/a/.env": hide, "my project/worktree": pin, "my project/worktree/.git": read,
		"my project/trick": pin, "my project/trick/.git": read, "home/.ssh": hide, "home/.netrc": hide, "home/data": hide,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
}

func TestALayoutThatCannotProtectIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string, p *Policy)
		want   string
	}{
		"everything to be written to": {func(_ string, p *Policy) { p.Workspace = "/" }, "root folder"},
		"a workspace that is to be hidden": {
			func(dir string, p *Policy) { p.Hidden = []string{dir} }, "no command may see",
		},
		"a workspace among credentials": {
			func(dir string, p *Policy) { p.Workspace = filepath.Join(dir, "home/.ssh") }, "no command may see",
		},
		"chela's folder behind a link that can be replaced": {
			func(dir string, p *Policy) {
				_ = os.Symlink(filepath.Join(dir, "home/data"), filepath.Join(dir, "my project/link"))
				p.Hidden = []string{filepath.Join(dir, "my project/link/deeper")}
			}, "cannot be protected",
		},
		"a folder to write to that is a file": {
			func(dir string, p *Policy) { p.Writable = []string{filepath.Join(dir, "out/file")} }, "is no folder",
		},
		"a folder that is not there": {
			func(dir string, p *Policy) { p.Writable = []string{filepath.Join(dir, "nothing")} }, "no such file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeWorld(t)
			p := policyOf(dir)
			c.change(dir, &p)
			if _, err := planned(t, dir, p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("layout = %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestAPolicyWantsAbsolutePaths(t *testing.T) {
	for _, p := range []Policy{
		{Workspace: "ws"}, {}, {Workspace: "/ws", Hidden: []string{"x"}}, {Workspace: "/ws", Cache: "c"}, {Workspace: "/ws", ReadOnly: []string{""}},
	} {
		if _, err := p.check(); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

func TestALookHasBounds(t *testing.T) {
	dir := t.TempDir()
	deep := dir
	for range maxDepth + 2 {
		deep = filepath.Join(deep, "d")
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if l := lookAt(t.Context(), dir); !strings.Contains(l.short, "deeper") {
		t.Errorf("a deep folder: %q", l.short)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if l := lookAt(t.Context(), filepath.Join(dir, "d")); len(l.shapes) != 0 {
		t.Errorf("found %v", l.shapes)
	}
}

func TestSupportNamesOnlyWhatHolds(t *testing.T) {
	for want, s := range map[string]Support{
		"none":                         {Landlock: 7, Seccomp: true, Limits: true},
		"bwrap":                        {Backend: Bubblewrap},
		"bwrap+landlock7+rlimits":      {Backend: Bubblewrap, Landlock: 7, Limits: true},
		"namespaces+landlock1+seccomp": {Backend: Namespaces, Landlock: 1, Seccomp: true},
		"namespaces+seccomp+rlimits":   {Backend: Namespaces, Seccomp: true, Limits: true, Processes: true},
	} {
		if got := s.String(); got != want || s.Works() != (want != "none") {
			t.Errorf("%+v is %q, works: %v", s, got, s.Works())
		}
	}
}
