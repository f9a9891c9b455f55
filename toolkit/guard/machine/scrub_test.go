package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScrubMasksSecretArguments(t *testing.T) {
	got := scrub([]string{"prog", "--api-key=abc", "--token", "def", "DB_PASSWORD=ghi", "--verbose", "--color=auto", "file"})
	want := []string{"prog", "--api-key=" + Masked, "--token", Masked, "DB_PASSWORD=" + Masked, "--verbose", "--color=auto", "file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
