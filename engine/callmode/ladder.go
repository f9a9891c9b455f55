package callmode

import "fmt"

// Kind is a kind of fault in how a model asked for a call.
type Kind string

// The kinds. An answer is reported as one event: the worst that was wrong.
const (
	NoTools     Kind = "no_tools"     // the server refused the request: the model does not support tools
	ServerParse Kind = "server_parse" // the server could not read the model's call and gave an error
	UnknownTool Kind = "unknown_tool" // the call names no tool
	Invalid     Kind = "invalid"      // the arguments were invalid after all repairs
	Rescued     Kind = "rescued"      // the call was found in the text
	Lost        Kind = "lost"         // tokens were generated, and nothing arrived
	Phantom     Kind = "phantom"      // the server made a call of what was only shown
)

// The numbers of the ladder. They are the design's.
const (
	lastCalls   = 5  // a native model is judged by so many
	faultsDown  = 3  // and steps down after so many faults among them
	cleanUp     = 30 // right calls before Native is tried again; doubled each time it did not hold
	retries     = 2  // an invalid call and its corrected form before one is forced
	forcedStays = 3  // times in a session after which Forced stays
	mostCleanUp = 1 << 20
)

// Change is a change of mode, for an event.
type Change struct {
	From, To Mode
	Why      string // for people
}

// Ladder decides how the next request to a model asks for calls. It is made
// for one model and one session; its profile outlives the session.
//
//   - A model without tools, or that refused them, is Prompted, and only a
//     person makes it Native.
//   - Native becomes Prompted when 3 of the last 5 calls were written as text
//     or lost by the server.
//   - After a call that stayed invalid when it was corrected, the next request
//     is Forced, until one step is right. The third time in a session it stays.
//   - Prompted becomes Native after 30 right calls in a row. Each time that
//     Native did not hold, the next try needs twice as many.
type Ladder struct {
	profile  Profile
	toolless bool // its details say so

	recent  []bool // of the last native calls: whether it was written as text or lost
	invalid string // the tool whose call was invalid last
	tries   int    // how often in a row
	forced  bool
	entered int  // how often it was forced in this session
	stays   bool // forced until the session ends
}

// Start begins a session. toolless says that the model's details state its
// capabilities, and tools are not among them.
func Start(p Profile, toolless bool) *Ladder {
	l := &Ladder{profile: p.clone(), toolless: toolless}
	if l.profile.Mode != Native || l.refuses() {
		l.profile.Mode = Prompted
	}
	if l.refuses() {
		l.profile.Why = "the model takes no tools"
	}
	return l
}

func (l *Ladder) refuses() bool { return l.toolless || l.profile.RefusesTools }

// Mode is the mode of the next request.
func (l *Ladder) Mode() Mode {
	if l.forced {
		return Forced
	}
	return l.profile.Mode
}

// Profile returns a copy of what is to be kept.
func (l *Ladder) Profile() Profile { return l.profile.clone() }

// Learned is what others note about the model; it may be changed.
func (l *Ladder) Learned() *Learned { return &l.profile.Learned }

// Set puts the model into a mode, as a person wants it. It holds until the
// rules say otherwise; Forced holds for the session.
func (l *Ladder) Set(m Mode) (Change, bool) {
	from := l.Mode()
	l.restart()
	l.forced, l.stays = m == Forced, m == Forced
	if m != Forced {
		l.profile.Mode, l.profile.Why = m, "chosen by a person"
	}
	return l.changed(from, "chosen by a person")
}

