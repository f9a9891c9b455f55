package engine

import (
	"context"
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

	ctx  context.Context // ends when the session begins to close
	stop context.CancelFunc
	gone chan struct{} // closed when it is closed wholly

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
	direct    sync.WaitGroup // calls of the person that run; see Call
	cancelled bool           // the running turn was cancelled by the person
	sent      int            // prompts at the head of the queue that were sent after that
	toolless  bool           // the model refused tools; it is talked to without
	released  bool           // given back: nothing more is stored
	thinkless bool           // the model refused to think
	noted     bool           // the model was remembered as the last used
}

// OpenOptions say how a session begins.
type OpenOptions struct {
	ID    string         // resume this one; empty: a new session
	Model string         // empty: the resumed session's own
	Mode  *pipeline.Mode // nil: the resumed session's own unless that is full, or the setting
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
		ID: pipeline.NewID(), Title: o.Title, Workspace: e.cfg.Workspace, Mode: e.cfg.Settings.Security.Mode.String(), Created: now, Updated: now,
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
	release, err := e.cfg.Store.Lock(rec.ID)
	if err != nil {
		return nil, err
	}
	s, err := e.open(ctx, rec, o)
	if err != nil {
		release()
		return nil, err
	}
	s.unlock = release
	e.mu.Lock()
	closed := e.closed
	if !closed {
		e.sessions[rec.ID] = s
	}
	e.mu.Unlock()
	if closed {
		s.stop()
		release()
		return nil, ErrEngineClosed
	}
	s.announce()
	return s, nil
}

// open builds the session. The caller holds its lock.
func (e *Engine) open(ctx context.Context, rec store.Session, o OpenOptions) (*Session, error) {
	if o.ID != "" { // what another program stored until it gave the lock away
		var err error
		if rec, err = e.cfg.Store.Session(ctx, rec.ID); err != nil {
			return nil, err
		}
	}
	mode, err := pipeline.ParseMode(rec.Mode)
	if err != nil {
		mode = pipeline.Ask // stored by a version with other modes: the careful one
	}
	if mode == pipeline.Unlimited {
		mode = e.cfg.Settings.Security.Mode // full mode is never resumed unasked
	}
	if o.Mode != nil {
		mode = *o.Mode
	}
	if o.Model != "" {
		rec.Model = o.Model
	}
	rec.Mode = mode.String()
	s := &Session{engine: e, rec: rec, mode: mode, idle: make(chan struct{}), gone: make(chan struct{})}
	close(s.idle)
	s.ctx, s.stop = context.WithCancel(e.ctx)
	if err := s.begin(ctx, o.ID != ""); err != nil {
		s.stop()
		return nil, err
	}
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

// Idle returns a channel that is closed while no turn runs and none is about
// to: held prompts (see Submit) may still be queued.
func (s *Session) Idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// SetMode changes the mode, for running turns too: each later decision asks it.
func (s *Session) SetMode(ctx context.Context, m pipeline.Mode) error {
	s.mu.Lock()
	s.mode, s.rec.Mode = m, m.String()
	s.mu.Unlock()
	return s.changed(ctx)
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
	return s.changed(ctx)
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
	return s.changed(ctx)
}

// Rename gives the session a title.
func (s *Session) Rename(ctx context.Context, title string) error {
	s.mu.Lock()
	s.rec.Title = titleOf(title)
	s.mu.Unlock()
	return s.changed(ctx)
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

// Close cancels a running turn and the person's own calls, waits until they
// are recorded, and gives the session back. Calls that wait for approval are
// cancelled; prompts that wait are dropped. It may be called more than once,
// and each call returns when the session is closed.
func (s *Session) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.gone
		return
	}
	s.closed = true
	if len(s.queue) > 0 {
		s.queue = nil
		s.publishQueue()
	}
	s.stop()
	idle := s.idle
	s.mu.Unlock()
	<-idle
	s.direct.Wait()
	s.mu.Lock()
	s.released = true
	s.mu.Unlock()
	e := s.engine
	e.mu.Lock()
	delete(e.sessions, s.rec.ID)
	s.unlock() // under the lock: who opens it again comes after its removal
	e.mu.Unlock()
	close(s.gone)
}

// changed stores the session's settings and then publishes them. They are in
// force either way; the error says that they will not last.
func (s *Session) changed(ctx context.Context) error {
	err := s.save(ctx)
	s.announce()
	return err
}

func (s *Session) save(ctx context.Context) error {
	s.mu.Lock()
	if s.released { // another program may have it by now
		s.mu.Unlock()
		return ErrClosed
	}
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
