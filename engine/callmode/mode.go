// Package callmode knows the three ways of asking a model for tool calls, and
// when to change from one to the other.
//
//   - Native: the tools go to the server, which asks in the model's own template
//     and finds the calls.
//   - Prompted: the tools are written into the system prompt, with the markup
//     that the model's family knows from its training, and package rescue finds
//     the calls in the answer.
//   - Forced: the server's grammar lets the model write one JSON object only,
//     which is a call of an offered tool or the final answer.
//
// Guarantees:
//
//   - What is written for a model is the same bytes for the same input, so that
//     the server's cache of the prefix holds. [Render] and [RenderForced] of a
//     history begin with those of any beginning of it.
//   - Every call that [Render] writes is read back by rescue.Parse as the same
//     call, whatever its arguments hold.
//   - A [Ladder] never comes to Native by itself for a model that takes no
//     tools, and the changes it makes grow with the logarithm of the events.
//
// All functions are pure. Nothing here is safe for concurrent changes; a
// session guards its Ladder.
package callmode

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is a way of asking for calls.
type Mode int

// The modes. The zero value is Native.
const (
	Native Mode = iota
	Prompted
	Forced
)

var modeNames = []string{"native", "prompted", "forced"}

func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modeNames[m]
}

// Parse reads a mode's name, in any case.
func Parse(text string) (Mode, error) {
	if i := slices.Index(modeNames, strings.ToLower(strings.TrimSpace(text))); i >= 0 {
		return Mode(i), nil
	}
	return Native, fmt.Errorf("call mode %q is not known: use %s", text, strings.Join(modeNames, ", "))
}

// MarshalText writes the mode's name.
func (m Mode) MarshalText() ([]byte, error) {
	if m < 0 || int(m) >= len(modeNames) {
		return nil, fmt.Errorf("call mode %d has no name", int(m))
	}
	return []byte(modeNames[m]), nil
}

// UnmarshalText reads what Parse does.
func (m *Mode) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}
