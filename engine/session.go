package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"

	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/prompt"
	"chela/store"
	"chela/tiers"
	"chela/toolkit"
)

// Session is one open conversation.
type Session struct {
	engine *Engine
	client *ollama.Client
	unlock func()

	mu        sync.Mutex
	rec       store.Session
	model     ollama.Model
	window    int
	decision  tiers.Decision
	selection tiers.Selection
	mode      pipeline.Mode
	history   []api.Message // without the system prompt
	used      int           // tokens of the last request and answer, as the server counted
	queue     []event.Queued
	cancel    context.CancelFunc // of the running turn; nil: idle
	idle      chan struct{}      // closed while no turn runs
	closed    bool
	toolless  bool // the model refused tools; it is talked to without
}

// OpenOptions say how a session begins.
type OpenOptions struct {
	ID    string         // resume this one; empty: a new session
	Model string         // empty: the resumed session's own
	Mode  *pipeline.Mode // nil: the resumed session's own, or the setting
	Title string
}

// State is everything about a session that a status line shows.
type State struct {
	ID         string
	Title      string
	Model      ollama.Model
	Mode       pipeline.Mode
	Tier       tiers.Tier
	TierReason string
	Selection  tiers.Selection
	Window     int
	Used       int
	Turn       int
	Running    bool
	Queued     []event.Queued
}

// Open starts a session or resumes one. A resumed session that was
// interrupted says so: its open calls are closed as interrupted, its pending
// approvals expired. It is an error (store.ErrInUse) if another program has it
// open.
func (e *Engine) Open(ctx context.Context, o OpenOptions) (*Session, error) {
	now := e.cfg.Now()
	rec := store.Session{
		ID: newID(), Title: o.Title, Workspace: e.cfg.Workspace, Mode: e.cfg.Settings.Security.Mode.String(), Created: now, Updated: now,
	}
	if o.ID != "" {
		old, err := e.cfg.Store.Session(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		if old.Workspace != e.cfg.Workspace {
			return nil, fmt.Errorf("session %s belongs to %s: open it with -C %s", old.ID, old.Workspace, old.Workspace)
		}
		rec = old
	}
	mode, err := pipeline.ParseMode(rec.Mode)
	if err != nil {
		mode = pipeline.Ask // stored by a version with other modes: the careful one
	}
	if o.Mode != nil {
		mode = *o.Mode
	}
	if o.Model != "" {
		rec.Model = o.Model
	}
	release, err := e.cfg.Store.Lock(rec.ID)
	if err != nil {
		return nil, err
	}
	idle := make(chan struct{})
	close(idle)
	s := &Session{engine: e, rec: rec, mode: mode, unlock: release, idle: idle}
	s.rec.Mode = mode.String()
	if err := s.begin(ctx, o.ID != ""); err != nil {
		release()
		return nil, err
	}
	e.mu.Lock()
	e.sessions[rec.ID] = s
	e.mu.Unlock()
	s.announce()
	return s, nil
}

func (s *Session) begin(ctx context.Context, resumed bool) error {
	e := s.engine
	if err := e.cfg.Store.PutSession(ctx, s.rec); err != nil {
		return err
	}
	if resumed {
		if err := s.restore(ctx); err != nil {
			return err
		}
	}
	if s.rec.Model == "" {
		return nil
	}
	return s.useModel(ctx, s.rec.Model)
}

// useModel takes a model into use. A server that does not answer is no error
// here: the turn reports it, with what to do.
func (s *Session) useModel(ctx context.Context, name string) error {
	e := s.engine
	client, err := e.client(name)
	if err != nil {
		return err
	}
	m, err := e.model(ctx, name)
	if err != nil {
		var oe *ollama.Error
		if !errors.As(err, &oe) {
			return err
		}
		m = ollama.Model{Name: name}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.model, s.rec.Model = client, m, name
	s.toolless = len(m.Capabilities) > 0 && !m.Has("tools")
	s.window = e.window(m)
	s.reroute(ctx)
	return nil
}

// reroute decides tier and tools anew. The caller holds mu.
func (s *Session) reroute(ctx context.Context) {
	var own *tiers.Tier
	if t, err := tiers.Parse(s.rec.Tier); err == nil && s.rec.Tier != "" {
		own = &t
	}
	facts := s.model.Tier()
	facts.Name = s.rec.Model
	s.decision = tiers.Classify(facts, tiers.Overrides{Session: own, Models: s.engine.cfg.Settings.Tiers.Models})
	s.selection = s.engine.Selection(ctx, s.decision.Tier, s.window, s.rec.Promoted)
}

// ID is the session's id.
func (s *Session) ID() string { return s.rec.ID }

// State returns a snapshot.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		ID: s.rec.ID, Title: s.rec.Title, Model: s.model, Mode: s.mode, Tier: s.decision.Tier, TierReason: s.decision.Reason,
		Selection: s.selection, Window: s.window, Used: s.used, Turn: s.rec.Turns, Running: s.cancel != nil, Queued: slices.Clone(s.queue),
	}
}

