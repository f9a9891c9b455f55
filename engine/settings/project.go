package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// Tighten adds what a project's own settings file states to a person's. It can
// only tighten: a stricter mode, policies that deny or ask, further secrets and
// demoted tools, a cap for an origin. It may promote tools too, since each call
// of them is judged all the same. Everything else in it is ignored, and each
// such key is a problem that says so.
func Tighten(own Settings, file string, data []byte) (Settings, []Problem) {
	const unset = pipeline.Mode(-1)
	start := Settings{Security: Security{Mode: unset}}
	p, problems := decode(file, data, start)
	ignore := func(key, why string) {
		problems = append(problems, Problem{File: file, Text: key + ": " + why, Hint: "it is ignored"})
	}
	// What may be set is taken out; what is left then is what may not.
	rest := p
	rest.Security.Mode, rest.Security.Policies, rest.Security.Secrets, rest.Security.Origins = unset, nil, nil, nil
	rest.Tools.Promote, rest.Tools.Demote = nil, nil
	if p.Security.Sandbox == "on" {
		rest.Security.Sandbox = start.Security.Sandbox
	}
	for _, key := range setKeys(reflect.ValueOf(rest), reflect.ValueOf(start), "") {
		ignore(key, "a project cannot set this")
	}
	out := own
	out.Tools.Promote = with(own.Tools.Promote, p.Tools.Promote)
	out.Tools.Demote = with(own.Tools.Demote, p.Tools.Demote)
	out.Security.Secrets = with(own.Security.Secrets, p.Security.Secrets)
	switch mode := p.Security.Mode; {
	case mode == unset:
	case mode > own.Security.Mode:
		ignore("security.mode", fmt.Sprintf("%s is looser than your %s, and a project can only tighten", mode, own.Security.Mode))
	default:
		out.Security.Mode = max(mode, pipeline.Deny)
	}
	if p.Security.Sandbox == "on" {
		out.Security.Sandbox = "on"
	}
	out.Security.Policies = slices.Clone(own.Security.Policies)
	for i, policy := range p.Security.Policies {
		switch err := policy.Check(); {
		case err != nil: // it was meant to hold something back
			ignore(fmt.Sprintf("security.policies, number %d", i+1), strings.ReplaceAll(err.Error(), "\n", "; "))
			out.Security.Mode = pipeline.Deny
		case policy.Decision == "allow":
			ignore(fmt.Sprintf("security.policies, number %d", i+1), "a project cannot allow, only deny and ask")
		default:
			out.Security.Policies = append(out.Security.Policies, policy)
		}
	}
	if len(p.Security.Origins) > 0 {
		caps := map[toolkit.Origin]pipeline.Mode{}
		for o, m := range own.Security.Origins {
			caps[o] = m
		}
		for o, m := range p.Security.Origins {
			if have, ok := caps[o]; !ok || m < have {
				caps[o] = m
			}
		}
		out.Security.Origins = caps
	}
	return out, problems
}

// with is a list with further entries, each once.
func with(list, more []string) []string {
	out := slices.Clone(list)
	for _, m := range more {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// setKeys names the keys whose values differ from those of the start.
func setKeys(v, start reflect.Value, path string) []string {
	var out []string
	for i := range v.NumField() {
		key := strings.TrimPrefix(path+"."+v.Type().Field(i).Tag.Get("yaml"), ".")
		switch {
		case v.Field(i).Kind() == reflect.Struct:
			out = append(out, setKeys(v.Field(i), start.Field(i), key)...)
		case !reflect.DeepEqual(v.Field(i).Interface(), start.Field(i).Interface()):
			out = append(out, key)
		}
	}
	return out
}
