package headless

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/pocket"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Setup says what to open.
type Setup struct {
	Dir      string // the project folder; empty: the current one
	Tools    func() (*toolkit.Registry, error)
	Attended bool // a person can answer approvals
	NoStore  bool // for commands that only look: nothing is created, no database opened
}

// App is everything that commands share, open.
type App struct {
	Engine   *engine.Engine
	Store    *store.Store // nil with NoStore
	Tools    *toolkit.Registry
	Dirs     settings.Dirs
	Settings settings.Settings
	Problems []settings.Problem // of the settings; never fatal
	Notices  []event.Notice     // what a person should know about the start

	pocket *pocket.Server
}

// Boot opens settings, store, tools, clients and engine, in this order. What
// is wrong with the settings is in Problems and the defaults are in force. No
// server is talked to.
func Boot(ctx context.Context, s Setup) (app *App, err error) {
	dir, err := Folder(s.Dir)
	if err != nil {
		return nil, err
	}
	a := &App{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.Dirs, err = settings.FindDirs(); err != nil {
		return nil, err
	}
	a.Settings, a.Problems = settings.Load(a.Dirs.File())
	timeout, problem := settings.PoolTimeout()
	if problem != nil {
		a.Problems = append(a.Problems, *problem)
	}
	if a.Tools, err = s.Tools(); err != nil {
		return nil, fmt.Errorf("building the tools: %w", err)
	}
	if !s.NoStore {
		if err := a.openStore(ctx); err != nil {
			return nil, err
		}
	}
	server, err := a.server()
	if err != nil {
		return nil, err
	}
	a.dropBadHosts()
	a.pocket = pocket.New()
	a.Engine, err = engine.New(engine.Config{
		Workspace: dir, Dirs: a.Dirs, Settings: a.Settings, Store: a.Store, Tools: a.Tools, Server: server, Servers: a.furtherServers(server),
		Pocket:  ollama.NewInProcess("built-in pocket model", a.pocket.Transport()),
		Timeout: timeout, Attended: s.Attended, Preload: s.Attended && a.Settings.Models.Preload,
	})
	switch {
	case err != nil && s.Dir != "":
		return nil, &Error{Usage, err} // most likely the folder named with -C
	case err != nil:
		return nil, err
	}
	a.checkNames()
	return a, nil
}

// Folder makes the project folder absolute. A folder that is none is an error
// of the command line.
func Folder(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder %q: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", Usagef("-C %s: %w: name an existing folder", dir, err)
	case !info.IsDir():
		return "", Usagef("-C %s is no folder: name the project's folder", dir)
	}
	return abs, nil
}

func (a *App) openStore(ctx context.Context) error {
	if err := os.MkdirAll(a.Dirs.Data, 0o700); err != nil {
		return fmt.Errorf("making the data folder %s: %w (set CHELA_DATA_DIR to a folder you can write)", a.Dirs.Data, err)
	}
	if err := os.MkdirAll(a.Dirs.Config, 0o700); err != nil {
		// Only a person writes there, so chela works without.
		a.warn("Set CHELA_CONFIG_DIR to a folder you can write.", "the config folder cannot be made: %v", err)
	}
	st, err := store.Open(ctx, a.Dirs.Database())
	if err != nil {
		return err
	}
	a.Store = st
	a.pruneAudit(ctx)
	if old := st.Recovered(); old != "" {
		a.warn("Earlier sessions are in the file that was moved.", "the database was damaged; it was moved to %s and a new one begun", old)
	}
	return nil
}

// server makes the client of the Ollama server: ollama.host of the settings,
// else OLLAMA_HOST.
func (a *App) server() (*ollama.Client, error) {
	c, err := ollama.New(a.Settings.Ollama.Host)
	if err == nil {
		return c, nil
	}
	a.Problems = append(a.Problems, settings.Problem{File: a.Dirs.File(), Text: "ollama.host: " + err.Error(), Hint: "OLLAMA_HOST is in force"})
	return ollama.New("")
}

