package files

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

// tree is every file of a space by its path, and every folder with a slash.
func (s *space) tree() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == s.dir {
			return err
		}
		rel, err := filepath.Rel(s.dir, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			out[rel+"/"] = ""
			return nil
		}
		out[rel] = s.get(rel)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

const manyFiles = `*** Begin Patch
*** Add File: new/a.txt
+first
+second
*** Update File: src/b.txt
@@
 one
-two
+TWO
@@ three
+after three
*** Update File: c.txt
*** Move to: moved/c2.txt
@@
-see
+sea
*** Delete File: d.txt
*** End Patch
`

func manySpace(t testing.TB) *space {
	return newSpace(t, "src/b.txt", "one\ntwo\nthree\nfour\n", "c.txt", "see\n", "d.txt", "dee\n")
}

var manyAfter = map[string]string{
	"new/": "", "new/a.txt": "first\nsecond\n", "src/": "", "src/b.txt": "one\nTWO\nthree\nafter three\nfour\n", "moved/": "", "moved/c2.txt": "sea\n",
}

func TestMultiPatch(t *testing.T) {
	s := manySpace(t)
	p, err := s.plan(MultiPatch(), args{"patch": manyFiles})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"new file new/a.txt", "+first", "-two\n+TWO", "rename from c.txt\nrename to moved/c2.txt", "-see\n+sea", "deleted file d.txt", "-dee"} {
		if !strings.Contains(p.Preview.Text, want) {
			t.Errorf("the plan does not show %q:\n%s", want, p.Preview.Text)
		}
	}
	if p.Preview.Kind != toolkit.PreviewText || len(p.Effects) != 5 || len(p.Facts) != 5 || len(p.Asks) != 1 || p.Level != toolkit.Moderate {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff(manySpace(t).tree(), s.tree()); diff != "" {
		t.Errorf("the plan had an effect:\n%s", diff)
	}
	r, err := MultiPatch().Run(t.Context(), s.w, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manyAfter, s.tree()); diff != "" {
		t.Error(diff)
	}
	want := Patches{Files: []PatchedFile{
		{"new/a.txt", "add", true, 1, ""}, {"src/b.txt", "update", true, 2, ""}, {"moved/c2.txt", "move", true, 1, ""}, {"d.txt", "delete", true, 0, ""},
	}, Applied: 4}
	if diff := cmp.Diff(want, r.Data); diff != "" {
		t.Error(diff)
	}
	if len(r.Changed) != 5 || !strings.Contains(r.Text, "moved c.txt to moved/c2.txt") {
		t.Errorf("%q, %+v", r.Text, r.Changed)
	}
}

