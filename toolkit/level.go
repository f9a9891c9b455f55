package toolkit

import (
	"fmt"
	"strings"
)

// Level is how much harm a call can do. The zero value is Dangerous: what does
// not state a level is treated as the worst.
type Level int

// The three levels, the worst first so that the zero value fails closed.
const (
	Dangerous Level = iota // runs code, or cannot be undone
	Moderate               // changes files, or reaches the network
	Safe                   // reads inside the workspace
)

var levelNames = [...]string{"dangerous", "moderate", "safe"}

// String returns the level's name as JSON and the screen spell it.
func (l Level) String() string {
	if l < Dangerous || l > Safe {
		return fmt.Sprintf("level(%d)", int(l))
	}
	return levelNames[l]
}

// Worse returns the more dangerous of two levels.
func (l Level) Worse(other Level) Level { return min(l, other) }

// ParseLevel reads a level's name; its error lists the three names.
func ParseLevel(s string) (Level, error) {
	for i, n := range levelNames {
		if strings.EqualFold(s, n) {
			return Level(i), nil
		}
	}
	return Dangerous, fmt.Errorf("level %q is unknown: use safe, moderate or dangerous", s)
}

// MarshalText makes a level its name in JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (l *Level) UnmarshalText(b []byte) error {
	v, err := ParseLevel(string(b))
	if err == nil {
		*l = v
	}
	return err
}
