package securitytest

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"chela/engine"
	"chela/ui"
)

// screen drives the real screen without a terminal: messages go straight into
// it, its commands run beside it, and the clock is the test's.
type screen struct {
	t    *testing.T
	ctx  context.Context
	m    *ui.Model
	msgs chan tea.Msg
	now  time.Time
}

const screenWidth, screenHeight = 126, 34

func newScreen(t *testing.T, r *rig) *screen {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s := &screen{t: t, ctx: ctx, msgs: make(chan tea.Msg, 256), now: time.Now()}
	s.m = ui.New(ctx, ui.Options{Folder: "ws", Theme: "dark", Now: func() time.Time { return s.now }, Boot: func(context.Context) (*ui.Ready, error) {
		return &ui.Ready{Engine: r.engine, Session: r.session, Choice: engine.Choice{Model: engine.PocketModel}}, nil
	}})
	s.send(tea.WindowSizeMsg{Width: screenWidth, Height: screenHeight})
	s.run(s.m.Init())
	return s
}

func (s *screen) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		select {
		case s.msgs <- msg:
		case <-s.ctx.Done():
		}
	}()
}

func (s *screen) send(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			s.run(cmd)
		}
		return
	}
	if msg == nil {
		return
	}
	_, cmd := s.m.Update(msg)
	s.run(cmd)
}

func (s *screen) text() string {
	emu := vt.NewEmulator(screenWidth, screenHeight)
	defer emu.Close()
	_, _ = emu.WriteString(strings.ReplaceAll(s.m.View().Content, "\n", "\r\n")) // an emulator takes any bytes
	return emu.String()
}

// until takes messages until the screen shows a text.
func (s *screen) until(text string) {
	s.t.Helper()
	timeout := time.After(patience)
	for !strings.Contains(s.text(), text) {
		select {
		case msg := <-s.msgs:
			s.send(msg)
		case <-timeout:
			s.t.Fatalf("waiting for %q; screen:\n%s", text, s.text())
		}
	}
}

// drain handles what has arrived by now.
func (s *screen) drain() {
	for {
		select {
		case msg := <-s.msgs:
			s.send(msg)
		default:
			return
		}
	}
}

var namedKeys = map[string]rune{"enter": tea.KeyEnter, "space": tea.KeySpace, "esc": tea.KeyEscape, "tab": tea.KeyTab, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown}

func (s *screen) press(name string) {
	k := tea.KeyPressMsg{}
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		k.Mod, name = tea.ModAlt, rest
	}
	if code, ok := namedKeys[name]; ok {
		k.Code = code
		if name == "space" {
			k.Text = " "
		}
	} else {
		k.Code = []rune(name)[0]
		if k.Mod == 0 {
			k.Text = name
		}
	}
	s.send(k)
	s.drain()
}

// onScreen makes the case's call while the screen is up, and presses its keys:
// where the person was typing when the call appeared, with the queue in focus,
// and in the review of the whole call. The call must still wait each time.
func (s *prepared) onScreen(t *testing.T, c testCase) {
	t.Helper()
	r := s.rig
	scr := newScreen(t, r)
	scr.until("· " + c.Mode.String())
	ended := make(chan result, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		out, err := r.session.CallAs(ctx, r.origin, c.Tool, c.Arguments)
		if err != nil {
			t.Error(err)
		}
		ended <- result{out: out}
	}()
	defer func() {
		cancel()
		<-ended
	}()
	scr.until(c.Tool)
	waits := func(where string) {
		t.Helper()
		scr.drain()
		if got := r.session.Pending(); len(got) != 1 || got[0].Plan.Tool != c.Tool {
			t.Errorf("%s: %d calls wait, want 1; screen:\n%s", where, len(got), scr.text())
		}
	}
	waits("before any key")
	for _, o := range s.ui {
		for _, open := range []struct {
			where string
			keys  []string
		}{{"while typing", nil}, {"in the queue", []string{"alt+3"}}, {"in the review", []string{"alt+3", "enter"}}} {
			scr.press("esc")
			for _, k := range open.keys {
				scr.press(k)
			}
			appeared := scr.now
			if o.BeforeScrollEnd {
				scr.now = scr.now.Add(time.Minute) // the keys are not too early, only the end was not shown
				if open.where == "in the queue" {
					continue // it shows the beginning only, and never the end
				}
			}
			for i, k := range o.Keys {
				if i < len(o.AtMS) {
					scr.now = appeared.Add(time.Duration(o.AtMS[i]) * time.Millisecond)
				}
				scr.press(k)
				waits(open.where + ", after " + k)
			}
		}
	}
	for _, a := range s.asserts {
		for _, has := range a.ScreenHas {
			if !strings.Contains(scr.text(), has) {
				t.Errorf("the screen lacks %q:\n%s", has, scr.text())
			}
		}
	}
}