func TestMultiPatchWithOneBadHunkChangesNothing(t *testing.T) {
	s := manySpace(t)
	before := s.tree()
	for name, patch := range map[string]string{
		"a hunk":      strings.Replace(manyFiles, "-see", "-seen", 1),
		"a file":      strings.Replace(manyFiles, "d.txt", "nosuch.txt", 1),
		"a new file":  strings.Replace(manyFiles, "new/a.txt", "d.txt/x", 1),
		"a move":      strings.Replace(manyFiles, "moved/c2.txt", "src/b.txt", 1),
		"an old file": strings.Replace(manyFiles, "new/a.txt", "src/b.txt", 1),
	} {
		if _, err := s.call(MultiPatch(), args{"patch": patch}); err == nil || !strings.Contains(err.Error(), "No file was changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, patch := range []string{strings.Replace(manyFiles, "new/a.txt", "../a.txt", 1), strings.Replace(manyFiles, "moved/c2.txt", ".git/c2", 1)} {
		if _, err := s.plan(MultiPatch(), args{"patch": patch}); err == nil {
			t.Error("a path that is refused was taken")
		} else if _, ok := guard.AsDenied(err); !ok {
			t.Errorf("%v is no refusal", err)
		}
	}
	if diff := cmp.Diff(before, s.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestMultiPatchTakesUnifiedDiffs(t *testing.T) {
	s := newSpace(t, "sub/a.txt", "a\n", "sub/b.txt", "b\n")
	patch := "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1 @@\n+c\n--- a/a.txt\n+++ b/a.txt\n@@\n A\n+again\n"
	s.must(MultiPatch(), args{"patch": patch, "workdir": "sub"})
	if diff := cmp.Diff(map[string]string{"sub/": "", "sub/a.txt": "A\nagain\n", "sub/c.txt": "c\n"}, s.tree()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		a    args
		code toolkit.Code
	}{
		{args{"patch": "@@ -1 +1 @@\n-a\n+b\n"}, CodeParse},
		{args{"patch": "*** Begin Patch\n*** End Patch\n"}, CodeParse},
		{args{"patch": "*** Update File: sub/a.txt\n@@\n A\n"}, CodeParse},
		{args{"patch": "*** Delete File: sub/a.txt\n+x\n"}, CodeParse},
		{args{"patch": "*** Add File: x\n*** Move to: y\n"}, CodeParse},
		{args{"patch": manyFiles, "workdir": "sub/a.txt"}, CodeNotAFolder},
		{args{"patch": manyFiles, "workdir": "nosuch"}, CodeFileNotFound},
	} {
		_, err := s.plan(MultiPatch(), c.a)
		tooltest.Fails(t, err, c.code)
	}
}

// faultyDisk fails at its nth effect.
type faultyDisk struct {
	*guard.FS
	left int
}

var errFault = errors.New("the disk is full")

func (d *faultyDisk) step() error {
	if d.left--; d.left == -1 {
		return errFault
	}
	return nil
}

func (d *faultyDisk) WriteIf(p string, data []byte, e guard.Expect) (guard.Written, error) {
	if err := d.step(); err != nil {
		return guard.Written{}, err
	}
	return d.FS.WriteIf(p, data, e)
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

func (d *faultyDisk) Remove(p string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.FS.Remove(p)
}

func TestAPatchThatFailsHalfWayIsTakenBack(t *testing.T) {
	for n := 0; ; n++ {
		s := manySpace(t)
		if err := os.Chmod(filepath.Join(s.dir, "c.txt"), 0o751); err != nil {
			t.Fatal(err)
		}
		before := s.tree()
		p, err := prepareMulti(t.Context(), s.w, multiArgs{Patch: manyFiles})
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.changes()
		if err != nil {
			t.Fatal(err)
		}
		clean, err := commit(&faultyDisk{s.w.Files, n}, list)
		if err == nil {
			if n != 5 {
				t.Errorf("it took %d effects", n)
			}
			if diff := cmp.Diff(manyAfter, s.tree()); diff != "" {
				t.Error(diff)
			}
			if info, err := os.Stat(filepath.Join(s.dir, "moved/c2.txt")); err != nil || info.Mode().Perm() != 0o751 {
				t.Errorf("a moved file has another mode: %v, %v", info, err)
			}
			return
		}
		if !errors.Is(err, errFault) || !clean {
			t.Errorf("at effect %d: %v, clean %v", n, err, clean)
		}
		if diff := cmp.Diff(before, s.tree()); diff != "" {
			t.Errorf("after a fault at effect %d:\n%s", n, diff)
		}
	}
}

// What git says differs between two files turns one into the other, and back.
func TestPatchesOfGitApply(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	s := newSpace(t)
	out := t.TempDir()
	content := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "-- c", "++ d", "", " e", "@@ -1 +1 @@", "\tf", "*** g", "\\ h"}), 0, 12).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		text := strings.Join(lines, end)
		if text != "" && rapid.Bool().Draw(t, "newline") {
			text += end
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := content.Draw(t, "before"), content.Draw(t, "after")
		if before == after || before == "" || after == "" {
			t.Skip("nothing to change, or a file that comes or goes")
		}
		for name, text := range map[string]string{"a": before, "b": after} {
			if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "-c", "core.autocrlf=false", "diff", "--no-index", "--no-color", "-U1", "a", "b")
		cmd.Dir = out
		diff, err := cmd.Output() // its exit code says that they differ
		if len(diff) == 0 {
			t.Fatal(err)
		}
		for _, reverse := range []bool{false, true} {
			from, to := before, after
			if reverse {
				from, to = after, before
			}
			s.put("f", from)
			v, err := sections(string(diff), "f")
			if err != nil || len(v) != 1 {
				t.Fatalf("%v\n%s", err, diff)
			}
			if reverse {
				v = reversed(v)
			}
			got, err := applyHunks("f", []byte(from), v[0].hunks)
			if err != nil {
				t.Fatalf("reverse %v: %v\n%s", reverse, err, diff)
			}
			if d := cmp.Diff(to, string(got.data)); d != "" {
				t.Fatalf("reverse %v:\n%s\n%s", reverse, d, diff)
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add(manyFiles, "one\ntwo\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to y\n", "")
	f.Add("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nb")
	f.Add("@@ -9999999999999999999,1 +1 @@\n-a\n+b\n", "a\r\n")
	f.Add("```diff\n@@ x @@\n-a\n```", "x\na\n")
	f.Add("--- \"a/\\303\\251\"\n+++ /dev/null\n@@\n-\n", "\n")
	f.Fuzz(func(t *testing.T, patch, file string) {
		for _, name := range []string{"", "f"} {
			list, err := sections(patch, name)
			if err != nil {
				continue
			}
			for _, v := range append(list, reversed(list)...) {
				if v.old == "" && v.new == "" {
					t.Errorf("a section without a name: %+v", v)
				}
				if got, err := applyHunks("f", []byte(file), v.hunks); err == nil && len(v.hunks) == 0 && string(got.data) != file {
					t.Error("a patch without hunks changed the file")
				}
			}
		}
	})
}
