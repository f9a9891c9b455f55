package callmode_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"chela/engine/callmode"
)

// play takes events as words: clean, answer, or kind:tool. It returns the
// changes as "from>to".
func play(t *testing.T, l *callmode.Ladder, events ...string) []string {
	t.Helper()
	var out []string
	for _, e := range events {
		var c callmode.Change
		var changed bool
		before := l.Mode()
		switch kind, tool, _ := strings.Cut(e, ":"); kind {
		case "clean":
			c, changed = l.Clean()
		case "answer":
			c, changed = l.Answered()
		default:
			c, changed = l.Fault(callmode.Kind(kind), tool)
		}
		if changed != (before != l.Mode()) || changed && (c.From != before || c.To != l.Mode() || c.Why == "") {
			t.Errorf("%s: said %+v, %v; it went from %s to %s", e, c, changed, before, l.Mode())
		}
		if changed {
			out = append(out, c.From.String()+">"+c.To.String())
		}
	}
	return out
}

func times(n int, events ...string) []string { return slices.Repeat(events, n) }

func TestLadder(t *testing.T) {
	for _, c := range []struct {
		name     string
		profile  callmode.Profile
		toolless bool
		events   []string
		changes  []string
		mode     callmode.Mode
	}{
		{name: "a new model is native", mode: callmode.Native},
		{name: "a model without tools is prompted and stays so", toolless: true, events: times(500, "clean"), mode: callmode.Prompted},
		{name: "one that refuses them too", events: append([]string{"no_tools"}, times(500, "clean")...), changes: []string{"native>prompted"}, mode: callmode.Prompted},
		{name: "it is remembered", profile: callmode.Profile{RefusesTools: true}, events: times(500, "clean"), mode: callmode.Prompted},
		{name: "two calls in text are no reason", events: []string{"rescued", "lost", "clean", "clean"}, mode: callmode.Native},
		{name: "three of five are", events: []string{"rescued", "clean", "lost", "clean", "rescued"}, changes: []string{"native>prompted"}, mode: callmode.Prompted},
		{name: "three of six are not", events: []string{"rescued", "clean", "clean", "lost", "clean", "rescued"}, mode: callmode.Native},
		{name: "what the server cannot read counts as lost", events: times(3, "server_parse"), changes: []string{"native>prompted"}, mode: callmode.Prompted},
		{name: "phantoms and bad arguments do not count", events: []string{"phantom", "phantom", "phantom", "invalid:a", "invalid:b", "unknown_tool:c", "phantom"}, mode: callmode.Native},
		{name: "prompted calls are in the text", profile: callmode.Profile{Mode: callmode.Prompted}, events: times(29, "rescued"), mode: callmode.Prompted},
		{name: "one invalid call is repaired by the model", events: []string{"invalid:exec", "clean", "invalid:exec", "clean"}, mode: callmode.Native},
		{name: "two calls of different tools are two calls", events: []string{"invalid:exec", "invalid:grep", "invalid:exec"}, mode: callmode.Native},
		{name: "one that stays invalid is forced", events: []string{"invalid:exec", "invalid:exec"}, changes: []string{"native>forced"}, mode: callmode.Forced},
		{name: "until a step is right", events: []string{"invalid:exec", "invalid:exec", "invalid:exec", "invalid:exec", "clean"}, changes: []string{"native>forced", "forced>native"}, mode: callmode.Native},
		{name: "an answer is right too", profile: callmode.Profile{Mode: callmode.Prompted}, events: []string{"invalid:exec", "invalid:exec", "answer"}, changes: []string{"prompted>forced", "forced>prompted"}, mode: callmode.Prompted},
		{
			name: "the third time it stays", events: append(times(3, "invalid:exec", "invalid:exec", "clean"), times(100, "clean")...),
			changes: []string{"native>forced", "forced>native", "native>forced", "forced>native", "native>forced"}, mode: callmode.Forced,
		},
		{name: "native is tried again after thirty", profile: callmode.Profile{Mode: callmode.Prompted}, events: times(30, "clean"), changes: []string{"prompted>native"}, mode: callmode.Native},
		{name: "in a row", profile: callmode.Profile{Mode: callmode.Prompted}, events: append(append(times(29, "clean"), "invalid:exec"), times(29, "clean")...), mode: callmode.Prompted},
		{
			name: "then after sixty", events: slices.Concat(times(3, "lost"), times(30, "clean"), times(3, "lost"), times(59, "clean")),
			changes: []string{"native>prompted", "prompted>native", "native>prompted"}, mode: callmode.Prompted,
		},
		{
			name: "and not before", events: slices.Concat(times(3, "lost"), times(30, "clean"), times(3, "lost"), times(60, "clean")),
			changes: []string{"native>prompted", "prompted>native", "native>prompted", "prompted>native"}, mode: callmode.Native,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := callmode.Start(c.profile, c.toolless)
			if diff := cmp.Diff(c.changes, play(t, l, c.events...)); diff != "" {
				t.Errorf("changes (-want +got)\n%s", diff)
			}
			if l.Mode() != c.mode {
				t.Errorf("it is %s, want %s", l.Mode(), c.mode)
			}
		})
	}
}

