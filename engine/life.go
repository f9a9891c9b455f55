package engine

import (
	"context"
	"fmt"
	"sync"

	"chela/engine/pipeline"
	"chela/store"
)

// life is when a session begins and ends. All but released is set before the
// session is handed out.
type life struct {
	ctx    context.Context // ends when the session begins to close
	stop   context.CancelFunc
	unlock func()         // gives it back, for other programs to open
	calls  sync.WaitGroup // the person's own that run; grows under mu only, while the session is open
	once   sync.Once      // for Close

	// saving is held while the record is written: an older one must not
	// overwrite a newer one, and nothing is written after the session was given
	// back. It is taken before mu.
	saving   sync.Mutex
	released bool // given back; guarded by saving
}

// closing reports whether the session is closed or about to be. Under mu a
// false stays true to what is begun then: Close waits for it.
func (l *life) closing() bool { return l.ctx.Err() != nil }

// OpenOptions say how a session begins.
type OpenOptions struct {
	ID    string         // resume this one; empty: a new session
	Model string         // empty: the resumed session's own
	Mode  *pipeline.Mode // nil: the resumed session's own, or the setting if that is full or the session is new
	Title string         // of a new session
}

// Open starts a session or resumes one. A resumed session that was
// interrupted says so: its open calls are closed as interrupted, its pending
// approvals expired. It is an error (store.ErrInUse) if another program has it
// open.
func (e *Engine) Open(ctx context.Context, o OpenOptions) (*Session, error) {
	now := e.cfg.Now()
	rec := store.Session{
		ID: pipeline.NewID(), Title: o.Title, Workspace: e.cfg.Workspace, Mode: e.Settings().Security.Mode.String(), Created: now, Updated: now,
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
	s, err := e.openLocked(ctx, rec, o)
	if err != nil {
		release()
		return nil, err
	}
	s.life.unlock = release
	e.mu.Lock()
	closed := e.closed
	if !closed {
		e.sessions[rec.ID] = s
	}
	e.mu.Unlock()
	if closed {
		s.life.stop()
		release()
		return nil, ErrEngineClosed
	}
	s.announce()
	s.preload()
	return s, nil
}

// openLocked builds the session. The caller holds its lock in the store.
func (e *Engine) openLocked(ctx context.Context, rec store.Session, o OpenOptions) (*Session, error) {
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
		mode = e.Settings().Security.Mode // full mode is never resumed unasked
	}
	if o.Mode != nil {
		mode = *o.Mode
	}
	if o.Model != "" {
		rec.Model = o.Model
	}
	s := &Session{engine: e, rec: rec, mode: mode}
	s.openJobs()
	s.prompts.idle = make(chan struct{})
	close(s.prompts.idle)
	s.life.ctx, s.life.stop = context.WithCancel(e.ctx)
	if err := s.begin(ctx, o.ID != ""); err != nil {
		s.life.stop()
		return nil, err
	}
	return s, nil
}

// begin stores a session, restores what it held and takes its model into use.
func (s *Session) begin(ctx context.Context, resumed bool) error {
	if err := s.engine.cfg.Store.PutSession(ctx, s.record()); err != nil {
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

// Close cancels a running turn and the person's own calls, waits until they
// are recorded, and gives the session back. Calls that wait for approval are
// cancelled; prompts that wait are dropped. It may be called more than once,
// and each call returns when the session is closed.
func (s *Session) Close() {
	s.life.once.Do(func() {
		s.mu.Lock()
		if len(s.prompts.waiting) > 0 {
			s.prompts.waiting = nil
			s.publishQueue()
		}
		s.life.stop()
		idle := s.prompts.idle
		s.mu.Unlock()
		<-idle
		s.life.calls.Wait()
		s.jobs.Close()
		s.mu.Lock()
		s.leaveHost()
		s.pick.host = nil
		s.mu.Unlock()
		s.life.saving.Lock()
		s.life.released = true
		s.life.saving.Unlock()
		e := s.engine
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.sessions, s.rec.ID)
		s.life.unlock() // under the lock: who opens it again comes after its removal
	})
}

// save stores the session's record, also while a turn is being cancelled.
// Once the session was given back another program may have it, and nothing is
// stored: that is ErrClosed.
func (s *Session) save(ctx context.Context) error {
	s.life.saving.Lock()
	defer s.life.saving.Unlock()
	if s.life.released {
		return ErrClosed
	}
	s.mu.Lock()
	s.rec.Updated = s.engine.cfg.Now()
	rec := s.record()
	s.mu.Unlock()
	return s.engine.cfg.Store.PutSession(context.WithoutCancel(ctx), rec)
}
