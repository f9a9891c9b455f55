package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheckFindsADamagedPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chela.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("a new database: %v", err)
	}
	if err := s.PutSession(t.Context(), Session{ID: "s", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		m := Message{ID: fmt.Sprint(i), Session: "s", Role: RoleUser, Content: strings.Repeat("text ", 2000)}
		if _, err := s.AppendMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data)/2+64<<10; i++ { // some pages in the middle
		data[i] = 0xa5
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "malformed") {
		t.Errorf("a damaged database: %v", err)
	}
}
