package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"chela/toolkit/tasks"
	"chela/ui/safetext"
	"chela/ui/view"
)

// workMsg is what the session keeps of its work.
type workMsg struct {
	todos []tasks.Todo
	plans []tasks.WorkPlan
	err   error
}

// showWork reads the work list and the plans.
func (m *Model) showWork() tea.Cmd {
	n, ctx := m.session.Notes(), m.ctx
	return func() tea.Msg {
		todos, err := tasks.ReadTodos(ctx, n)
		if err != nil {
			return workMsg{err: err}
		}
		plans, err := tasks.ReadPlans(ctx, n)
		return workMsg{todos, plans, err}
	}
}

// workPage shows them.
func (m *Model) workPage(msg workMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(msg.err.Error())
	case len(msg.todos) == 0 && len(msg.plans) == 0:
		return m.say("no work list yet: models from the Standard tier on keep one, or promote todo_write")
	}
	text := ""
	if len(msg.todos) > 0 {
		text = "Work list: " + tasks.TodoText(msg.todos)
	}
	for _, p := range msg.plans {
		text += "\n\n" + tasks.PlanText(p)
	}
	text = strings.TrimSpace(text)
	m.push(view.NewPage(m.st, "Work of this session", strings.Split(safetext.Block(text), "\n"), text, false))
	return nil
}
