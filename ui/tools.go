package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/engine/settings"
	"chela/ui/intent"
	"chela/ui/safetext"
	"chela/ui/view"
)

// toolsState is what the tools view shows.
func (m *Model) toolsState() view.ToolsState {
	s := m.state
	out := view.ToolsState{Model: s.Model.Name, Reason: s.TierReason, Tokens: s.Selection.Tokens, Budget: s.Selection.Budget}
	for _, e := range s.Selection.Entries {
		t, ok := m.eng.Registry().Get(e.Name)
		if !ok {
			continue
		}
		place := m.eng.Placed(e.Name)
		r := view.ToolRow{
			Name: e.Name, Tier: e.Tier.String(), Level: t.Spec().Level.String(), Tokens: e.Tokens, Given: e.Given, Why: e.Reason,
			Promoted: place == settings.Promoted, Demoted: place == settings.Demoted,
			Session: slices.Contains(s.Promoted, e.Name) || slices.Contains(s.Loaded, e.Name),
		}
		if e.Given && e.Reason == e.Tier.String() {
			r.Why = "" // the column beside says it
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// refreshTools shows a change in the tools view, if it is open.
func (m *Model) refreshTools() {
	for _, v := range m.views {
		if t, ok := v.(*view.Tools); ok {
			t.SetState(m.toolsState())
		}
	}
}

// promote gives the model a tool for this session, or takes it away, and says
// what came of it: the tier and the budget have a say too.
func (m *Model) promote(tool string, on bool) tea.Cmd {
	session, ctx := m.session, m.ctx
	return func() tea.Msg {
		if err := session.Promote(ctx, tool, on); err != nil {
			return failedMsg{err}
		}
		for _, e := range session.State().Selection.Entries {
			switch {
			case e.Name != tool:
			case e.Given:
				return doneMsg{tool + " is given: " + e.Reason}
			default:
				return doneMsg{tool + " is not given: " + e.Reason}
			}
		}
		return nil
	}
}

// placeTool puts a tool into a list of settings.yml; out of it, if it is there.
func (m *Model) placeTool(a view.ToolInSettings) tea.Cmd {
	place, list := settings.Promoted, "tools.promote"
	if a.Want == intent.DemoteTool {
		place, list = settings.Demoted, "tools.demote"
	}
	done := a.Name + " is in " + list + " of settings.yml now"
	if m.eng.Placed(a.Name) == place {
		place, done = settings.ByTier, a.Name+" is out of "+list+" of settings.yml"
	}
	return m.command(func(ctx context.Context) error { return m.eng.Place(ctx, a.Name, place) }, done)
}

// toolPage describes a tool: what it does, what it takes, what it costs.
func (m *Model) toolPage(name string) view.View {
	t, ok := m.eng.Registry().Get(name)
	if !ok {
		return view.NewPage(m.st, name, []string{"There is no such tool."}, name, false)
	}
	s := t.Spec()
	lines := []string{
		m.st.Text.Render(safetext.Line(s.Summary)), "",
		m.st.Subtle.Render(fmt.Sprintf("%s · %s · %s tier · %d tokens", s.Category, s.Level, s.Tier, s.Tokens())),
	}
	for _, e := range m.state.Selection.Entries {
		if e.Name == name && e.Unavailable != "" {
			lines = append(lines, m.st.Warn.Render("cannot work here: "+safetext.Line(e.Unavailable)))
		}
	}
	if s.Guide != "" {
		lines = append(lines, "", m.st.Text.Render(safetext.Line(s.Guide)))
	}
	lines = append(lines, "", m.st.Subtle.Render("Takes:"))
	for _, p := range s.Schema.PropertyOrder {
		prop := s.Schema.Properties[p]
		line := fmt.Sprintf("  %-14s %s", p, prop.Type)
		if slices.Contains(s.Schema.Required, p) {
			line += ", required"
		}
		if len(prop.Default) > 0 {
			line += ", " + string(prop.Default) + " unless given"
		}
		if prop.Description != "" {
			line += ": " + prop.Description
		}
		lines = append(lines, m.st.Text.Render(safetext.Line(line)))
	}
	if len(s.Schema.PropertyOrder) == 0 {
		lines = append(lines, m.st.Faint.Render("  nothing"))
	}
	lines = append(lines, "", m.st.Faint.Render("Try it outside a session: chela tool run "+name+" JSON"))
	return view.NewPage(m.st, name, lines, strings.TrimSpace(s.Summary), false)
}
