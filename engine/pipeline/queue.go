package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"chela/store"
	"chela/toolkit"
)

// Pending is a call that waits for a person.
type Pending struct {
	ID      string // of the approval
	Session string
	Call    string
	Turn    int
	Plan    toolkit.Plan
	Reasons []string
	Asked   time.Time
	Offers  []store.Rule // rules that could be made from it, the narrowest first
}

// Answer is what a person decided about a pending call.
type Answer struct {
	Approve bool
	Scope   string      // once, session, rule; for a denial empty
	Rule    *store.Rule // the rule to keep, for scope session and rule; must be one of the offers
	Reason  string      // for the model: why not, or a remark with the approval
}

// The scopes of an approval.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
	ScopeRule    = "rule"
)

// MaxPending is how many calls may wait at once. A new one beyond it is
// refused; nothing that waits is dropped.
const MaxPending = 100

// Queue holds the calls that wait for a person. It is safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	waiting []*ticket // oldest first
}

type ticket struct {
	Pending
	answered chan Answer // capacity 1
}

// ErrNotPending is in the chain when an answer comes for something that does
// not wait (any more).
var ErrNotPending = errors.New("not waiting for an answer")

// add puts a call into the queue.
func (q *Queue) add(p Pending) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= MaxPending {
		return nil, fmt.Errorf("the approval queue is full (%d calls wait)", MaxPending)
	}
	t := &ticket{Pending: p, answered: make(chan Answer, 1)}
	q.waiting = append(q.waiting, t)
	return t, nil
}

// Pending returns what waits, the oldest first.
func (q *Queue) Pending() []Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Pending, len(q.waiting))
	for i, t := range q.waiting {
		out[i] = t.Pending
	}
	return out
}

// Answer resolves one pending call, once. The plan hash must be that of the
// plan the person saw, so that an answer never reaches a call that was
// replaced in the meantime. A rule that was not offered is refused.
func (q *Queue) Answer(session, id, planHash string, a Answer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, t := range q.waiting {
		if t.ID != id || t.Session != session {
			continue
		}
		if t.Plan.Hash != planHash {
			return fmt.Errorf("approval %s: the call changed since it was shown: look at it again (%w)", id, ErrNotPending)
		}
		if err := a.check(t.Offers); err != nil {
			return fmt.Errorf("approval %s: %w", id, err)
		}
		q.waiting = slices.Delete(q.waiting, i, i+1)
		t.answered <- a
		return nil
	}
	return fmt.Errorf("approval %s: %w", id, ErrNotPending)
}

func (a Answer) check(offers []store.Rule) error {
	if !a.Approve {
		if a.Rule != nil {
			return errors.New("a denial makes no rule")
		}
		return nil
	}
	switch a.Scope {
	case ScopeOnce:
		if a.Rule != nil {
			return errors.New("approving once makes no rule")
		}
		return nil
	case ScopeSession, ScopeRule:
		if a.Rule == nil || !slices.Contains(offers, *a.Rule) {
			return errors.New("the rule is not one that this call offers")
		}
		return nil
	}
	return fmt.Errorf("scope %q is unknown: use once, session or rule", a.Scope)
}

// wait blocks until the ticket is answered or the context ends.
func (q *Queue) wait(ctx context.Context, t *ticket) (Answer, error) {
	select {
	case a := <-t.answered:
		return a, nil
	case <-ctx.Done():
	}
	if q.drop(t) {
		return Answer{}, context.Cause(ctx)
	}
	return <-t.answered, nil // the answer came first
}

// drop takes a ticket out of the queue; false if it was answered already.
func (q *Queue) drop(t *ticket) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, t)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}
