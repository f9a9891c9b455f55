package callmode

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
)

// ProfileVersion is written into profiles.
const ProfileVersion = 1

// Profile is what is kept about a model, under its digest. It is JSON; what a
// later version wrote into it survives being read and written by this one.
type Profile struct {
	Version int    `json:"version"`
	Mode    Mode   `json:"mode"`          // Native or Prompted: Forced is for one session at most
	Why     string `json:"why,omitempty"` // how it came to the mode, for people

	Calls  int          `json:"calls,omitempty"`  // that were right
	Faults map[Kind]int `json:"faults,omitempty"` // by kind
	Downs  int          `json:"downs,omitempty"`  // steps from Native to Prompted
	Ups    int          `json:"ups,omitempty"`    // and back
	Forced int          `json:"forced,omitempty"` // how often a call had to be forced

	CleanRun int `json:"clean_run,omitempty"` // right calls since the last fault, while Prompted
	UpAfter  int `json:"up_after,omitempty"`  // the run that the next try of Native needs; 0: as many as the first

	RefusesTools bool `json:"refuses_tools,omitempty"` // it said that it does not support tools

	Learned

	extra map[string]json.RawMessage // fields of other versions
}

// Learned is what others find out about a model; the ladder only keeps it.
type Learned struct {
	RefusesThinking bool              `json:"refuses_thinking,omitempty"`
	CharsPerToken   float64           `json:"chars_per_token,omitempty"` // measured; 0: not yet
	Measured        int               `json:"measured,omitempty"`        // tokens that CharsPerToken rests on, up to a limit
	Check           *Check            `json:"check,omitempty"`           // the last model check; nil: none
	Facts           map[string]string `json:"facts,omitempty"`
}

// Check is the outcome of a model check.
type Check struct {
	Grade  string          `json:"grade"`            // A to F
	When   string          `json:"when,omitempty"`   // RFC 3339
	Tasks  map[string]bool `json:"tasks,omitempty"`  // which were done right
	Speed  float64         `json:"speed,omitempty"`  // tokens a second while answering
	Detail string          `json:"detail,omitempty"` // for people
}

// measuredLimit keeps an average moving: older text counts for less.
const measuredLimit = 100_000

// Measure adds a text of so many characters that the server counted as so many
// tokens. What cannot be a measurement is ignored.
func (l *Learned) Measure(chars, tokens int) {
	if chars <= 0 || tokens <= 0 {
		return
	}
	n := float64(max(l.Measured, 0))
	if l.CharsPerToken <= 0 || math.IsNaN(l.CharsPerToken) || math.IsInf(l.CharsPerToken, 0) {
		n = 0
	}
	l.CharsPerToken = (l.CharsPerToken*n + float64(chars)) / (n + float64(tokens))
	l.Measured = min(l.Measured+tokens, measuredLimit)
}

// Learn keeps a fact.
func (l *Learned) Learn(key, value string) {
	if l.Facts == nil {
		l.Facts = map[string]string{}
	}
	l.Facts[key] = value
}

// plain is a profile without its methods.
type plain Profile

// UnmarshalJSON reads a profile. A mode that this version does not know, or
// that no profile keeps, becomes Prompted: it works with every model. Numbers
// that make no sense are set to nothing.
func (p *Profile) UnmarshalJSON(data []byte) error {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("reading a model's profile: %w", err)
	}
	var mode Mode
	if raw, ok := all["mode"]; ok && json.Unmarshal(raw, &mode) != nil || mode == Forced {
		all["mode"] = json.RawMessage(`"prompted"`)
	}
	clean, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("reading a model's profile: %w", err)
	}
	var out plain
	if err := json.Unmarshal(clean, &out); err != nil {
		return fmt.Errorf("reading a model's profile: %w", err)
	}
	for _, n := range []*int{&out.Calls, &out.Downs, &out.Ups, &out.Forced, &out.CleanRun, &out.UpAfter, &out.Measured} {
		*n = max(*n, 0)
	}
	known, err := fieldNames()
	if err != nil {
		return err
	}
	for name := range known {
		delete(all, name)
	}
	if len(all) > 0 {
		out.extra = all
	}
	*p = Profile(out)
	return nil
}

// fieldNames are the fields of this version.
func fieldNames() (map[string]json.RawMessage, error) {
	full := plain{
		Mode: Prompted, Why: "x", Calls: 1, Faults: map[Kind]int{Lost: 1}, Downs: 1, Ups: 1, Forced: 1, CleanRun: 1, UpAfter: 1, RefusesTools: true,
		Learned: Learned{RefusesThinking: true, CharsPerToken: 1, Measured: 1, Check: &Check{}, Facts: map[string]string{"x": ""}},
	}
	raw, err := json.Marshal(full)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	return out, json.Unmarshal(raw, &out)
}

// MarshalJSON writes a profile in this version, or in the later one that it
// was read in, with the fields that it does not know.
func (p Profile) MarshalJSON() ([]byte, error) {
	p.Version = max(p.Version, ProfileVersion)
	raw, err := json.Marshal(plain(p))
	if err != nil || len(p.extra) == 0 {
		return raw, err
	}
	all := maps.Clone(p.extra)
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// clone shares nothing with p that the ladder changes.
func (p Profile) clone() Profile {
	p.Faults, p.Facts = maps.Clone(p.Faults), maps.Clone(p.Facts)
	if p.Check != nil {
		c := *p.Check
		c.Tasks = maps.Clone(c.Tasks)
		p.Check = &c
	}
	return p
}
