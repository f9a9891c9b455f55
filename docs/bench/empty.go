package main

import (
	"context"
	"os"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/ui/screentest"
)

// empty is a Bubble Tea program that shows one word and does nothing: what the
// toolkit itself costs at idle.
type empty struct{}

func (empty) Init() tea.Cmd                         { return nil }
func (e empty) Update(tea.Msg) (tea.Model, tea.Cmd) { return e, nil }
func (empty) View() tea.View                        { return tea.View{Content: "nothing", AltScreen: true} }

// runEmpty runs it; the bench starts itself with this argument.
func runEmpty() error {
	_, err := tea.NewProgram(empty{}).Run()
	return err
}

// idleOfEmpty is the processor time of the empty program, in ticks.
func idleOfEmpty(ctx context.Context, d time.Duration) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	t, err := screentest.Start(ctx, exec.CommandContext(ctx, self, "empty"), 120, 40)
	if err != nil {
		return 0, err
	}
	if err := t.WaitText(ctx, "nothing"); err != nil {
		return 0, err
	}
	wait(ctx, 3*time.Second)
	cpu := cpuTicks(t.PID())
	wait(ctx, d)
	cpu = cpuTicks(t.PID()) - cpu
	if err := t.Kill(); err != nil {
		return 0, err
	}
	_ = t.Wait(ctx) // killed
	return cpu, nil
}
