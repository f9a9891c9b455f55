package stall_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela/engine/stall"
)

// play makes calls as the loop does and returns what each came to: "run", or
// the action and state of the verdict. A call is tool, argument, result, and
// options: "!" changed, "?" failed and may pass.
func play(g *stall.Guard, calls ...string) []string {
	var out []string
	for _, c := range calls {
		f := strings.Fields(c)
		call := stall.Call{Tool: f[0], Args: f[1]}
		v := g.Before(call)
		if v.Action == stall.Pass {
			o := stall.Outcome{Result: f[2], Changed: strings.HasSuffix(c, "!")}
			o.Retry = strings.HasSuffix(c, "?")
			o.Failed = o.Retry
			v = g.After(call, o)
		}
		if v.Action == stall.Pass {
			out = append(out, "run")
		} else {
			out = append(out, v.Action.String()+" "+string(v.State))
		}
		if v.Action == stall.Stop && (v.Error == "" || v.Hint == "") {
			out = append(out, "stops without a word")
		}
	}
	return out
}

func TestCallsThatRepeat(t *testing.T) {
	again := func(n int, calls ...string) []string {
		var out []string
		for range n {
			out = append(out, calls...)
		}
		return out
	}
	for name, c := range map[string]struct {
		calls []string
		want  string // the verdicts, without trailing ones that were not reached
	}{
		"the second is answered, the fourth ends the turn": {again(4, "read a x"), "run, answer same_call, answer same_call, stop same_call"},
		"other arguments are another call":                 {[]string{"read a x", "read b x", "read c x"}, "run, run, run"},
		"a change in between makes it another one":         {[]string{"read a x", "edit a ok !", "read a y", "read a y"}, "run, run, run, answer same_call"},
		"a change makes no difference to itself":           {again(2, "exec test FAIL !"), "run, answer same_call"},
		"a failed change changed nothing":                  {[]string{"read a x", "edit a no", "read a x"}, "run, run, answer same_call"},
		"a failure that may pass is tried once more":       {again(4, "fetch u timeout ?"), "run, run, answer same_call, stop same_call"},
		"polling goes on":                                  {again(12, "exec_status s running"), strings.TrimSuffix(strings.Repeat("run, ", 12), ", ")},
		"a circle of two":                                  {again(4, "edit a ok !", "exec test FAIL !"), "run, run, run, run, run, nudge cycle, run, stop cycle"},
		"a circle of three":                                {again(4, "edit a ok !", "edit b ok !", "exec t FAIL !"), "run, run, run, run, run, run, run, run, nudge cycle, run, run, stop cycle"},
		"other results are no circle":                      {[]string{"edit a 1 !", "exec t 1 !", "edit a 2 !", "exec t 2 !", "edit a 3 !", "exec t 3 !", "edit a 4 !", "exec t 4 !"}, "run, run, run, run, run, run, run, run"},
		"polling is no part of a circle":                   {again(3, "edit a ok !", "exec_status s running", "exec t FAIL !"), "run, run, run, run, run, run, run, run, nudge cycle"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(play(stall.New(nil), c.calls...), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCirclesUpToTenAreFound(t *testing.T) {
	for period := 2; period <= 10; period++ {
		var calls []string
		for range 4 {
			for i := range period {
				calls = append(calls, fmt.Sprintf("edit f%d ok !", i))
			}
		}
		got := play(stall.New(nil), calls...)
		for i, g := range got {
			want := "run"
			switch i + 1 {
			case 3 * period:
				want = "nudge cycle"
			case 4 * period:
				want = "stop cycle"
			}
			if g != want {
				t.Errorf("period %d, call %d: %s, want %s", period, i+1, g, want)
			}
		}
	}
}

func TestTheSameCallTwiceInOneAnswer(t *testing.T) {
	g, c := stall.New(nil), stall.Call{Tool: "read_file", Args: "{}"}
	first, second := g.Before(c), g.Before(c)
	if first.Action != stall.Pass || second.Action != stall.Answer || !strings.Contains(second.Text, "twice in one answer") {
		t.Errorf("%+v, then %+v", first, second)
	}
	g.After(c, stall.Outcome{Result: "a\n" + strings.Repeat("long ", 100)})
	if v := g.Before(c); v.Action != stall.Answer || !strings.HasPrefix(v.Text, "same call, same result: a long") || len(v.Text) > 500 {
		t.Errorf("%+v", v)
	}
}

func TestAToolCanBeExempted(t *testing.T) {
	g := stall.New(func(tool string) bool { return tool == "watch" })
	if got := strings.Join(play(g, "watch a x", "watch a x", "exec_status s x", "exec_status s x"), ", "); got != "run, run, run, answer same_call" {
		t.Error(got)
	}
}

// Calls that each say something new are never held up, and memory stays bounded
// however long the turn.
func TestNewCallsAlwaysRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := stall.New(nil)
		for i := range rapid.IntRange(1, 300).Draw(t, "calls") {
			changed := ""
			if rapid.Bool().Draw(t, "changed") {
				changed = " !"
			}
			if got := play(g, fmt.Sprintf("tool a%d r%d%s", i, i%3, changed)); got[0] != "run" {
				t.Fatalf("call %d: %s", i, got[0])
			}
		}
	})
}
