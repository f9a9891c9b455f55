package intent_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"chela/ui/intent"
)

var update = flag.Bool("update", false, "write docs/keys.md")

const docs = "../../docs/keys.md"

func TestKeysDocIsCurrent(t *testing.T) {
	want := intent.Markdown()
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/keys.md is stale: go test ./ui/intent -update")
	}
}

func TestEveryScopeIsInTheDoc(t *testing.T) {
	doc := intent.Markdown()
	for _, b := range intent.Table() {
		if !strings.Contains(doc, b.About) {
			t.Errorf("%s of %s is not in docs/keys.md", b.Intent, b.Scope)
		}
	}
}
