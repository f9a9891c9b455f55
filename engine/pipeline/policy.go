package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"chela/toolkit"
	"chela/toolkit/guard/command"
)

// ByPolicy is who decided when security.policies of the settings did.
const ByPolicy = "policy"

// Policy is a decision that a person states in the settings for a kind of call,
// before any such call comes. All facts that it states must hold.
//
// What cannot be known of a call never lets it run: an allow policy applies only
// where each stated fact is known and fits all that the call does, while a deny
// or ask policy applies as soon as it fits a part of it.
type Policy struct {
	Decision string           `yaml:"decision"` // allow, ask, deny
	Tools    []string         `yaml:"tools"`    // names; "*": all
	Command  string           `yaml:"command"`  // * stands for anything: "git push*"
	Path     string           `yaml:"path"`     // what it reads or writes, as a glob below the workspace: "secrets/**"
	Host     string           `yaml:"host"`     // host:port that it dials: "*.example.com:443"
	Level    string           `yaml:"level"`    // safe, moderate, dangerous: at least this for deny and ask, at most this for allow
	Origins  []toolkit.Origin `yaml:"origins"`  // who asks: model, rescued, person, session, cron; none: whoever
	Priority int              `yaml:"priority"` // of those that apply the highest count; among them deny, then ask, then allow
	Reason   string           `yaml:"reason"`   // shown with the decision
}

// Check says what is wrong with a policy as it is written; nil: nothing.
func (p Policy) Check() error {
	var errs []error
	if !slices.Contains([]string{"allow", "ask", "deny"}, p.Decision) {
		errs = append(errs, fmt.Errorf("decision %q is not one of allow, ask, deny", p.Decision))
	}
	if len(p.Tools) == 0 {
		errs = append(errs, errors.New(`tools is empty: name the tools it is about, or ["*"]`))
	}
	if p.Level != "" {
		if _, err := toolkit.ParseLevel(p.Level); err != nil {
			errs = append(errs, err)
		}
	}
	for _, o := range p.Origins {
		if !slices.Contains(toolkit.Origins, o) {
			errs = append(errs, fmt.Errorf("origin %q is not one of %v", o, toolkit.Origins))
		}
	}
	if !doublestar.ValidatePattern(p.Path) {
		errs = append(errs, fmt.Errorf("path %q is no glob", p.Path))
	}
	return errors.Join(errs...)
}

// String says a policy in words.
func (p Policy) String() string {
	text := p.Decision + " " + strings.Join(p.Tools, ", ")
	for _, f := range []struct{ name, value string }{{"command", p.Command}, {"path", p.Path}, {"host", p.Host}, {"level", p.Level}} {
		if f.value != "" {
			text += fmt.Sprintf(", %s %q", f.name, f.value)
		}
	}
	if len(p.Origins) > 0 {
		text += fmt.Sprintf(", from %v", p.Origins)
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

// applies reports whether a policy is about the call.
func (p Policy) applies(q Question) bool {
	allow := p.Decision == "allow"
	if !slices.ContainsFunc(p.Tools, func(t string) bool { return t == "*" || strings.EqualFold(t, q.Plan.Tool) }) {
		return false
	}
	if len(p.Origins) > 0 && !slices.Contains(p.Origins, q.Origin) {
		return false
	}
	if p.Level != "" {
		level, err := toolkit.ParseLevel(p.Level)
		if err != nil || allow && worse(q.Plan.Level, level) || !allow && worse(level, q.Plan.Level) {
			return false
		}
	}
	if p.Command != "" && !commandFits(p.Command, q.Plan, allow) {
		return false
	}
	fits := func(glob string, targets []string, match func(glob, target string) bool) bool {
		if glob == "" {
			return true
		}
		hit := func(t string) bool { return match(glob, t) }
		if allow {
			return len(targets) > 0 && !slices.ContainsFunc(targets, func(t string) bool { return !hit(t) })
		}
		return slices.ContainsFunc(targets, hit)
	}
	files := slices.Concat(targets(q.Plan, toolkit.Reads), written(q.Plan), named(q.Plan))
	return fits(p.Path, files, pathFits) && fits(p.Host, dialed(q.Plan), textFits)
}

// named are the paths that the arguments name: a tool that only reads may state
// no effects.
func named(p toolkit.Plan) []string {
	var args map[string]any
	if json.Unmarshal(p.Args, &args) != nil {
		return nil
	}
	var out []string
	for _, key := range []string{"path", "file", "directory", "workdir"} {
		if s, ok := args[key].(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// worse reports whether level a is more dangerous than b.
func worse(a, b toolkit.Level) bool { return a != b && a.Worse(b) == a }

// commandFits compares what is run. To allow, the command must be one plain
// command; otherwise any of the commands in it counts.
func commandFits(glob string, p toolkit.Plan, allow bool) bool {
	if allow {
		words, _, ok := plainCommand(p)
		return ok && textFits(glob, strings.Join(words, " "))
	}
	if p.Preview.Kind != toolkit.PreviewCommand {
		return false
	}
	if textFits(glob, p.Preview.Command) {
		return true
	}
	r := command.Analyse(p.Preview.Command, command.Options{})
	for _, prog := range r.Programs {
		var words []string
		for _, w := range prog.Words {
			words = append(words, w.Text)
		}
		if len(words) > 0 && (textFits(glob, strings.Join(words, " ")) || textFits(glob, strings.Join(append([]string{path.Base(words[0])}, words[1:]...), " "))) {
			return true
		}
	}
	return false
}

func pathFits(glob, target string) bool {
	ok, err := doublestar.Match(glob, path.Clean(target))
	return err == nil && ok
}

// textFits compares a text with a pattern in which * stands for anything.
func textFits(glob, text string) bool {
	re, err := regexp.Compile("(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(glob), `\*`, ".*") + "$")
	return err == nil && re.MatchString(text)
}

// policy is what the policies say about a call: that of the highest priority
// that applies, and of equal ones the strictest. nil: none applies.
func (q Question) policy() *Policy {
	rank := map[string]int{"deny": 2, "ask": 1, "allow": 0}
	var best *Policy
	for i := range q.Policies {
		p := &q.Policies[i]
		if !p.applies(q) {
			continue
		}
		if best == nil || p.Priority > best.Priority || p.Priority == best.Priority && rank[p.Decision] > rank[best.Decision] {
			best = p
		}
	}
	return best
}
