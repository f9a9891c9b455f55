package catalogue

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheToolManualIsCurrent(t *testing.T) {
	const file = "../../docs/tools.md"
	want, err := Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale: run go generate ./toolkit/catalogue (-want +got):\n%s", file, diff)
	}
}
