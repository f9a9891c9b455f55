package meta_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"chela/tiers"
	"chela/toolkit"
	"chela/toolkit/meta"
)

// shelf is a catalogue of names, summaries and synonyms.
type shelf struct {
	entries []toolkit.ShelfEntry
	refuse  error
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	none, err := toolkit.ParseSchema(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{}
	add := func(tier tiers.Tier, name, category, summary, synonyms string) {
		s.entries = append(s.entries, toolkit.ShelfEntry{
			Spec:  &toolkit.Spec{Name: name, Category: category, Summary: summary, Synonyms: synonyms, Tier: tier, Schema: none},
			Given: tier == tiers.Essential, Available: name != "screen_capture", Reason: "above this model's tier",
		})
	}
	add(tiers.Essential, "read_file", "filesystem", "Read a text file.", "")
	add(tiers.Essential, "grep", "filesystem", "Search the text of files for a pattern.", "")
	add(tiers.Full, "cron_create", "cron", "Run something later or again and again.", "schedule timer every daily recurring job")
	add(tiers.Full, "cron_list", "cron", "List scheduled jobs.", "")
	add(tiers.Full, "create_ticket", "ops", "Create a ticket in a project.", "issue bug task todo report file")
	add(tiers.Full, "list_tickets", "ops", "List tickets.", "issues bugs")
	add(tiers.Full, "notify", "notifications", "Show a desktop notification.", "alert message popup remind")
	add(tiers.Full, "screen_capture", "notifications", "Take a picture of the screen.", "screenshot image")
	add(tiers.Full, "browser_navigate", "browser", "Open a page in the browser.", "website url visit")
	return s
}

func (s *shelf) Entries() []toolkit.ShelfEntry { return slices.Clone(s.entries) }
func (s *shelf) Budget() (used, limit int)     { return 900, 4000 }

func (s *shelf) Load(_ context.Context, names []string) (toolkit.Loaded, error) {
	var l toolkit.Loaded
	if s.refuse != nil {
		return l, s.refuse
	}
	for i := range s.entries {
		if e := &s.entries[i]; slices.Contains(names, e.Spec.Name) {
			if e.Given {
				l.Already = append(l.Already, e.Spec.Name)
			} else {
				l.Added, e.Given = append(l.Added, e.Spec.Name), true
			}
		}
	}
	return l, nil
}

func TestRankFindsWhatIsMeant(t *testing.T) {
	for query, want := range map[string]string{
		"run a job every morning":         "cron_create",
		"scheduling":                      "cron_create",
		"report a bug":                    "create_ticket",
		"tell me with an alert":           "notify",
		"take a screenshot":               "screen_capture",
		"visit a website":                 "browser_navigate",
		"list the scheduled jobs":         "cron_list",
		"search for a pattern in files":   "grep",
		"READ_FILE":                       "read_file",
		"list all the tickets I could do": "list_tickets",
	} {
		got := meta.Rank(newShelf(t).Entries(), query, "")
		if len(got) == 0 || got[0].Name != want {
			t.Errorf("%q finds %v, want %s first", query, got, want)
		}
	}
	if got := meta.Rank(newShelf(t).Entries(), "zebra", ""); len(got) != 0 {
		t.Errorf("a word that no tool knows finds %v", got)
	}
	for _, m := range meta.Rank(newShelf(t).Entries(), "list", "ops") {
		if m.Category != "ops" {
			t.Errorf("%s is not of the category", m.Name)
		}
	}
}

func run(t *testing.T, s toolkit.Shelf, args string) (toolkit.Result, error) {
	t.Helper()
	tool := meta.SearchTools()
	w := &toolkit.Workspace{Shelf: s}
	p, err := tool.Plan(t.Context(), w, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return tool.Run(t.Context(), w, p, nil)
}

func TestSearchSaysWhatCanBeSwitchedOnAndHow(t *testing.T) {
	s := newShelf(t)
	r, err := run(t, s, `{"query":"notification or screenshot"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"notify (off)", "screen_capture (cannot be used", `"load": ["notify"]`} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in\n%s", want, r.Text)
		}
	}
	for _, e := range s.entries {
		if e.Given != (e.Spec.Tier == tiers.Essential) {
			t.Errorf("a search alone changed %s", e.Spec.Name)
		}
	}
}

func TestLoadSwitchesOnAndSaysSo(t *testing.T) {
	s := newShelf(t)
	r, err := run(t, s, `{"query":"jobs","load":["cron_create","grep"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Switched on: cron_create. Call them now.\nYou already have: grep."; r.Text != want {
		t.Errorf("got %q", r.Text)
	}
	data, ok := r.Data.(meta.Found)
	if !ok || !slices.Equal(data.Loaded, []string{"cron_create"}) || data.Budget.Limit != 4000 {
		t.Errorf("data is %+v", r.Data)
	}
	s.refuse = toolkit.Errorf(toolkit.CodeInvalid, "no")
	var te *toolkit.Error
	if _, err := run(t, s, `{"query":"jobs","load":["x"]}`); !errors.As(err, &te) {
		t.Errorf("a refused load gives %v", err)
	}
}

func TestAnUnknownCategoryNamesTheKnown(t *testing.T) {
	_, err := run(t, newShelf(t), `{"query":"x","category":"magic"}`)
	var te *toolkit.Error
	if !errors.As(err, &te) || !strings.Contains(te.Error()+te.Hint, "filesystem, cron, ops") {
		t.Errorf("got %v", err)
	}
}

func TestOutsideASessionItIsUnavailable(t *testing.T) {
	if err := meta.SearchTools().Available(t.Context(), &toolkit.Workspace{}); err == nil {
		t.Error("it claims to work without a session")
	}
}