func TestAPersonChooses(t *testing.T) {
	l := callmode.Start(callmode.Profile{RefusesTools: true}, true)
	if c, ok := l.Set(callmode.Native); !ok || c.To != callmode.Native || l.Mode() != callmode.Native {
		t.Errorf("%+v, %v", c, ok)
	}
	if got := play(t, l, "no_tools"); !slices.Equal(got, []string{"native>prompted"}) {
		t.Errorf("after it refused again: %v", got)
	}
	l.Set(callmode.Forced)
	if got := play(t, l, times(50, "clean", "answer")...); len(got) > 0 || l.Mode() != callmode.Forced {
		t.Errorf("forced by a person: %v", got)
	}
	if p := l.Profile(); p.Mode != callmode.Prompted {
		t.Errorf("%s is kept, which is for one session", p.Mode)
	}
}

// TestLadderHoldsItsPromises plays random events over several sessions.
func TestLadderHoldsItsPromises(t *testing.T) {
	kinds := []callmode.Kind{callmode.ServerParse, callmode.UnknownTool, callmode.Invalid, callmode.Rescued, callmode.Lost, callmode.Phantom}
	rapid.Check(t, func(t *rapid.T) {
		toolless := rapid.Bool().Draw(t, "toolless")
		refused := false
		profile := callmode.Profile{}
		steps, forced, total := 0, 0, 0
		for range rapid.IntRange(1, 3).Draw(t, "sessions") {
			l := callmode.Start(profile, toolless)
			inSession := 0
			for range rapid.IntRange(0, 40).Draw(t, "bursts") {
				event := rapid.IntRange(-6, len(kinds)).Draw(t, "event")
				for range rapid.SampledFrom([]int{1, 2, 3, 40, 130}).Draw(t, "times") {
					total++
					var c callmode.Change
					var changed bool
					switch {
					case event == -1:
						c, changed = l.Answered()
					case event < 0:
						c, changed = l.Clean()
					case event == len(kinds):
						if c, changed = l.Fault(callmode.NoTools, ""); l.Mode() == callmode.Native {
							t.Fatal("native after it refused")
						}
						refused = true
					default:
						c, changed = l.Fault(kinds[event], "exec")
					}
					if (toolless || refused) && l.Mode() == callmode.Native {
						t.Fatalf("native without tools after %+v", c)
					}
					if !changed {
						continue
					}
					if c.From == c.To || c.To != l.Mode() {
						t.Fatalf("%+v, and it is %s", c, l.Mode())
					}
					if c.From == callmode.Forced || c.To == callmode.Forced {
						inSession++
					} else {
						steps++
					}
				}
			}
			if inSession > 5 {
				t.Fatalf("%d changes to and from forced in a session", inSession)
			}
			forced += inSession
			raw, err := json.Marshal(l.Profile())
			if err != nil {
				t.Fatal(err)
			}
			profile = callmode.Profile{}
			if err := json.Unmarshal(raw, &profile); err != nil {
				t.Fatal(err)
			}
		}
		if most := 2*math.Log2(float64(total)/30+1) + 3; float64(steps) > most {
			t.Fatalf("%d changes in %d events, more than %.1f", steps, total, most)
		}
	})
}

