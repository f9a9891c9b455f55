package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func session(t *testing.T, s *Store, id, title string) {
	t.Helper()
	if err := s.PutSession(t.Context(), Session{ID: id, Title: title, Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func titles(t *testing.T, s *Store) string {
	t.Helper()
	list, err := s.Sessions(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range list {
		out = append(out, v.Title)
	}
	return strings.Join(out, ",")
}

func TestABackupIsWholeAndComesBack(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "chela.db"), filepath.Join(dir, "kept", "b%20 ?#.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	session(t, s, "one", "before")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(copied); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v, %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), copied); !errors.Is(err, ErrExists) {
		t.Errorf("a second backup to the same name: %v", err)
	}
	session(t, s, "two", "after")
	if aside, err := Restore(t.Context(), copied, path); !errors.Is(err, ErrInUse) || aside != "" {
		t.Errorf("restoring under a program that has it open: %q, %v", aside, err)
	}
	if got := titles(t, s); !strings.Contains(got, "before") || !strings.Contains(got, "after") {
		t.Errorf("the refused restoring changed it to %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	aside, err := Restore(t.Context(), copied, path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "before", aside: "after,before"} {
		s, err := Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := titles(t, s); got != want {
			t.Errorf("%s has %q, not %q", name, got, want)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	if left, _ := filepath.Glob(path + ".restoring*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatIsNoBackupChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chela.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	session(t, s, "one", "kept")
	whole := filepath.Join(dir, "whole.db")
	if err := s.Backup(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	s.Close()
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	if err := copyFile(whole, newer); err != nil {
		t.Fatal(err)
	}
	n, err := open(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.write.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`); err != nil {
		t.Fatal(err)
	}
	n.Close()
	for name, content := range map[string][]byte{"absent": nil, "empty": {}, "text": []byte("hello"), "half": b[:len(b)/2], "newer": nil} {
		from := filepath.Join(dir, name+".db")
		if content != nil {
			if err := os.WriteFile(from, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if aside, err := Restore(t.Context(), from, path); err == nil || aside != "" {
			t.Errorf("%s: restored, the old one at %q", name, aside)
		}
	}
	if s, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := titles(t, s); got != "kept" {
		t.Errorf("now it has %q", got)
	}
}
