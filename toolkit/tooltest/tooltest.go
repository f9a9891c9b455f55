// Package tooltest is what the tests of tools share: calling one, reading its
// error, and programs that stand in for those of a desktop. Only tests import it.
package tooltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"chela/toolkit"
)

// Do plans a call and runs its plan, as the pipeline does once it is judged. The
// arguments are JSON text, or a value to be written as JSON.
func Do(t testing.TB, tool toolkit.Tool, w *toolkit.Workspace, args any) (toolkit.Plan, toolkit.Result, error) {
	t.Helper()
	var raw json.RawMessage
	switch a := args.(type) {
	case string:
		raw = json.RawMessage(a)
	default:
		var err error
		if raw, err = json.Marshal(a); err != nil {
			t.Fatal(err)
		}
	}
	p, err := tool.Plan(t.Context(), w, raw)
	if err != nil {
		return p, toolkit.Result{}, err
	}
	r, err := tool.Run(t.Context(), w, p, nil)
	return p, r, err
}

// Fails ends the test unless err is a tool's error with the code, and returns it.
func Fails(t testing.TB, err error, code toolkit.Code) *toolkit.Error {
	t.Helper()
	var e *toolkit.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error = %v, want code %s", err, code)
	}
	return e
}

// Program puts a program into a folder that notes its arguments (one a line), its
// desktop and its input beside itself, as NAME.args, NAME.env and NAME.in, and
// then runs a script of the POSIX shell. On Windows the test is skipped.
func Program(t testing.TB, dir, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	text := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%[1]s/%[2]s.args'\nprintf %%s \"$DISPLAY$WAYLAND_DISPLAY\" > '%[1]s/%[2]s.env'\n/bin/cat > '%[1]s/%[2]s.in'\n%[3]s\n", dir, name, script)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Read is the text of a file.
func Read(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
