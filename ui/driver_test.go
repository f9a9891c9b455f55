package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"chela/engine"
	"chela/engine/ollama"
	"chela/engine/pocket"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit/catalogue"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC                                                                        // times on the screen are local ones
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")) // a clock that stops by itself, some time after the last match
}

// driver runs the root model without a terminal: messages go straight into
// Update, commands run beside it and their messages come back through a
// channel. Waiting is for what the screen shows, and the clock is the test's.
type driver struct {
	t    *testing.T
	m    *Model
	ctx  context.Context
	msgs chan tea.Msg
	now  time.Time
	dir  string
	data string
	quit bool
}

type setup struct {
	w, h   int
	files  map[string]string
	server string // address of a scripted server; empty: none answers
	model  string
	config func(*settings.Settings)
	resume string
	data   string
	clock  func() time.Time // of the engine; nil: the real one
}

// start boots the whole program but the terminal: real store, real tools, the
// pocket model or a scripted server.
func start(t *testing.T, s setup) *driver {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	dir, data := t.TempDir(), s.data
	if data == "" {
		data = t.TempDir()
	}
	for name, content := range s.files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d := &driver{t: t, ctx: ctx, msgs: make(chan tea.Msg, 256), now: time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC), dir: dir, data: data}
	var eng *engine.Engine
	var st *store.Store
	d.m = New(ctx, Options{Folder: "project", Theme: "dark", Mouse: true, Now: func() time.Time { return d.now }, Boot: func(ctx context.Context) (*Ready, error) {
		var err error
		if st, err = store.Open(ctx, filepath.Join(data, "chela.db")); err != nil {
			return nil, err
		}
		eng = newEngine(t, s, dir, data, st)
		choice, err := eng.Choose(ctx, s.model)
		if err != nil {
			return nil, err
		}
		session, err := eng.Open(ctx, engine.OpenOptions{ID: s.resume, Model: choice.Model})
		if err != nil {
			return nil, err
		}
		return &Ready{Engine: eng, Session: session, Choice: choice}, nil
	}})
	t.Cleanup(func() {
		cancel()
		if eng != nil {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}
		if st != nil {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if s.w == 0 {
		s.w, s.h = 126, 34
	}
	d.send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
	d.run(d.m.boot)
	d.until("the engine to be up", func(string) bool { return d.m.session != nil && d.m.calls != nil && len(d.m.paths) >= len(s.files) })
	return d
}

func newEngine(t *testing.T, s setup, dir, data string, st *store.Store) *engine.Engine {
	t.Helper()
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	address := s.server
	if address == "" {
		address = "127.0.0.1:1" // nothing listens on port 1
	}
	server, err := ollama.New(address)
	if err != nil {
		t.Fatal(err)
	}
	model := pocket.New()
	t.Cleanup(model.Close)
	cfg := settings.Default()
	if s.config != nil {
		s.config(&cfg)
	}
	eng, err := engine.New(engine.Config{
		Workspace: dir, Dirs: settings.Dirs{Config: filepath.Join(data, "config"), Data: data}, Settings: cfg, Store: st, Tools: reg,
		Server: server, Pocket: ollama.NewInProcess("the built-in pocket model", model.Transport()), Attended: true, Now: s.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// run runs a command beside the test.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		select {
		case d.msgs <- msg:
		case <-d.ctx.Done():
		}
	}()
}

// send hands one message to the model.
func (d *driver) send(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.run(cmd)
		}
		return
	case tea.QuitMsg:
		d.quit = true
		return
	}
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

// until takes messages until the condition holds for the screen.
func (d *driver) until(what string, cond func(screen string) bool) {
	d.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		if cond(d.screen()) {
			return
		}
		select {
		case msg := <-d.msgs:
			d.send(msg)
		case <-timeout:
			d.t.Fatalf("waiting for %s; screen:\n%s", what, d.screen())
		}
	}
}

// shows waits until all the texts are on the screen.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	d.until(strings.Join(texts, ", "), func(s string) bool {
		for _, x := range texts {
			if !strings.Contains(s, x) {
				return false
			}
		}
		return true
	})
}

// gone waits until a text is not on the screen.
func (d *driver) gone(text string) {
	d.t.Helper()
	d.until(text+" to go", func(s string) bool { return !strings.Contains(s, text) })
}

// screen is the frame as a terminal shows it.
func (d *driver) screen() string { return emulate(d.m.View().Content, d.m.w, d.m.h) }

func emulate(content string, w, h int) string {
	emu := vt.NewEmulator(w, h)
	defer emu.Close()
	_, _ = emu.WriteString(strings.ReplaceAll(content, "\n", "\r\n")) // an emulator takes any bytes
	lines := strings.Split(emu.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// resize changes the size of the screen.
func (d *driver) resize(w, h int) { d.send(tea.WindowSizeMsg{Width: w, Height: h}) }

func width(line string) int { return ansi.StringWidth(line) }

// settle lets the time pass that a call must have been visible.
func (d *driver) settle() {
	d.screen()
	d.now = d.now.Add(Settle)
}

// press presses keys by name.
func (d *driver) press(keys ...string) {
	for _, k := range keys {
		d.send(keyNamed(k))
	}
}

// write types a text.
func (d *driver) write(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "f1": tea.KeyF1, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
}

func keyNamed(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		rest, ok := strings.CutPrefix(name, "ctrl+")
		if ok {
			k.Mod |= tea.ModCtrl
		} else if rest, ok = strings.CutPrefix(name, "alt+"); ok {
			k.Mod |= tea.ModAlt
		} else if rest, ok = strings.CutPrefix(name, "shift+"); ok {
			k.Mod |= tea.ModShift
		}
		if !ok {
			break
		}
		name = rest
	}
	if code, ok := namedKeys[name]; ok {
		k.Code = code
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	r := []rune(name)[0]
	k.Code = r
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}
