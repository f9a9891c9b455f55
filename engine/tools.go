package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chela/engine/settings"
)

// lists are tools.promote and tools.demote as they are in force: a person may
// change them while sessions run.
func (e *Engine) lists() settings.Tools { return e.Settings().Tools }

// Placed says in which list of the settings a tool stands.
func (e *Engine) Placed(tool string) settings.Place {
	l := e.lists()
	switch {
	case slices.Contains(l.Promote, tool):
		return settings.Promoted
	case slices.Contains(l.Demote, tool):
		return settings.Demoted
	}
	return settings.ByTier
}

// Place puts a tool into a list of settings.yml, for all models and sessions
// from their next answer on. It is written before it is in force; the error
// says why it was not, and then nothing changed.
func (e *Engine) Place(ctx context.Context, tool string, place settings.Place) error {
	if _, ok := e.cfg.Tools.Get(tool); !ok {
		return fmt.Errorf("there is no tool %q; the nearest are %s", tool, strings.Join(e.cfg.Tools.Nearest(tool, 3), ", "))
	}
	e.placing.Lock() // one at a time: the file and what is in force stay the same
	defer e.placing.Unlock()
	if err := settings.SetTool(e.cfg.Dirs.File(), tool, place); err != nil {
		return err
	}
	without := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return strings.EqualFold(n, tool) })
	}
	e.mu.Lock()
	in := e.Settings()
	for _, l := range []*settings.Tools{&e.own.Tools, &in.Tools} {
		l.Promote, l.Demote = without(l.Promote), without(l.Demote)
		switch place {
		case settings.Promoted:
			l.Promote = append(l.Promote, tool)
		case settings.Demoted:
			l.Demote = append(l.Demote, tool)
		}
	}
	e.inForce.Store(&in)
	e.mu.Unlock()
	e.rerouteAll(ctx)
	return nil
}

// rerouteAll decides the tools of all open sessions anew and tells what they
// are.
func (e *Engine) rerouteAll(ctx context.Context) {
	basis := e.basis(ctx)
	for _, s := range e.open() {
		s.mu.Lock()
		s.reroute(basis)
		s.mu.Unlock()
		s.announce()
	}
}

// open are the sessions that are open now.
func (e *Engine) open() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.sessions))
}
