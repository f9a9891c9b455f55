package intent_test

import (
	"slices"
	"testing"

	"chela/ui/intent"
)

func TestNoKeyHasTwoMeaningsInOneScope(t *testing.T) {
	seen := map[intent.Scope]map[string]intent.Intent{}
	for _, b := range intent.Table() {
		if seen[b.Scope] == nil {
			seen[b.Scope] = map[string]intent.Intent{}
		}
		for _, k := range b.Keys {
			if other, twice := seen[b.Scope][k]; twice {
				t.Errorf("%s: %q means %s and %s", b.Scope, k, other, b.Intent)
			}
			seen[b.Scope][k] = b.Intent
		}
	}
}

func TestTheSameLetterIsTheSameVerbEverywhere(t *testing.T) {
	decisions := map[string]intent.Intent{}
	for _, b := range intent.Table() {
		if !b.Intent.Decides() {
			continue
		}
		for _, k := range b.Keys {
			if other, ok := decisions[k]; ok && other != b.Intent {
				t.Errorf("%q decides %s in one place and %s in another", k, other, b.Intent)
			}
			decisions[k] = b.Intent
		}
	}
	for _, b := range intent.Table() {
		for _, k := range b.Keys {
			if d, ok := decisions[k]; ok && d.Allows() && d != b.Intent && len(k) == 1 {
				t.Errorf("%q allows a call in one place and means %s in %s", k, b.Intent, b.Scope)
			}
		}
	}
}

func TestEnterAndSpaceNeverAllow(t *testing.T) {
	for _, b := range intent.Table() {
		if b.Intent.Allows() && (slices.Contains(b.Keys, "enter") || slices.Contains(b.Keys, "space")) {
			t.Errorf("%s is bound to a key that is pressed by habit: %v", b.Intent, b.Keys)
		}
	}
}

func TestEveryBindingIsExplained(t *testing.T) {
	footers := map[intent.Scope]int{}
	for _, b := range intent.Table() {
		if b.Verb == "" || b.About == "" || len(b.Keys) == 0 {
			t.Errorf("%s in %s lacks a verb, a sentence or a key", b.Intent, b.Scope)
		}
		if b.Footer {
			footers[b.Scope]++
		}
	}
	for scope, n := range footers {
		if n > 5 {
			t.Errorf("%s shows %d keys in the footer, more than five", scope, n)
		}
	}
}

func TestSpecificScopesWin(t *testing.T) {
	b, ok := intent.Resolve("tab", []intent.Scope{intent.Review, intent.Global})
	if !ok || b.Intent != intent.NextTab {
		t.Errorf("tab in review is %v", b.Intent)
	}
	for _, b := range intent.ForScopes([]intent.Scope{intent.Review, intent.Panes, intent.Global}) {
		if b.Intent == intent.NextPane && slices.Contains(b.Keys, "tab") {
			t.Error("help offers tab for a pane while the review takes it")
		}
	}
	if got := intent.KeyOf(intent.Palette, []intent.Scope{intent.Global}); got != "^P" {
		t.Errorf("palette key %q", got)
	}
}
