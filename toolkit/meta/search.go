// Package meta has the tool with which a model finds and takes further tools.
//
// It guarantees that a search alone changes nothing, that what it says of a
// tool (given, available, why not) is what the session has at that moment, and
// that loading is all or nothing.
package meta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

// most is how many matches a search returns: enough to choose from, few enough
// for a small window.
const most = 8

type searchArgs struct {
	Query    string   `json:"query" doc:"what you want to do" alias:"q,text,search,task"`
	Load     []string `json:"load,omitempty" doc:"names to switch on" default:"[]" alias:"names,tools,enable"`
	Category string   `json:"category,omitempty"`
}

// Match is one tool that was found.
type Match struct {
	Name      string        `json:"name"`
	Category  string        `json:"category"`
	Tier      tiers.Tier    `json:"tier"`
	Level     toolkit.Level `json:"level"`
	Summary   string        `json:"summary"`
	Given     bool          `json:"-"`
	Available bool          `json:"available"`
	Reason    string        `json:"reason,omitempty"` // why not
	Score     float64       `json:"-"`
}

// Found is the data of search_available_tools.
type Found struct {
	Matches []Match  `json:"matches"`
	Loaded  []string `json:"loaded"`
	Budget  Budget   `json:"budget"`
}

// Budget is what schemas cost and may cost, in tokens.
type Budget struct {
	Used  int `json:"used"`
	Limit int `json:"limit"`
}

// SearchTools finds tools that the model was not given, and switches them on.
func SearchTools() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name:     "search_available_tools",
		Summary:  "Find more tools and switch them on for this session.",
		Category: "meta",
		Level:    toolkit.Safe,
		Tier:     tiers.Standard,
		ReadOnly: true,
		Synonyms: "discover capability enable load activate list",
	}, nil, runSearch, toolkit.AvailableIf(func(_ context.Context, w *toolkit.Workspace) error {
		if w.Shelf == nil {
			return errors.New("works only inside a session")
		}
		return nil
	}))
}

func runSearch(ctx context.Context, w *toolkit.Workspace, a searchArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
	if w.Shelf == nil {
		return toolkit.Result{}, toolkit.Errorf(toolkit.CodeUnavailable, "search_available_tools works only inside a session.")
	}
	entries := w.Shelf.Entries()
	if err := checkCategory(a.Category, entries); err != nil {
		return toolkit.Result{}, err
	}
	var loaded toolkit.Loaded
	if len(a.Load) > 0 {
		var err error
		if loaded, err = w.Shelf.Load(ctx, a.Load); err != nil {
			return toolkit.Result{}, err
		}
		entries = w.Shelf.Entries()
	}
	found := Found{Matches: Rank(entries, a.Query, a.Category), Loaded: append([]string{}, loaded.Added...)}
	found.Budget.Used, found.Budget.Limit = w.Shelf.Budget()
	return toolkit.Result{Text: searchText(found, loaded, len(a.Load) > 0), Data: found}, nil
}

func checkCategory(category string, entries []toolkit.ShelfEntry) error {
	if category == "" {
		return nil
	}
	var known []string
	for _, e := range entries {
		if strings.EqualFold(e.Spec.Category, category) {
			return nil
		}
		if !slices.Contains(known, e.Spec.Category) {
			known = append(known, e.Spec.Category)
		}
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "There is no category %q.", category).WithHint("The categories are %s.", strings.Join(known, ", "))
}

// Rank finds the tools for a query, the best first: by BM25 over name, summary,
// guide, synonyms and parameters. Of equal ones that of the lower tier is
// first. category may be empty.
func Rank(entries []toolkit.ShelfEntry, query, category string) []Match {
	docs := make([][]field, len(entries))
	for i, e := range entries {
		s := e.Spec
		docs[i] = []field{{s.Name, 3}, {s.Category, 1}, {s.Synonyms, 2}, {s.Summary, 1}, {s.Guide, 0.5}}
		if s.Schema != nil {
			docs[i] = append(docs[i], field{strings.Join(s.Schema.PropertyOrder, " "), 0.5})
		}
	}
	scores := newIndex(docs).scores(query)
	var out []Match
	for i, e := range entries {
		exact := strings.EqualFold(strings.TrimSpace(query), e.Spec.Name)
		if category != "" && !strings.EqualFold(e.Spec.Category, category) || scores[i] == 0 && !exact && len(words(query)) > 0 {
			continue
		}
		if exact {
			scores[i] += 100 // whoever knows the name means that tool
		}
		m := Match{
			Name: e.Spec.Name, Category: e.Spec.Category, Tier: e.Spec.Tier, Level: e.Spec.Level, Summary: e.Spec.Summary,
			Given: e.Given, Available: e.Available, Score: scores[i],
		}
		if !e.Given {
			m.Reason = e.Reason
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b Match) int {
		switch {
		case a.Score != b.Score && a.Score > b.Score:
			return -1
		case a.Score != b.Score:
			return 1
		}
		return int(a.Tier) - int(b.Tier)
	})
	return out[:min(len(out), most)]
}

func searchText(f Found, l toolkit.Loaded, loading bool) string {
	var b strings.Builder
	if len(l.Added) > 0 {
		fmt.Fprintf(&b, "Switched on: %s. Call them now.\n", strings.Join(l.Added, ", "))
	}
	if len(l.Already) > 0 {
		fmt.Fprintf(&b, "You already have: %s.\n", strings.Join(l.Already, ", "))
	}
	if len(l.Dropped) > 0 {
		fmt.Fprintf(&b, "Switched off to make room: %s.\n", strings.Join(l.Dropped, ", "))
	}
	if loading {
		return strings.TrimSuffix(b.String(), "\n")
	}
	if len(f.Matches) == 0 {
		return "No tool matches. Use other words, or do it with the tools you have."
	}
	var first string
	for _, m := range f.Matches {
		state := "off"
		switch {
		case m.Given:
			state = "you have it"
		case !m.Available:
			state = "cannot be used: " + m.Reason
		case first == "":
			first = m.Name
		}
		fmt.Fprintf(&b, "%s (%s): %s\n", m.Name, state, m.Summary)
	}
	if first != "" {
		fmt.Fprintf(&b, `Switch one on with search_available_tools {"query": "...", "load": [%q]}.`, first)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