// Idle returns a channel that is closed while no turn runs and none is queued.
func (s *Session) Idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// SetModel changes the model for the turns to come. The choice is remembered
// for the next start.
func (s *Session) SetModel(ctx context.Context, name string) error {
	if err := s.useModel(ctx, name); err != nil {
		return err
	}
	err := s.save(ctx)
	if name != PocketModel { // a demonstration is no preference
		err = errors.Join(err, s.engine.cfg.Store.Remember(ctx, store.LastModel, name))
	}
	s.announce()
	return err
}

// SetMode changes the mode, for running turns too: each later decision asks it.
func (s *Session) SetMode(ctx context.Context, m pipeline.Mode) error {
	s.mu.Lock()
	s.mode, s.rec.Mode = m, m.String()
	s.mu.Unlock()
	s.announce()
	return s.save(ctx)
}

// Mode is the mode in force.
func (s *Session) Mode() pipeline.Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// SetTier sets the session's own tier; nil goes back to detection.
func (s *Session) SetTier(ctx context.Context, t *tiers.Tier) error {
	s.mu.Lock()
	if s.rec.Tier = ""; t != nil {
		s.rec.Tier = t.String()
	}
	s.reroute(ctx)
	s.mu.Unlock()
	s.announce()
	return s.save(ctx)
}

// Promote gives the model a tool above its tier for this session, or takes it
// away again.
func (s *Session) Promote(ctx context.Context, tool string, on bool) error {
	if _, ok := s.engine.cfg.Tools.Get(tool); !ok {
		return fmt.Errorf("there is no tool %q; the nearest are %s", tool, strings.Join(s.engine.cfg.Tools.Nearest(tool, 3), ", "))
	}
	s.mu.Lock()
	s.rec.Promoted = slices.DeleteFunc(slices.Clone(s.rec.Promoted), func(n string) bool { return n == tool })
	if on {
		s.rec.Promoted = append(s.rec.Promoted, tool)
	}
	s.reroute(ctx)
	s.mu.Unlock()
	s.announce()
	return s.save(ctx)
}

// Rename gives the session a title.
func (s *Session) Rename(ctx context.Context, title string) error {
	s.mu.Lock()
	s.rec.Title = titleOf(title)
	s.mu.Unlock()
	s.announce()
	return s.save(ctx)
}

// Pending returns the calls of this session that wait for a person, the
// oldest first.
func (s *Session) Pending() []pipeline.Pending {
	return slices.DeleteFunc(s.engine.pipe.Queue.Pending(), func(p pipeline.Pending) bool { return p.Session != s.rec.ID })
}

// Answer resolves one pending call. planHash is that of the plan the person
// saw; see pipeline.Queue.Answer.
func (s *Session) Answer(approval, planHash string, a pipeline.Answer) error {
	return s.engine.pipe.Queue.Answer(s.rec.ID, approval, planHash, a)
}

// Close cancels a running turn, waits until it is recorded, and gives the
// session back. Calls that wait for approval are cancelled. It may be called
// more than once.
func (s *Session) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed, s.queue = true, nil
	if s.cancel != nil {
		s.cancel()
	}
	idle := s.idle
	s.mu.Unlock()
	<-idle
	s.unlock()
	s.engine.mu.Lock()
	delete(s.engine.sessions, s.rec.ID)
	s.engine.mu.Unlock()
}

func (s *Session) save(ctx context.Context) error {
	s.mu.Lock()
	s.rec.Updated = s.engine.cfg.Now()
	rec := s.rec
	s.mu.Unlock()
	return s.engine.cfg.Store.PutSession(context.WithoutCancel(ctx), rec)
}

func (s *Session) publish(turn int, b event.Body) { s.engine.stream.Publish(s.rec.ID, turn, b) }

// announce publishes the session's settings.
func (s *Session) announce() {
	st := s.State()
	s.publish(0, event.SessionChanged{
		Title: st.Title, Model: s.modelName(), Mode: st.Mode.String(), Tier: st.Tier.String(), TierReason: st.TierReason,
		Tools: len(st.Selection.Given()), Promoted: st.Selection.Promoted(st.Tier), ToolTokens: st.Selection.Tokens, Window: st.Window,
	})
}

func (s *Session) modelName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Model
}

// system is the system prompt of this session.
func (s *Session) system() string {
	return prompt.System(prompt.Facts{Workspace: s.engine.cfg.Workspace, Tier: s.decision.Tier})
}

// titleOf makes a title of a prompt's first line.
func titleOf(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	if r := []rune(text); len(r) > 60 {
		text = strings.TrimSpace(string(r[:59])) + "…"
	}
	return text
}

// given answers the pipeline whether the model was given a tool.
func (s *Session) given(name string) (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.selection.Entries {
		if e.Name == name {
			return e.Given, e.Reason
		}
	}
	return false, "unknown"
}

// wire returns the schemas of the given tools, in catalogue order.
func (s *Session) wire() []*toolkit.Spec {
	var out []*toolkit.Spec
	for _, name := range s.selection.Given() {
		if t, ok := s.engine.cfg.Tools.Get(name); ok {
			out = append(out, t.Spec())
		}
	}
	return out
}
