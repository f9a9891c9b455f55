package pipeline

import (
	"fmt"
	"strings"

	"chela/toolkit"
)

// Mode is how much runs without a question. The zero value is Deny: a mode
// that was forgotten lets nothing run.
type Mode int

// The six modes. In every one the floor holds: outside the workspace,
// protected files, private network addresses and chela's own state stay out of
// reach.
const (
	Deny      Mode = iota // nothing runs
	Sandbox               // processes only inside an OS sandbox without network; no sandbox, no run
	Allowlist             // what a rule names runs, the rest is denied
	Ask                   // safe runs, moderate and dangerous ask (the default)
	Standard              // safe and moderate run, dangerous asks
	Unlimited             // no questions; written "full"
)

var modeNames = [...]string{"deny", "sandbox", "allowlist", "ask", "standard", "full"}

// Modes returns all modes, the strictest first.
func Modes() []Mode { return []Mode{Deny, Sandbox, Allowlist, Ask, Standard, Unlimited} }

// String returns the name as settings, JSON and the screen spell it.
func (m Mode) String() string {
	if m < Deny || m > Unlimited {
		return fmt.Sprintf("mode(%d)", int(m))
	}
	return modeNames[m]
}

// Explain says in one sentence what the mode does.
func (m Mode) Explain() string {
	switch m {
	case Sandbox:
		return "files inside the workspace; commands only in an OS sandbox; no network"
	case Allowlist:
		return "only what a rule allows runs; the rest is denied"
	case Ask:
		return "safe calls run; changes, commands and network ask"
	case Standard:
		return "safe and moderate calls run; dangerous ones ask"
	case Unlimited:
		return "nothing asks; the floor still holds"
	default:
		return "nothing runs"
	}
}

// ParseMode reads a mode's name; its error lists the six.
func ParseMode(s string) (Mode, error) {
	for i, n := range modeNames {
		if strings.EqualFold(strings.TrimSpace(s), n) {
			return Mode(i), nil
		}
	}
	return Deny, fmt.Errorf("mode %q is unknown: use %s", s, strings.Join(modeNames[:], ", "))
}

// modeFor is the mode for calls of an origin: the session's, or the stricter
// one that the settings state. Nothing that a model starts gets more than the
// session that it belongs to.
func (e Env) modeFor(o toolkit.Origin) Mode {
	m := e.Mode()
	if most, ok := e.Origins[o]; ok {
		return min(m, most)
	}
	return m
}

// taint is what the judge is told of foreign text in the turn. A person's own
// calls are not the model's, and so not the text's.
func (e Env) taint(o toolkit.Origin) string {
	if o == toolkit.FromPerson || e.Tainted == nil {
		return ""
	}
	return e.Tainted()
}

// MarshalText makes a mode its name in JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(b []byte) error {
	v, err := ParseMode(string(b))
	if err == nil {
		*m = v
	}
	return err
}
