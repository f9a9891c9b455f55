package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/ui/pane"
	"chela/ui/safetext"
	"chela/ui/view"
)

// gradeMsg is the outcome of a model check.
type gradeMsg struct {
	check engine.Check
	err   error
}

// gradeNote is a grade in the list of models.
func gradeNote(grade string) string {
	if grade == "" {
		return ""
	}
	return "grade " + grade + " · "
}

// grade gives a model four small tasks, beside the session. It takes as long as
// eight short answers.
func (m *Model) grade(name string) tea.Cmd {
	if m.grading != "" {
		return m.say(m.grading + " is being graded already")
	}
	m.grading = name
	m.conversation.Note("info", "Grading "+name+": four small tasks in a scratch folder. You can go on meanwhile.", "")
	eng, ctx := m.eng, m.ctx
	return func() tea.Msg {
		c, err := eng.CheckModel(ctx, name, nil)
		return gradeMsg{c, err}
	}
}

// graded shows what came of it.
func (m *Model) graded(msg gradeMsg) tea.Cmd {
	name := m.grading
	m.grading = ""
	if msg.err != nil {
		m.conversation.Note("error", "grading "+name+" failed: "+msg.err.Error(), "")
		return nil
	}
	c := msg.check
	meaning, _, _ := strings.Cut(c.Words, ";") // what stood out is below, task by task
	lines := []string{
		m.st.Strong.Render("Grade "+c.Grade) + "  " + m.st.Text.Render(safetext.Line(meaning)), "",
	}
	for _, t := range c.Tasks {
		mark := m.st.OK.Render("✓")
		if !t.OK {
			mark = m.st.Bad.Render("✗")
		}
		line := mark + " " + m.st.Text.Render(safetext.Line(t.Name)) + m.st.Faint.Render("  "+pane.Took(t.Took))
		if t.Why != "" {
			line += "  " + m.st.Subtle.Render(safetext.Line(t.Why))
		}
		lines = append(lines, line)
	}
	facts := []string{"calls are asked for in " + c.CallMode.String() + " mode from now on", c.Thinking}
	if c.Speed > 0 {
		facts = append(facts, fmt.Sprintf("%.0f tokens a second", c.Speed))
	}
	lines = append(lines, "", m.st.Subtle.Render(safetext.Line(strings.Join(facts, " · "))))
	m.refresh()
	m.conversation.Note("info", fmt.Sprintf("%s: grade %s. %s", c.Model, c.Grade, c.Words), "")
	if m.top() == nil && m.approvals.Len() == 0 { // never in front of what the person reads or decides
		m.push(view.NewPage(m.st, "Grade of "+safetext.Title(c.Model), lines, c.Grade+" "+c.Words, false))
	}
	return nil
}