// furtherServers makes the clients of ollama.hosts. One that is the first server again,
// or is no address, is left out and said.
func (a *App) furtherServers(first *ollama.Client) []*ollama.Client {
	var out []*ollama.Client
	seen := []string{first.Host()}
	for _, host := range a.Settings.Ollama.Hosts {
		c, err := ollama.New(host)
		switch {
		case err != nil:
			a.Problems = append(a.Problems, settings.Problem{File: a.Dirs.File(), Text: "ollama.hosts: " + err.Error(), Hint: "it is left out"})
		case slices.Contains(seen, c.Host()):
			continue
		default:
			seen, out = append(seen, c.Host()), append(out, c)
		}
	}
	return out
}

// checkNames tells about names in tools.promote and tools.demote that no tool
// has; only the registry knows them.
func (a *App) checkNames() {
	for _, list := range []struct {
		key   string
		names []string
	}{{"tools.promote", a.Settings.Tools.Promote}, {"tools.demote", a.Settings.Tools.Demote}} {
		for _, n := range list.names {
			if _, ok := a.Tools.Get(n); !ok {
				a.Problems = append(a.Problems, settings.Problem{
					File: a.Dirs.File(), Text: fmt.Sprintf("%s: there is no tool %q", list.key, n), Hint: nearest(a.Tools, n),
				})
			}
		}
	}
}

// dropBadHosts takes out of security.allowed_hosts what is no host:port. Such
// an entry allows nothing, so leaving it out is the strict reading.
func (a *App) dropBadHosts() {
	hosts := &a.Settings.Security.AllowedHosts
	*hosts = slices.DeleteFunc(slices.Clone(*hosts), func(h string) bool {
		_, err := guard.NewNet(guard.NetOptions{AllowHosts: []string{h}})
		if err != nil {
			a.Problems = append(a.Problems, settings.Problem{File: a.Dirs.File(), Text: "security.allowed_hosts: " + err.Error(), Hint: "it is left out"})
		}
		return err != nil
	})
}

// nearest names the tools that a wrong name may have meant.
func nearest(r *toolkit.Registry, name string) string {
	return "the nearest are " + strings.Join(r.Nearest(name, 3), ", ")
}

func (a *App) warn(hint, format string, args ...any) {
	a.Notices = append(a.Notices, event.Notice{Level: "warn", Text: fmt.Sprintf(format, args...), Hint: hint})
}

// Report writes problems and notices for people.
func (a *App) Report(t Terminal) {
	for _, p := range a.Problems {
		t.note("settings: %s", p.Error())
	}
	for _, n := range a.Notices {
		t.note("%s", noticeText(n))
	}
}

func noticeText(n event.Notice) string {
	text := n.Level + ": " + n.Text
	if n.Hint != "" {
		text += ". " + n.Hint
	}
	return text
}

// Close ends the engine, then what it used.
func (a *App) Close() error {
	var errs []error
	if a.Engine != nil {
		errs = append(errs, a.Engine.Close())
	}
	if a.pocket != nil {
		a.pocket.Close()
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	return errors.Join(errs...)
}

// with boots, reports, runs a command and closes.
func with(ctx context.Context, s Setup, t Terminal, f func(*App) error) (err error) {
	app, err := Boot(ctx, s)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := app.Close(); err == nil {
			err = cerr
		}
	}()
	app.Report(t)
	return f(app)
}

// Choose picks the model of a command. Unlike the workstation, which can show
// what is missing, a command takes the built-in model only when it is asked
// for or no server answers at all.
func (a *App) Choose(ctx context.Context, wanted string) (engine.Choice, error) {
	c, err := a.Engine.Choose(ctx, wanted)
	if err != nil {
		return c, err
	}
	host := a.Engine.Server().Host()
	var oe *ollama.Error
	switch {
	case c.Model == engine.PocketModel && wanted == engine.PocketModel:
	case c.Empty:
		return c, fmt.Errorf("the Ollama server at %s has no model yet: pull one with `chela pull qwen3:8b`, or try the built-in one with --model %s", host, engine.PocketModel)
	case c.Server != nil && !(errors.As(c.Server, &oe) && oe.Kind == ollama.Unreachable):
		return c, c.Server
	}
	return c, nil
}

// ParseMode reads a mode from the command line; empty is nil, the default.
func ParseMode(name string) (*pipeline.Mode, error) {
	if name == "" {
		return nil, nil
	}
	m, err := pipeline.ParseMode(name)
	if err != nil {
		return nil, Usagef("--mode: %w", err)
	}
	return &m, nil
}
