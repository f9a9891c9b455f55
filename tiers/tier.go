// Package tiers decides which model gets which tools.
//
// Everything here is a pure function over plain values: no I/O, no clock, no
// state. The same model facts and settings always give the same answer, so a
// route can be explained (and tested) without a server.
package tiers

import (
	"fmt"
	"strings"
)

// Tier is how many tools a model can be trusted to choose among. The zero
// value is Essential, the smallest set: what is not known gets the least.
type Tier int

// The three tiers, smallest first. A tool of a tier is given to models of that
// tier and above.
const (
	Essential Tier = iota
	Standard
	Full
)

var tierNames = [...]string{"essential", "standard", "full"}

// String returns the tier's lower-case name, as settings and JSON spell it.
func (t Tier) String() string {
	if t < Essential || t > Full {
		return fmt.Sprintf("tier(%d)", int(t))
	}
	return tierNames[t]
}

// Title returns the name as the screen shows it, with a capital.
func (t Tier) Title() string {
	s := t.String()
	return strings.ToUpper(s[:1]) + s[1:]
}

// Parse reads a tier's name in any case. Its error lists the three names.
func Parse(s string) (Tier, error) {
	for i, name := range tierNames {
		if strings.EqualFold(strings.TrimSpace(s), name) {
			return Tier(i), nil
		}
	}
	return Essential, fmt.Errorf("tier %q is unknown: use essential, standard or full", s)
}

// MarshalText makes a tier its name in JSON and YAML.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is the inverse of MarshalText; unknown names are errors.
func (t *Tier) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*t = v
	return nil
}
