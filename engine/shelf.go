package engine

import (
	"context"
	"slices"
	"strings"

	"chela/tiers"
	"chela/toolkit"
)

// shelf is the catalogue as a session has it: [toolkit.Shelf] for its tools,
// and for the /tools view.
type shelf struct{ s *Session }

// Entries lists all tools in catalogue order.
func (h shelf) Entries() []toolkit.ShelfEntry {
	h.s.mu.Lock()
	entries := slices.Clone(h.s.pick.selection.Entries)
	h.s.mu.Unlock()
	out := make([]toolkit.ShelfEntry, 0, len(entries))
	for _, e := range entries {
		if t, ok := h.s.engine.cfg.Tools.Get(e.Name); ok {
			out = append(out, toolkit.ShelfEntry{Spec: t.Spec(), Given: e.Given, Available: e.Unavailable == "", Reason: e.Reason})
		}
	}
	return out
}

// Budget is what the given schemas cost and may cost.
func (h shelf) Budget() (used, limit int) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.s.pick.selection.Tokens, h.s.pick.selection.Budget
}

// Load gives the model tools for the rest of the session.
func (h shelf) Load(ctx context.Context, names []string) (toolkit.Loaded, error) {
	s := h.s
	want, err := s.engine.canonicalTools(names)
	if err != nil {
		return toolkit.Loaded{}, err
	}
	basis := s.engine.basis(ctx)
	s.mu.Lock()
	l, err := s.load(want, basis)
	s.mu.Unlock()
	if err != nil || len(l.Added) == 0 {
		return l, err
	}
	return l, s.changed(ctx)
}

// canonicalTools resolves names as models write them.
func (e *Engine) canonicalTools(names []string) ([]string, error) {
	var out []string
	for _, n := range names {
		t, _, ok := e.cfg.Tools.Resolve(n)
		if !ok {
			return nil, toolkit.Errorf(toolkit.CodeNotFound, "there is no tool %q.", n).
				WithHint("The nearest are %s.", strings.Join(e.cfg.Tools.Nearest(n, 3), ", "))
		}
		if name := t.Spec().Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// load adds tools to those of the session, least recently used ones going
// first where the budget is spent. The caller holds mu.
func (s *Session) load(want []string, basis basis) (toolkit.Loaded, error) {
	var l toolkit.Loaded
	before := s.rec.Loaded
	for _, n := range want {
		if e, _ := s.entry(n); e.Given {
			l.Already = append(l.Already, n)
		} else {
			l.Added = append(l.Added, n)
		}
	}
	loaded := slices.DeleteFunc(slices.Clone(before), func(n string) bool { return slices.Contains(want, n) })
	kept := len(loaded)
	loaded = append(loaded, l.Added...)
	for {
		s.rec.Loaded = loaded
		s.reroute(basis)
		missing, short := "", false
		for _, n := range l.Added {
			if e, _ := s.entry(n); !e.Given {
				missing, short = n, e.Short
				break
			}
		}
		if missing == "" {
			return l, nil
		}
		if short && kept > 0 { // the least recently used one makes room
			l.Dropped = append(l.Dropped, loaded[0])
			loaded, kept = loaded[1:], kept-1
			continue
		}
		e, _ := s.entry(missing)
		s.rec.Loaded = before
		s.reroute(basis)
		return toolkit.Loaded{}, toolkit.Errorf(toolkit.CodeUnavailable, "%s cannot be switched on: %s.", missing, e.Reason).
			WithHint("Do it with the tools you have, or switch on fewer.")
	}
}

// entry is the selection's answer for a tool. The caller holds mu.
func (s *Session) entry(name string) (tiers.Entry, bool) {
	i := slices.IndexFunc(s.pick.selection.Entries, func(e tiers.Entry) bool { return e.Name == name })
	if i < 0 {
		return tiers.Entry{}, false
	}
	return s.pick.selection.Entries[i], true
}

// used notes that a loaded tool was called: it is the last to make room. What
// the model is sent does not change.
func (s *Session) usedTool(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.rec.Loaded, name); i >= 0 && i < len(s.rec.Loaded)-1 {
		s.rec.Loaded = append(slices.Delete(slices.Clone(s.rec.Loaded), i, i+1), name)
	}
}