func TestProfileKeepsWhatItDoesNotKnow(t *testing.T) {
	const later = `{"version":7,"mode":"telepathic","calls":-3,"faults":{"lost":2,"dreamt":1},"refuses_thinking":true,"mood":{"a":[1]}}`
	var p callmode.Profile
	if err := json.Unmarshal([]byte(later), &p); err != nil {
		t.Fatal(err)
	}
	want := callmode.Profile{
		Version: 7, Mode: callmode.Prompted, Faults: map[callmode.Kind]int{"lost": 2, "dreamt": 1}, Learned: callmode.Learned{RefusesThinking: true},
	}
	if diff := cmp.Diff(want, p, cmpopts.IgnoreUnexported(callmode.Profile{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	l := callmode.Start(p, false)
	l.Clean()
	raw, err := json.Marshal(l.Profile())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `"mood":{"a":[1]}`) || !strings.Contains(string(raw), `"version":7`) || !strings.Contains(string(raw), `"mode":"prompted"`) {
		t.Errorf("written as %s", raw)
	}
	for _, bad := range []string{``, `[]`, `{"calls":"many"}`} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestProfileRoundTrip(t *testing.T) {
	p := callmode.Profile{
		Version: 1, Mode: callmode.Prompted, Why: "x", Calls: 1, Faults: map[callmode.Kind]int{callmode.Lost: 2}, Downs: 1, Ups: 2, Forced: 3, CleanRun: 4, UpAfter: 60, RefusesTools: true,
		Learned: callmode.Learned{RefusesThinking: true, CharsPerToken: 3.5, Measured: 9, Check: &callmode.Check{Grade: "B", Tasks: map[string]bool{"call": true}}, Facts: map[string]string{"a": "b"}},
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got callmode.Profile
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got, cmp.AllowUnexported(callmode.Profile{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCharactersPerTokenAreMeasured(t *testing.T) {
	var l callmode.Learned
	l.Measure(0, 5)
	l.Measure(5, -1)
	if l.CharsPerToken != 0 || l.Measured != 0 {
		t.Errorf("what is no measurement gave %v", l.CharsPerToken)
	}
	l.Measure(400, 100)
	l.Measure(200, 100)
	if l.CharsPerToken != 3 || l.Measured != 200 {
		t.Errorf("%v over %d tokens, want 3 over 200", l.CharsPerToken, l.Measured)
	}
	for range 1000 {
		l.Measure(1<<20, 1<<20)
	}
	if math.Abs(l.CharsPerToken-1) > 0.01 || l.Measured > 100_000 {
		t.Errorf("%v over %d tokens: old text must count for less", l.CharsPerToken, l.Measured)
	}
}

func TestModeText(t *testing.T) {
	for _, m := range []callmode.Mode{callmode.Native, callmode.Prompted, callmode.Forced} {
		raw, err := m.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got callmode.Mode
		if err := got.UnmarshalText(raw); err != nil || got != m || string(raw) != m.String() {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if _, err := callmode.Parse("telepathic"); err == nil || !strings.Contains(err.Error(), "native, prompted, forced") {
		t.Errorf("error %v", err)
	}
	if _, err := callmode.Mode(9).MarshalText(); err == nil {
		t.Error("a mode without a name was written")
	}
}
