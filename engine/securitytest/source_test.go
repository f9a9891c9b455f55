package securitytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A file whose name is foreseen can be planted as a link before it is made. So
// nothing names a file in the folder that all users share: names there come from
// os.MkdirTemp and os.CreateTemp. The sandbox mounts a /tmp of its own.
func TestTemporaryNamesCannotBeForeseen(t *testing.T) {
	shared := regexp.MustCompile(`os\.TempDir\(\)|"/(?:var/)?tmp[/"]`)
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		slash := filepath.ToSlash(name)
		if err != nil || d.IsDir() || !strings.HasSuffix(slash, ".go") || strings.HasSuffix(slash, "_test.go") || strings.Contains(slash, "guard/sandbox/") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if at := shared.FindIndex(data); at != nil {
			t.Errorf("%s names a file in the shared folder: %s", name, data[at[0]:min(at[1]+40, len(data))])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
