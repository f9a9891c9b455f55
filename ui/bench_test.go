package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chela/engine"
	"chela/engine/event"
	"chela/store"
)

// BenchmarkKeystrokeWhileStreaming is the time from a key press to the frame
// that shows it, on a screen of 200x50 with a session of 10,000 messages open
// and an answer streaming in: between two keys comes what a tenth of a second
// brings at 100 tokens a second. It reports the 50th and 99th percentile.
func BenchmarkKeystrokeWhileStreaming(b *testing.B) {
	m := New(context.Background(), Options{Theme: "dark", Boot: func(context.Context) (*Ready, error) { return nil, context.Canceled }})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	var t engine.Transcript
	for i := range 10_000 {
		msg := store.Message{ID: fmt.Sprint("m", i), Turn: i/2 + 1, Role: store.RoleUser, Content: fmt.Sprintf("message %d asks", i), Created: time.Now()}
		if i%2 == 1 {
			msg.Role, msg.Content = store.RoleAssistant, fmt.Sprintf("Answer **%d** with `code`:\n\n```go\nfunc f() int { return %d }\n```\n", i, i)
		}
		t.Messages = append(t.Messages, msg)
	}
	m.conversation.Load(t)
	m.View()
	answer := strings.Fields(strings.Repeat("The delay is fixed, so a slow run misses the **last attempt** and `Do` returns.\n\n- one point\n- and another\n\n", 40))
	token := 0
	stream := func(n int) {
		for range n {
			m.apply(event.Event{Turn: 5001, At: time.Now(), Body: event.TextDelta{Message: fmt.Sprint("live", token/2000), Text: answer[token%len(answer)] + " "}})
			token++
		}
		m.frame.dirty = true
	}
	var took []time.Duration
	for b.Loop() {
		stream(10)
		m.View()
		begin := time.Now()
		m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		stream(1) // a batch of tokens may come with it
		m.View()
		took = append(took, time.Since(begin))
		if len(took)%60 == 0 {
			m.composer.Clear()
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
