package pipeline_test

import (
	"strings"
	"testing"

	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
)

// command is the plan of an exec call.
func commandPlan(text string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "exec", Args: []byte(`{"command":"x"}`), Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: "/bin/bash"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewCommand, Command: text},
	}.AtLevel(toolkit.Dangerous)
}

func writePlan(paths ...string) toolkit.Plan {
	p := toolkit.Plan{Tool: "write_file", Args: []byte(`{}`)}.AtLevel(toolkit.Moderate)
	for _, f := range paths {
		p.Effects = append(p.Effects, toolkit.Effect{Kind: toolkit.Writes, Target: f})
	}
	return p
}

func TestPolicies(t *testing.T) {
	deny := func(p pipeline.Policy) pipeline.Policy { p.Decision = "deny"; return p }
	ask := func(p pipeline.Policy) pipeline.Policy { p.Decision = "ask"; return p }
	allow := func(p pipeline.Policy) pipeline.Policy { p.Decision = "allow"; return p }
	exec := pipeline.Policy{Tools: []string{"exec"}}
	with := func(p pipeline.Policy, f func(*pipeline.Policy)) pipeline.Policy { f(&p); return p }
	rm := with(exec, func(p *pipeline.Policy) { p.Command = "rm *" })
	gotest := with(exec, func(p *pipeline.Policy) { p.Command = "go test*" })
	docs := pipeline.Policy{Tools: []string{"*"}, Path: "docs/**"}
	host := pipeline.Policy{Tools: []string{"web_fetch"}, Host: "*.example.com:443"}
	dial := toolkit.Plan{
		Tool: "web_fetch", Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: "api.example.com:443"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: "GET", URL: "https://api.example.com/"},
	}.AtLevel(toolkit.Moderate)
	for name, tc := range map[string]struct {
		policies []pipeline.Policy
		plan     toolkit.Plan
		mode     pipeline.Mode
		origin   toolkit.Origin
		want     pipeline.Verdict
		by       string
	}{
		"deny holds in full mode":           {[]pipeline.Policy{deny(rm)}, commandPlan("rm -r x"), pipeline.Unlimited, "", pipeline.Denied, pipeline.ByPolicy},
		"deny sees a part of a line":        {[]pipeline.Policy{deny(rm)}, commandPlan("cd a && /bin/rm -r x; true"), pipeline.Unlimited, "", pipeline.Denied, pipeline.ByPolicy},
		"another command is not meant":      {[]pipeline.Policy{deny(rm)}, commandPlan("ls"), pipeline.Unlimited, "", pipeline.Allowed, pipeline.ByMode},
		"allow lets one plain command run":  {[]pipeline.Policy{allow(gotest)}, commandPlan("go test ./..."), pipeline.Ask, "", pipeline.Allowed, pipeline.ByPolicy},
		"allow takes nothing beside it":     {[]pipeline.Policy{allow(gotest)}, commandPlan("go test ./... && curl x"), pipeline.Ask, "", pipeline.Asks, pipeline.ByMode},
		"allow in allowlist mode":           {[]pipeline.Policy{allow(gotest)}, commandPlan("go test ./..."), pipeline.Allowlist, "", pipeline.Allowed, pipeline.ByPolicy},
		"allow wants all files inside":      {[]pipeline.Policy{allow(docs)}, writePlan("docs/a.md", "main.go"), pipeline.Ask, "", pipeline.Asks, pipeline.ByMode},
		"all files are inside":              {[]pipeline.Policy{allow(docs)}, writePlan("docs/a.md", "docs/x/b.md"), pipeline.Ask, "", pipeline.Allowed, pipeline.ByPolicy},
		"deny wants one":                    {[]pipeline.Policy{deny(docs)}, writePlan("main.go", "docs/a.md"), pipeline.Unlimited, "", pipeline.Denied, pipeline.ByPolicy},
		"a path that only an argument has":  {[]pipeline.Policy{deny(docs)}, toolkit.Plan{Tool: "read_file", Args: []byte(`{"path":"docs/a"}`)}.AtLevel(toolkit.Safe), pipeline.Ask, "", pipeline.Denied, pipeline.ByPolicy},
		"what is not known is not allowed":  {[]pipeline.Policy{allow(docs)}, toolkit.Plan{Tool: "mystery"}.AtLevel(toolkit.Moderate), pipeline.Ask, "", pipeline.Asks, pipeline.ByMode},
		"a host":                            {[]pipeline.Policy{allow(host)}, dial, pipeline.Ask, "", pipeline.Allowed, pipeline.ByPolicy},
		"deny before allow":                 {[]pipeline.Policy{allow(exec), deny(rm)}, commandPlan("rm x"), pipeline.Ask, "", pipeline.Denied, pipeline.ByPolicy},
		"ask before allow":                  {[]pipeline.Policy{allow(exec), ask(gotest)}, commandPlan("go test"), pipeline.Unlimited, "", pipeline.Asks, pipeline.ByPolicy},
		"a higher priority first":           {[]pipeline.Policy{deny(exec), with(allow(gotest), func(p *pipeline.Policy) { p.Priority = 5 })}, commandPlan("go test"), pipeline.Ask, "", pipeline.Allowed, pipeline.ByPolicy},
		"an origin":                         {[]pipeline.Policy{with(deny(exec), func(p *pipeline.Policy) { p.Origins = []toolkit.Origin{toolkit.FromCron} })}, commandPlan("ls"), pipeline.Unlimited, toolkit.FromCron, pipeline.Denied, pipeline.ByPolicy},
		"another origin":                    {[]pipeline.Policy{with(deny(exec), func(p *pipeline.Policy) { p.Origins = []toolkit.Origin{toolkit.FromCron} })}, commandPlan("ls"), pipeline.Unlimited, toolkit.FromModel, pipeline.Allowed, pipeline.ByMode},
		"at least this dangerous":           {[]pipeline.Policy{{Decision: "deny", Tools: []string{"*"}, Level: "moderate"}}, commandPlan("ls"), pipeline.Unlimited, "", pipeline.Denied, pipeline.ByPolicy},
		"less dangerous than that":          {[]pipeline.Policy{{Decision: "deny", Tools: []string{"*"}, Level: "dangerous"}}, writePlan("a"), pipeline.Unlimited, "", pipeline.Allowed, pipeline.ByMode},
		"allow up to a level":               {[]pipeline.Policy{{Decision: "allow", Tools: []string{"*"}, Level: "moderate"}}, commandPlan("ls"), pipeline.Ask, "", pipeline.Asks, pipeline.ByMode},
		"the deny mode is not to be lifted": {[]pipeline.Policy{allow(exec)}, commandPlan("ls"), pipeline.Deny, "", pipeline.Denied, pipeline.ByMode},
	} {
		t.Run(name, func(t *testing.T) {
			got := pipeline.Judge(pipeline.Question{Mode: tc.mode, Origin: tc.origin, Plan: tc.plan, Policies: tc.policies})
			if got.Verdict != tc.want || got.By != tc.by {
				t.Errorf("got %+v, want %v by %s", got, tc.want, tc.by)
			}
		})
	}
}

