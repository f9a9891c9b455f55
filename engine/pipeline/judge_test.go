package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chela/engine/pipeline"
	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard"
)

func command(line string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "exec", Args: []byte(`{"command":"` + line + `"}`), Level: toolkit.Dangerous,
		Effects: []toolkit.Effect{{Kind: toolkit.Runs, Target: "/bin/bash"}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewCommand, Command: line},
	}
}

func write(path string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "write_file", Args: []byte(`{"path":"` + path + `","content":"x"}`), Level: toolkit.Moderate,
		Effects: []toolkit.Effect{{Kind: toolkit.Writes, Target: path}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewDiff, Path: path},
	}
}

func get(host string) toolkit.Plan {
	return toolkit.Plan{
		Tool: "web_fetch", Args: []byte(`{"url":"https://` + host + `/"}`), Level: toolkit.Moderate,
		Effects: []toolkit.Effect{{Kind: toolkit.Dials, Target: host}},
		Preview: toolkit.Preview{Kind: toolkit.PreviewURL, Method: "GET"},
	}
}

var read = toolkit.Plan{Tool: "read_file", Args: []byte(`{"path":"a"}`), Level: toolkit.Safe, Effects: []toolkit.Effect{{Kind: toolkit.Reads, Target: "a"}}}

func rule(decision string, p toolkit.Plan, scope, pattern string) store.Rule {
	return store.Rule{ID: decision + "-" + scope, Decision: decision, Tool: p.Tool, Scope: scope, Pattern: pattern}
}

func TestEachModeByLevel(t *testing.T) {
	const a, k, d = pipeline.Allowed, pipeline.Asks, pipeline.Denied
	for mode, want := range map[pipeline.Mode][4]pipeline.Verdict{ // read, write, network, command
		pipeline.Deny:      {d, d, d, d},
		pipeline.Sandbox:   {a, a, d, d},
		pipeline.Allowlist: {d, d, d, d},
		pipeline.Ask:       {a, k, k, k},
		pipeline.Standard:  {a, a, a, k},
		pipeline.Unlimited: {a, a, a, a},
	} {
		for i, p := range []toolkit.Plan{read, write("a"), get("example.com:443"), command("ls")} {
			if got := pipeline.Judge(pipeline.Question{Mode: mode, Plan: p}); got.Verdict != want[i] {
				t.Errorf("%v, %s: %v (%v), want %v", mode, p.Tool, got.Verdict, got.Reasons, want[i])
			}
		}
	}
	if got := pipeline.Judge(pipeline.Question{Mode: pipeline.Sandbox, Sandbox: true, Plan: command("ls")}); got.Verdict != a {
		t.Errorf("sandbox mode with a sandbox: %v", got)
	}
}

func TestTheZeroValuesFailClosed(t *testing.T) {
	if got := pipeline.Judge(pipeline.Question{}); got.Verdict != pipeline.Denied {
		t.Errorf("an empty question is %v", got.Verdict)
	}
	var l toolkit.Level
	if l != toolkit.Dangerous {
		t.Errorf("the zero level is %v", l)
	}
	var v pipeline.Verdict
	if v != pipeline.Denied {
		t.Errorf("the zero verdict is %v", v)
	}
}

