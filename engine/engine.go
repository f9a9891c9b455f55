// Package engine runs sessions: it talks to models, takes their tool calls
// through the five steps, and publishes everything that happens on one ordered
// stream of events (package engine/event). A screen, a script and a test use
// it in the same way: commands in, events out.
//
// Guarantees:
//
//   - Methods of [Engine] and [Session] are safe for concurrent use. Those that
//     take no context do not wait for models or tools; only Close does.
//   - A finished message or call is in the store before its event is published.
//   - A turn always ends with exactly one TurnEnded event, whatever happens.
//   - Close cancels what runs, waits for it, and leaves no goroutine and no
//     child process behind.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"chela/engine/event"
	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/rulebook"
	"chela/engine/settings"
	"chela/engine/trust"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// PocketModel is the name of the built-in model. Installed models always have
// a tag ("pocket:latest"), so the two cannot be confused.
const PocketModel = "pocket"

// Config is what an engine is made of. Everything but the optional fields must
// be set.
type Config struct {
	Workspace string // absolute path of the project folder
	Dirs      settings.Dirs
	Settings  settings.Settings
	Store     *store.Store
	Tools     *toolkit.Registry
	Server    *ollama.Client   // the Ollama server
	Servers   []*ollama.Client // optional: further ones, see ollama.hosts of settings.yml
	Pocket    *ollama.Client   // optional: the built-in model
	Timeout   time.Duration    // of one call; 0: pipeline.DefaultTimeout
	Attended  bool             // a person can answer approvals
	Preload   bool             // bring models into memory when they are picked
	Off       Features         // optional: parts that are switched off
	Net       guard.NetOptions
	Now       func() time.Time // optional: the clock, for tests and replays
}

// Features names parts of the engine that help small models. The evaluation
// switches them off, one at a time, to measure what each is worth; programs
// leave them all on.
type Features struct {
	Rescue bool // calls in text become calls
	Audit  bool // native calls are checked
	Tap    bool // raw tokens are asked for
	Repair bool // names and arguments are repaired
	Modes  bool // the way of asking for calls changes after faults
	Guards bool // loops, empty answers and announcements are noticed
	Window bool // the conversation is made to fit
}

// Engine holds what sessions share.
type Engine struct {
	cfg      Config
	stream   event.Stream
	pipe     *pipeline.Pipeline
	files    *guard.FS
	net      *guard.Net
	proc     *guard.Runner
	redactor *guard.Redactor
	book     *rulebook.Book
	register *trust.Register
	tools    toolkit.Config
	own      settings.Settings // the person's, without what the project adds; guarded by mu
	inForce  atomic.Pointer[settings.Settings]
	servers  *fleet.Fleet
	pocket   *fleet.Fleet // the built-in model's; nil: there is none

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*Session
	models   map[string]ollama.Model // details by name, as last seen
	pulls    map[string]context.CancelFunc
	closed   bool
	trust    Trust
	notes    string // of the project, for the model; empty: none, or not trusted

	unread   sync.Once  // the notice that the repository is not read
	placing  sync.Mutex // held while settings.yml is changed
	closing  sync.Once
	closeErr error
}

// ErrEngineClosed is returned by Open and Pull of an engine that is closing or
// closed. What its sessions are asked then returns ErrClosed.
var ErrEngineClosed = errors.New("chela is closing")

