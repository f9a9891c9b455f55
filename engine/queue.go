package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"chela/engine/event"
	"chela/engine/pipeline"
)

// ErrEmpty is returned for a prompt without text.
var ErrEmpty = errors.New("the prompt is empty: write what you want done")

// ErrNoModel is returned for a prompt to a session that has no model.
var ErrNoModel = errors.New("no model is picked yet: pick one first")

// ErrClosed is returned for prompts, calls and settings that are given to a
// session that was closed, by itself or with its engine.
var ErrClosed = errors.New("the session is closed: open it again to go on")

// prompts is the running turn and what waits behind it. The session's mu
// guards it.
type prompts struct {
	cancel    context.CancelFunc // of the running turn; nil: none runs
	cancelled bool               // the person cancelled it
	idle      chan struct{}      // closed while none runs
	waiting   []event.Queued     // the next one first
	sent      int                // once cancelled: so many at the head were sent since, the others are held
}

func (p *prompts) running() bool { return p.cancel != nil }

// begin makes the context of the next turn.
func (p *prompts) begin(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	p.cancel, p.cancelled, p.sent = cancel, false, 0
	return ctx
}

// rest notes that the turn ended and no other follows.
func (p *prompts) rest() {
	p.cancel, p.cancelled, p.sent = nil, false, 0
	close(p.idle)
}

// add puts a prompt last, or, once the turn was cancelled, behind those that
// were sent since and before those that are held.
func (p *prompts) add(q event.Queued) {
	at := len(p.waiting)
	if p.cancelled {
		at = p.sent
		p.sent++
	}
	p.waiting = slices.Insert(p.waiting, at, q)
}

// remove takes out the prompt at a place.
func (p *prompts) remove(i int) event.Queued {
	q := p.waiting[i]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	if i < p.sent {
		p.sent--
	}
	return q
}

// Submit hands a prompt to the session. If a turn runs, the prompt waits in
// the queue, where it can be edited and dropped, and starts when the turn ends.
//
// When a turn was cancelled, or ended with an error, what waits is held: it
// was written for another course of things. It stays in the queue until the
// person sends something. A prompt that is sent then, or already while the
// cancelled turn is still ending, goes first, and the held ones follow it.
func (s *Session) Submit(text string) error {
	if strings.TrimSpace(text) == "" {
		return ErrEmpty
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.life.closing():
		return ErrClosed
	case s.pick.host == nil:
		return ErrNoModel
	case !s.prompts.running():
		s.start(text)
		return nil
	}
	s.prompts.add(event.Queued{ID: pipeline.NewID(), Text: text})
	s.publishQueue()
	return nil
}

// EditQueued changes a waiting prompt; an empty text drops it. Changing one
// that is held (see Submit) sends it.
func (s *Session) EditQueued(id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.prompts
	i := slices.IndexFunc(p.waiting, func(q event.Queued) bool { return q.ID == id })
	if i < 0 {
		return errors.New("that prompt is not waiting any more")
	}
	drop := strings.TrimSpace(text) == ""
	switch {
	case drop || !p.running():
		p.remove(i)
	case p.cancelled && i >= p.sent: // held until now
		p.remove(i)
		p.add(event.Queued{ID: id, Text: text})
	default:
		p.waiting[i].Text = text
	}
	s.publishQueue()
	if !drop && !p.running() {
		s.start(text)
	}
	return nil
}

// Cancel stops the running turn; false if none runs. Queued prompts stay and
// are held; see Submit.
func (s *Session) Cancel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.prompts.running() {
		return false
	}
	s.prompts.cancelled = true
	s.prompts.cancel()
	return true
}

// Idle returns a channel that is closed while no turn runs and none is about
// to: held prompts (see Submit) may still be queued.
func (s *Session) Idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts.idle
}

// publishQueue tells what waits. The caller holds mu.
func (s *Session) publishQueue() {
	s.publish(0, event.QueueChanged{Prompts: slices.Clone(s.prompts.waiting)})
}

// start runs a turn and then the queued ones. The caller holds mu, and no turn
// runs.
func (s *Session) start(text string) {
	ctx := s.prompts.begin(s.life.ctx)
	s.prompts.idle = make(chan struct{})
	s.engine.goRun("a turn", func(context.Context) {
		for more := true; more; {
			turn, end := s.turn(ctx, text)
			text, ctx, more = s.endTurn(turn, end)
		}
	})
}

// endTurn publishes how a turn ended, and takes the next prompt out of the
// queue if one may start. Both happen at once: who has seen TurnEnded finds
// the session idle, or busy with the next prompt.
func (s *Session) endTurn(turn int, end event.TurnEnded) (text string, ctx context.Context, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.prompts
	p.cancel()
	s.publish(turn, end)
	held := p.cancelled || end.Reason == event.EndedCancelled || end.Reason == event.EndedError
	if len(p.waiting) == 0 || s.life.closing() || held && p.sent == 0 {
		p.rest()
		return "", nil, false
	}
	text = p.remove(0).Text
	ctx = p.begin(s.life.ctx)
	s.publishQueue()
	return text, ctx, true
}