func TestRules(t *testing.T) {
	p := command("go test ./engine")
	prefix := rule("allow", p, pipeline.ScopePrefix, "go test")
	for name, c := range map[string]struct {
		mode  pipeline.Mode
		plan  toolkit.Plan
		rules []store.Rule
		doubt string
		floor *guard.Denied
		want  pipeline.Verdict
	}{
		"a prefix rule allows":                     {pipeline.Ask, p, []store.Rule{prefix}, "", nil, pipeline.Allowed},
		"and is what allowlist mode needs":         {pipeline.Allowlist, p, []store.Rule{prefix}, "", nil, pipeline.Allowed},
		"but never lifts deny mode":                {pipeline.Deny, p, []store.Rule{prefix}, "", nil, pipeline.Denied},
		"nor the floor":                            {pipeline.Unlimited, p, []store.Rule{prefix}, "", &guard.Denied{Reason: "outside"}, pipeline.Denied},
		"nor a sandbox that is missing":            {pipeline.Sandbox, p, []store.Rule{prefix}, "", nil, pipeline.Denied},
		"deny beats allow":                         {pipeline.Ask, p, []store.Rule{prefix, rule("deny", p, pipeline.ScopeTool, "")}, "", nil, pipeline.Denied},
		"deny beats full mode":                     {pipeline.Unlimited, p, []store.Rule{rule("deny", p, pipeline.ScopeTool, "")}, "", nil, pipeline.Denied},
		"ask beats allow":                          {pipeline.Unlimited, p, []store.Rule{prefix, rule("ask", p, pipeline.ScopeTool, "")}, "", nil, pipeline.Asks},
		"doubt beats allow":                        {pipeline.Ask, p, []store.Rule{prefix}, "found in text", nil, pipeline.Asks},
		"doubt asks in full mode":                  {pipeline.Unlimited, p, nil, "found in text", nil, pipeline.Asks},
		"doubt about a read does not ask":          {pipeline.Ask, read, nil, "found in text", nil, pipeline.Allowed},
		"a rule of another tool says nothing":      {pipeline.Ask, write("a"), []store.Rule{prefix}, "", nil, pipeline.Asks},
		"folder rule":                              {pipeline.Ask, write("engine/a.go"), []store.Rule{rule("allow", write(""), pipeline.ScopeFolder, "engine")}, "", nil, pipeline.Allowed},
		"folder rule, sibling with the same start": {pipeline.Ask, write("engine2/a.go"), []store.Rule{rule("allow", write(""), pipeline.ScopeFolder, "engine")}, "", nil, pipeline.Asks},
		"folder rule, way out":                     {pipeline.Ask, write("engine/../a.go"), []store.Rule{rule("allow", write(""), pipeline.ScopeFolder, "engine")}, "", nil, pipeline.Asks},
		"host rule":                                {pipeline.Ask, get("go.dev:443"), []store.Rule{rule("allow", get(""), pipeline.ScopeHost, "go.dev:443")}, "", nil, pipeline.Allowed},
		"host rule, other host with the same end":  {pipeline.Ask, get("evil-go.dev:443"), []store.Rule{rule("allow", get(""), pipeline.ScopeHost, "go.dev:443")}, "", nil, pipeline.Asks},
		"a scope from the future matches nothing":  {pipeline.Ask, p, []store.Rule{rule("allow", p, "regex", ".*")}, "", nil, pipeline.Asks},
		"an empty prefix matches nothing":          {pipeline.Ask, p, []store.Rule{rule("allow", p, pipeline.ScopePrefix, "")}, "", nil, pipeline.Asks},
		"exact rule":                               {pipeline.Ask, p, []store.Rule{rule("allow", p, pipeline.ScopeExact, string(p.Args))}, "", nil, pipeline.Allowed},
		"exact rule, one character more":           {pipeline.Ask, command("go test ./engine2"), []store.Rule{rule("allow", p, pipeline.ScopeExact, string(p.Args))}, "", nil, pipeline.Asks},
	} {
		t.Run(name, func(t *testing.T) {
			got := pipeline.Judge(pipeline.Question{Mode: c.mode, Plan: c.plan, Rules: c.rules, Doubt: c.doubt, Floor: c.floor})
			if got.Verdict != c.want || len(got.Reasons) == 0 || got.By == "" {
				t.Errorf("%+v, want %v", got, c.want)
			}
		})
	}
}

// What lies outside the workspace only a person allows, for this very call.
func TestOutsideTheWorkspaceOnlyAPersonAllows(t *testing.T) {
	p := command("touch ../x")
	p.Outside = []string{"it changes ../x, outside the workspace"}
	exact, tool := rule("allow", p, pipeline.ScopeExact, string(p.Args)), rule("allow", p, pipeline.ScopeTool, "")
	for _, c := range []struct {
		mode  pipeline.Mode
		rules []store.Rule
		want  pipeline.Verdict
		by    string
	}{
		{pipeline.Deny, nil, pipeline.Denied, pipeline.ByMode},
		{pipeline.Allowlist, nil, pipeline.Denied, pipeline.ByMode},
		{pipeline.Ask, nil, pipeline.Asks, pipeline.ByMode},
		{pipeline.Standard, []store.Rule{tool}, pipeline.Asks, pipeline.ByMode},
		{pipeline.Unlimited, nil, pipeline.Denied, pipeline.ByFloor},
		{pipeline.Unlimited, []store.Rule{tool}, pipeline.Denied, pipeline.ByFloor},
		{pipeline.Standard, []store.Rule{exact}, pipeline.Allowed, pipeline.ByRule},
	} {
		if got := pipeline.Judge(pipeline.Question{Mode: c.mode, Plan: p, Rules: c.rules}); got.Verdict != c.want || got.By != c.by {
			t.Errorf("%v with %d rules: %+v, want %v", c.mode, len(c.rules), got, c.want)
		}
	}
	for _, r := range pipeline.Offers(p) {
		if r.Scope != pipeline.ScopeExact {
			t.Errorf("it offers %s", pipeline.Describe(r))
		}
	}
}