// New builds an engine. The workspace is opened at once, so a folder that is
// missing, unreadable or forbidden is reported here.
func New(cfg Config) (*Engine, error) {
	files, err := openFiles(cfg, cfg.Settings.Security.Secrets)
	if err != nil {
		return nil, err
	}
	cfg.Workspace = files.Dir()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	tools := cfg.Settings.ForTools()
	cfg.Net.AllowHosts = slices.Concat(cfg.Net.AllowHosts, cfg.Settings.Security.AllowedHosts, tools.Hosts())
	e := &Engine{
		cfg: cfg, files: files, tools: tools, sessions: map[string]*Session{}, models: map[string]ollama.Model{}, pulls: map[string]context.CancelFunc{},
		pipe: &pipeline.Pipeline{Tools: cfg.Tools, Store: cfg.Store, Queue: &pipeline.Queue{}, Strict: cfg.Off.Repair, Timeout: cfg.Timeout, Now: cfg.Now},
	}
	e.book = rulebook.New(filepath.Join(cfg.Dirs.Config, "rules.yml"))
	e.pipe.Book = e.book
	e.register, e.own = trust.New(filepath.Join(cfg.Dirs.Config, "trust.json")), cfg.Settings
	e.look(files)
	if more := e.Settings().Security.Secrets; len(more) > len(cfg.Settings.Security.Secrets) {
		// The project names further secrets, which the doors learn when they are made.
		if err := files.Close(); err != nil {
			return nil, fmt.Errorf("opening the workspace: %w", err)
		}
		if files, err = openFiles(cfg, more); err != nil {
			return nil, err
		}
		e.files = files
	}
	e.stream.Now = cfg.Now
	e.servers = fleet.New(cfg.Settings.Ollama.Parallel, append([]*ollama.Client{cfg.Server}, cfg.Servers...)...)
	if cfg.Pocket != nil {
		e.pocket = fleet.New(1, cfg.Pocket)
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.openGuards(); err != nil {
		e.cancel()
		return nil, errors.Join(err, files.Close())
	}
	e.goRun("forgetting what was kept for undoing long ago", func(ctx context.Context) {
		if err := e.forgetOld(ctx); err != nil && ctx.Err() == nil {
			e.stream.Publish("", 0, event.Notice{Level: "warn", Text: err.Error()})
		}
	})
	return e, nil
}

// openFiles makes the door to the workspace.
func openFiles(cfg Config, secrets []string) (*guard.FS, error) {
	files, err := guard.OpenFS(cfg.Workspace, guard.FSOptions{
		Protected: []string{cfg.Dirs.Config, cfg.Dirs.Data}, ExtraSecrets: secrets,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	return files, nil
}

// Subscribe returns a subscription to all events from now on.
func (e *Engine) Subscribe() *event.Subscription { return e.stream.Subscribe() }

// Workspace is the project folder's absolute path.
func (e *Engine) Workspace() string { return e.cfg.Workspace }

// Store is the database, for read-only queries.
func (e *Engine) Store() *store.Store { return e.cfg.Store }

// Settings are those the engine was started with, and the changes by Place.
func (e *Engine) Settings() settings.Settings {
	if s := e.inForce.Load(); s != nil {
		return *s
	}
	return e.cfg.Settings // the project was not looked at yet
}

// Registry holds the tools.
func (e *Engine) Registry() *toolkit.Registry { return e.cfg.Tools }

// Server is the client of the preferred Ollama server, for what needs no
// session.
func (e *Engine) Server() *ollama.Client { return e.cfg.Server }

// Survey asks all Ollama servers what they have and how busy they are.
func (e *Engine) Survey(ctx context.Context) []fleet.State { return e.servers.Survey(ctx) }

// Remember keeps a value of last use, such as the theme. See store.LastTheme.
func (e *Engine) Remember(ctx context.Context, key, value string) error {
	return e.cfg.Store.Remember(ctx, key, value)
}

// Rules are those in force, the oldest first: of one session in this workspace,
// or, with an empty session, all there are.
func (e *Engine) Rules(ctx context.Context, session string) ([]store.Rule, error) {
	stored, kept := e.cfg.Store.AllRules, e.book.All
	if session != "" {
		stored = func(ctx context.Context) ([]store.Rule, error) {
			return e.cfg.Store.Rules(ctx, e.cfg.Workspace, session)
		}
		kept = func(now time.Time) ([]store.Rule, error) { return e.book.InForce(e.cfg.Workspace, now) }
	}
	rules, err := stored(ctx)
	if err != nil {
		return nil, err
	}
	more, err := kept(e.cfg.Now())
	if err != nil {
		return nil, err
	}
	rules = append(rules, more...)
	slices.SortStableFunc(rules, func(a, b store.Rule) int { return a.Created.Compare(b.Created) })
	return rules, nil
}

// pastPlans is how many earlier calls a rule is tried on before it is made.
const pastPlans = 1000

// PastPlans are the plans of the newest calls of a tool in this workspace: what
// a rule would have matched, had it been in force.
func (e *Engine) PastPlans(ctx context.Context, tool string) ([]toolkit.Plan, error) {
	stored, err := e.cfg.Store.Plans(ctx, e.cfg.Workspace, tool, pastPlans)
	if err != nil {
		return nil, err
	}
	plans := make([]toolkit.Plan, 0, len(stored))
	for _, raw := range stored {
		var p toolkit.Plan
		if json.Unmarshal(raw, &p) == nil { // one of another version says nothing
			plans = append(plans, p)
		}
	}
	return plans, nil
}

// RevokeRule ends a rule, wherever it is kept.
func (e *Engine) RevokeRule(ctx context.Context, id string) error {
	err := e.book.Remove(id)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return e.cfg.Store.RevokeRule(ctx, id, e.cfg.Now())
}

// newWorkspace makes the tools' view of the project for one session.
func (e *Engine) newWorkspace(session string) *toolkit.Workspace {
	return &toolkit.Workspace{
		Config: &e.tools,
		Root:   e.cfg.Workspace, Session: session, Files: e.files, Net: e.net, Proc: e.proc, Secret: e.redactor,
	}
}

// Close ends everything: turns are cancelled and recorded so, child processes
// killed, the event stream closed. The store stays open; it belongs to the
// caller. It may be called more than once, and each call returns when all is
// closed.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.mu.Lock()
		e.closed = true
		sessions := slices.Collect(maps.Values(e.sessions))
		e.mu.Unlock()
		e.cancel() // all at once; then wait for each
		for _, s := range sessions {
			s.Close()
		}
		e.wg.Wait()
		e.closeErr = errors.Join(e.proc.Close(), e.files.Close())
		e.stream.Close()
		for _, h := range e.hosts() {
			h.Client().CloseIdle()
		}
	})
	return e.closeErr
}

// goRun runs f on a goroutine that Close waits for. A panic becomes a notice:
// one failing part must not take the terminal with it.
func (e *Engine) goRun(what string, f func(ctx context.Context)) {
	e.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				e.stream.Publish("", 0, event.Notice{Level: "error", Text: fmt.Sprintf("%s failed inside: %v", what, r), Hint: firstFrame(debug.Stack())})
			}
		}()
		f(e.ctx)
	})
}

// firstFrame picks the place of the panic out of a stack.
func firstFrame(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "panic(") && i+3 < len(lines) {
			return strings.TrimSpace(lines[i+3])
		}
	}
	return ""
}
