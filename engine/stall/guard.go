package stall

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// Call is one call, as the pipeline would run it: the tool's real name, and the
// arguments in canonical form, so that spelling makes no difference.
type Call struct {
	Tool string
	Args string
}

// Outcome is what came of a call.
type Outcome struct {
	Result  string // as the model reads it
	Failed  bool   // it failed or was denied
	Denied  bool   // a person or the rules did not allow it
	Retry   bool   // it failed in a way that may pass by itself
	Changed bool   // it wrote, edited or ran something, with success
}

// Polls reports whether a tool of the catalogue is called again and again in
// good faith, because what it looks at changes by itself.
func Polls(tool string) bool { return polling[tool] }

var polling = map[string]bool{
	"exec_status": true, "session_status": true, "sessions_list": true, "list_sessions": true, "receive_messages": true,
	"browser_snapshot": true, "browser_screenshot": true, "browser_pages": true, "screen_capture": true, "clipboard_read": true,
	"process_list": true, "cron_history": true, "cron_list": true, "feed_poll": true, "get_ticket": true,
}

// How often the same may be asked.
const (
	// The first is run; the second and the third are answered from memory; the
	// fourth ends the turn.
	sameStop = 4

	// A circle of one to maxPeriod calls with equal results is nudged when it
	// has been gone through cycleNudge times, and ends the turn with the next
	// full round.
	maxPeriod  = 10
	cycleNudge = 3
	cycleStop  = 4

	// mostSeen bounds what is remembered of a turn's calls; the step limit is
	// far below it.
	mostSeen = 1024
)

// Guard watches one turn. Make it with [New].
type Guard struct {
	polls  func(string) bool
	seen   map[uint64]*entry // calls since something changed
	trail  []uint64          // the last calls with their results
	nudged map[State]int
	total  int
	turn   record
}

// entry is a call that was seen since something changed.
type entry struct {
	times  int
	result string
	done   bool // its result is known
	retry  bool // its failure may pass
}

// record is what a turn did so far.
type record struct {
	ran     int  // calls that came back
	changed int  // of them, those that changed something
	denied  int  // of them, those that were not allowed
	failed  bool // the last one failed, and was not denied
	error   string
}

// New makes the guard of one turn. polls says which tools may be called again
// and again; nil means [Polls].
func New(polls func(tool string) bool) *Guard {
	if polls == nil {
		polls = Polls
	}
	return &Guard{polls: polls, seen: map[uint64]*entry{}, nudged: map[State]int{}}
}

// Before judges a call before it runs: Pass, Answer or Stop. An equal call
// counts as the same only while nothing else changed anything; one that failed
// in a way that may pass is run once more.
func (g *Guard) Before(c Call) Verdict {
	if g.polls(c.Tool) {
		return Verdict{}
	}
	key := digest(c.Tool, c.Args)
	e := g.seen[key]
	if e == nil {
		if len(g.seen) >= mostSeen {
			clear(g.seen)
		}
		g.seen[key] = &entry{times: 1}
		return Verdict{}
	}
	e.times++
	switch {
	case e.times >= sameStop:
		return stop(SameCall, "Say what the model should do with the result, or give it a smaller step. A larger model repeats itself less.",
			"the model asked for the same call %d times (%s), and nothing had changed in between", e.times, c.Tool)
	case !e.done:
		return Verdict{State: SameCall, Action: Answer, Text: "same call twice in one answer: it is run once, see its result. Do not repeat it."}
	case e.retry && e.times == 2:
		return Verdict{}
	}
	text := "same call, same result: " + short(e.result) + "\nNothing changed since, so it was not run again. Use the result you have, call something else, or answer."
	if e.times == sameStop-1 {
		text += " The next repetition ends the turn."
	}
	return Verdict{State: SameCall, Action: Answer, Text: text}
}

// After notes what came of a call that ran, and judges the round: Pass, Nudge or
// Stop. It is not called for a call that Before answered.
func (g *Guard) After(c Call, o Outcome) Verdict {
	g.turn.note(c, o)
	if g.polls(c.Tool) {
		return Verdict{}
	}
	key := digest(c.Tool, c.Args)
	e := g.seen[key]
	if e == nil {
		e = &entry{times: 1}
	}
	e.done, e.result, e.retry = true, o.Result, o.Failed && o.Retry
	if o.Changed {
		// What was seen before may look different now. The call itself has not
		// changed by having run.
		clear(g.seen)
	}
	g.seen[key] = e
	g.trail = append(g.trail, digest(c.Tool, c.Args, o.Result))
	if most := maxPeriod * (cycleStop + 1); len(g.trail) > most {
		g.trail = g.trail[len(g.trail)-most:]
	}
	return g.round()
}

func (r *record) note(c Call, o Outcome) {
	r.ran++
	if o.Changed {
		r.changed++
	}
	if o.Denied {
		r.denied++
	}
	if r.failed = o.Failed && !o.Denied; r.failed {
		r.error = short(o.Result)
	}
}

// round looks for a circle that the last call closed.
func (g *Guard) round() Verdict {
	for p := 1; p <= maxPeriod; p++ {
		same := 0
		for i := len(g.trail) - 1; i >= p && g.trail[i] == g.trail[i-p]; i-- {
			same++
		}
		rounds := same/p + 1
		switch {
		case same%p != 0 || rounds < cycleNudge:
			continue
		case rounds < cycleStop:
			if v, ok := g.push(Verdict{
				State: Cycle, Action: Nudge,
				Text: fmt.Sprintf("You have made the same %s %d times with the same results. Going on like this changes nothing. Do something else, or say in one sentence what is missing.", calls(p), rounds),
			}); ok {
				return v
			}
		}
		return stop(Cycle, "Look at the last calls on the timeline and say what to do differently, or give the model a smaller step.",
			"the model goes in circles: the same %s %d times, each time with the same results", calls(p), rounds)
	}
	return Verdict{}
}

func calls(n int) string {
	if n == 1 {
		return "call"
	}
	return fmt.Sprintf("%d calls in a row", n)
}

// digest tells calls apart without keeping their arguments.
func digest(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\x00%s", len(p), p)
	}
	return h.Sum64()
}

// short is enough of a result to know it again, on one line.
func short(text string) string {
	const most = 160
	cut := text
	if len(cut) > 4*most {
		cut = cut[:4*most]
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(cut, "")), " ")
	if utf8.RuneCountInString(line) > most {
		return string([]rune(line)[:most-1]) + "…"
	}
	return line
}
