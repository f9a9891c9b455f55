package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Run shows the screen until the person leaves. The terminal is restored
// whatever happens, a panic included.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := newProgram(ctx, New(ctx, o)).Run()
	cancel()
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return fmt.Errorf("the screen: %w", err)
	}
	return nil
}

// newProgram sets up Bubble Tea. It catches panics of Update, View and commands
// and restores the terminal; goroutines of the engine catch their own.
func newProgram(ctx context.Context, m tea.Model, options ...tea.ProgramOption) *tea.Program {
	var filter mouseFilter
	return tea.NewProgram(m, append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithFilter(filter.filter)}, options...)...)
}

// mouseFilter drops wheel and motion events that come faster than the screen
// is drawn, before they enter the queue: keys must not wait behind them.
type mouseFilter struct{ last time.Time }

const mouseEvery = 15 * time.Millisecond

func (f *mouseFilter) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.MouseWheelMsg, tea.MouseMotionMsg:
		now := time.Now()
		if now.Sub(f.last) < mouseEvery {
			return nil
		}
		f.last = now
	}
	return msg
}
