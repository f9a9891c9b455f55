package pipeline

import (
	"context"

	"chela/toolkit"
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
	tool, repaired, known := p.Tools.Resolve(c.Name)
	if !known {
		return Checked{Tool: c.Name}, p.unknown(c.Name)
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
	call := considered{tool: tool, args: args, origin: c.Origin, doubt: c.Doubt}
	fault, err := p.consider(ctx, env, &call)
	switch {
	case err != nil:
		return out, err
	case fault != nil:
		return out, fault
	}
	out.Plan, out.Verdict = call.plan, call.decision
	return out, nil
}