func TestAProvenCommandIsSafeInStandardModeOnly(t *testing.T) {
	p := command("ls")
	p.Level, p.ReadOnly = toolkit.Moderate, true
	for mode, want := range map[pipeline.Mode]pipeline.Verdict{
		pipeline.Deny: pipeline.Denied, pipeline.Sandbox: pipeline.Denied, pipeline.Allowlist: pipeline.Denied, pipeline.Ask: pipeline.Asks, pipeline.Standard: pipeline.Allowed,
	} {
		if got := pipeline.Judge(pipeline.Question{Mode: mode, Plan: p}); got.Verdict != want {
			t.Errorf("%v: %+v, want %v", mode, got, want)
		}
	}
	p.Level = toolkit.Dangerous
	if got := pipeline.Judge(pipeline.Question{Mode: pipeline.Standard, Plan: p}); got.Verdict != pipeline.Asks {
		t.Errorf("dangerous all the same: %+v", got)
	}
}

// What a prefix rule for "go test" must not let through: the lines by which
// other programs' allow-lists were passed.
func TestPrefixRuleCoversOnlyOnePlainCommand(t *testing.T) {
	r := rule("allow", command(""), pipeline.ScopePrefix, "go test")
	for _, line := range []string{
		"go test ./...; rm -rf ~", "go test && curl x", "go test | sh", "go test || id", "go test & id", "go test\nid", "go test\rid",
		"go test $(id)", "go test `id`", "go test <(id)", "go test > out", "go test >> ~/.bashrc", "go test 2>&1", "PATH=. go test", "! go test",
		"(go test)", "{ go test; }", "go test $X", "go test *", "go test ~/x", "go te''st", "'go' test", "go  vet", "gotest", "go", "",
		"exec go test", "go test \x00", "go test \\\nid", "if go test; then id; fi", "go test {a,b}", "go test # comment", "go test [a]?",
	} {
		p := command("x")
		p.Preview.Command = line
		if pipeline.Matches(r, p) {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{"go test", "go test ./...", "go  test -run TestX ./engine"} {
		p := command("x")
		p.Preview.Command = line
		if !pipeline.Matches(r, p) {
			t.Errorf("%q does not pass", line)
		}
	}
	p := command("go test")
	p.Preview.Env = []string{"GOFLAGS=-exec=evil"}
	if pipeline.Matches(r, p) {
		t.Error("a command with an environment of its own passes")
	}
	p = command("go test")
	p.Preview.Dir = "other"
	if pipeline.Matches(r, p) {
		t.Error("a command in another folder passes")
	}
}

func TestOffers(t *testing.T) {
	texts := func(p toolkit.Plan) []string {
		var out []string
		for _, r := range pipeline.Offers(p) {
			out = append(out, r.Scope+" "+r.Pattern)
		}
		return out
	}
	for name, c := range map[string]struct {
		plan toolkit.Plan
		want []string
	}{
		"a file":                      {write("engine/a.go"), []string{"folder engine", "folder .", "exact " + string(write("engine/a.go").Args)}},
		"a file at the top":           {write("a.go"), []string{"folder .", "exact " + string(write("a.go").Args)}},
		"a page":                      {get("go.dev:443"), []string{"host go.dev:443", "exact " + string(get("go.dev:443").Args)}},
		"program with a sub-command":  {command("go test ./..."), []string{"exact " + string(command("go test ./...").Args), "prefix go test"}},
		"git is only itself":          {command("git status"), []string{"exact " + string(command("git status").Args)}},
		"a shell is only itself":      {command("bash -c ls"), []string{"exact " + string(command("bash -c ls").Args)}},
		"a pipe is only itself":       {command("ls | wc"), []string{"exact " + string(command("ls | wc").Args)}},
		"an option is no sub-command": {command("ls -la"), []string{"exact " + string(command("ls -la").Args)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts(c.plan); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
	risky := write(".envrc")
	risky.Asks = []string{"runs later"}
	for _, r := range pipeline.Offers(risky) {
		if r.Scope != pipeline.ScopeExact {
			t.Errorf("a file that runs later offers %s", pipeline.Describe(r))
		}
	}
}

func TestEveryOfferMatchesThePlanItCameFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-z]{1,4}(/[a-z]{1,4}){0,3}`).Draw(t, "path")
		words := rapid.StringMatching(`[a-z]{2,6}( [a-z./-]{1,6}){0,3}`).Draw(t, "words")
		for _, p := range []toolkit.Plan{write(path), command(words), get(path + ".example:443")} {
			for _, r := range pipeline.Offers(p) {
				if !pipeline.Matches(r, p) {
					t.Fatalf("%s does not match its own plan %s", pipeline.Describe(r), p.Args)
				}
				if d := pipeline.Judge(pipeline.Question{Mode: pipeline.Ask, Plan: p, Rules: []store.Rule{r}}); d.Verdict != pipeline.Allowed {
					t.Fatalf("%s does not allow it: %v", pipeline.Describe(r), d.Reasons)
				}
				if !strings.HasPrefix(pipeline.Describe(r), "allow ") {
					t.Fatalf("%q does not say what it does", pipeline.Describe(r))
				}
			}
		}
	})
}
