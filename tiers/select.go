package tiers

import (
	"fmt"
	"strings"
)

// Tool is what the selection needs to know about a tool.
type Tool struct {
	Name        string
	Tier        Tier
	Tokens      int    // cost of its schema in the request, in tokens
	Unavailable string // why it cannot work here; empty if it can
}

// Request asks which tools a model gets.
type Request struct {
	Tier    Tier
	Promote []string // given whatever their tier: tools.promote of settings.yml
	Demote  []string // never given: tools.demote
	Session []string // promoted for this session only
	Loaded  []string // by the model's own search, for this session only
	Budget  int      // schema tokens allowed in all; 0: no limit
}

// Entry is one tool of the catalogue with the answer for this model.
type Entry struct {
	Tool
	Given  bool
	Short  bool   // it is not given only because the budget is spent
	Reason string // why it is given, or why not
}

// Selection is the answer for every tool, in catalogue order (which never
// changes, so that the prompt's prefix stays the same).
type Selection struct {
	Entries []Entry
	Tokens  int // of the tools given
	Budget  int
	Unknown []string // names in Promote, Demote, Session or Loaded that no tool has
}

// Given returns the names of the tools that the model gets, in order.
func (s Selection) Given() []string {
	var names []string
	for _, e := range s.Entries {
		if e.Given {
			names = append(names, e.Name)
		}
	}
	return names
}

// Promoted counts the given tools that are above the tier.
func (s Selection) Promoted(t Tier) int {
	n := 0
	for _, e := range s.Entries {
		if e.Given && e.Tier > t {
			n++
		}
	}
	return n
}

// Select applies tier, promote and demote lists and the token budget.
//
// The order of precedence: demoted tools are never given; then Essential ones,
// promoted ones, those of the session, those the model looked up, and the rest of the tier by tier. When
// the budget runs out the later ones are left out with that reason. Essential
// tools are never cut: a model that cannot hold ten schemas cannot work.
func Select(tools []Tool, r Request) Selection {
	sel := Selection{Entries: make([]Entry, len(tools)), Budget: r.Budget}
	index := make(map[string]int, len(tools))
	for i, t := range tools {
		sel.Entries[i] = Entry{Tool: t}
		index[strings.ToLower(t.Name)] = i
	}
	find := func(names []string) map[int]bool {
		set := make(map[int]bool, len(names))
		for _, n := range names {
			if i, ok := index[strings.ToLower(strings.TrimSpace(n))]; ok {
				set[i] = true
			} else {
				sel.Unknown = append(sel.Unknown, n)
			}
		}
		return set
	}
	promote, demote, session, loaded := find(r.Promote), find(r.Demote), find(r.Session), find(r.Loaded)

	give := func(i int, why string) {
		e := &sel.Entries[i]
		if e.Given || e.Reason != "" {
			return
		}
		if e.Tier != Essential && r.Budget > 0 && sel.Tokens+e.Tokens > r.Budget {
			e.Short, e.Reason = true, fmt.Sprintf("no room: %d tokens over the schema budget of %d", sel.Tokens+e.Tokens-r.Budget, r.Budget)
			return
		}
		e.Given, e.Reason = true, why
		sel.Tokens += e.Tokens
	}
	for i := range sel.Entries {
		switch e := &sel.Entries[i]; {
		case demote[i]:
			e.Reason = "demoted in settings.yml"
		case e.Unavailable != "":
			e.Reason = e.Unavailable
		}
	}
	pass := func(want func(i int, e Entry) bool, why string) {
		for i, e := range sel.Entries {
			if want(i, e) {
				give(i, why)
			}
		}
	}
	pass(func(_ int, e Entry) bool { return e.Tier == Essential }, "essential")
	pass(func(i int, _ Entry) bool { return promote[i] }, "promoted in settings.yml")
	pass(func(i int, _ Entry) bool { return session[i] }, "promoted for this session")
	pass(func(i int, _ Entry) bool { return loaded[i] }, "looked up by the model")
	for t := Standard; t <= r.Tier; t++ {
		pass(func(_ int, e Entry) bool { return e.Tier == t }, t.String())
	}
	for i := range sel.Entries {
		if e := &sel.Entries[i]; !e.Given && e.Reason == "" {
			e.Reason = "above this model's tier"
		}
	}
	return sel
}
