package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"chela/engine/pipeline"
	"chela/tiers"
	"chela/toolkit"
)

// Check prints how a call would be judged. Nothing runs, and nothing is
// recorded.
func Check(ctx context.Context, t Terminal, o CallOptions) error {
	return o.with(ctx, t, func(a *App, args json.RawMessage, mode pipeline.Mode) error {
		c, err := a.Engine.Check(ctx, o.Name, args, mode)
		v := checkedCall{
			Tool: c.Tool, Mode: mode.String(), Decision: c.Verdict.Verdict.String(), Level: c.Plan.Level,
			Reasons: c.Verdict.Reasons, By: c.Verdict.By, Rule: c.Verdict.Rule, Repairs: c.Repairs, Plan: c.Plan,
		}
		var fault *toolkit.Error
		switch {
		case errors.As(err, &fault):
			// It would end before the judge is asked, so nothing would run.
			v.Reasons, v.Error = []string{fault.Message}, fault
			if len(v.Plan.Args) == 0 {
				v.Plan.Args = json.RawMessage("{}")
			}
		case err != nil:
			return err
		}
		return v.report(t)
	})
}

// checkedCall is the answer of `chela check --json`.
type checkedCall struct {
	Tool     string         `json:"tool"`
	Mode     string         `json:"mode"`
	Decision string         `json:"decision"` // allow, ask, deny
	Level    toolkit.Level  `json:"level"`
	Reasons  []string       `json:"reasons"`
	By       string         `json:"by,omitempty"` // floor, mode, rule
	Rule     string         `json:"rule,omitempty"`
	Repairs  []string       `json:"repairs,omitempty"`
	Plan     toolkit.Plan   `json:"plan"`
	Error    *toolkit.Error `json:"error,omitempty"` // why it could not be judged
}

func (v checkedCall) report(t Terminal) error {
	var err error
	switch {
	case t.JSON:
		err = t.print(v)
	case v.Error == nil:
		err = v.text(t)
	}
	if err != nil || v.Error == nil {
		return err
	}
	fail := &Error{Code: Failed}
	if v.Error.Code == toolkit.CodeMissing || v.Error.Code == toolkit.CodeInvalid {
		fail.Code = Usage
	}
	if !t.JSON {
		fail.Err = errors.New(t.clean(v.Error.Error(), t.ErrIsTerm))
	}
	return fail
}

func (v checkedCall) text(t Terminal) error {
	tb := &table{}
	tb.add("decision", t.bold(v.Decision)+" in "+v.Mode+" mode")
	tb.add("level", v.Level.String())
	for _, r := range v.Reasons {
		tb.add("because", t.line(r))
	}
	for _, r := range v.Repairs {
		tb.add("repaired", t.line(r))
	}
	if v.Plan.Summary != "" {
		tb.add("plan", t.line(v.Plan.Summary))
	}
	for _, e := range v.Plan.Effects {
		tb.add(string(e.Kind), t.line(e.Target))
	}
	return tb.write(t, false)
}

// Route prints which tier and tools a model would get, and why. It needs no
// server: what only a server knows is then taken from the name.
func Route(ctx context.Context, t Terminal, s Setup, model string) error {
	if strings.TrimSpace(model) == "" || strings.ContainsAny(model, " \t\n") {
		return Usagef("model name %q is not valid: write NAME or NAME:TAG", model)
	}
	s.NoStore = true
	return with(ctx, s, t, func(a *App) error {
		d, sel := a.Engine.Route(ctx, model)
		given := sel.Given()
		if given == nil {
			given = []string{}
		}
		if t.JSON {
			return t.print(struct {
				Model  string     `json:"model"`
				Tier   tiers.Tier `json:"tier"`
				Reason string     `json:"reason"`
				Tools  []string   `json:"tools"`
				Tokens int        `json:"tokens"`
			}{model, d.Tier, d.Reason, given, sel.Tokens})
		}
		tb := &table{}
		tb.add("model", t.line(model))
		tb.add("tier", t.bold(d.Tier.String()))
		tb.add("because", t.line(d.Reason))
		tb.add("tools", fmt.Sprintf("%d (%d tokens)", len(given), sel.Tokens))
		if err := tb.write(t, false); err != nil {
			return err
		}
		for _, name := range given {
			if err := t.write(t.Out, []byte("  "+name)); err != nil {
				return err
			}
		}
		return nil
	})
}
