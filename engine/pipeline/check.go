package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Checked is what would be decided about a call.
type Checked struct {
	Tool    string
	Repairs []string
	Plan    toolkit.Plan // as far as it could be made
	Verdict Decision
}

// Check takes a call through the first three steps without recording,
// publishing, asking or running anything. The verdict is the judge's own: what
// would ask says so, whether or not somebody is there to answer. The error is
// the fault that would have ended the call before the judge (an *toolkit.Error:
// unknown tool, invalid arguments, a plan that cannot be made), or the store's.
//
// A Pipeline without a store checks as if there were no rules.
func (p *Pipeline) Check(ctx context.Context, env Env, c Call) (Checked, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout())
	defer cancel()
	tool, repaired, known := p.Tools.Resolve(c.Name)
	if !known {
		near := p.Tools.Nearest(c.Name, 3)
		return Checked{Tool: c.Name}, toolkit.Errorf(toolkit.CodeNotFound, "there is no tool %q.", c.Name).
			WithHint("The nearest are %s.", strings.Join(near, ", "))
	}
	spec := tool.Spec()
	out := Checked{Tool: spec.Name, Plan: toolkit.Plan{Tool: spec.Name, Level: spec.Level}}
	if repaired != "" {
		out.Repairs = append(out.Repairs, repaired)
	}
	args, repairs, fault := validate(spec, c.Args)
	out.Repairs = append(out.Repairs, repairs...)
	if fault != nil {
		return out, fault
	}
	if err := tool.Available(ctx, env.Workspace); err != nil {
		return out, toolkit.Errorf(toolkit.CodeUnavailable, "%s cannot work here: %w.", spec.Name, err)
	}
	plan, err := planSafely(ctx, tool, env.Workspace, args)
	var floor *guard.Denied
	switch {
	case errors.As(err, &floor):
		out.Plan.Args, out.Plan.Summary = json.RawMessage(args), floor.Path
	case err != nil:
		return out, toolkit.AsError(err)
	default:
		out.Plan = plan
	}
	var rules []store.Rule
	if p.Store != nil {
		if rules, err = p.Store.Rules(ctx, env.Workspace.Root, env.Session); err != nil {
			return out, err
		}
	}
	out.Verdict = Judge(Question{
		Mode: env.Mode(), Origin: c.Origin, Plan: out.Plan, Rules: rules, Floor: floor, Doubt: c.Doubt, Sandbox: env.Sandbox,
	})
	return out, nil
}
