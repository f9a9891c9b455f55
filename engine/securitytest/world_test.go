package securitytest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is what is in the folders of a case: for each path its kind and size,
// and the hash of a file's content. The engine's own state is not part of it.
type world map[string]string

// maxHashed bounds what is read of one file; sparse ones are endless.
const maxHashed = 1 << 20

func look(t *testing.T, p places) world {
	t.Helper()
	w := world{}
	err := filepath.WalkDir(p.tmp, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == p.state {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.tmp, name)
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			w[rel] = "folder"
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			w[rel] = "link to " + target
		case info.Mode().IsRegular():
			w[rel] = fmt.Sprintf("%d bytes %s", info.Size(), hash(t, name, info.Size()))
		default:
			w[rel] = info.Mode().Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func hash(t *testing.T, name string, size int64) string {
	t.Helper()
	if size > maxHashed {
		return "not hashed"
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// same fails if anything is different.
func (w world) same(t *testing.T, what string, now world) {
	t.Helper()
	if diff := cmp.Diff(w, now); diff != "" {
		t.Errorf("%s changed something (-before +after):\n%s", what, diff)
	}
}

// holding returns the files below a folder that hold a text, in whatever they
// are: the database and its companions are searched as bytes.
func holding(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.Contains(string(data), text) {
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
