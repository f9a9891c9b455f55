package store_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela/store"
)

func TestWhatIsLearntAboutAModelIsKeptByItsDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chela.db")
	s := open(t, path)
	if _, err := s.Profile(t.Context(), "abc"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown model gives %v", err)
	}
	now := time.Unix(100, 5)
	first := store.Profile{Digest: "abc", Name: "qwen3:8b", Learnt: json.RawMessage(`{"mode":"prompted"}`), Updated: now}
	second := store.Profile{Digest: "abc", Name: "my-qwen", Learnt: json.RawMessage(`{"mode":"native"}`), Updated: now.Add(time.Second)}
	other := store.Profile{Digest: "def", Name: "llama3.2:3b", Learnt: json.RawMessage(`{}`), Updated: now}
	for _, p := range []store.Profile{first, second, other} {
		if err := s.PutProfile(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Profile(t.Context(), "abc")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Error(diff)
	}
	all, err := s.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Profile{second, other}, all); diff != "" {
		t.Error(diff)
	}
}