// Fault notes that a call went wrong. tool is the name it was for, as far as
// one was given.
func (l *Ladder) Fault(k Kind, tool string) (Change, bool) {
	if k == Rescued && l.Mode() != Native {
		return l.Clean() // in the text is where such a model is asked to write it
	}
	from := l.Mode()
	if l.profile.Faults == nil {
		l.profile.Faults = map[Kind]int{}
	}
	l.profile.Faults[k]++
	l.profile.CleanRun = 0
	if k == NoTools {
		l.profile.RefusesTools = true
		return l.down(from, "the model does not support tools")
	}
	if k == Invalid || k == UnknownTool {
		if l.tries == 0 || l.invalid != tool {
			l.tries = 0
		}
		l.invalid = tool
		l.tries++
	}
	if from == Native {
		if l.note(k == Rescued || k == Lost || k == ServerParse) >= faultsDown {
			return l.down(from, fmt.Sprintf("%d of its last %d calls were written as text or lost by the server", faultsDown, len(l.recent)))
		}
	}
	if l.tries >= retries && !l.forced {
		l.forced, l.tries = true, 0
		l.entered++
		l.profile.Forced++
		why := fmt.Sprintf("a call of %q stayed invalid when it was corrected", tool)
		if l.entered >= forcedStays {
			l.stays = true
			why += fmt.Sprintf(", for the %s time, so it stays", ordinal(l.entered))
		}
		return l.changed(from, why)
	}
	return Change{}, false
}

// Clean notes a call that was right.
func (l *Ladder) Clean() (Change, bool) {
	from := l.Mode()
	l.profile.Calls++
	l.tries, l.invalid = 0, ""
	switch from {
	case Native:
		l.note(false)
	case Forced:
		return l.release(from)
	case Prompted:
		l.profile.CleanRun++
		if need := l.upAfter(); l.profile.CleanRun >= need && !l.refuses() {
			l.profile.Mode, l.profile.CleanRun, l.recent = Native, 0, nil
			l.profile.Ups++
			return l.because(from, fmt.Sprintf("%d calls in a row were right, so native calls are tried again", need))
		}
	}
	return Change{}, false
}

// Answered notes a final answer without a call, which is a right step of a
// Forced model.
func (l *Ladder) Answered() (Change, bool) {
	l.tries, l.invalid = 0, ""
	return l.release(l.Mode())
}

// release ends Forced after a step that was right.
func (l *Ladder) release(from Mode) (Change, bool) {
	if !l.forced || l.stays {
		return Change{}, false
	}
	l.forced = false
	return l.changed(from, "the forced step was right")
}

// down goes from Native to Prompted.
func (l *Ladder) down(from Mode, why string) (Change, bool) {
	if l.profile.Mode == Native {
		if l.profile.UpAfter == 0 {
			l.profile.UpAfter = cleanUp
		} else { // it was Prompted before, so this try did not hold
			l.profile.UpAfter = min(l.profile.UpAfter*2, mostCleanUp)
		}
		l.profile.Mode = Prompted
		l.profile.Downs++
		l.restart()
	}
	if from == Forced {
		l.profile.Why = why
		return Change{}, false // the request stays forced; what it returns to changed
	}
	return l.because(from, why)
}

func (l *Ladder) upAfter() int {
	if l.profile.UpAfter <= 0 {
		return cleanUp
	}
	return l.profile.UpAfter
}

// note adds to the last calls and returns how many of them had the fault.
func (l *Ladder) note(fault bool) int {
	if l.recent = append(l.recent, fault); len(l.recent) > lastCalls {
		l.recent = l.recent[1:]
	}
	n := 0
	for _, f := range l.recent {
		if f {
			n++
		}
	}
	return n
}

// restart forgets the faults that led to the last change.
func (l *Ladder) restart() {
	l.recent, l.tries, l.invalid, l.profile.CleanRun = nil, 0, "", 0
}

// because records why the kept mode changed.
func (l *Ladder) because(from Mode, why string) (Change, bool) {
	c, changed := l.changed(from, why)
	if changed {
		l.profile.Why = why
	}
	return c, changed
}

func (l *Ladder) changed(from Mode, why string) (Change, bool) {
	if to := l.Mode(); to != from {
		return Change{From: from, To: to, Why: why}, true
	}
	return Change{}, false
}

func ordinal(n int) string {
	if n == forcedStays {
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}
