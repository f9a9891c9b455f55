package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"chela/toolkit/guard"
	"chela/ui/intent"
	"chela/ui/pane"
	"chela/ui/view"
)

// jobs is what the root knows of the session's background processes.
type jobs struct {
	list []guard.JobState
	menu *view.Menu // the list, while it is open
	ask  *view.Menu // the question before they end, while it is open
}

// running counts the processes that run.
func (j *jobs) running() int {
	n := 0
	for _, s := range j.list {
		if s.State == guard.JobRunning {
			n++
		}
	}
	return n
}

// setJobs takes a new state of the processes into account, also where they are
// listed.
func (m *Model) setJobs(list []guard.JobState) {
	m.jobs.list = list
	if m.jobs.menu != nil {
		m.jobs.menu.SetChoices(m.jobChoices())
	}
}

// showJobs lists the background processes; choosing one that runs ends it.
func (m *Model) showJobs() tea.Cmd {
	m.setJobs(m.session.Jobs()) // with what they printed last
	if len(m.jobs.list) == 0 {
		return m.say("no background processes: exec starts one with background")
	}
	m.jobs.menu = view.NewMenu(m.st, "Background processes", "which one", m.jobChoices()).Wide(110).
		Hint(intent.Show("enter") + " ends a running one with all that it started")
	m.push(m.jobs.menu)
	return nil
}

func (m *Model) jobChoices() []view.Choice {
	choices := make([]view.Choice, len(m.jobs.list))
	for i, s := range m.jobs.list {
		c := view.Choice{Text: jobText(s), About: s.LastLine}
		if s.State == guard.JobRunning {
			c.Action = perform{func() tea.Cmd {
				m.session.KillJob(s.ID)
				return m.say("ending " + s.Command)
			}}
		} else {
			c.Why = "it has ended: exec_status shows what it printed"
		}
		choices[i] = c
	}
	return choices
}

func jobText(s guard.JobState) string {
	state := s.State
	if s.State == guard.JobFailed && s.ExitCode > 0 {
		state = fmt.Sprintf("failed, exit code %d", s.ExitCode)
	}
	kind := ""
	if s.Kind == guard.JobInterpreter {
		kind = "interpreter "
	}
	return fmt.Sprintf("%s %s · %s%s", state, pane.Ago(s.Duration), kind, s.Command)
}

// endJobs goes on with what ends this session, after asking if background
// processes would end with it. Who asks again while the question is open means
// it.
func (m *Model) endJobs(what string, on func() tea.Cmd) tea.Cmd {
	n := m.jobs.running()
	if n == 0 || m.jobs.ask != nil && m.top() == view.View(m.jobs.ask) {
		return on()
	}
	choices := []view.Choice{
		{Text: "Stay", About: "nothing ends", Action: perform{func() tea.Cmd { return nil }}},
		{Text: what + ", and end them", About: "with all that they started", Action: perform{on}},
	}
	for _, s := range m.jobs.list {
		if s.State == guard.JobRunning {
			choices = append(choices, view.Choice{Text: "  " + jobText(s), About: s.LastLine, Why: "this is one of those that would end"})
		}
	}
	m.jobs.ask = view.NewMenu(m.st, pane.Count(n, "background process runs", "background processes run"), "what to do", choices).Wide(100).
		Hint("they end with the session")
	m.push(m.jobs.ask)
	return nil
}
