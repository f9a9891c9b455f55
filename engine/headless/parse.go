package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"chela/engine/rescue"
	"chela/tiers"
	"chela/toolkit"
)

// ParseOptions are those of `chela parse`.
type ParseOptions struct {
	Tools func() (*toolkit.Registry, error)
	Tier  string // the tools of this tier; empty, and no File: essential
	File  string // a JSON list of tools in Ollama's form, instead
	Done  string // why the answer ended: stop (also if empty) or length
	Text  string
}

// parsedCall is one call of `chela parse --json`.
type parsedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Origin    toolkit.Origin  `json:"origin"`
	Family    string          `json:"family"`
	Raw       string          `json:"raw"`
}

// Parse prints which tool calls a model's text holds. Nothing runs, and neither
// a server nor the settings are asked. That there is no call is no failure.
func Parse(_ context.Context, t Terminal, o ParseOptions) error {
	switch o.Done {
	case "":
		o.Done = "stop"
	case "stop", "length":
	default:
		return Usagef("--done %q is unknown: use stop or length", o.Done)
	}
	tools, err := o.offered()
	if err != nil {
		return err
	}
	r := rescue.Parse(o.Text, rescue.Options{Tools: tools, Done: o.Done})
	calls := []parsedCall{}
	for _, c := range r.Calls {
		calls = append(calls, parsedCall{c.Name, c.Args, toolkit.FromRescue, c.Family, c.Raw})
	}
	if t.JSON {
		notes := r.Notes
		if notes == nil {
			notes = []string{}
		}
		return t.print(struct {
			Calls    []parsedCall `json:"calls"`
			Text     string       `json:"text"`
			Thinking string       `json:"thinking,omitempty"`
			Notes    []string     `json:"notes"`
		}{calls, r.Text, r.Thinking, notes})
	}
	if len(calls) == 0 {
		t.note("no call in this text")
	}
	tb := &table{}
	for _, c := range calls {
		tb.add(t.bold(c.Name), c.Family, t.line(string(c.Arguments)))
	}
	if err := tb.write(t, false); err != nil {
		return err
	}
	for _, n := range r.Notes {
		t.note("%s", n)
	}
	if r.Text == "" {
		return nil
	}
	return t.write(t.Out, []byte(t.safe(r.Text)))
}

// offered are the tools that the model is supposed to have been given.
func (o ParseOptions) offered() ([]*toolkit.Spec, error) {
	reg, err := o.Tools()
	if err != nil {
		return nil, fmt.Errorf("building the tools: %w", err)
	}
	if o.File != "" {
		if o.Tier != "" {
			return nil, Usagef("--tier and --tools exclude each other: the file says which tools there are")
		}
		return readTools(o.File, reg)
	}
	tier := tiers.Essential
	if o.Tier != "" {
		if tier, err = tiers.Parse(o.Tier); err != nil {
			return nil, Usagef("--tier: %w", err)
		}
	}
	var out []*toolkit.Spec
	for _, tool := range reg.All() {
		if spec := tool.Spec(); spec.Tier <= tier {
			out = append(out, spec)
		}
	}
	return out, nil
}

// maxToolsFile bounds a file of tools in bytes; all of chela's own take 60 KB.
const maxToolsFile = 4 << 20

func readTools(name string, reg *toolkit.Registry) ([]*toolkit.Spec, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, Usagef("--tools: %w: name a file with a JSON list of tools", err)
	case !info.Mode().IsRegular() || info.Size() > maxToolsFile:
		return nil, Usagef("--tools %s is no file of at most %d MiB", name, maxToolsFile>>20)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, Usagef("--tools: %w", err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, Usagef("--tools %s: %w: it must hold a JSON list of tools in Ollama's form", name, err)
	}
	if len(list) == 0 {
		return nil, Usagef("--tools %s: %w", name, errors.New("the list is empty: without tools nothing is a call"))
	}
	var out []*toolkit.Spec
	for i, raw := range list {
		spec, err := toolkit.SpecFromWire(raw)
		if err != nil {
			return nil, Usagef("--tools %s: item %d: %w", name, i+1, err)
		}
		if own, _, ok := reg.Resolve(spec.Name); ok {
			spec.Inherit(own.Spec())
		}
		out = append(out, spec)
	}
	return out, nil
}
