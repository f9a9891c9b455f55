package tiers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela/tiers"
)

func TestClassify(t *testing.T) {
	full := tiers.Full
	for _, c := range []struct {
		model    tiers.Model
		override tiers.Overrides
		want     tiers.Tier
		because  string
	}{
		{model: tiers.Model{Name: "qwen2.5-coder:7b-instruct-q4_K_M"}, want: tiers.Essential, because: "under 12B: 7B"},
		{model: tiers.Model{Name: "deepseek-r1:1.5b"}, want: tiers.Essential, because: "1.5B"},
		{model: tiers.Model{Name: "custom-7b"}, want: tiers.Essential},
		{model: tiers.Model{Name: "custom-30b"}, want: tiers.Standard},
		{model: tiers.Model{Name: "llama-3.2-3b"}, want: tiers.Essential},
		{model: tiers.Model{Name: "phi-4"}, want: tiers.Standard, because: "14B"},
		{model: tiers.Model{Name: "phi4:14b-q8_0"}, want: tiers.Standard},
		{model: tiers.Model{Name: "mixtral:8x7b"}, want: tiers.Full, because: "56B"},
		{model: tiers.Model{Name: "gemma3n:e4b"}, want: tiers.Essential, because: "4B"},
		{model: tiers.Model{Name: "gemma3:270m"}, want: tiers.Essential, because: "270M"},
		{model: tiers.Model{Name: "llama3.1:latest"}, want: tiers.Essential, because: "8B"},
		{model: tiers.Model{Name: "llama3.1:70b"}, want: tiers.Full},
		{model: tiers.Model{Name: "gpt-oss:120b-cloud"}, want: tiers.Full, because: "cloud"},
		{model: tiers.Model{Name: "kimi-k2:cloud"}, want: tiers.Full, because: "cloud"},
		{model: tiers.Model{Name: "claude-opus-4"}, want: tiers.Full},
		{model: tiers.Model{Name: "claude-haiku-4.5"}, want: tiers.Standard},
		{model: tiers.Model{Name: "gpt-4o"}, want: tiers.Full},
		{model: tiers.Model{Name: "gpt-4o-mini"}, want: tiers.Standard},
		{model: tiers.Model{Name: "GPT-3.5-turbo"}, want: tiers.Standard},
		{model: tiers.Model{Name: "command-r"}, want: tiers.Standard},
		{model: tiers.Model{Name: "command-r-plus"}, want: tiers.Full},
		{model: tiers.Model{Name: "unknown-model"}, want: tiers.Essential, because: "size unknown"},
		{model: tiers.Model{Name: "mine:7b", Parameters: 32e9, Known: true}, want: tiers.Standard, because: "says the server"},
		{model: tiers.Model{Name: "mine", Parameters: 11_999_999_999}, want: tiers.Essential},
		{model: tiers.Model{Name: "mine", Parameters: 12e9}, want: tiers.Standard},
		{model: tiers.Model{Name: "mine", Parameters: 40e9}, want: tiers.Full},
		{model: tiers.Model{Name: "claude-distill", Parameters: 8e9, Known: true}, want: tiers.Essential},
		{model: tiers.Model{Name: "qwen3:8b"}, override: tiers.Overrides{Models: map[string]tiers.Tier{"qwen3:8b": tiers.Standard}}, want: tiers.Standard, because: "tiers.models"},
		{model: tiers.Model{Name: "qwen3:8b"}, override: tiers.Overrides{Models: map[string]tiers.Tier{"qwen*": tiers.Full, "qwen3": tiers.Standard}}, want: tiers.Standard},
		{model: tiers.Model{Name: "qwen3:8b"}, override: tiers.Overrides{Session: &full, Models: map[string]tiers.Tier{"qwen3": tiers.Standard}}, want: tiers.Full, because: "session"},
	} {
		t.Run(c.model.Name, func(t *testing.T) {
			got := tiers.Classify(c.model, c.override)
			if got.Tier != c.want || !strings.Contains(got.Reason, c.because) {
				t.Errorf("Classify(%+v) = %v (%s), want %v (…%s…)", c.model, got.Tier, got.Reason, c.want, c.because)
			}
		})
	}
}

func TestParseSizeReadsOllamasSpelling(t *testing.T) {
	for in, want := range map[string]int64{"7.6B": 7.6e9, "494.03M": 494.03e6, "1.58M": 1.58e6, "1T": 1e12, " 8B ": 8e9} {
		if got, ok := tiers.ParseSize(in); !ok || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "B", "-3B", "7", "seven", "NaNB", "1e99B"} {
		if got, ok := tiers.ParseSize(in); ok {
			t.Errorf("ParseSize(%q) = %d, want a refusal", in, got)
		}
	}
}

func catalogue() []tiers.Tool {
	var tools []tiers.Tool
	for i := range 90 {
		tool := tiers.Tool{Name: fmt.Sprintf("tool_%02d", i), Tokens: 100}
		switch {
		case i < 10:
			tool.Tier = tiers.Essential
		case i < 25:
			tool.Tier = tiers.Standard
		default:
			tool.Tier = tiers.Full
		}
		tools = append(tools, tool)
	}
	return tools
}

