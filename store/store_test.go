package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"chela/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CHELA_TEST_WRITER"); dir != "" {
		os.Exit(writer(dir))
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t *testing.T) *store.Store { return open(t, filepath.Join(t.TempDir(), "data", "chela.db")) }

func session(id string) store.Session {
	now := time.Now()
	return store.Session{ID: id, Title: "t", Workspace: "/w", Model: "m", Mode: "ask", Created: now, Updated: now}
}

func put(t *testing.T, s *store.Store, v store.Session) {
	t.Helper()
	if err := s.PutSession(t.Context(), v); err != nil {
		t.Fatal(err)
	}
}

var timeOnly = cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })

func TestSessionsComeBackAsTheyWere(t *testing.T) {
	s := fresh(t)
	v := session("abcdef01")
	v.Tier, v.Promoted, v.Turns = "full", []string{"web_search"}, 3
	put(t, s, v)
	v.Title = "changed; DROP TABLE sessions; -- \x00 \u202e"
	put(t, s, v)
	for _, id := range []string{"abcdef01", "abcd"} {
		got, err := s.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(v, got, timeOnly); d != "" {
			t.Error(d)
		}
	}
	put(t, s, session("abcdef02"))
	if _, err := s.Session(t.Context(), "abcd"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("an ambiguous id: %v", err)
	}
	if _, err := s.Session(t.Context(), "zzzz"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestSessionsNewestFirstByWorkspace(t *testing.T) {
	s := fresh(t)
	for i, w := range []string{"/a", "/b", "/a"} {
		v := session(fmt.Sprintf("s%d", i))
		v.Workspace, v.Updated = w, time.Unix(int64(100+i), 0)
		put(t, s, v)
	}
	list, err := s.Sessions(t.Context(), "/a", 0)
	if err != nil || len(list) != 2 || list[0].ID != "s2" || list[1].ID != "s0" {
		t.Errorf("%v, %v", list, err)
	}
	if all, err := s.Sessions(t.Context(), "", 2); err != nil || len(all) != 2 {
		t.Errorf("limit: %v, %v", all, err)
	}
}

func TestMessagesKeepTheirOrder(t *testing.T) {
	s := fresh(t)
	put(t, s, session("s1"))
	var want []store.Message
	for i, role := range []string{store.RoleUser, store.RoleAssistant, store.RoleTool} {
		m, err := s.AppendMessage(t.Context(), store.Message{
			ID: fmt.Sprint(i), Session: "s1", Turn: 1, Role: role, Content: "text\x00" + role, Thinking: "hm", Call: "c", Tool: "exec",
			Calls: []string{"c1", "c2"}, Partial: i == 1, Stats: json.RawMessage(`{"tokens":3}`), Created: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.Seq != i+1 {
			t.Errorf("message %d has place %d", i, m.Seq)
		}
		want = append(want, m)
	}
	got, err := s.Messages(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, timeOnly); d != "" {
		t.Error(d)
	}
	if _, err := s.AppendMessage(t.Context(), store.Message{ID: "x", Session: "s1", Role: "system", Created: time.Now()}); err == nil {
		t.Error("a role that does not exist was stored")
	}
	if _, err := s.AppendMessage(t.Context(), store.Message{ID: "y", Session: "none", Role: store.RoleUser, Created: time.Now()}); err == nil {
		t.Error("a message of no session was stored")
	}
}

func aCall(id string) store.Call {
	return store.Call{ID: id, Session: "s1", Turn: 1, Tool: "exec", Origin: "model", State: store.CallEmitted, Emitted: `{"command":"ls"}`, EmittedAt: time.Now()}
}

func TestAFinishedCallNeverChanges(t *testing.T) {
	s := fresh(t)
	put(t, s, session("s1"))
	c, err := s.PutCall(t.Context(), aCall("c1"))
	if err != nil {
		t.Fatal(err)
	}
	c.State, c.Output, c.ReturnedAt = store.CallDone, "out", time.Now()
	if c, err = s.PutCall(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	changed := c
	changed.Output = "forged"
	if _, err := s.PutCall(t.Context(), changed); err == nil {
		t.Error("a finished call was changed")
	}
	got, err := s.Call(t.Context(), "c1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got, timeOnly); d != "" {
		t.Error(d)
	}
}

func TestInterruptClosesWhatIsOpenAndNothingElse(t *testing.T) {
	s := fresh(t)
	put(t, s, session("s1"))
	states := []store.CallState{store.CallEmitted, store.CallWaiting, store.CallRunning, store.CallDone, store.CallDenied}
	for i, st := range states {
		c := aCall(fmt.Sprint("c", i))
		c.State = st
		if _, err := s.PutCall(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AskApproval(t.Context(), store.Approval{ID: "a1", Call: "c1", Session: "s1", PlanHash: "h", Asked: time.Now()}); err != nil {
		t.Fatal(err)
	}
	closed, err := s.Interrupt(t.Context(), "s1", time.Now())
	if err != nil || len(closed) != 3 {
		t.Fatalf("closed %d, %v", len(closed), err)
	}
	calls, err := s.Calls(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range calls {
		want := states[i]
		if !want.Final() {
			want = store.CallInterrupted
		}
		if c.State != want || c.State == store.CallInterrupted && c.ReturnedAt.IsZero() {
			t.Errorf("call %d is %s", i, c.State)
		}
	}
	if a, err := s.Approvals(t.Context(), "s1"); err != nil || a[0].State != store.ApprovalExpired {
		t.Errorf("approval %+v, %v", a, err)
	}
	// An answer that comes after the restart finds nothing to answer.
	if err := s.DecideApproval(t.Context(), store.Approval{ID: "a1", Call: "c1", Session: "s1", PlanHash: "h", State: store.ApprovalApproved, Decided: time.Now()}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an expired approval was answered: %v", err)
	}
}

func TestAnApprovalIsBoundAndSingleUse(t *testing.T) {
	s := fresh(t)
	put(t, s, session("s1"))
	put(t, s, session("s2"))
	if _, err := s.PutCall(t.Context(), aCall("c1")); err != nil {
		t.Fatal(err)
	}
	right := store.Approval{ID: "a1", Call: "c1", Session: "s1", PlanHash: "h", State: store.ApprovalApproved, Scope: "once", Asked: time.Now(), Decided: time.Now()}
	if err := s.AskApproval(t.Context(), right); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*store.Approval){
		"session": func(a *store.Approval) { a.Session = "s2" }, "call": func(a *store.Approval) { a.Call = "c2" },
		"plan": func(a *store.Approval) { a.PlanHash = "other" }, "id": func(a *store.Approval) { a.ID = "a2" },
	} {
		wrong := right
		change(&wrong)
		if err := s.DecideApproval(t.Context(), wrong); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
	if err := s.DecideApproval(t.Context(), right); err != nil {
		t.Fatal(err)
	}
	if err := s.DecideApproval(t.Context(), right); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a second answer: %v", err)
	}
}

func TestRulesByWorkspaceAndSession(t *testing.T) {
	s := fresh(t)
	for i, r := range []store.Rule{{Workspace: "/w"}, {Workspace: "/w", Session: "s1"}, {}, {Workspace: "/other"}} {
		r.ID, r.Decision, r.Tool, r.Scope, r.Pattern, r.Created = fmt.Sprint(i), "allow", "exec", "exact", "{}", time.Unix(int64(i+1), 0)
		if err := s.PutRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(workspace, session string) string {
		rules, err := s.Rules(t.Context(), workspace, session)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range rules {
			out = append(out, r.ID)
		}
		return strings.Join(out, "")
	}
	if got := ids("/w", "s1"); got != "012" {
		t.Errorf("in the session: %s", got)
	}
	if got := ids("/w", "s2"); got != "02" {
		t.Errorf("in another: %s", got)
	}
	if err := s.RevokeRule(t.Context(), "0", time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := ids("/w", "s2"); got != "2" {
		t.Errorf("after revoking: %s", got)
	}
	if err := s.RevokeRule(t.Context(), "0", time.Now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoking twice: %v", err)
	}
}

func TestDeletingASessionTakesEverythingOfIt(t *testing.T) {
	s := fresh(t)
	put(t, s, session("s1"))
	if _, err := s.AppendMessage(t.Context(), store.Message{ID: "m", Session: "s1", Role: store.RoleUser, Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutCall(t.Context(), aCall("c1")); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Call(t.Context(), "c1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the call: %v", err)
	}
	if m, err := s.Messages(t.Context(), "s1"); err != nil || len(m) != 0 {
		t.Errorf("messages %v, %v", m, err)
	}
}

func TestRemember(t *testing.T) {
	s := fresh(t)
	if v, err := s.Recall(t.Context(), store.LastModel); err != nil || v != "" {
		t.Errorf("before: %q, %v", v, err)
	}
	for _, v := range []string{"a", "b"} {
		if err := s.Remember(t.Context(), store.LastModel, v); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := s.Recall(t.Context(), store.LastModel); err != nil || v != "b" {
		t.Errorf("after: %q, %v", v, err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	s := fresh(t)
	put(t, s, session("s1")) // makes the companions appear
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(s.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", info.Name(), info.Mode())
		}
	}
}

func TestADamagedDatabaseIsMovedAside(t *testing.T) {
	for name, content := range map[string][]byte{
		"no database": []byte(strings.Repeat("this is not a database ", 100)),
		"cut off":     append([]byte("SQLite format 3\x00"), make([]byte, 3000)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "chela.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			put(t, s, session("s1"))
			kept, err := os.ReadFile(s.Recovered())
			if err != nil || string(kept) != string(content) {
				t.Errorf("what was there is not kept at %q: %v", s.Recovered(), err)
			}
		})
	}
}

func TestADatabaseFromTheFutureIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chela.db")
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	runSQL(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`)
	if _, err := store.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer chela") {
		t.Errorf("error %v", err)
	}
}

func runSQL(t *testing.T, path, q string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), filepath.Join(file, "chela.db"))
	if err == nil || !strings.Contains(err.Error(), "CHELA_DATA_DIR") {
		t.Errorf("error %v", err)
	}
}

func TestOneSessionInOneProgram(t *testing.T) {
	s := fresh(t)
	release, err := s.Lock("s1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock("s1"); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second lock: %v", err)
	}
	release()
	again, err := s.Lock("s1")
	if err != nil {
		t.Errorf("after release: %v", err)
	}
	again()
}

func TestCancelledContextWritesNothing(t *testing.T) {
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.PutSession(ctx, session("s1")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Session(t.Context(), "s1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it was stored: %v", err)
	}
}
