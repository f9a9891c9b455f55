package event

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Stream numbers events and hands them to its subscribers. The zero value is
// ready to use; it is safe for concurrent use.
type Stream struct {
	// Now is the clock; nil means time.Now. It must be set before the first
	// use.
	Now func() time.Time

	mu     sync.Mutex
	seq    uint64
	closed bool
	subs   map[*Subscription]struct{}
}

// ErrClosed is returned by Next once the stream or subscription is closed and
// everything delivered.
var ErrClosed = errors.New("event stream closed")

// Publish numbers the body and appends it to every subscriber's queue. It
// returns the event. After Close it does nothing.
func (s *Stream) Publish(session string, turn int, body Body) Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Event{}
	}
	s.seq++
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	e := Event{Seq: s.seq, At: now(), Session: session, Turn: turn, Body: body}
	for sub := range s.subs {
		sub.push(e)
	}
	return e
}

// Subscribe returns a subscription to everything published from now on.
// Close it, or it keeps queueing.
func (s *Stream) Subscribe() *Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := &Subscription{stream: s, wake: make(chan struct{}, 1), closed: s.closed}
	if s.subs == nil {
		s.subs = map[*Subscription]struct{}{}
	}
	s.subs[sub] = struct{}{}
	return sub
}

// Close ends the stream: subscribers get what is queued, then ErrClosed.
func (s *Stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for sub := range s.subs {
		sub.close()
	}
	s.subs = nil
}

// Subscription is one reader's queue. One goroutine at a time may call Next.
type Subscription struct {
	stream *Stream
	wake   chan struct{} // capacity 1: set means the queue changed

	mu     sync.Mutex
	queue  []Event
	closed bool
}

func (q *Subscription) push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if n := len(q.queue); n > 0 {
		if merged, ok := merge(q.queue[n-1], e); ok {
			q.queue[n-1] = merged
			return
		}
	}
	q.queue = append(q.queue, e)
	q.signal()
}

func (q *Subscription) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *Subscription) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Next waits for events and returns all that are queued, in order. It returns
// ErrClosed after the last one, or the context's error.
func (q *Subscription) Next(ctx context.Context) ([]Event, error) {
	for {
		q.mu.Lock()
		batch, closed := q.queue, q.closed
		q.queue = nil
		q.mu.Unlock()
		if len(batch) > 0 {
			return batch, nil
		}
		if closed {
			return nil, ErrClosed
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close ends the subscription. Next then returns what was queued, and ErrClosed.
func (q *Subscription) Close() {
	q.stream.mu.Lock()
	delete(q.stream.subs, q)
	q.stream.mu.Unlock()
	q.close()
}

// maxMerged is the bytes up to which deltas are joined. Beyond it a new event
// begins: joining copies what is there, and a reader that stays away while a
// command prints megabytes would cost their square.
const maxMerged = 64 << 10

// merge joins two neighbouring deltas of the same message or call. The merged
// event carries the later number, so a reader can still see that none is lost.
func merge(a, b Event) (Event, bool) {
	if a.Session != b.Session || a.Turn != b.Turn {
		return b, false
	}
	switch next := b.Body.(type) {
	case TextDelta:
		if prev, ok := a.Body.(TextDelta); ok && prev.Message == next.Message && len(prev.Text)+len(next.Text) <= maxMerged {
			b.Body = TextDelta{next.Message, prev.Text + next.Text}
			return b, true
		}
	case ThinkingDelta:
		if prev, ok := a.Body.(ThinkingDelta); ok && prev.Message == next.Message && len(prev.Text)+len(next.Text) <= maxMerged {
			b.Body = ThinkingDelta{next.Message, prev.Text + next.Text}
			return b, true
		}
	case CallProgress:
		if prev, ok := a.Body.(CallProgress); ok && prev.Call == next.Call && len(prev.Text)+len(next.Text) <= maxMerged {
			b.Body = CallProgress{next.Call, prev.Text + next.Text}
			return b, true
		}
	case PullProgress:
		if prev, ok := a.Body.(PullProgress); ok && prev.Model == next.Model && !prev.Done && prev.Error == "" {
			return b, true
		}
	}
	return b, false
}
