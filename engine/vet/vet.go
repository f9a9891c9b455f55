// Package vet audits the calls that a model server found in a model's output.
//
// A structured call is no proof that the model made it. Ollama's generic parser
// takes the first tool name that occurs anywhere for the tool, makes calls of
// text that is only quoted, and of JSON documents that are answers; its parser
// for tags empties a value that holds tags; and what none of them understands
// is dropped without an error. With logprobs the server sends the text of each
// token beside its own reading, and joined they are what the model really
// wrote: the raw text. Guarantees:
//
//   - A call that the raw text bears out, and one that nothing speaks against,
//     is kept as it is.
//   - Without a raw text nothing is held against a call but what is seen in the
//     call and in the visible text.
//   - A value comes from the raw text only if that is exact. Otherwise the raw
//     text is used to judge, never as an argument.
//   - A call whose tool or arguments are changed always has a reason, which must
//     become its doubt: what writes, runs or dials then asks.
//   - A file with content is not emptied by a call whose content was lost.
//
// All functions are pure but for the caller's NonEmpty, and take time linear in
// the texts for each call.
package vet

import (
	"encoding/json"
	"fmt"
	"strings"

	"chela/engine/rescue"
	"chela/toolkit"
)

// Call is a call that the server found.
type Call struct {
	Name string
	Args json.RawMessage
	At   int // bytes of the text that arrived before it; 0: none, or not known
}

// Input is one answer.
type Input struct {
	Calls    []Call
	Specs    []*toolkit.Spec // the tools that were offered
	Text     string          // as the server delivered it
	Thinking string
	Raw      string // the model's output, see [Raw]; "" if it is not known
	RawExact bool   // Raw is exact, byte for byte
	Done     string // the server's reason for the end of the answer
	Tokens   int    // that the model generated (eval_count)

	// NonEmpty reports whether a file of the workspace exists and is not
	// empty; nil: it cannot be known, which counts as yes.
	NonEmpty func(path string) bool
}

// Verdict is what to do with a call.
type Verdict int

// The verdicts. The zero value is no verdict: Check never returns it.
const (
	_           Verdict = iota
	Keep                // as the server has it
	Reattribute         // it is a call of another tool
	Doubtful            // ask before it writes, runs or dials
	Refuse              // do not run it; the model gets the Message
)

var verdictNames = []string{"none", "keep", "reattribute", "doubtful", "refuse"}

func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("Verdict(%d)", int(v))
	}
	return verdictNames[v]
}

// Finding is the verdict on one call.
type Finding struct {
	Verdict Verdict
	Tool    string          // to call: the server's, unless that is wrong
	Args    json.RawMessage // to call it with: the server's, unless the exact raw text has others
	Reason  string          // for people; empty only if the call is kept
	Phantom bool            // the model seems to have shown it, not made it
	Message string          // of a refused call, for the model: the fault, what is right, the next step
}

// Check judges each call, in their order.
func Check(in Input) []Finding {
	v := newVet(in)
	out := make([]Finding, len(in.Calls))
	for i, c := range in.Calls {
		out[i] = v.judge(c)
		if in.Raw == "" && inSentence(in.Text, c.At) && !out[i].Phantom {
			out[i].doubt("the sentence goes on around it, so it may only be shown")
			out[i].Phantom = true
		}
	}
	return out
}

// vet is what is known about an answer.
type vet struct {
	Input
	written []rescue.Call // calls in the raw text
	used    []bool        // of written: one of the server's calls is it
	shown   []region      // what the raw text only shows
}

func newVet(in Input) *vet {
	v := &vet{Input: in}
	if in.Raw != "" {
		v.written = rescue.Parse(in.Raw, rescue.Options{Tools: in.Specs, Done: in.Done}).Calls
		v.used = make([]bool, len(v.written))
		v.shown = regions(in.Raw)
	}
	return v
}

// judge takes a call through the questions, the hardest evidence first.
func (v *vet) judge(c Call) Finding {
	f := Finding{Verdict: Keep, Tool: c.Name, Args: c.Args}
	spec := v.spec(c.Name)
	if spec == nil {
		spec = v.cutName(c, &f)
	}
	proven := v.compare(spec, &f)
	if !proven && f.Verdict == Keep {
		v.phantom(spec, &f)
	}
	if !proven && f.Verdict == Keep {
		v.fits(spec, &f)
	}
	if f.Verdict != Reattribute && !f.Phantom {
		v.escapes(spec, &f)
	}
	v.emptied(proven, &f)
	return f
}

// doubt raises a doubt; reasons add up.
func (f *Finding) doubt(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if f.Reason != "" {
		reason = f.Reason + "; " + reason
	}
	f.Reason = reason
	if f.Verdict == Keep {
		f.Verdict = Doubtful
	}
}

// spec is the offered tool of exactly this name, or nil.
func (v *vet) spec(name string) *toolkit.Spec {
	for _, s := range v.Specs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// cutName cuts a name where it can go on no more: a header that was split at
// the wrong place leaves its marks in it, as in read_file<|channel|>commentary.
func (v *vet) cutName(c Call, f *Finding) *toolkit.Spec {
	end := strings.IndexFunc(c.Name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
	if end <= 0 {
		return nil // the pipeline knows the habits of spelling
	}
	want := toolkit.CanonicalName(c.Name[:end])
	for _, s := range v.Specs {
		if toolkit.CanonicalName(s.Name) == want {
			f.Tool = s.Name
			f.doubt("the server read the name as %q", c.Name)
			return s
		}
	}
	return nil
}
