package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"chela/engine/fleet"
	"chela/engine/ollama"
	"chela/engine/ollamatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, host string) *ollama.Client {
	t.Helper()
	c, err := ollama.New(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

func ask(text string) ollama.Request {
	return ollama.Request{Model: "m:1b", Window: 4096, Think: &api.ThinkValue{Value: false}, Messages: []api.Message{{Role: "user", Content: text}}}
}

func TestOneSlotAnswersInTheOrderOfAsking(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "m:1b"})
	f := fleet.New(1, client(t, srv.Host()))
	h := f.Hosts()[0]
	gate := ollamatest.NewGate()
	srv.Reply().Gate(gate).Text("0")
	for i := 1; i <= 4; i++ {
		srv.Reply().Text(fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []string
	run := func(i int) <-chan int {
		queued := make(chan int, 1)
		wg.Go(func() {
			r, err := h.Chat(t.Context(), ask(fmt.Sprint(i)), ollama.Sink{}, func(ahead int) { queued <- ahead })
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, r.Text)
		})
		return queued
	}
	run(0)
	<-gate.Reached()
	for i := 1; i <= 4; i++ {
		if ahead := <-run(i); ahead != i { // each waits before the next one comes
			t.Errorf("request %d heard that %d are ahead", i, ahead)
		}
	}
	gate.Open()
	wg.Wait()
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, order); diff != "" {
		t.Error(diff)
	}
	for i, c := range srv.Chats() {
		if c.Messages[0].Content != fmt.Sprint(i) {
			t.Errorf("request %d asked %q", i, c.Messages[0].Content)
		}
	}
}

func TestWhoGivesUpWaitingLeavesTheQueue(t *testing.T) {
	srv := ollamatest.New(t, ollamatest.Model{Name: "m:1b"})
	h := fleet.New(1, client(t, srv.Host())).Hosts()[0]
	gate := ollamatest.NewGate()
	srv.Reply().Gate(gate).Text("first")
	srv.Reply().Text("third")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := h.Chat(t.Context(), ask("first"), ollama.Sink{}, nil); err != nil {
			t.Error(err)
		}
	})
	<-gate.Reached()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := h.Chat(ctx, ask("second"), ollama.Sink{}, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the second ended with %v", err)
	}
	gate.Open()
	wg.Wait()
	if r, err := h.Chat(t.Context(), ask("third"), ollama.Sink{}, func(int) { t.Error("it waited for nobody") }); err != nil || r.Text != "third" {
		t.Errorf("the third got %q, %v", r.Text, err)
	}
}

func TestPlacement(t *testing.T) {
	small := ollamatest.Model{Name: "m:1b"}
	warm := small
	warm.Loaded = true
	a, b := ollamatest.New(t, small), ollamatest.New(t, warm, ollamatest.Model{Name: "only:7b"})
	f := fleet.New(1, client(t, a.Host()), client(t, b.Host()))
	models, err := f.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		want := map[string][]string{"m:1b": {a.Host(), b.Host()}, "only:7b": {b.Host()}}[m.Name]
		if diff := cmp.Diff(want, m.Hosts); diff != "" {
			t.Errorf("%s: %s", m.Name, diff)
		}
	}
	first, second := f.Hosts()[0], f.Hosts()[1]
	if got := f.Place("only:7b"); got != second {
		t.Error("a model is placed where it is not")
	}
	second.Leave()
	if got := f.Place("m:1b"); got != second {
		t.Error("a loaded model is loaded a second time elsewhere")
	}
	if got := f.Place("nowhere:1b"); got != first {
		t.Error("what nobody has is not asked of the preferred server")
	}
	lost := &ollama.Error{Kind: ollama.Unreachable, Err: errors.New("refused")}
	if !f.Failed(second, "m:1b", lost) {
		t.Error("the other server has it and is not asked")
	}
	if got := f.Place("m:1b"); got != first {
		t.Error("a server that is gone is picked")
	}
	if got := f.Place("only:7b"); got != second {
		t.Error("the only server that has it is not asked again")
	}
	if f.Failed(second, "only:7b", lost) {
		t.Error("another server is said to have what only one has")
	}
	if f.Failed(first, "m:1b", &ollama.Error{Kind: ollama.TooLong}) || f.Failed(first, "m:1b", context.Canceled) {
		t.Error("a fault of the request is taken for one of the server")
	}
	if f.Place("m:1b", first, second) != nil {
		t.Error("a server is left when all are excepted")
	}
}

func TestSessionsSpreadOverEqualServers(t *testing.T) {
	m := ollamatest.Model{Name: "m:1b", Loaded: true}
	f := fleet.New(1, client(t, ollamatest.New(t, m).Host()), client(t, ollamatest.New(t, m).Host()))
	if _, err := f.Models(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := map[*fleet.Host]int{}
	for range 6 {
		count[f.Place("m:1b")]++
	}
	if count[f.Hosts()[0]] != 3 || count[f.Hosts()[1]] != 3 {
		t.Errorf("six sessions are placed %v", count)
	}
}

func TestAServerThatIsDownHidesNothing(t *testing.T) {
	up, down := ollamatest.New(t, ollamatest.Model{Name: "m:1b"}), ollamatest.New(t)
	down.Break("/api/tags", 500, "out of order")
	f := fleet.New(1, client(t, down.Host()), client(t, up.Host()))
	models, err := f.Models(t.Context())
	if err != nil || len(models) != 1 {
		t.Errorf("got %v, %v", models, err)
	}
	if states := f.Survey(t.Context()); states[0].Error == nil || states[1].Error != nil {
		t.Errorf("the survey says %v", states)
	}
	only := fleet.New(1, client(t, down.Host()))
	if _, err := only.Models(t.Context()); err == nil {
		t.Error("no server answers and that is no error")
	}
}
