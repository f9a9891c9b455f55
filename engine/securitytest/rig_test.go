package securitytest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/ollama"
	"chela/engine/pipeline"
	"chela/engine/settings"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// patience bounds a wait that only a fault makes long.
const patience = 30 * time.Second

// rig is an engine with everything real but the network and the model.
type rig struct {
	t        *testing.T
	places   places
	net      *fakeNet
	mode     pipeline.Mode
	origin   toolkit.Origin
	attended bool
	later    atomic.Int64 // nanoseconds that the engine's clock is ahead

	world world // as it was after the last hostile call; nil: not looked at yet

	store   *store.Store
	engine  *engine.Engine
	session *engine.Session
	sub     *event.Subscription
}

// newRig prepares an engine, which start starts.
func newRig(t *testing.T, p places, mode pipeline.Mode) *rig {
	return &rig{t: t, places: p, net: &fakeNet{series: map[string][][]string{}}, mode: mode, origin: toolkit.FromPerson, attended: true}
}

func (r *rig) start(options ...func(*engine.Config)) {
	t := r.t
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(r.places.state, "chela.db"))
	if err != nil {
		t.Fatal(err)
	}
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	server, err := ollama.New("127.0.0.1:11434") // only its address counts: nothing of it is asked
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.Config{
		Workspace: r.places.ws, Dirs: settings.Dirs{Config: r.places.cfg, Data: r.places.state}, Settings: settings.Default(),
		Store: st, Tools: reg, Server: server, Attended: r.attended, Net: r.net.options(),
		Now: func() time.Time { return time.Now().Add(time.Duration(r.later.Load())) },
	}
	for _, o := range options {
		o(&cfg)
	}
	eng, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.store, r.engine, r.sub = st, eng, eng.Subscribe()
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		r.net.open.Wait()
	})
	if r.session, err = eng.Open(t.Context(), engine.OpenOptions{Mode: &r.mode}); err != nil {
		t.Fatal(err)
	}
}

// result is how a call went.
type result struct {
	out   pipeline.Outcome
	asked bool
	ran   bool // its tool was executed
	shown []string
}

// text is everything of the result that anybody gets to see.
func (r result) text() string {
	data, err := json.Marshal(r.out.Result)
	if err != nil {
		data = []byte(err.Error())
	}
	all := r.out.Text + string(data)
	for _, s := range r.shown {
		all += s
	}
	return all
}

// bytes is how much of it there is: for the model, in the store, and shown while
// it ran.
func (r result) bytes() int {
	n := len(r.out.Text) + len(r.out.Result.Text)
	for _, s := range r.shown {
		n += len(s)
	}
	return n
}

// verdict is the result in the words of the cases.
func (r result) verdict() string {
	e := r.out.Error
	switch {
	case r.asked:
		return "ask"
	case e == nil:
		return "allow"
	case r.ran && e.Code != toolkit.CodeDenied:
		return "error"
	}
	switch e.Code {
	case toolkit.CodeDenied, toolkit.CodeApproval, toolkit.CodeUserDenied, toolkit.CodeInvalid, toolkit.CodeMissing, pipeline.CodeAudit:
		return "deny" // before any effect
	}
	return "error"
}

// answerer decides about a question. It runs on its own goroutine.
type answerer func(event.ApprovalAsked) pipeline.Answer

func denies(event.ApprovalAsked) pipeline.Answer { return pipeline.Answer{Reason: "no"} }

// call takes one call through the engine. What is asked is answered by answer.
func (r *rig) call(origin toolkit.Origin, tool string, args json.RawMessage, answer answerer) result {
	r.t.Helper()
	type done struct {
		out pipeline.Outcome
		err error
	}
	ended := make(chan done, 1)
	go func() {
		out, err := r.session.CallAs(r.t.Context(), origin, tool, args)
		ended <- done{out, err}
	}()
	var res result
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for over := false; !over; {
		batch, err := r.sub.Next(ctx)
		if err != nil {
			r.t.Fatalf("waiting for the end of %s: %v", tool, err)
		}
		for _, e := range batch {
			switch b := e.Body.(type) {
			case event.ApprovalAsked:
				res.asked = true
				if err := r.session.Answer(b.Approval, b.Plan.Hash, answer(b)); err != nil {
					r.t.Fatal(err)
				}
			case event.CallRunning:
				res.ran = true
			case event.CallProgress:
				res.shown = append(res.shown, b.Text)
			case event.CallReturned:
				res.shown = append(res.shown, b.Output)
				over = true
			}
		}
	}
	d := <-ended
	if d.err != nil {
		r.t.Fatal(d.err)
	}
	res.out = d.out
	return res
}
