//go:build unix

package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chela/engine/ollama"
)

// program puts an "ollama" before all others in the path.
func program(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ollama"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestAServerThatAnswersIsNotStartedAgain(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "started")
	program(t, "touch "+mark)
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"version": "0.17.7"})
	})
	if err := ollama.Serve(t.Context(), c); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was started")
	}
}

func TestAServerThatDiesAtOnceIsSaid(t *testing.T) {
	program(t, "exit 3")
	says(t, "error", ollama.Serve(t.Context(), closed(t)), "ended at once", "exit status 3", "by hand")
	program(t, "kill -9 $$")
	says(t, "error", ollama.Serve(t.Context(), closed(t)), "killed")
}

func TestAnInstalledServerIsStartedWhereTheClientLooks(t *testing.T) {
	dir := t.TempDir()
	program(t, `test "$1" = serve || exit 9
echo "$OLLAMA_HOST $PWD $$" > `+dir+`/new && mv `+dir+`/new `+dir+`/started; exec sleep 600`)
	c := closed(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ollama.Serve(ctx, c) }()
	var got []byte
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C { // the script can tell only through a file
		var err error
		if got, err = os.ReadFile(filepath.Join(dir, "started")); err == nil {
			tick.Stop()
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("it was not started")
		}
	}
	cancel()
	err := <-done
	says(t, "error", err, "does not answer at "+c.Host())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	words := strings.Fields(string(got))
	here, werr := os.Getwd()
	if werr != nil || words[0] != c.Host() || words[1] == here {
		t.Errorf("started with %q, %v", got, werr)
	}
	var pid int
	if err := json.Unmarshal([]byte(words[2]), &pid); err != nil {
		t.Fatal(err)
	}
	// It goes on without the client, and is this test's to end.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := ollama.Serve(t.Context(), closed(t)); !errors.Is(err, ollama.ErrNotInstalled) {
		t.Errorf("not installed: %v", err)
	}
	// Reserved for documentation (RFC 5737): no such machine answers.
	far, err := ollama.New("192.0.2.1:1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	says(t, "another machine", ollama.Serve(ctx, far), "another machine", "OLLAMA_HOST")
}
