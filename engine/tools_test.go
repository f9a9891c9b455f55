package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/settings"
)

func TestAToolIsPlacedForAllSessionsAndInTheFile(t *testing.T) {
	var file string
	r := newRig(t, nil, func(c *engine.Config) { file = filepath.Join(c.Dirs.Config, "settings.yml") })
	s := r.open(engine.OpenOptions{})
	gives := func(want bool, reason string) {
		t.Helper()
		for _, e := range s.State().Selection.Entries {
			if e.Name == "shout" && (e.Given != want || !strings.Contains(e.Reason, reason)) {
				t.Errorf("it is given: %v, because %s", e.Given, e.Reason)
			}
		}
	}
	gives(false, "above")
	for _, step := range []struct {
		place  settings.Place
		given  bool
		reason string
		file   string
	}{
		{settings.Promoted, true, "promoted in settings.yml", "promote: [shout]"},
		{settings.Demoted, false, "demoted in settings.yml", "demote: [shout]"},
		{settings.ByTier, false, "above", "demote: []"},
	} {
		if err := r.eng.Place(t.Context(), "shout", step.place); err != nil {
			t.Fatal(err)
		}
		gives(step.given, step.reason)
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), step.file) {
			t.Errorf("the file says %q, %v", text, err)
		}
		if r.eng.Placed("shout") != step.place {
			t.Errorf("it is placed %v", r.eng.Placed("shout"))
		}
	}
	r.until("the change", func(e event.Event) bool {
		b, ok := e.Body.(event.SessionChanged)
		return ok && b.Promoted == 1
	})
	if err := r.eng.Place(t.Context(), "shuot", settings.Promoted); err == nil || !strings.Contains(err.Error(), "shout") {
		t.Errorf("a wrong name gives %v", err)
	}
}
