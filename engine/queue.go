package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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
	case s.closed:
		return ErrClosed
	case s.client == nil:
		return ErrNoModel
	case s.cancel == nil:
		s.start(text)
		return nil
	}
	at := len(s.queue)
	if s.cancelled {
		at = s.sent
		s.sent++
	}
	s.queue = slices.Insert(s.queue, at, event.Queued{ID: pipeline.NewID(), Text: text})
	s.publishQueue()
	return nil
}

// EditQueued changes a waiting prompt; an empty text drops it. Changing one
// that is held (see Submit) sends it.
func (s *Session) EditQueued(id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.queue, func(q event.Queued) bool { return q.ID == id })
	if i < 0 {
		return errors.New("that prompt is not waiting any more")
	}
	drop := strings.TrimSpace(text) == ""
	switch {
	case drop || s.cancel == nil:
		s.queue = slices.Delete(s.queue, i, i+1)
		if i < s.sent {
			s.sent--
		}
	case s.cancelled && i >= s.sent:
		q := event.Queued{ID: id, Text: text}
		s.queue = slices.Insert(slices.Delete(s.queue, i, i+1), s.sent, q)
		s.sent++
	default:
		s.queue[i].Text = text
	}
	s.publishQueue()
	if !drop && s.cancel == nil {
		s.start(text)
	}
	return nil
}

// Cancel stops the running turn; false if none runs. Queued prompts stay and
// are held; see Submit.
func (s *Session) Cancel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		return false
	}
	s.cancelled = true
	s.cancel()
	return true
}

// publishQueue tells what waits. The caller holds mu.
func (s *Session) publishQueue() { s.publish(0, event.QueueChanged{Prompts: slices.Clone(s.queue)}) }

// start runs a turn and then the queued ones. The caller holds mu, and no turn
// runs.
func (s *Session) start(text string) {
	ctx := s.nextTurn()
	s.idle = make(chan struct{})
	s.engine.goRun("a turn", func(context.Context) {
		for more := true; more; {
			turn, end := s.turn(ctx, text)
			text, ctx, more = s.endTurn(turn, end)
		}
	})
}

// nextTurn makes the context of a turn. The caller holds mu.
func (s *Session) nextTurn() context.Context {
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel, s.cancelled, s.sent = cancel, false, 0
	return ctx
}

// endTurn publishes how a turn ended, and takes the next prompt out of the
// queue if one may start. Both happen at once: who has seen TurnEnded finds
// the session idle, or busy with the next prompt.
func (s *Session) endTurn(turn int, end event.TurnEnded) (text string, ctx context.Context, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	s.publish(turn, end)
	held := s.cancelled || end.Reason == event.EndedCancelled || end.Reason == event.EndedError
	if len(s.queue) == 0 || s.closed || s.ctx.Err() != nil || held && s.sent == 0 {
		s.cancel, s.cancelled, s.sent = nil, false, 0
		close(s.idle)
		return "", nil, false
	}
	text = s.queue[0].Text
	s.queue = slices.Delete(s.queue, 0, 1)
	ctx = s.nextTurn()
	s.publishQueue()
	return text, ctx, true
}

// turn runs one prompt until the model stops. It always returns how that
// ended, also when something in it panics.
func (s *Session) turn(ctx context.Context, text string) (turn int, end event.TurnEnded) {
	s.mu.Lock()
	s.rec.Turns++
	turn = s.rec.Turns
	if s.rec.Title == "" {
		s.rec.Title = titleOf(text)
	}
	s.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			end = event.TurnEnded{
				Reason: event.EndedError, Error: fmt.Sprintf("the turn failed inside: %v (at %s)", r, firstFrame(debug.Stack())),
				Hint: "This is a fault of chela, please report it. Everything up to here is stored; send the prompt again to go on.",
			}
		}
	}()
	end = s.loop(ctx, turn, text)
	if err := s.save(ctx); err != nil && end.Error == "" {
		end = event.TurnEnded{Reason: event.EndedError, Error: err.Error(), Steps: end.Steps}
	}
	return turn, end
}
