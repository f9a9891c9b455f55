package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"chela/store"
	"chela/toolkit"
	"chela/toolkit/guard/command"
)

// The scopes of a rule, the narrowest first.
const (
	ScopeExact  = "exact"  // the same arguments; pattern: the canonical arguments
	ScopePrefix = "prefix" // exec: one plain command that starts with these words
	ScopeFolder = "folder" // everything written is below this folder
	ScopeHost   = "host"   // web: a GET to this host:port
	ScopeTool   = "tool"   // any call of the tool
)

var scopeOrder = []string{ScopeExact, ScopePrefix, ScopeFolder, ScopeHost, ScopeTool}

func narrower(a, b string) bool { return slices.Index(scopeOrder, a) < slices.Index(scopeOrder, b) }

// CheckRule says what is wrong with a rule; nil: nothing.
func CheckRule(r store.Rule) error {
	var errs []error
	if !slices.Contains([]string{"allow", "ask", "deny"}, r.Decision) {
		errs = append(errs, fmt.Errorf("decision %q is not one of allow, ask, deny", r.Decision))
	}
	if r.Tool == "" {
		errs = append(errs, errors.New("tool is empty: name the tool it is about"))
	}
	if !slices.Contains(scopeOrder, r.Scope) {
		errs = append(errs, fmt.Errorf("scope %q is not one of %s", r.Scope, strings.Join(scopeOrder, ", ")))
	} else if r.Pattern == "" && r.Scope != ScopeTool {
		errs = append(errs, fmt.Errorf("scope %s needs a pattern", r.Scope))
	}
	return errors.Join(errs...)
}

// Matches reports whether a rule is about the plan. A scope or pattern that
// cannot be checked matches nothing.
func Matches(r store.Rule, p toolkit.Plan) bool {
	if r.Tool != p.Tool {
		return false
	}
	switch r.Scope {
	case ScopeExact:
		return r.Pattern == string(p.Args)
	case ScopePrefix:
		words, _, ok := plainCommand(p)
		want := strings.Fields(r.Pattern)
		return ok && len(want) > 0 && len(words) >= len(want) && slices.Equal(words[:len(want)], want)
	case ScopeFolder:
		return writesBelow(p, r.Pattern)
	case ScopeHost:
		return p.Preview.Method == "GET" && slices.Contains(dialed(p), r.Pattern) && len(dialed(p)) == 1
	case ScopeTool:
		return true
	}
	return false
}

// Describe says what a rule covers, in the words a person is shown before it
// is saved and in the reasons of later decisions.
func Describe(r store.Rule) string {
	var what string
	switch r.Scope {
	case ScopeExact:
		what = exactText(r)
	case ScopePrefix:
		what = fmt.Sprintf("%s: one plain command starting %q", r.Tool, r.Pattern)
	case ScopeFolder:
		if what = fmt.Sprintf("%s inside %s/", r.Tool, r.Pattern); r.Pattern == "." {
			what = r.Tool + " anywhere in the workspace"
		}
	case ScopeHost:
		what = fmt.Sprintf("%s: GET from %s", r.Tool, r.Pattern)
	case ScopeTool:
		what = "every " + r.Tool + " call"
	}
	switch {
	case r.Session != "":
		what += ", in this session"
	case r.Workspace != "":
		what += ", in this workspace"
	}
	if !r.Expires.IsZero() {
		what += ", until " + r.Expires.Local().Format("2006-01-02 15:04")
	}
	return r.Decision + " " + what
}

func exactText(r store.Rule) string {
	var exec struct {
		Command string `json:"command"`
	}
	if r.Tool == "exec" && json.Unmarshal([]byte(r.Pattern), &exec) == nil && exec.Command != "" {
		return fmt.Sprintf("exec: exactly %q", exec.Command)
	}
	return fmt.Sprintf("%s: exactly %s", r.Tool, r.Pattern)
}

// Offers returns the rules that could be made from a plan, the narrowest
// first. Nothing wider is offered than can be stated: a compound command only
// as itself.
func Offers(p toolkit.Plan) []store.Rule {
	rule := func(scope, pattern string) store.Rule {
		return store.Rule{Decision: "allow", Tool: p.Tool, Scope: scope, Pattern: pattern}
	}
	var out []store.Rule
	if touches(p, toolkit.Writes) && !touches(p, toolkit.Runs) && len(p.Asks) == 0 {
		folder := writeFolder(p)
		out = append(out, rule(ScopeFolder, folder))
		if folder != "." {
			out = append(out, rule(ScopeFolder, "."))
		}
	}
	if hosts := dialed(p); len(hosts) == 1 && p.Preview.Method == "GET" {
		out = append(out, rule(ScopeHost, hosts[0]))
	}
	exact := rule(ScopeExact, string(p.Args))
	if touches(p, toolkit.Runs) {
		out = append(out, exact)
		if prefix, ok := commandPrefix(p); ok {
			out = append(out, rule(ScopePrefix, prefix))
		}
		return out
	}
	return append(out, exact)
}

// plainCommand analyses an exec call that is one simple command made of
// literals without quotes: no operators, substitutions, redirections,
// assignments, globs or variables, in the workspace itself and with no
// environment added.
func plainCommand(p toolkit.Plan) (words []string, r command.Report, ok bool) {
	if p.Preview.Kind != toolkit.PreviewCommand || len(p.Preview.Env) > 0 || (p.Preview.Dir != "" && p.Preview.Dir != ".") {
		return nil, r, false
	}
	r = command.Analyse(p.Preview.Command, command.Options{})
	if !r.Plain {
		return nil, r, false
	}
	for _, w := range r.Programs[0].Words {
		words = append(words, w.Text)
	}
	// The words as they stand in the text: what is quoted is no plain word.
	return words, r, slices.Equal(words, strings.Fields(p.Preview.Command))
}

// commandPrefix offers program and sub-command ("go test"), for programs whose
// first two words say what they do.
func commandPrefix(p toolkit.Plan) (string, bool) {
	_, r, ok := plainCommand(p)
	return r.Key, ok && r.Key != "" && len(p.Outside) == 0
}

func written(p toolkit.Plan) []string { return targets(p, toolkit.Writes) }
func dialed(p toolkit.Plan) []string  { return targets(p, toolkit.Dials) }

func targets(p toolkit.Plan, k toolkit.EffectKind) []string {
	var out []string
	for _, e := range p.Effects {
		if e.Kind == k {
			out = append(out, e.Target)
		}
	}
	return out
}

// writesBelow reports whether the plan writes, writes only below folder, and
// does nothing worse than that.
func writesBelow(p toolkit.Plan, folder string) bool {
	files := written(p)
	if len(files) == 0 || touches(p, toolkit.Runs) || touches(p, toolkit.Dials) {
		return false
	}
	for _, f := range files {
		clean := path.Clean(f)
		if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			return false
		}
		if folder != "." && !strings.HasPrefix(clean, strings.TrimSuffix(folder, "/")+"/") {
			return false
		}
	}
	return true
}

// writeFolder is the deepest folder that holds all files a plan writes.
func writeFolder(p toolkit.Plan) string {
	files := written(p)
	folder := path.Dir(path.Clean(files[0]))
	for _, f := range files[1:] {
		for folder != "." && !strings.HasPrefix(path.Clean(f), folder+"/") {
			folder = path.Dir(folder)
		}
	}
	return folder
}
