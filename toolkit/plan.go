package toolkit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Plan is the frozen, hashed statement of what a call will do: what is judged,
// what the person sees, and what runs. [Define] seals it; after that it must
// not be changed.
type Plan struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // canonical: repaired, validated, keys in schema order
	Level   Level           `json:"level"`
	Summary string          `json:"summary"` // one line: the effect, as the timeline shows it
	Effects []Effect        `json:"effects,omitempty"`
	Preview Preview         `json:"preview"`
	Facts   []Fact          `json:"facts,omitempty"` // must still hold when the plan runs
	Hash    string          `json:"hash"`            // hex SHA-256 over everything else here

	// Deadline is how long what the call starts may run, where the call says so,
	// as the person is shown it: a command that moved to the background may
	// outlive its call. The call itself ends with the pool's timeout. 0: not said.
	Deadline time.Duration `json:"deadline_ns,omitempty"`

	// Asks names what makes the call worth a question even where its level
	// alone would let it run, such as a file that is executed later.
	Asks []string `json:"asks,omitempty"`

	// Outside names what the call would touch outside the workspace, or reads that
	// holds secrets. A person may say yes to such a call; no mode does so by itself.
	Outside []string `json:"outside,omitempty"`

	// ReadOnly reports that a command was proven to only read inside the
	// workspace, by an analysis of the text that runs.
	ReadOnly bool `json:"read_only,omitempty"`

	// Keeps says that the call stores text which later turns will read, such as
	// a memory.
	Keeps bool `json:"keeps,omitempty"`

	private any  // what Run needs beyond the arguments, frozen with the plan
	stated  bool // Level was set by AtLevel
}

// EffectKind says how a call touches something.
type EffectKind string

// The kinds of effect.
const (
	Reads  EffectKind = "read"
	Writes EffectKind = "write"
	Runs   EffectKind = "run"
	Dials  EffectKind = "network"
)

// Effect is one thing that a call touches.
type Effect struct {
	Kind   EffectKind `json:"kind"`
	Target string     `json:"target"` // a path relative to the workspace, a program's absolute path, or a host:port
}

// Fact is something the plan relies on, such as the content of a file it will
// change. Run checks it again and refuses when it no longer holds.
type Fact struct {
	Kind   string `json:"kind"`   // "sha256", "absent", "program"
	Target string `json:"target"` // path
	Value  string `json:"value"`
}

// PreviewKind tells the screen how to draw a preview.
type PreviewKind string

// The kinds of preview.
const (
	PreviewNone    PreviewKind = ""
	PreviewDiff    PreviewKind = "diff"    // Path, Old, New
	PreviewCommand PreviewKind = "command" // Command, Program, Dir, Env
	PreviewURL     PreviewKind = "url"     // Method, URL, Address, Body
	PreviewText    PreviewKind = "text"    // Text
)

// Preview is the whole effect in a form a person can judge. Nothing in it is
// shortened: what is shown is what runs.
type Preview struct {
	Kind PreviewKind `json:"kind,omitempty"`

	Path string `json:"path,omitempty"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`

	Command string   `json:"command,omitempty"`
	Program string   `json:"program,omitempty"` // resolved absolute path
	Dir     string   `json:"dir,omitempty"`
	Env     []string `json:"env,omitempty"` // NAME=value, only what the call adds

	Method  string   `json:"method,omitempty"`
	URL     string   `json:"url,omitempty"`
	Address []string `json:"address,omitempty"` // what the host resolved to
	Body    string   `json:"body,omitempty"`
	Headers []string `json:"headers,omitempty"`

	Text  string   `json:"text,omitempty"`
	Notes []string `json:"notes,omitempty"` // facts worth knowing: "match: trailing blanks ignored"
}

// seal freezes a plan: it sets the tool and arguments and computes the hash.
func (p *Plan) seal(tool string, args json.RawMessage) error {
	p.Tool, p.Args = tool, args
	sum, err := p.sum()
	if err != nil {
		return err
	}
	p.Hash = sum
	return nil
}

func (p Plan) sum() (string, error) {
	p.Hash = ""
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("hashing the plan of %s: %w", p.Tool, err)
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:]), nil
}

// Intact reports whether the plan is still the one that was sealed.
func (p Plan) Intact() bool {
	sum, err := p.sum()
	return err == nil && p.Hash != "" && sum == p.Hash
}
