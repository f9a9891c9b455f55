package event_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"chela/engine/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func next(t *testing.T, sub *event.Subscription) []event.Event {
	t.Helper()
	batch, err := sub.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func TestEverySubscriberGetsEverythingInOrder(t *testing.T) {
	var s event.Stream
	a, b := s.Subscribe(), s.Subscribe()
	for range 100 {
		s.Publish("s1", 1, event.CallRunning{Call: "c"})
	}
	for _, sub := range []*event.Subscription{a, b} {
		batch := next(t, sub)
		if len(batch) != 100 {
			t.Fatalf("%d events", len(batch))
		}
		for i, e := range batch {
			if e.Seq != uint64(i+1) {
				t.Fatalf("event %d has number %d", i, e.Seq)
			}
		}
	}
}

func TestOnlyDeltasAreMergedAndNoTextIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s event.Stream
		sub := s.Subscribe()
		var text, progress strings.Builder
		others := 0
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			piece := rapid.StringN(1, 4, 8).Draw(t, "piece")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				s.Publish("s1", 1, event.TextDelta{Message: "m", Text: piece})
				text.WriteString(piece)
			case 1:
				s.Publish("s1", 1, event.CallProgress{Call: "c", Text: piece})
				progress.WriteString(piece)
			default:
				s.Publish("s1", 1, event.CallReturned{Call: "c"})
				others++
			}
		}
		s.Close()
		var gotText, gotProgress strings.Builder
		gotOthers, last := 0, uint64(0)
		for {
			batch, err := sub.Next(context.Background())
			if errors.Is(err, event.ErrClosed) {
				break
			}
			for _, e := range batch {
				if e.Seq <= last {
					t.Fatalf("number %d after %d", e.Seq, last)
				}
				last = e.Seq
				switch b := e.Body.(type) {
				case event.TextDelta:
					gotText.WriteString(b.Text)
				case event.CallProgress:
					gotProgress.WriteString(b.Text)
				default:
					gotOthers++
				}
			}
		}
		if gotText.String() != text.String() || gotProgress.String() != progress.String() || gotOthers != others {
			t.Fatalf("lost something: %q %q %d", gotText.String(), gotProgress.String(), gotOthers)
		}
	})
}

func TestMessagesAreNotMixed(t *testing.T) {
	var s event.Stream
	sub := s.Subscribe()
	s.Publish("s1", 1, event.TextDelta{Message: "a", Text: "1"})
	s.Publish("s1", 1, event.TextDelta{Message: "b", Text: "2"})
	s.Publish("s2", 1, event.TextDelta{Message: "b", Text: "3"})
	if batch := next(t, sub); len(batch) != 3 {
		t.Errorf("%d events, want three apart", len(batch))
	}
}

func TestMergedDeltasStaySmall(t *testing.T) {
	var s event.Stream
	sub := s.Subscribe()
	piece := strings.Repeat("x", 1<<10)
	for range 1 << 10 {
		s.Publish("s1", 1, event.CallProgress{Call: "c", Text: piece})
	}
	sum, longest := 0, 0
	for _, e := range next(t, sub) {
		n := len(e.Body.(event.CallProgress).Text)
		sum, longest = sum+n, max(longest, n)
	}
	if sum != 1<<20 || longest > 64<<10 {
		t.Errorf("%d bytes, the longest event of %d", sum, longest)
	}
}

func TestPublishingNeverWaits(t *testing.T) {
	var s event.Stream
	slow := s.Subscribe()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				s.Publish("s", 1, event.CallRunning{Call: "c"})
			}
		})
	}
	wg.Wait()
	if batch := next(t, slow); len(batch) != 8000 {
		t.Errorf("%d events", len(batch))
	}
}

func TestNextEndsWithItsContextAndWithTheStream(t *testing.T) {
	var s event.Stream
	sub := s.Subscribe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := sub.Next(ctx); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	go func() { _, err := sub.Next(t.Context()); done <- err }()
	s.Close()
	if err := <-done; !errors.Is(err, event.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Subscribe().Next(t.Context()); !errors.Is(err, event.ErrClosed) {
		t.Errorf("a subscription to a closed stream: %v", err)
	}
}

func TestJSONIsOneFlatObject(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s := event.Stream{Now: func() time.Time { return at }}
	for want, body := range map[string]event.Body{
		`{"seq":1,"at":"2026-03-04T05:06:07Z","session":"s1","turn":2,"type":"text","message":"m","text":"<a>"}`: event.TextDelta{Message: "m", Text: "<a>"},
		`{"seq":2,"at":"2026-03-04T05:06:07Z","session":"s1","turn":2,"type":"call.running","call":"c"}`:         event.CallRunning{Call: "c"},
	} {
		e := s.Publish("s1", 2, body)
		e.Seq = map[string]uint64{"text": 1, "call.running": 2}[body.Type()]
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got, expected map[string]any
		if json.Unmarshal(b, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil || len(got) != len(expected) || got["type"] != body.Type() {
			t.Errorf("got %s\nwant %s", b, want)
		}
	}
}
