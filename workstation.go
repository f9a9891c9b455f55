package main

import (
	"context"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/charmbracelet/x/term"

	"chela/engine"
	"chela/engine/headless"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/themes"
	"chela/ui"
)

// screenOptions are the flags of the workstation.
type screenOptions struct{ model, mode, theme, session string }

func modeNames() string {
	var names []string
	for _, m := range pipeline.Modes() {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

// workstation shows the screen. What is slow (database, engine, session) is
// opened by the boot function, which ui.Run calls after the first frame.
func (c *cli) workstation(ctx context.Context, t headless.Terminal, o screenOptions) error {
	if c.json {
		return headless.Usagef("--json has no meaning for the workstation: use chela run --json")
	}
	dir, err := headless.Folder(c.dir)
	if err != nil {
		return err
	}
	mode, err := headless.ParseMode(o.mode)
	if err != nil {
		return err
	}
	if err := checkTheme(o.theme); err != nil {
		return err
	}
	if !t.OutIsTerm || !term.IsTerminal(os.Stdin.Fd()) {
		return &headless.Error{Code: headless.Usage, Err: errNoTerminal}
	}
	look := settings.Default().UI
	if dirs, err := settings.FindDirs(); err == nil {
		s, _ := settings.Load(dirs.File()) // the boot reports its problems
		look = s.UI
	}
	if o.theme != "" {
		look.Theme = o.theme
	}
	log.SetOutput(io.Discard) // net/http logs oddities of servers; standard error is the screen
	b := &booted{}
	err = ui.Run(ctx, ui.Options{
		Boot:   func(ctx context.Context) (*ui.Ready, error) { return b.boot(ctx, c.setup(), o, mode) },
		Folder: filepath.Base(dir), Theme: look.Theme, Mouse: look.Mouse, Version: versionText(),
	})
	if cerr := b.close(); err == nil {
		err = cerr
	}
	return err
}

func checkTheme(name string) error {
	for _, n := range themes.Names() {
		if name == n || name == "" {
			return nil
		}
	}
	return headless.Usagef("--theme: theme %q is unknown: use %s", name, strings.Join(themes.Names(), ", "))
}

// booted is what the boot opened, to be closed when the screen is gone. The
// person may leave while the boot still runs.
type booted struct {
	mu     sync.Mutex
	app    *headless.App
	closed bool
}

func (b *booted) boot(ctx context.Context, s headless.Setup, o screenOptions, mode *pipeline.Mode) (*ui.Ready, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, context.Canceled
	}
	if b.app != nil { // a second try after a failure
		if err := b.app.Close(); err != nil {
			return nil, err
		}
		b.app = nil
	}
	s.Attended = true
	app, err := headless.Boot(ctx, s)
	if err != nil {
		return nil, err
	}
	b.app = app
	open := engine.OpenOptions{Model: o.model, Mode: mode}
	ready := &ui.Ready{Engine: app.Engine, Problems: app.Problems, Notices: app.Notices}
	if o.session != "" {
		old, err := headless.FindSession(ctx, app.Store, app.Engine.Workspace(), o.session)
		if err != nil {
			return nil, err
		}
		if open.ID = old.ID; open.Model == "" {
			open.Model = old.Model
		}
	}
	if o.model != "" || open.Model == "" {
		if ready.Choice, err = app.Engine.Choose(ctx, o.model); err != nil {
			return nil, err
		}
		open.Model = ready.Choice.Model
	} else {
		ready.Choice = engine.Choice{Model: open.Model, Reason: "the session's own"}
	}
	if ready.Session, err = app.Engine.Open(ctx, open); err != nil {
		return nil, err
	}
	return ready, nil
}

func (b *booted) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.app == nil {
		return nil
	}
	return b.app.Close()
}
