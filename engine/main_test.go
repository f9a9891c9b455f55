package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"go.uber.org/goleak"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/ollamatest"
	"chela/engine/pipeline"
	"chela/engine/pocket"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/catalogue"
	"chela/toolkit/guard/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main() // when a sandboxed command starts this program again, it does not return
	goleak.VerifyTestMain(m)
}

const qwen = "qwen3:8b"

// patience bounds a wait that only a fault makes long.
const patience = 30 * time.Second

// rig is an engine with everything real but the model.
type rig struct {
	t    *testing.T
	dir  string // the project
	data string
	srv  *ollamatest.Server
	st   *store.Store
	eng  *engine.Engine
	sub  *event.Subscription
	seen []event.Event // taken from sub and not yet looked at
}

type option func(*engine.Config)

func mode(m pipeline.Mode) option {
	return func(c *engine.Config) { c.Settings.Security.Mode = m }
}

// newRig starts an engine whose server has the models; none: qwen3:8b.
func newRig(t *testing.T, models []ollamatest.Model, opts ...option) *rig {
	t.Helper()
	if models == nil {
		models = []ollamatest.Model{{Name: qwen}}
	}
	r := &rig{t: t, dir: t.TempDir(), data: t.TempDir(), srv: ollamatest.New(t, models...)}
	r.start(opts...)
	return r
}

// start opens the store and an engine on it.
func (r *rig) start(opts ...option) {
	r.t.Helper()
	st, err := store.Open(r.t.Context(), filepath.Join(r.data, "chela.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	reg, err := catalogue.New()
	if err != nil {
		r.t.Fatal(err)
	}
	if reg, err = toolkit.NewRegistry(append(reg.All(), shout())...); err != nil {
		r.t.Fatal(err)
	}
	server, err := ollama.New(r.srv.Host())
	if err != nil {
		r.t.Fatal(err)
	}
	model := pocket.New()
	cfg := engine.Config{
		Workspace: r.dir, Dirs: settings.Dirs{Config: filepath.Join(r.data, "config"), Data: r.data}, Settings: settings.Default(),
		Store: st, Tools: reg, Server: server, Pocket: ollama.NewInProcess("the built-in model", model.Transport()), Attended: true,
	}
	for _, o := range opts {
		o(&cfg)
	}
	eng, err := engine.New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.st, r.eng, r.sub, r.seen = st, eng, eng.Subscribe(), nil
	r.t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			r.t.Error(err)
		}
		model.Close()
		if err := st.Close(); err != nil {
			r.t.Error(err)
		}
	})
}

type shoutArgs struct {
	Text string `json:"text" doc:"what to shout"`
}

// shout is a tool above the tier of small models.
func shout() toolkit.Tool {
	return toolkit.Define(toolkit.Spec{
		Name: "shout", Summary: "Say it in capitals.", Category: "test", Level: toolkit.Safe, Tier: 2, ReadOnly: true,
	}, nil, func(_ context.Context, _ *toolkit.Workspace, a shoutArgs, _ toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
		return toolkit.Result{Text: strings.ToUpper(a.Text)}, nil
	})
}

func (r *rig) file(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) open(o engine.OpenOptions) *engine.Session {
	r.t.Helper()
	if o.Model == "" && o.ID == "" {
		o.Model = qwen
	}
	s, err := r.eng.Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// until takes events up to the first that the test waits for, and returns them
// all, that one last.
func (r *rig) until(what string, done func(event.Event) bool) []event.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for from := 0; ; {
		for i := from; i < len(r.seen); i++ {
			if done(r.seen[i]) {
				out := slices.Clone(r.seen[:i+1])
				r.seen = r.seen[i+1:]
				return out
			}
		}
		from = len(r.seen)
		batch, err := r.sub.Next(ctx)
		if err != nil {
			r.t.Fatalf("waiting for %s: %v; seen: %s", what, err, types(r.seen))
		}
		r.seen = append(r.seen, batch...)
	}
}

// await waits for one kind of event and returns it with those before it.
func await[B event.Body](r *rig) (B, []event.Event) {
	r.t.Helper()
	var found B
	all := r.until(fmt.Sprintf("%T", found), func(e event.Event) bool {
		b, ok := e.Body.(B)
		if ok {
			found = b
		}
		return ok
	})
	return found, all
}

// turn sends a prompt and waits for the turn's end.
func (r *rig) turn(s *engine.Session, prompt string) (event.TurnEnded, []event.Event) {
	r.t.Helper()
	if err := s.Submit(prompt); err != nil {
		r.t.Fatal(err)
	}
	end, all := await[event.TurnEnded](r)
	return end, all
}

// approve answers the call that waits.
func (r *rig) approve(s *engine.Session, yes bool, reason string) {
	r.t.Helper()
	asked, _ := await[event.ApprovalAsked](r)
	a := pipeline.Answer{Approve: yes, Reason: reason}
	if yes {
		a.Scope = pipeline.ScopeOnce
	}
	if err := s.Answer(asked.Approval, asked.Plan.Hash, a); err != nil {
		r.t.Fatal(err)
	}
}

func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

// bodies picks the events of one kind.
func bodies[B event.Body](events []event.Event) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

func types(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Body.Type())
	}
	return strings.Join(out, " ")
}

// chat is a request as it was on the wire, in the parts that a test compares.
type chat struct {
	Model     string            `json:"model"`
	Messages  []json.RawMessage `json:"messages"`
	Tools     json.RawMessage   `json:"tools"`
	Think     json.RawMessage   `json:"think"`
	Truncate  *bool             `json:"truncate"`
	Shift     *bool             `json:"shift"`
	KeepAlive json.RawMessage   `json:"keep_alive"`
	Options   map[string]any    `json:"options"`
}

func (r *rig) chats() []chat {
	r.t.Helper()
	var out []chat
	for _, q := range r.srv.Requests("/api/chat") {
		var c chat
		if err := json.Unmarshal(q.Body, &c); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// last returns the messages of the last request.
func (r *rig) last() []api.Message {
	r.t.Helper()
	all := r.srv.Chats()
	if len(all) == 0 {
		r.t.Fatal("no request was sent")
	}
	return all[len(all)-1].Messages
}

// wellFormed checks what a model is given: every call has exactly one result,
// right behind the message that made it, in order.
func wellFormed(t *testing.T, messages []api.Message) {
	t.Helper()
	var open []api.ToolCall
	for i, m := range messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0].ID != m.ToolCallID || open[0].Function.Name != m.ToolName {
				t.Fatalf("message %d: the result of %s %q does not follow its call; open: %v", i, m.ToolName, m.ToolCallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d: %d calls have no result before the next message", i, len(open))
		}
		open = m.ToolCalls
	}
	if len(open) > 0 {
		t.Fatalf("%d calls at the end have no result", len(open))
	}
}

func says(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q: %s", what, w, text)
		}
	}
}

// newClosedAddress returns a loopback address where nothing listens.
func newClosedAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func client(t *testing.T, host string) *ollama.Client {
	t.Helper()
	c, err := ollama.New(host)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
