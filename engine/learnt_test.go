package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"chela/engine"
	"chela/engine/event"
	"chela/engine/pipeline"
)

// kept is what the store has about the model of the tests.
type kept struct {
	Meter struct {
		Ratio   float64 `json:"units_per_token"`
		Samples int     `json:"samples"`
	} `json:"meter"`
	Prefill struct {
		PerToken float64 `json:"ns_per_token"`
	} `json:"prefill"`
	Speed float64 `json:"tokens_per_second"`
}

func (r *rig) kept() kept {
	r.t.Helper()
	all, err := r.st.Profiles(r.t.Context())
	if err != nil || len(all) != 1 {
		r.t.Fatalf("%d profiles, %v", len(all), err)
	}
	var k kept
	if err := json.Unmarshal(all[0].Learnt, &k); err != nil {
		r.t.Fatal(err)
	}
	return k
}

func TestTokensAndSpeedAreLearntAndOutliveTheSession(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	for range 3 {
		r.srv.Reply().Text("Hello.").Tokens(1200, 50)
		r.turn(s, "hello")
	}
	k := r.kept()
	if k.Meter.Samples != 3 || k.Meter.Ratio <= 0 || k.Prefill.PerToken <= 0 || k.Speed != 500 || s.State().Speed != 500 {
		t.Fatalf("kept %+v, speed %v", k, s.State().Speed)
	}
	other := r.open(engine.OpenOptions{})
	if other.State().Speed != 500 {
		t.Errorf("a new session knows %v tokens a second", other.State().Speed)
	}
	r.srv.Reply().Text("Hello.").Tokens(1200, 50)
	_, all := r.turn(other, "hello")
	for _, st := range bodies[event.ModelState](all) {
		if st.State == event.ModelWaiting && (st.Reading <= 0 || st.Expected <= 0) {
			t.Errorf("the first prompt of a new session is said to take %+v", st)
		}
	}
}

func TestAShortCountIsSaidOnce(t *testing.T) {
	r := newRig(t, nil)
	s := r.open(engine.OpenOptions{})
	warned := 0
	for range 2 {
		r.srv.Reply().Text("Hello.").Tokens(300, 5)
		_, all := r.turn(s, strings.Repeat("Say hello to all the crabs. ", 100))
		for _, n := range bodies[event.Notice](all) {
			if strings.Contains(n.Text, "seems to have cut it") {
				warned++
			}
		}
	}
	if warned != 1 {
		t.Errorf("said %d times", warned)
	}
}

func TestStatsSayWhetherThePrefixHeld(t *testing.T) {
	r := newRig(t, nil, mode(pipeline.Standard))
	r.file("a.txt", "one\n")
	s := r.open(engine.OpenOptions{})
	r.srv.Reply().Call("read_file", `{"path":"a.txt"}`)
	r.srv.Reply().Text("one")
	_, all := r.turn(s, "read a.txt")
	done := bodies[event.MessageDone](all)
	if done[0].Stats.Prefix != "" || done[1].Stats.Prefix != event.PrefixKept {
		t.Errorf("%q, then %q (%s)", done[0].Stats.Prefix, done[1].Stats.Prefix, done[1].Stats.PrefixReason)
	}
	r.srv.Reply().NoTools(qwen) // the tools go, and the system prompt grows
	r.srv.Reply().Text("two")
	_, all = r.turn(s, "and again")
	if st := bodies[event.MessageDone](all)[0].Stats; st.Prefix != event.PrefixBroken || !strings.Contains(st.PrefixReason, "the system prompt changed") {
		t.Errorf("%q (%s)", st.Prefix, st.PrefixReason)
	}
}
