package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/store"
)

var day = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

// past is a store with two sessions in which something happened.
func past(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "chela.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"aaaa1", "bbbb2"} {
		put(s.PutSession(t.Context(), store.Session{ID: id, Title: "about " + id, Workspace: "/w", Created: day, Updated: day}))
	}
	message := func(session, id, role, text string, at time.Duration) {
		_, err := s.AppendMessage(t.Context(), store.Message{ID: id, Session: session, Turn: 1, Role: role, Content: text, Created: day.Add(at)})
		put(err)
	}
	call := func(c store.Call, at time.Duration) {
		c.Turn, c.EmittedAt = 1, day.Add(at)
		final := c.State
		c.State = store.CallRunning
		c, err := s.PutCall(t.Context(), c)
		put(err)
		c.State = final
		_, err = s.PutCall(t.Context(), c)
		put(err)
	}
	message("aaaa1", "m1", store.RoleUser, "What did we decide about the cache?", 0)
	message("aaaa1", "m2", store.RoleAssistant, "We evict the cache every 7 minutes, because a stale page costs more.", time.Minute)
	message("bbbb2", "m3", store.RoleUser, "Prüfe die Größe of café résumé", 2*time.Minute)
	call(store.Call{ID: "c1", Session: "aaaa1", Tool: "exec", State: store.CallFailed, Summary: "go test ./store", Args: `{"command":"go test ./store"}`, Output: "FAIL cache_test.go:12", DecidedBy: "rule"}, 3*time.Minute)
	call(store.Call{ID: "c2", Session: "bbbb2", Tool: "edit_file", State: store.CallDone, Summary: "retry.go +6 -2", Args: `{"path":"engine/retry.go"}`, Changed: []byte(`[{"path":"engine/retry.go"}]`), Output: "changed", DecidedBy: "person"}, 26*time.Hour)
	return s
}

func ids(t testing.TB, s *store.Store, q store.HistoryQuery) []string {
	t.Helper()
	hits, err := s.SearchHistory(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestHistoryIsFoundByWordsAndFilters(t *testing.T) {
	s := past(t)
	for text, want := range map[string][]string{
		"":                          {"c2", "c1", "m3", "m2", "m1"},
		"cache":                     {"c1", "m2", "m1"}, // it may go on: cache_test
		"cache ":                    {"m2", "m1"},
		"cache_test":                {"c1"},
		"CACHE decide":              {"m1"},
		"cache -decide":             {"m2"},
		"decide OR retry":           {"c2", "m1"},
		`"every 7 minutes"`:         {"m2"},
		`"7 every minutes"`:         {},
		"evi":                       {"m2"}, // not finished yet
		"evi ":                      {},
		"grosse":                    {},
		"große":                     {"m3"}, // marks do not count
		"größe":                     {"m3"},
		"cafe resume":               {"m3"}, // without accents
		"tool:exec":                 {"c1"},
		"status:failed test":        {"c1"},
		"by:person":                 {"c2"},
		"file:retry.go":             {"c2"},
		"session:aaaa kind:message": {"m2", "m1"},
		"since:2026-03-05":          {"c2"},
		"tool:nothing":              {},
		"!!! ???":                   {},
		"http://x nothing:here":     {},
	} {
		q, err := store.ParseHistory(text, day)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, ids(t, s, q)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestAHitSaysWhereAndWhy(t *testing.T) {
	hits, err := past(t).SearchHistory(t.Context(), store.HistoryQuery{Text: "stale", Workspace: "/w"})
	if err != nil || len(hits) != 1 {
		t.Fatalf("%v, %v", hits, err)
	}
	want := store.HistoryHit{
		Kind: "message", ID: "m2", Session: "aaaa1", Title: "about aaaa1", Workspace: "/w", Turn: 1, Role: "assistant",
		What: "We evict the cache every 7 minutes, because a stale page costs more.", At: day.Add(time.Minute),
		Snippet: "We evict the cache every 7 minutes, because a stale page costs more.",
	}
	if diff := cmp.Diff(want, hits[0], cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Error(diff)
	}
}

func TestADeletedSessionLeavesNothingInTheHistory(t *testing.T) {
	s := past(t)
	if err := s.DeleteSession(t.Context(), "aaaa1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c2", "m3"}, ids(t, s, store.HistoryQuery{})); diff != "" {
		t.Error(diff)
	}
	if got := ids(t, s, store.HistoryQuery{Text: "cache"}); len(got) != 0 {
		t.Errorf("found: %v", got)
	}
}

func TestAFilterThatCannotBeReadIsSaid(t *testing.T) {
	for _, bad := range []string{"since:yesterday", "since:7x", "kind:tool"} {
		if _, err := store.ParseHistory(bad, day); err == nil {
			t.Errorf("%s is no error", bad)
		}
	}
	for text, want := range map[string]time.Time{"since:90m": day.Add(-90 * time.Minute), "since:2w": day.Add(-14 * 24 * time.Hour)} {
		if q, err := store.ParseHistory(text, day); err != nil || !q.Since.Equal(want) {
			t.Errorf("%s gives %v, %v", text, q.Since, err)
		}
	}
}

// odd are texts that break naive FTS queries.
var odd = []string{
	`"`, `""`, `*`, `a*b`, `AND`, `OR`, `NOT`, `NEAR(`, `NEAR(a b, 5)`, `a-b`, `c++`, `it's`, `foo.bar`, ``, ` `, `secret:x`, `{a b}:x`, `^a`, `(`, `)`, `a)`, `-`, `--`, `-a`, `a -`, `\`, "a\x00b", "\xff\xfe", `OR OR OR`, `"a" OR`, `a AND`, `'`, `;`, `%`, `_`, `😀`, `日本語`, `a:b:c`,
}

func FuzzHistoryQuery(f *testing.F) {
	for _, o := range odd {
		f.Add(o)
	}
	s := past(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := store.ParseHistory(text, day)
		if err != nil {
			return
		}
		if _, err := s.SearchHistory(t.Context(), q); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
