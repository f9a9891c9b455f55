package pipeline

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"chela/store"
	"chela/toolkit"
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
		words, ok := plainCommand(p)
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

// plainCommand returns the words of an exec call that is one simple command
// made of literals: no operators, substitutions, redirections, assignments,
// globs or variables, in the workspace itself and with no environment added.
func plainCommand(p toolkit.Plan) ([]string, bool) {
	if p.Preview.Kind != toolkit.PreviewCommand || len(p.Preview.Env) > 0 || (p.Preview.Dir != "" && p.Preview.Dir != ".") {
		return nil, false
	}
	if strings.ContainsFunc(p.Preview.Command, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return nil, false // the parser and the shell may read these differently
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(p.Preview.Command), "")
	if err != nil || len(f.Stmts) != 1 || len(f.Last) > 0 {
		return nil, false
	}
	st := f.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(st.Redirs) > 0 || st.Negated || st.Background || st.Coprocess || len(call.Assigns) > 0 || len(st.Comments) > 0 {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		lit := w.Lit() // empty unless the word is a single unquoted literal
		if lit == "" || strings.ContainsAny(lit, `*?[]{}~\`) {
			return nil, false
		}
		words = append(words, lit)
	}
	return words, len(words) > 0
}

// programs whose first words say nothing about what they will do: shells,
// wrappers, interpreters, package managers, and tools that run helpers named
// in their arguments. A prefix rule for them would allow anything.
var unbounded = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`bash sh dash zsh fish ksh csh busybox env nice nohup timeout stdbuf setsid ionice xargs sudo su doas
		ssh scp rsync docker podman kubectl eval exec command builtin source python python3 node deno bun ruby perl php lua awk gawk sed find
		git curl wget nc ncat socat npm npx pnpm yarn pip pip3 pipx uv uvx cargo-install brew apt apt-get dnf yum tar zip dd tee rm mv cp ln chmod
		chown kill pkill osascript powershell pwsh cmd`) {
		unbounded[name] = true
	}
}

// commandPrefix offers program and sub-command ("go test"), for programs that
// have one.
func commandPrefix(p toolkit.Plan) (string, bool) {
	words, ok := plainCommand(p)
	if !ok || len(words) < 2 || unbounded[path.Base(words[0])] || strings.Contains(words[0], "/") || strings.HasPrefix(words[1], "-") {
		return "", false
	}
	return words[0] + " " + words[1], true
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
