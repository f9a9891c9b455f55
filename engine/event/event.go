// Package event is the engine's one stream of events: everything that a screen,
// a log or a script can know about a session, in the order in which it happened.
//
// Guarantees:
//
//   - Events of one [Stream] are numbered without gaps and delivered to each
//     subscriber in that order.
//   - What an event states as finished (a message, a call, a decision) is
//     already in the store when the event is published.
//   - Text deltas that a subscriber has not taken yet may be merged into one;
//     nothing else is ever merged or dropped.
//   - Publishing never blocks on a slow subscriber.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Event is one thing that happened.
type Event struct {
	Seq     uint64
	At      time.Time
	Session string // empty: concerns the whole program
	Turn    int    // counted from 1 in a session; 0: outside a turn
	Body    Body
}

// Body is what happened. Its Type is the stable word that --json prints; the
// other fields of the concrete type are printed beside it.
type Body interface{ Type() string }

// MarshalJSON prints one flat object: the envelope's fields, then the body's.
func (e Event) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Body.Type(), err)
	}
	head, err := json.Marshal(struct {
		Seq     uint64    `json:"seq"`
		At      time.Time `json:"at"`
		Session string    `json:"session,omitempty"`
		Turn    int       `json:"turn,omitempty"`
		Type    string    `json:"type"`
	}{e.Seq, e.At, e.Session, e.Turn, e.Body.Type()})
	if err != nil {
		return nil, err
	}
	if bytes.Equal(body, []byte("{}")) {
		return head, nil
	}
	out := append(head[:len(head)-1], ',')
	return append(out, body[1:]...), nil
}
