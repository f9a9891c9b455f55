package catalogue

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"chela/engine/prompt"
	"chela/tiers"
)

var update = flag.Bool("update", false, "write toolkit/tokens.json")

const tokensFile = "../tokens.json"

// counter returns a function that counts o200k tokens.
func counter(t *testing.T) func(string) int {
	t.Helper()
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int {
		n, err := enc.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestTokenCounts fails when tokens.json is not what the schemas cost. Run
// go generate ./toolkit/catalogue to write it again.
func TestTokenCounts(t *testing.T) {
	count := counter(t)
	want := map[string]int{}
	for _, tool := range registry(t).All() {
		want[tool.Spec().Name] = count(string(tool.Spec().Wire()))
	}
	text, err := json.MarshalIndent(want, "", "\t") // keys are sorted
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(tokensFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(tokensFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, text) {
		t.Errorf("toolkit/tokens.json is stale: run go generate ./toolkit/catalogue\nhave %s\nwant %s", have, text)
	}
}

// Budgets of a tier's schemas with the system prompt, in o200k tokens: what a
// small model has left for work depends on them.
const (
	essentialBudget = 1400
	standardBudget  = 3000
)

func TestTiersFitTheirBudget(t *testing.T) {
	count := counter(t)
	for _, tier := range []struct {
		tier   tiers.Tier
		budget int
	}{{tiers.Essential, essentialBudget}, {tiers.Standard, standardBudget}} {
		total := count(prompt.System(prompt.Facts{Workspace: "/x/project", Tier: tier.tier}))
		t.Logf("%s: system prompt %d tokens", tier.tier, total)
		for _, tool := range registry(t).All() {
			if tool.Spec().Tier <= tier.tier {
				n := count(string(tool.Spec().Wire()))
				t.Logf("%s: %s %d tokens", tier.tier, tool.Spec().Name, n)
				total += n
			}
		}
		t.Logf("%s: %d of %d tokens", tier.tier, total, tier.budget)
		if total > tier.budget {
			t.Errorf("%s costs %d tokens, the budget is %d", tier.tier, total, tier.budget)
		}
	}
}

func TestSchemasAreTheSameBytesEachTime(t *testing.T) {
	wire := func() string {
		var b bytes.Buffer
		for _, tool := range registry(t).All() {
			b.Write(tool.Spec().Wire())
		}
		return b.String()
	}
	first := wire()
	for range 5 {
		if wire() != first {
			t.Fatal("the schemas differ from one registry to the next")
		}
	}
}
