package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"chela/engine/callmode"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/window"
	"chela/store"
	"chela/tiers"
	"chela/toolkit/guard"
)

// Session is one open conversation.
type Session struct {
	engine *Engine
	life   life
	jobs   *guard.Jobs // processes that outlive a call

	// mu guards all that follows. It is held for moments: nothing asks a server,
	// the store, a tool or the file system under it, and no lock is taken under
	// it but the event stream's. The ID and the workspace in rec never change
	// and are read without it.
	mu       sync.Mutex
	rec      store.Session // what is stored about it, but for the mode; see record
	mode     pipeline.Mode
	pick     pick
	prompts  prompts
	history  []entry      // without the system prompt and the summary
	summary  summary      // what is no longer in it
	used     int          // tokens of the last request and answer, as the server counted
	learnt   learnt       // about the model in use
	chain    window.Chain // the last request
	tight    int          // compactions of this turn that gained little
	notes    string       // of the project, in the system prompt
	foreign  string       // the first foreign text in the conversation: what read it; empty: none
	retrying int          // the seed of a second try; 0: it is none
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
	Window     int // tokens; 0: no model is picked yet
	Used       int // tokens of the last request and its answer
	Turn       int // the last one; 0: none yet
	Running    bool
	Queued     []event.Queued
	Promoted   []string      // tools that the person gave the model for this session
	Loaded     []string      // those that the model looked up
	CallMode   callmode.Mode // how the model is asked for calls
	Speed      float64       // tokens a second, as last measured; 0: not yet
}

// ID is the session's id.
func (s *Session) ID() string { return s.rec.ID }

// State returns a snapshot.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{
		ID: s.rec.ID, Title: s.rec.Title, Model: s.pick.model, Mode: s.mode, Tier: s.pick.decision.Tier, TierReason: s.pick.decision.Reason,
		Selection: s.pick.selection, Window: s.pick.window, Used: s.used, Turn: s.rec.Turns,
		Running: s.prompts.running(), Queued: slices.Clone(s.prompts.waiting), Promoted: slices.Clone(s.rec.Promoted), Loaded: slices.Clone(s.rec.Loaded), CallMode: s.pick.mode(), Speed: s.learnt.Speed,
	}
}

// SetMode changes the mode, for running turns too: each later decision asks it.
func (s *Session) SetMode(ctx context.Context, m pipeline.Mode) error {
	s.mu.Lock()
	s.mode = m
	s.mu.Unlock()
	return s.changed(ctx)
}

// Mode is the mode in force.
func (s *Session) Mode() pipeline.Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// Rename gives the session a title: the text's first line, cut at 60
// characters.
func (s *Session) Rename(ctx context.Context, title string) error {
	s.mu.Lock()
	s.rec.Title = titleOf(title)
	s.mu.Unlock()
	return s.changed(ctx)
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

// record is what is stored about the session. The caller holds mu.
func (s *Session) record() store.Session {
	rec := s.rec
	rec.Mode = s.mode.String()
	return rec
}

// changed stores the session's settings and then publishes them. They are in
// force either way; the error says that they will not last.
func (s *Session) changed(ctx context.Context) error {
	err := s.save(ctx)
	s.announce()
	return err
}

func (s *Session) publish(turn int, b event.Body) { s.engine.stream.Publish(s.rec.ID, turn, b) }

// announce publishes the session's settings. That happens under mu, so that
// the last ones published are those in force.
func (s *Session) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pick
	s.publish(0, event.SessionChanged{
		Title: s.rec.Title, Model: s.rec.Model, Mode: s.mode.String(), Tier: p.decision.Tier.String(), TierReason: p.decision.Reason,
		Tools: len(p.selection.Given()), Promoted: p.selection.Promoted(p.decision.Tier), ToolTokens: p.selection.Tokens, Window: p.window,
	})
}

// env is what the pipeline needs to know of the session for the calls of a
// turn; 0: of a person.
func (s *Session) env(turn int) pipeline.Env {
	w := s.engine.newWorkspace(s.rec.ID)
	w.Shelf, w.Jobs = shelf{s}, s.jobs
	w.Past, w.Notes, w.Ask = s.engine.pipe.Past(), notebook{s}, asker{s.engine, s}
	w.Library, w.Terminal = s.engine.Library(), s.engine.terminal(s.rec.ID)
	security := s.engine.Settings().Security
	return pipeline.Env{
		Policies: security.Policies, Origins: security.Origins, Tainted: s.taint,
		Workspace: w, Session: s.rec.ID, Turn: turn, Mode: s.Mode, Attended: s.engine.cfg.Attended,
		Sandbox: s.engine.box,
		Publish: func(b event.Body) { s.publish(turn, b) },
	}
}
