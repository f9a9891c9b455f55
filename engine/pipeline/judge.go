package pipeline

import (
	"fmt"
	"strings"

	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Verdict is what the judge says. The zero value is deny.
type Verdict int

// The three verdicts.
const (
	Denied Verdict = iota
	Asks
	Allowed
)

// String returns the verdict as events and JSON spell it.
func (v Verdict) String() string {
	switch v {
	case Allowed:
		return "allow"
	case Asks:
		return "ask"
	default:
		return "deny"
	}
}

// Who decided, as stored with the call.
const (
	ByFloor  = "floor"
	ByMode   = "mode"
	ByRule   = "rule"
	ByPerson = "person"
)

// Decision is a verdict with its reasons, the weightiest first.
type Decision struct {
	Verdict Verdict
	Reasons []string
	By      string
	Rule    string // id of the rule that decided
}

// Question is everything the judge looks at.
type Question struct {
	Mode     Mode
	Origin   toolkit.Origin
	Plan     toolkit.Plan
	Rules    []store.Rule  // in force for this session and workspace
	Floor    *guard.Denied // what the guards refused while planning
	Policies []Policy      // of the settings
	Taint    string        // foreign text that the turn read, after which what it sends is a question; empty: none
	Doubt    string        // why a call is not to be trusted: rescued from text, wrong tool likely
	Boxed    bool          // processes run in an OS sandbox, or not at all
	Sandbox  bool          // there is one, and they run in it
}

// Judge decides one call. It is the only place where that happens, whoever
// asks: model, person, schedule, another session. It is a pure function, and
// it fails closed.
//
// The order: the hard floor; then deny mode; then deny policies and rules; then what the mode
// denies whatever rules say (in allowlist mode a rule may allow it); then what
// lies outside the workspace, which only a person allows; then what makes the
// call worth a question whatever else allows it (doubt, files that run later);
// then ask and allow rules; then the mode by the plan's level.
func Judge(q Question) Decision {
	if q.Floor != nil {
		return Decision{Denied, []string{q.Floor.Reason}, ByFloor, ""}
	}
	if q.Mode == Deny {
		return Decision{Denied, []string{"deny mode: nothing runs"}, ByMode, ""}
	}
	if q.Boxed && !q.Sandbox && q.Mode != Sandbox && touches(q.Plan, toolkit.Runs) {
		return Decision{Denied, []string{"security.sandbox is on, and no OS sandbox is available here, so no command runs"}, ByFloor, ""}
	}
	policy := q.policy()
	if policy != nil && policy.Decision == "deny" {
		return Decision{Denied, []string{"policy: " + policy.String()}, ByPolicy, ""}
	}
	var allow, ask *store.Rule
	for i := range q.Rules {
		r := &q.Rules[i]
		if !Matches(*r, q.Plan) {
			continue
		}
		switch r.Decision {
		case "deny":
			return Decision{Denied, []string{"rule: " + Describe(*r)}, ByRule, r.ID}
		case "ask":
			ask = r
		case "allow":
			if allow == nil || narrower(r.Scope, allow.Scope) {
				allow = r
			}
		}
	}
	base := q.byMode()
	permitted := allow != nil || policy != nil && policy.Decision == "allow"
	if base.Verdict == Denied && (q.Mode != Allowlist || !permitted) {
		return base
	}
	var doubts []string
	if q.Doubt != "" && (q.Plan.Level != toolkit.Safe || touches(q.Plan, toolkit.Writes) || touches(q.Plan, toolkit.Runs) || touches(q.Plan, toolkit.Dials)) {
		doubts = append(doubts, q.Doubt) // text that became a call only ever reads unasked, in every mode
	}
	if q.Taint != "" && sends(q.Plan) {
		doubts = append(doubts, q.Taint)
	}
	// An exact rule names this very call, so it answers the question that the
	// plan raises; a wider one was made without knowing of it.
	// In the sandbox a command cannot do what these would ask about.
	confined := q.Boxed && q.Sandbox && touches(q.Plan, toolkit.Runs)
	if !confined && len(q.Plan.Outside) > 0 && (allow == nil || allow.Scope != ScopeExact) {
		if q.Mode == Unlimited { // nobody would be asked
			return Decision{Denied, q.Plan.Outside, ByFloor, ""}
		}
		doubts = append(doubts, q.Plan.Outside...)
	}
	if !confined && q.Mode != Unlimited && (allow == nil || allow.Scope != ScopeExact) {
		doubts = append(doubts, q.Plan.Asks...)
	}
	switch {
	case len(doubts) > 0:
		return Decision{Asks, doubts, ByMode, ""}
	case ask != nil:
		return Decision{Asks, []string{"rule: " + Describe(*ask)}, ByRule, ask.ID}
	case policy != nil && policy.Decision == "ask":
		return Decision{Asks, []string{"policy: " + policy.String()}, ByPolicy, ""}
	case allow != nil:
		return Decision{Allowed, []string{"rule: " + Describe(*allow)}, ByRule, allow.ID}
	}
	if policy != nil {
		return Decision{Allowed, []string{"policy: " + policy.String()}, ByPolicy, ""}
	}
	return base
}

// sends reports whether a call carries something of the conversation away: a
// request with a body, a query or headers of its own, a program that dials, or
// a note that later turns will read.
func sends(p toolkit.Plan) bool {
	if p.Keeps {
		return true
	}
	if !touches(p, toolkit.Dials) {
		return false
	}
	v := p.Preview
	return v.Kind != toolkit.PreviewURL || v.Method != "GET" || v.Body != "" || len(v.Headers) > 0 || strings.ContainsAny(v.URL, "?#")
}

// byMode is what the mode says about a plan of this level.
func (q Question) byMode() Decision {
	decide := func(v Verdict, format string, args ...any) Decision {
		return Decision{v, []string{fmt.Sprintf(format, args...)}, ByMode, ""}
	}
	level := q.Plan.Level
	switch q.Mode {
	case Sandbox:
		switch {
		case touches(q.Plan, toolkit.Dials):
			return decide(Denied, "sandbox mode: no network")
		case touches(q.Plan, toolkit.Runs) && !q.Sandbox:
			return decide(Denied, "sandbox mode: no OS sandbox is available here, so no command runs")
		}
		return decide(Allowed, "sandbox mode: inside the workspace")
	case Allowlist:
		return decide(Denied, "allowlist mode: no rule allows this %s call", q.Plan.Tool)
	case Ask:
		if level == toolkit.Safe {
			return decide(Allowed, "ask mode lets safe calls run")
		}
		return decide(Asks, "in ask mode, %s calls need an answer", level)
	case Standard:
		if q.Plan.ReadOnly && level != toolkit.Dangerous {
			return decide(Allowed, "standard mode lets a command run that was proven to only read")
		}
		if level != toolkit.Dangerous {
			return decide(Allowed, "standard mode lets %s calls run", level)
		}
		return decide(Asks, "in standard mode, dangerous calls need an answer")
	case Unlimited:
		return decide(Allowed, "full mode: nothing asks")
	default:
		return decide(Denied, "mode %s: nothing runs", q.Mode)
	}
}

func touches(p toolkit.Plan, k toolkit.EffectKind) bool {
	for _, e := range p.Effects {
		if e.Kind == k {
			return true
		}
	}
	return false
}
