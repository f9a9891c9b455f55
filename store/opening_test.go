package store_test

import (
	"path/filepath"
	"sync"
	"testing"

	"chela/store"
)

// Whoever comes first makes the schema; the others wait for their turn and find
// it made. SQLite itself refuses at once when two change the journal mode.
func TestManyOpenANewDatabaseAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "chela.db")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := store.Open(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
