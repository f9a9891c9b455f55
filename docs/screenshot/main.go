// Command screenshot draws the picture of the README: it runs the real program
// on the pocket model in a terminal, works with it as a person would, and
// writes what the terminal shows as an SVG.
//
//	go run ./docs/screenshot BINARY docs/screenshot.svg
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"chela/ui/screentest"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: screenshot BINARY FILE.svg")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshot:", err)
		os.Exit(1)
	}
}

// project is the folder in the picture.
var project = map[string]string{
	"go.mod":                "module example.com/retry\n\ngo 1.26\n",
	"README.md":             "# retry\n\nRuns a function again until it succeeds.\n",
	"retry.go":              "package retry\n\nimport \"time\"\n\n// Do runs f until it succeeds.\nfunc Do(f func() error) error {\n\tfor {\n\t\tif err := f(); err == nil {\n\t\t\treturn nil\n\t\t}\n\t\ttime.Sleep(time.Second)\n\t}\n}\n",
	"internal/clock/now.go": "package clock\n",
}

func run(binary, out string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "chela-screenshot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "retry")
	for name, content := range project {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := repository(ctx, dir); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "-C", dir)
	// A closed port: the picture must be the same with and without a server.
	cmd.Env = append(os.Environ(), "OLLAMA_HOST=127.0.0.1:1", "CHELA_DATA_DIR="+filepath.Join(tmp, "data"), "CHELA_CONFIG_DIR="+filepath.Join(tmp, "config"))
	t, err := screentest.Start(ctx, cmd, 126, 32)
	if err != nil {
		return err
	}
	if err := play(ctx, t); err != nil {
		return err
	}
	return os.WriteFile(out, []byte(t.SVG(screentest.OnDark)), 0o644)
}

// repository makes the folder a git repository with one change, so that the
// marks in the file tree are seen.
func repository(ctx context.Context, dir string) error {
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=chela", "-c", "user.email=chela@example.com", "commit", "-q", "-m", "begin"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(project["README.md"]+"\nWork in progress.\n"), 0o644)
}

// play is what the person does.
func play(ctx context.Context, t *screentest.Terminal) error {
	type act struct {
		keys string
		wait []string
	}
	for _, a := range []act{
		{"", []string{"pocket", "README.md", "Message"}},
		{"read go.mod" + screentest.KeyEnter, []string{"Done: read_file"}},
		{"list the files in internal" + screentest.KeyEnter, []string{"Done: directory_tree"}},
		{"replace time.Second with backoff in retry.go" + screentest.KeyEnter, []string{"Approvals · 1"}},
		{"and keep the old name", []string{"and keep the old name"}},
	} {
		if err := t.Send(a.keys); err != nil {
			return err
		}
		if err := t.WaitText(ctx, a.wait...); err != nil {
			return err
		}
	}
	return nil
}