func TestADenyRuleBeatsAnAllowPolicyAndTheOtherWayRound(t *testing.T) {
	plan := commandPlan("go test")
	allow := pipeline.Policy{Decision: "allow", Tools: []string{"exec"}, Priority: 9}
	q := pipeline.Question{Mode: pipeline.Ask, Plan: plan, Policies: []pipeline.Policy{allow}, Rules: []store.Rule{{ID: "r", Decision: "deny", Tool: "exec", Scope: pipeline.ScopeTool}}}
	if got := pipeline.Judge(q); got.Verdict != pipeline.Denied || got.By != pipeline.ByRule {
		t.Errorf("got %+v", got)
	}
	q.Policies[0].Decision, q.Rules[0].Decision = "deny", "allow"
	if got := pipeline.Judge(q); got.Verdict != pipeline.Denied || got.By != pipeline.ByPolicy {
		t.Errorf("got %+v", got)
	}
}

func TestAfterForeignTextWhatIsSentAsks(t *testing.T) {
	url := func(method, u, body string, level toolkit.Level) toolkit.Plan {
		return toolkit.Plan{
			Tool: "web_fetch", Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: "a:443"}},
			Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: method, URL: u, Body: body},
		}.AtLevel(level)
	}
	memory := toolkit.Plan{Tool: "memory_save", Keeps: true}.AtLevel(toolkit.Moderate)
	for name, tc := range map[string]struct {
		plan toolkit.Plan
		want pipeline.Verdict
	}{
		"a page":              {url("GET", "https://a/b", "", toolkit.Moderate), pipeline.Allowed},
		"a page with a query": {url("GET", "https://a/b?secret=1", "", toolkit.Moderate), pipeline.Asks},
		"a form":              {url("POST", "https://a/b", "x", toolkit.Moderate), pipeline.Asks},
		"a memory":            {memory, pipeline.Asks},
		"a file":              {writePlan("a"), pipeline.Allowed},
	} {
		q := pipeline.Question{Mode: pipeline.Unlimited, Origin: toolkit.FromModel, Plan: tc.plan, Taint: "the turn read a web page"}
		if got := pipeline.Judge(q); got.Verdict != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
		q.Taint = ""
		if got := pipeline.Judge(q); got.Verdict != pipeline.Allowed {
			t.Errorf("%s, without foreign text: %+v", name, got)
		}
	}
}

func TestPolicyCheckNamesEveryFault(t *testing.T) {
	err := pipeline.Policy{Decision: "maybe", Level: "huge", Origins: []toolkit.Origin{"aunt"}, Path: "[a"}.Check()
	for _, want := range []string{"maybe", "tools is empty", "huge", "aunt", "[a"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err := (pipeline.Policy{Decision: "deny", Tools: []string{"exec"}, Level: "safe"}).Check(); err != nil {
		t.Error(err)
	}
}
