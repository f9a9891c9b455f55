package desktop

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/tooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a workspace on a system with these variables, and the folder of its
// programs.
func bench(t *testing.T, name string, vars map[string]string) (w *toolkit.Workspace, programs string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	oldSystem, oldVariable := system, variable
	t.Cleanup(func() { system, variable = oldSystem, oldVariable })
	system, variable = name, func(n string) string { return vars[n] }
	dir, programs := t.TempDir(), t.TempDir()
	if err := os.Chmod(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	fs, err := guard.OpenFS(dir, guard.FSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := guard.NewRunner(fs, guard.RunnerOptions{Path: []string{programs}})
	t.Cleanup(func() {
		_ = r.Close()
		_ = fs.Close()
	})
	return &toolkit.Workspace{Root: dir, Session: "s", Files: fs, Proc: r}, programs
}

type a = map[string]any

// screen is the terminal that chela is drawn on.
type screen struct {
	got []string
	err error
}

func (s *screen) Notify(title, body string) error {
	s.got = append(s.got, title+"|"+body)
	return s.err
}

func (s *screen) Copy(text string) error {
	s.got = append(s.got, text)
	return s.err
}

var (
	onX       = map[string]string{"DISPLAY": ":0"}
	onWayland = map[string]string{"WAYLAND_DISPLAY": "wayland-0"}
)

func TestANotificationIsDataForEachSystem(t *testing.T) {
	title, body := `-x "quit"`, "$(touch pwned); end run"
	for _, c := range []struct{ system, program, args, in string }{
		{"linux", "notify-send", "-a\nchela\n-u\ncritical\n-h\nstring:sound-name:message-new-instant\n--\n" + title + "\n" + body + "\n", ""},
		{"darwin", "osascript", "-e\non run argv\n-e\ndisplay notification (item 2 of argv) with title (item 1 of argv) sound name \"default\"\n-e\nend run\n--\n" + title + "\n" + body + "\n", ""},
		{"windows", "powershell", "", `{"b":"$(touch pwned); end run ","t":"-x \"quit\""}`},
	} {
		t.Run(c.system, func(t *testing.T) {
			w, bin := bench(t, c.system, onX)
			tooltest.Program(t, bin, c.program, "")
			p, r, err := tooltest.Do(t, Notify(), w, a{"title": title, "body": body, "sound": true, "urgency": "critical"})
			if err != nil {
				t.Fatal(err)
			}
			args := tooltest.Read(t, bin, c.program+".args")
			if c.args != "" && args != c.args || strings.Contains(args, "pwned") && c.system == "windows" {
				t.Errorf("arguments: %q", args)
			}
			if in := tooltest.Read(t, bin, c.program+".in"); in != c.in {
				t.Errorf("input: %q", in)
			}
			if r.Data != any(Notified{true, c.program}) || p.Level != toolkit.Moderate || p.Preview.Program != bin+"/"+c.program || tooltest.Read(t, bin, c.program+".env") != ":0" {
				t.Errorf("%+v, %+v", r.Data, p)
			}
		})
	}
}

func TestWithoutAProgramTheTerminalNotifies(t *testing.T) {
	w, bin := bench(t, "linux", nil)
	tooltest.Program(t, bin, "notify-send", "") // but there is no desktop
	if err := Notify().Available(t.Context(), w); err == nil || !strings.Contains(err.Error(), "notify-send") {
		t.Errorf("got %v", err)
	}
	s := &screen{}
	w.Terminal = s
	_, r, err := tooltest.Do(t, Notify(), w, a{"title": "T", "body": "B"})
	if err != nil || r.Data != any(Notified{true, "terminal"}) || len(s.got) != 1 || s.got[0] != "T|B" {
		t.Errorf("%v, %+v, %v", err, r.Data, s.got)
	}
	s.err = errors.New("closed")
	if _, _, err := tooltest.Do(t, Notify(), w, a{"title": "T", "body": "B"}); toolkit.AsError(err).Code != CodeNotify {
		t.Errorf("got %v", err)
	}
}

func TestTheClipboardIsRead(t *testing.T) {
	for _, c := range []struct {
		system, program, format, args string
		vars                          map[string]string
	}{
		{"linux", "wl-paste", "text", "--no-newline\n", onWayland},
		{"linux", "xclip", "html", "-selection\nclipboard\n-o\n-t\ntext/html\n", onX},
		{"linux", "xsel", "text", "--clipboard\n--output\n", onX},
		{"darwin", "pbpaste", "text", "\n", nil},
	} {
		t.Run(c.program, func(t *testing.T) {
			w, bin := bench(t, c.system, c.vars)
			tooltest.Program(t, bin, c.program, `printf 'hallo\303\244'`)
			_, r, err := tooltest.Do(t, ReadClipboard(), w, a{"format": c.format})
			if err != nil || r.Data != any(Pasted{c.format, "halloä", 6, ""}) || tooltest.Read(t, bin, c.program+".args") != c.args {
				t.Errorf("%v, %+v, %q", err, r.Data, tooltest.Read(t, bin, c.program+".args"))
			}
		})
	}
}

func pixel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAnImageInTheClipboardBecomesAFile(t *testing.T) {
	w, bin := bench(t, "linux", onX)
	if err := os.WriteFile(filepath.Join(bin, "p.png"), pixel(t), 0o600); err != nil {
		t.Fatal(err)
	}
	tooltest.Program(t, bin, "xclip", "/bin/cat '"+bin+"/p.png'")
	for _, want := range []string{"clipboard.png", "clipboard-2.png"} {
		_, r, err := tooltest.Do(t, ReadClipboard(), w, a{"format": "image"})
		if d, ok := r.Data.(Pasted); err != nil || !ok || d.Path != want || tooltest.Read(t, w.Root, want) != string(pixel(t)) {
			t.Errorf("%v, %+v", err, r.Data)
		}
	}
	tooltest.Program(t, bin, "xclip", "echo target not available >&2; exit 1")
	if _, _, err := tooltest.Do(t, ReadClipboard(), w, a{"format": "image"}); toolkit.AsError(err).Code != CodeRead || !strings.Contains(err.Error(), "target not available") {
		t.Errorf("got %v", err)
	}
}

func TestTextIsCopied(t *testing.T) {
	w, bin := bench(t, "linux", onWayland)
	tooltest.Program(t, bin, "wl-copy", "")
	_, r, err := tooltest.Do(t, WriteClipboard(), w, a{"text": "-o x$(y)"})
	if err != nil || r.Data != any(Copied{true, 8, "wl-copy"}) || tooltest.Read(t, bin, "wl-copy.in") != "-o x$(y)" || tooltest.Read(t, bin, "wl-copy.args") != "--foreground\n" {
		t.Errorf("%v, %+v", err, r.Data)
	}
	tooltest.Program(t, bin, "wl-copy", "exec /bin/sleep 60") // it holds the clipboard, until chela ends
	if _, _, err = tooltest.Do(t, WriteClipboard(), w, a{"text": "x"}); err != nil || len(w.Proc.Processes()) == 0 {
		t.Errorf("a program that stays: %v", err)
	}
	tooltest.Program(t, bin, "wl-copy", "echo no compositor >&2; exit 1")
	if _, _, err = tooltest.Do(t, WriteClipboard(), w, a{"text": "x"}); toolkit.AsError(err).Code != CodeWrite {
		t.Errorf("a failure: %v", err)
	}
	if _, _, err = tooltest.Do(t, WriteClipboard(), w, a{"text": strings.Repeat("x", maxClip+1)}); toolkit.AsError(err).Code != toolkit.CodeInvalid {
		t.Errorf("too much: %v", err)
	}
}

func TestOverSSHTheTerminalCopies(t *testing.T) {
	w, bin := bench(t, "linux", map[string]string{"DISPLAY": ":10", "SSH_CONNECTION": "1"})
	tooltest.Program(t, bin, "xclip", "")
	s := &screen{}
	w.Terminal = s
	_, r, err := tooltest.Do(t, WriteClipboard(), w, a{"text": "x"})
	if err != nil || r.Data != any(Copied{true, 1, "terminal"}) || len(s.got) != 1 {
		t.Errorf("%v, %+v, %v", err, r.Data, s.got)
	}
	w, _ = bench(t, "linux", nil)
	if WriteClipboard().Available(t.Context(), w) == nil || ReadClipboard().Available(t.Context(), w) == nil || Capture().Available(t.Context(), w) == nil {
		t.Error("offered where nothing can do it")
	}
}

func TestTheScreenIsCaptured(t *testing.T) {
	for _, c := range []struct {
		program, args, region string
		vars                  map[string]string
	}{
		{"grim", "-t\npng\n-\n", "-g\n1,2 3x4\n-t\npng\n-\n", onWayland},
		{"maim", "-f\npng\n", "-f\npng\n-g\n3x4+1+2\n", onX},
		{"scrot", "-\n", "-a\n1,2,3,4\n-\n", onX},
		{"import", "-window\nroot\npng:-\n", "-window\nroot\n-crop\n3x4+1+2\n+repage\npng:-\n", onX},
	} {
		t.Run(c.program, func(t *testing.T) {
			w, bin := bench(t, "linux", c.vars)
			if err := os.WriteFile(filepath.Join(bin, "p.png"), pixel(t), 0o600); err != nil {
				t.Fatal(err)
			}
			tooltest.Program(t, bin, c.program, "/bin/cat '"+bin+"/p.png'")
			_, r, err := tooltest.Do(t, Capture(), w, a{})
			if err != nil || r.Data != any(Captured{"screenshots/screen.png", 3, 2, len(pixel(t)), "png"}) || tooltest.Read(t, bin, c.program+".args") != c.args {
				t.Errorf("%v, %+v, %q", err, r.Data, tooltest.Read(t, bin, c.program+".args"))
			}
			_, r, err = tooltest.Do(t, Capture(), w, a{"region": a{"x": 1, "y": 2, "width": 3, "height": 4}, "format": "jpg", "output": "a.jpg"})
			if d, ok := r.Data.(Captured); err != nil || !ok || d.Path != "a.jpg" || !strings.HasPrefix(tooltest.Read(t, w.Root, "a.jpg"), "\xff\xd8") || tooltest.Read(t, bin, c.program+".args") != c.region {
				t.Errorf("%v, %+v, %q", err, r.Data, tooltest.Read(t, bin, c.program+".args"))
			}
		})
	}
}

func TestACaptureStaysInTheWorkspace(t *testing.T) {
	w, bin := bench(t, "linux", onX)
	tooltest.Program(t, bin, "maim", "echo no picture")
	for _, out := range []string{"../a.png", "/tmp/a.png", ".git/a.png"} {
		_, _, err := tooltest.Do(t, Capture(), w, a{"output": out})
		if _, denied := guard.AsDenied(err); !denied {
			t.Errorf("%s: %v", out, err)
		}
	}
	if _, _, err := tooltest.Do(t, Capture(), w, a{"output": "a.png"}); toolkit.AsError(err).Code != CodeCapture {
		t.Errorf("no picture: %v", err)
	}
	for _, args := range []a{{"display": 2}, {"output": "a.txt"}} {
		if _, _, err := tooltest.Do(t, Capture(), w, args); toolkit.AsError(err).Code != toolkit.CodeInvalid {
			t.Errorf("%v: %v", args, err)
		}
	}
}
