package stall

import "fmt"

// State names what is wrong. Its words are stable: events and logs carry them.
type State string

// The states. The zero State means that nothing is wrong.
const (
	Fine      State = ""
	SameCall  State = "same_call"             // the same call, and nothing changed since
	Cycle     State = "cycle"                 // several calls with their results, again and again
	Repeating State = "repeating_text"        // the answer repeats itself
	Empty     State = "empty"                 // no text and no call
	Announced State = "announced_only"        // "I will now …", and no call
	Closed    State = "closed_without_done"   // the stream ended without saying so
	Claimed   State = "claimed_without_doing" // says that it changed something, and did not
	GaveUp    State = "refused_after_error"   // gives up after one error, or says that it has no tools
)

// Action is what to do about a verdict.
type Action int

// The actions.
const (
	Pass   Action = iota // go on as if nothing were; Note may hold a remark for the person
	Answer               // do not run the call: give Text as its result
	Nudge                // append Text as a hidden message and ask the model again
	Retry                // drop the answer and ask again, with another seed and 0.3 more temperature
	Stop                 // end the turn with Error and Hint
)

var actionNames = [...]string{"pass", "answer", "nudge", "retry", "stop"}

// String returns the action's name.
func (a Action) String() string {
	if a < Pass || a > Stop {
		return fmt.Sprintf("action(%d)", int(a))
	}
	return actionNames[a]
}

// Verdict is what a guard says. The zero verdict is that all is well.
type Verdict struct {
	State  State
	Action Action
	Text   string // for the model: with Answer the result, with Nudge the message
	Error  string // with Stop, for the person: what happened
	Hint   string // with Stop, for the person: what to do
	Note   string // with Pass, for the person: what the answer does not say
}

// nudges caps the nudges and retries of each state in a turn. After the second
// announcement, and for all else after the first, more of the same has not been
// seen to help: it fills the window with what the model already ignores.
var nudges = map[State]int{Cycle: 1, Repeating: 1, Empty: 2, Announced: 2, Closed: 1, Claimed: 1, GaveUp: 1}

// MostNudges caps the nudges and retries of one turn over all states.
const MostNudges = 4

// push returns a nudge or a retry while the caps allow it.
func (g *Guard) push(v Verdict) (Verdict, bool) {
	if g.nudged[v.State] >= nudges[v.State] || g.total >= MostNudges {
		return Verdict{}, false
	}
	g.nudged[v.State]++
	g.total++
	return v, true
}

func stop(state State, hint, format string, args ...any) Verdict {
	return Verdict{State: state, Action: Stop, Error: fmt.Sprintf(format, args...), Hint: hint}
}
