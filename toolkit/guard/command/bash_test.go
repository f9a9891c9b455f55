package command

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// stage is a folder in which bash runs with a search path of stand-ins: each
// writes its name and arguments to a log and does nothing else.
type stage struct {
	bash, dir, bin, log string
}

// others are programs that no read-only command may reach.
var others = []string{
	"touch", "id2", "curl", "rm", "tee", "dd", "sh", "python3", "git", "unknown", "evil", "env", "xargs", "awk", "node", "mkfifo", "0", "go", "make", "busybox", "nice", "man",
}

func newStage(t testing.TB) *stage {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	s := &stage{bash: bash, dir: t.TempDir(), bin: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	names := slices.Clone(others)
	for name := range readers {
		names = append(names, name)
	}
	for _, name := range names {
		script := fmt.Sprintf("#!%s\nl=%s\nfor a; do l=\"$l <${a//$'\\n'/ }>\"; done\nprintf '%%s\\n' \"$l\" >>%s\n", bash, quote(name), s.log)
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"a.txt": "x\ny\n", "b.txt": "x\nz\n", "a.json": "{}", "a": "a", "sub/b": "b", "-x": "-"} {
		full := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run gives a text to bash, as exec does, and returns what ran, in order of
// the names. path is the search path, the stand-ins' if empty.
func (s *stage) run(t testing.TB, text, path string) (logged []string) {
	t.Helper()
	if path == "" {
		path = s.bin
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bash, "--norc", "--noprofile", "-c", text)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + path, "HOME=" + s.dir, "LC_ALL=C"}
	_ = cmd.Run() // a program may well end with a code
	if ctx.Err() != nil {
		t.Fatalf("%q does not end", text)
	}
	data, err := os.ReadFile(s.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.log); err != nil {
		t.Fatal(err)
	}
	logged = strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Sort(logged)
	return logged
}

// state lists everything in the folder, with size and time.
func (s *stage) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %v %v\n", p, info.Size(), info.Mode(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// allowedProgram reports a line of the log that a read-only command may cause.
func allowedProgram(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	_, ok := readers[name]
	return ok || line == ""
}

// The proof by running: what was classified read-only is given to a real bash,
// first with stand-ins that tell what ran, then with the true programs.
func TestReadOnlyCommandsReallyOnlyRead(t *testing.T) {
	s := newStage(t)
	before := s.state(t)
	for _, src := range reading {
		r := Analyse(src, Options{})
		ran := s.run(t, r.Run, "")
		for _, line := range ran {
			if !allowedProgram(line) {
				t.Errorf("%q ran %q", src, line)
			}
		}
		// What was written and what is run are the same to bash.
		if as := s.run(t, src, ""); !slices.Equal(as, ran) {
			t.Errorf("%q runs %q as written, %q as printed", src, as, ran)
		}
		s.run(t, r.Run, os.Getenv("PATH"))
		if after := s.state(t); after != before {
			t.Fatalf("%q changed the folder:\n%s\nwas\n%s", src, after, before)
		}
	}
}

// Each of these leaves a mark if bash gets it as it is. They prove that the
// tests see what they should see.
func TestTheTrapsWork(t *testing.T) {
	for _, src := range []string{
		"echo $(touch ran)", "[ -v 'a[$(touch ran)]' ]", "test -v 'a[$(touch ran)]'", "printf -v 'a[$(touch ran)]' x", "read 'a[$(touch ran)]' <<<x",
		"let 'a[$(touch ran)]=1'", "trap 'touch ran' EXIT", "eval touch ran", "cat <(touch ran)", "cat <<E\n$(touch ran)\nE", "echo $((a[$(touch ran)]))",
		"env touch ran", "command touch ran", "nice touch ran", "exec touch ran", "find . -maxdepth 0 -exec touch ran ;", "sed -n '1w ran' a.txt", "sed '1e touch ran' a.txt",
		"uniq a.txt ran", "sort -o ran a.txt", "awk '{system(\"touch ran\")}' a.txt", "ls > ran", "ls;touch ran", "ls&touch ran", "ls\ntouch ran", "[[ 'a[$(touch ran)]' -eq 1 ]]",
		"printf '%n' ran; echo $ran > ran",
	} {
		if r := Analyse(src, Options{}); r.Class == ReadOnly {
			t.Errorf("%q is read-only", src)
		}
	}
	s := newStage(t)
	for _, src := range []string{"[ -v 'a[$(touch ran)]' ]", "printf -v 'a[$(touch ran)]' x", "uniq a.txt ran", "sed -n '1w ran' a.txt"} {
		s.run(t, src, os.Getenv("PATH"))
		if err := os.Remove(filepath.Join(s.dir, "ran")); err != nil {
			t.Errorf("%q leaves no mark here, so it proves nothing: %v", src, err)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, src := range reading {
		f.Add(src)
	}
	for _, list := range payloads {
		for _, src := range list {
			f.Add(src)
			f.Add("ls; " + src)
		}
	}
	for _, src := range []string{
		"git status\ntouch /out/mark", "PATH=.:$PATH ls", "tar cf /dev/null a.txt --checkpoint=1 --checkpoint-action=exec='touch /out/mark'",
		"exec 3<>/dev/tcp/127.0.0.1/11434", "ls \\\n-la", "echo \"a\\\nb\" 'c\nd'", "cat a\\ b", "ls;;ls", "a=b=c ls", "echo {a..b} !x", "ls\\", "'l's -a", "ls '\\''", `echo "\$x \` + "`" + `id\` + "`" + `"`,
	} {
		f.Add(src)
	}
	s := newStage(f)
	before := s.state(f)
	f.Fuzz(func(t *testing.T, src string) {
		r := Analyse(src, Options{})
		if r.Class != ReadOnly {
			if len(r.Reasons) == 0 {
				t.Fatalf("%q is %v without a reason", src, r.Class)
			}
			return
		}
		if again := Analyse(r.Run, Options{}); again.Class != ReadOnly || again.Run != r.Run {
			t.Fatalf("%q prints %q, which is %v and prints %q", src, r.Run, again.Class, again.Run)
		}
		for _, text := range []string{r.Run, src} {
			for _, line := range s.run(t, text, "") {
				if !allowedProgram(line) {
					t.Fatalf("%q ran %q", text, line)
				}
			}
			if after := s.state(t); after != before {
				t.Fatalf("%q changed the folder:\n%s", text, after)
			}
		}
	})
}
