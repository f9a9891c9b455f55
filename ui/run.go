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
	m := New(ctx, o)
	var filter mouseFilter
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithFilter(filter.filter))
	_, err := p.Run()
	cancel()
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return fmt.Errorf("the screen: %w", err)
	}
	return nil
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
