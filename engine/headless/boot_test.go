package headless

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"chela/engine/event"
	"chela/store"
	"chela/toolkit"
)

func pullNews(status string, completed, total int64) event.PullProgress {
	return event.PullProgress{Model: modelName, Status: status, Completed: completed, Total: total}
}

func TestFaultsOfTheSettingsAreReportedAndNotFatal(t *testing.T) {
	b := offline(t)
	b.settings(`ollama:
  host: "::bad::"
tools:
  promote: [raed_file]
security:
  mode: yolo
  allowed_hosts: ["no port", "127.0.0.1:9"]
colour: blue
`)
	t.Setenv("POOL_TIMEOUT_MS", "soon")
	b.exit(Sessions(t.Context(), b.term(), b.setup(), false), OK)
	says(t, "stderr", b.err.String(),
		"ollama.host", "OLLAMA_HOST is in force", `no tool "raed_file"`, "read_file", "security.mode", `allowed host "no port"`, `unknown key "colour"`, "POOL_TIMEOUT_MS")
	app, err := Boot(t.Context(), b.setup())
	if err != nil {
		t.Fatal(err)
	}
	if got := app.Settings.Security; got.Mode.String() != "deny" || len(got.AllowedHosts) != 1 {
		t.Errorf("in force: %+v", got)
	}
	if err := app.Close(); err != nil {
		t.Error(err)
	}
}

func TestFoldersArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	b := offline(t)
	b.exit(Sessions(t.Context(), b.term(), b.setup(), false), OK)
	for _, dir := range []string{os.Getenv("CHELA_CONFIG_DIR"), os.Getenv("CHELA_DATA_DIR")} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestADamagedDatabaseIsMovedAsideAndSaid(t *testing.T) {
	b := offline(t)
	data := os.Getenv("CHELA_DATA_DIR")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "chela.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.exit(Sessions(t.Context(), b.term(), b.setup(), false), OK)
	says(t, "stderr", b.err.String(), "damaged", "moved to")
}

func TestAFailedStartLeavesNothingOpen(t *testing.T) {
	b := offline(t)
	s := b.setup()
	s.Tools = func() (*toolkit.Registry, error) { return nil, errors.New("two tools of one name") }
	_, err := Boot(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "two tools of one name") {
		t.Errorf("error %v", err)
	}
	data := os.Getenv("CHELA_DATA_DIR")
	if err := os.WriteFile(data, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	err = Sessions(t.Context(), b.term(), b.setup(), false)
	b.exit(err, Failed)
	says(t, "error", err.Error(), "CHELA_DATA_DIR")
}

func TestSessionsAreListedShownAndDeleted(t *testing.T) {
	b := offline(t)
	b.exit(Sessions(t.Context(), b.json(), b.setup(), false), OK)
	if got := strings.TrimSpace(b.out.String()); got != "[]" {
		t.Errorf("no sessions: %s", got)
	}
	b.exit(Sessions(t.Context(), b.term(), b.setup(), false), OK)
	says(t, "stderr", b.err.String(), "no sessions")
	b.exit(Run(t.Context(), b.term(), RunOptions{Setup: b.setup(), Prompt: "read go.mod"}), OK)
	id := b.sessions()[0].ID

	b.exit(Sessions(t.Context(), b.json(), b.setup(), false), OK)
	if got := decode[[]store.Session](t, b.out.Bytes()); len(got) != 1 || got[0].ID != id || got[0].Turns != 1 {
		t.Errorf("%+v", got)
	}
	b.exit(Sessions(t.Context(), b.term(), b.setup(), true), OK)
	says(t, "stdout", b.out.String(), id[:8], "read go.mod", filepath.Base(b.dir))
	elsewhere := b.setup()
	elsewhere.Dir = t.TempDir()
	b.exit(Sessions(t.Context(), b.json(), elsewhere, false), OK)
	if got := strings.TrimSpace(b.out.String()); got != "[]" {
		t.Errorf("in another folder: %s", got)
	}

	type shown struct {
		Session   store.Session
		Messages  []store.Message
		Calls     []store.Call
		Approvals []store.Approval
	}
	b.exit(SessionShow(t.Context(), b.json(), b.setup(), id[:8]), OK)
	if got := decode[shown](t, b.out.Bytes()); got.Session.ID != id || len(got.Messages) != 4 || len(got.Calls) != 1 || got.Approvals == nil {
		t.Errorf("%+v", got)
	}
	b.exit(SessionShow(t.Context(), b.term(), b.setup(), "last"), OK)
	says(t, "stdout", b.out.String(), "user\nread go.mod", "done      read_file go.mod", "assistant\n")
	b.exit(SessionShow(t.Context(), b.term(), b.setup(), "zzzz"), Usage)

	b.exit(SessionRemove(t.Context(), b.json(), b.setup(), []string{id}), OK)
	if got := decode[map[string][]string](t, b.out.Bytes()); len(got["removed"]) != 1 || got["removed"][0] != id {
		t.Errorf("%+v", got)
	}
	if n := len(b.sessions()); n != 0 {
		t.Errorf("%d sessions left", n)
	}
	b.exit(SessionRemove(t.Context(), b.term(), b.setup(), []string{id}), Usage)
}

func TestRulesAreListedInWordsAndRevoked(t *testing.T) {
	b := offline(t)
	b.exit(Rules(t.Context(), b.json(), b.setup()), OK)
	if got := strings.TrimSpace(b.out.String()); got != "[]" {
		t.Errorf("no rules: %s", got)
	}
	st := b.store()
	for _, r := range []store.Rule{
		{ID: "abcd1111", Decision: "allow", Tool: "exec", Scope: "prefix", Pattern: "go test", Workspace: b.dir, Created: time.Now()},
		{ID: "abcd2222", Decision: "deny", Tool: "write_file", Scope: "tool", Created: time.Now()},
	} {
		if err := st.PutRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	b.exit(Rules(t.Context(), b.term(), b.setup()), OK)
	says(t, "stdout", b.out.String(), `allow exec: one plain command starting "go test"`, "deny every write_file call", "everywhere")
	for _, id := range []string{"abcd", "abc", "zzzz", ""} {
		b.exit(RuleRevoke(t.Context(), b.term(), b.setup(), id), Usage)
	}
	b.exit(RuleRevoke(t.Context(), b.term(), b.setup(), "abcd1"), OK)
	says(t, "stdout", b.out.String(), "revoked: allow exec")
	b.exit(Rules(t.Context(), b.json(), b.setup()), OK)
	type rule struct {
		ID, Text string
	}
	if got := decode[[]rule](t, b.out.Bytes()); len(got) != 1 || got[0].ID != "abcd2222" || got[0].Text == "" {
		t.Errorf("%+v", got)
	}
}