func TestSelectCountsByTier(t *testing.T) {
	for tier, want := range map[tiers.Tier]int{tiers.Essential: 10, tiers.Standard: 25, tiers.Full: 90} {
		if got := len(tiers.Select(catalogue(), tiers.Request{Tier: tier}).Given()); got != want {
			t.Errorf("%v gives %d tools, want %d", tier, got, want)
		}
	}
}

func TestSelectPromotesDemotesAndNamesUnknowns(t *testing.T) {
	sel := tiers.Select(catalogue(), tiers.Request{
		Promote: []string{"tool_80", "no_such"}, Session: []string{"TOOL_50"}, Demote: []string{"tool_03"},
	})
	given := sel.Given()
	if !slices.Contains(given, "tool_80") || !slices.Contains(given, "tool_50") || slices.Contains(given, "tool_03") || len(given) != 11 {
		t.Errorf("given %v", given)
	}
	if !slices.Equal(sel.Unknown, []string{"no_such"}) {
		t.Errorf("unknown %v", sel.Unknown)
	}
	if sel.Promoted(tiers.Essential) != 2 {
		t.Errorf("promoted %d, want 2", sel.Promoted(tiers.Essential))
	}
}

func TestSelectSaysWhyAToolIsMissing(t *testing.T) {
	tools := catalogue()
	tools[12].Unavailable = "no search provider is set"
	sel := tiers.Select(tools, tiers.Request{Tier: tiers.Standard, Budget: 1500})
	if got := sel.Entries[12].Reason; got != "no search provider is set" {
		t.Errorf("unavailable: %q", got)
	}
	if got := sel.Entries[24].Reason; !strings.Contains(got, "budget of 1500") {
		t.Errorf("over budget: %q", got)
	}
	if got := sel.Entries[60].Reason; got != "above this model's tier" {
		t.Errorf("above tier: %q", got)
	}
}

func TestSelectInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := catalogue()
		for i := range tools {
			tools[i].Tokens = rapid.IntRange(20, 400).Draw(t, "tokens")
		}
		pick := rapid.SliceOfN(rapid.SampledFrom([]string{"tool_01", "tool_11", "tool_31", "tool_77"}), 0, 4)
		r := tiers.Request{
			Tier:    rapid.SampledFrom([]tiers.Tier{tiers.Essential, tiers.Standard, tiers.Full}).Draw(t, "tier"),
			Promote: pick.Draw(t, "promote"), Demote: pick.Draw(t, "demote"), Session: pick.Draw(t, "session"),
			Budget: rapid.IntRange(0, 12000).Draw(t, "budget"),
		}
		sel := tiers.Select(tools, r)
		total, essential := 0, 0
		for i, e := range sel.Entries {
			if e.Name != tools[i].Name {
				t.Fatalf("order changed at %d: %s", i, e.Name)
			}
			if e.Reason == "" {
				t.Fatalf("%s has no reason", e.Name)
			}
			demoted := slices.Contains(r.Demote, e.Name)
			if e.Given && demoted {
				t.Fatalf("%s is demoted and given", e.Name)
			}
			if e.Tier == tiers.Essential && !demoted {
				if !e.Given {
					t.Fatalf("essential %s was cut", e.Name)
				}
				essential += e.Tokens
			}
			if e.Given {
				total += e.Tokens
			}
		}
		if total != sel.Tokens {
			t.Fatalf("tokens %d, sum %d", sel.Tokens, total)
		}
		if r.Budget > 0 && total > max(r.Budget, essential) {
			t.Fatalf("%d tokens given over a budget of %d", total, r.Budget)
		}
	})
}

func TestTierText(t *testing.T) {
	for _, tier := range []tiers.Tier{tiers.Essential, tiers.Standard, tiers.Full} {
		b, err := tier.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back tiers.Tier
		if err := back.UnmarshalText(b); err != nil || back != tier {
			t.Errorf("%v -> %s -> %v, %v", tier, b, back, err)
		}
	}
	if _, err := tiers.Parse("huge"); err == nil || !strings.Contains(err.Error(), "essential, standard or full") {
		t.Errorf("Parse of an unknown tier: %v", err)
	}
}

func TestWhatTheModelLookedUpComesAfterThePersonsChoice(t *testing.T) {
	tools := []tiers.Tool{
		{Name: "read_file", Tier: tiers.Essential, Tokens: 100},
		{Name: "cron_create", Tier: tiers.Full, Tokens: 100},
		{Name: "notify", Tier: tiers.Full, Tokens: 100},
	}
	got := tiers.Select(tools, tiers.Request{Loaded: []string{"cron_create"}, Session: []string{"notify"}, Budget: 200})
	if !got.Entries[2].Given || got.Entries[1].Given || !got.Entries[1].Short {
		t.Errorf("got %+v", got.Entries)
	}
	got = tiers.Select(tools, tiers.Request{Loaded: []string{"cron_create", "gone"}, Budget: 300})
	if !got.Entries[1].Given || got.Entries[1].Short || len(got.Unknown) != 1 {
		t.Errorf("got %+v, unknown %v", got.Entries, got.Unknown)
	}
}
