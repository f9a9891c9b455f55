package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// Parse reads settings from YAML. See Load for what a fault means.
func Parse(file string, data []byte) (Settings, []Problem) {
	s, problems := decode(file, data, Default())
	problems = append(problems, s.check(file)...)
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return s, problems
}

// decode reads what a file states over what is there already.
func decode(file string, data []byte, s Settings) (Settings, []Problem) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		p := syntaxProblem(file, err)
		if bytes.Contains(data, []byte("security")) {
			s.Security.Mode = pipeline.Deny
			p.Hint = "until it is repaired nothing runs: it may set security.mode"
		}
		return s, []Problem{p}
	}
	var problems []Problem
	if len(tree.Docs) > 1 {
		problems = append(problems, Problem{File: file, Text: "holds several documents", Hint: "only the first is read"})
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return s, problems
	}
	root := tree.Docs[0].Body
	if root.Type() == ast.NullType || root.Type() == ast.CommentType {
		return s, problems
	}
	top, ok := root.(ast.MapNode)
	if !ok {
		return s, append(problems, Problem{file, line(root), "is not a list of keys", "write `key:` lines; the defaults are in force"})
	}
	v := reflect.ValueOf(&s).Elem()
	// Section by section, so that one wrong value does not undo the others.
	for it := top.MapRange(); it.Next(); {
		problems = append(problems, section(file, v, "", it.KeyValue())...)
	}
	for i, p := range problems {
		if strings.HasPrefix(p.Text, "security.") && p.Hint == unread { // it may have been what holds calls back
			s.Security.Mode, problems[i].Hint = pipeline.Deny, "until it is repaired nothing runs"
		}
	}
	return s, problems
}

// unread is the hint for a key whose value cannot be read.
const unread = "the default is in force"

// section decodes one key into the struct field with its yaml name.
func section(file string, v reflect.Value, path string, kv *ast.MappingValueNode) []Problem {
	key := kv.Key.GetToken().Value
	field, names := fieldNamed(v, key)
	full := strings.TrimPrefix(path+"."+key, ".")
	if !field.IsValid() {
		return []Problem{{file, line(kv.Key), fmt.Sprintf("unknown key %q", full), "did you mean " + strings.TrimPrefix(path+"."+nearest(key, names), ".") + "?"}}
	}
	if kv.Value.Type() == ast.NullType {
		return nil
	}
	if field.Kind() == reflect.Struct {
		sub, ok := kv.Value.(ast.MapNode)
		if !ok {
			return []Problem{{file, line(kv.Value), fmt.Sprintf("%s must hold keys, not %s", full, kv.Value), ""}}
		}
		var problems []Problem
		for it := sub.MapRange(); it.Next(); {
			problems = append(problems, section(file, field, full, it.KeyValue())...)
		}
		return problems
	}
	fresh := reflect.New(field.Type())
	if err := yaml.NodeToValue(kv.Value, fresh.Interface(), yaml.Strict()); err != nil {
		if mode, ok := field.Addr().Interface().(*pipeline.Mode); ok {
			*mode = pipeline.Deny
			return []Problem{{file, line(kv.Value), fmt.Sprintf("%s: %s", full, misfit(field.Type(), kv.Value, err)), "until it is repaired nothing runs"}}
		}
		if full == "security.sandbox" {
			field.SetString("on")
			return []Problem{{file, line(kv.Value), fmt.Sprintf("%s: %s", full, misfit(field.Type(), kv.Value, err)), "on is in force"}}
		}
		return []Problem{{file, line(kv.Value), fmt.Sprintf("%s: %s", full, misfit(field.Type(), kv.Value, err)), unread}}
	}
	field.Set(fresh.Elem())
	return nil
}

// misfit says in plain words what a key wants, where the YAML library speaks of
// Go types.
func misfit(want reflect.Type, got ast.Node, err error) string {
	if r := reason(err); !strings.Contains(r, "unmarshal") && !strings.Contains(r, "was used where") {
		return r // one of ours: an unknown mode or tier, with the names there are
	}
	given := strings.TrimSpace(got.String())
	switch want.Kind() {
	case reflect.Bool:
		return fmt.Sprintf("wants true or false, not %s", given)
	case reflect.Int:
		return fmt.Sprintf("wants a whole number, not %s", given)
	case reflect.Slice:
		return fmt.Sprintf("wants a list, such as [%s]", strings.Trim(given, "\"'"))
	case reflect.Map:
		return "wants `name: value` lines below it"
	}
	return fmt.Sprintf("wants one text, not %s", given)
}

func fieldNamed(v reflect.Value, name string) (reflect.Value, []string) {
	var names []string
	for i := range v.NumField() {
		n := v.Type().Field(i).Tag.Get("yaml")
		if n == name {
			return v.Field(i), nil
		}
		names = append(names, n)
	}
	return reflect.Value{}, names
}

func nearest(key string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int {
		return levenshtein.ComputeDistance(key, a) - levenshtein.ComputeDistance(key, b)
	})
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// reason takes the message out of a YAML error, without the source excerpt.
func reason(err error) string {
	var ye yaml.Error
	if errors.As(err, &ye) {
		return ye.GetMessage()
	}
	return err.Error()
}

func syntaxProblem(file string, err error) Problem {
	p := Problem{File: file, Text: "is no valid YAML: " + reason(err), Hint: "the defaults are in force"}
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil && ye.GetToken().Position != nil {
		p.Line = ye.GetToken().Position.Line
	}
	return p
}

// check puts values that are out of range back to their defaults.
func (s *Settings) check(file string) []Problem {
	var problems []Problem
	def := Default()
	oneOf := func(key string, v *string, d string, allowed ...string) {
		if !slices.Contains(allowed, *v) {
			problems = append(problems, Problem{file, 0, fmt.Sprintf("%s: %q is not one of %s", key, *v, strings.Join(allowed, ", ")), d + " is in force"})
			*v = d
		}
	}
	inRange := func(key string, v *int, d, lo, hi int) {
		if *v != 0 && (*v < lo || *v > hi) {
			problems = append(problems, Problem{file, 0, fmt.Sprintf("%s: %d is not between %d and %d", key, *v, lo, hi), fmt.Sprintf("%d is in force", d)})
			*v = d
		}
	}
	oneOf("models.think", &s.Models.Think, def.Models.Think, "auto", "on", "off")
	oneOf("security.sandbox", &s.Security.Sandbox, "on", "auto", "on", "off") // the strictest, whatever was meant
	oneOf("ui.theme", &s.UI.Theme, def.UI.Theme, "auto", "light", "dark", "ansi", "none")
	inRange("ollama.parallel", &s.Ollama.Parallel, 1, 1, 64)
	inRange("models.window", &s.Models.Window, 0, 1024, 1<<20)
	inRange("models.steps", &s.Models.Steps, def.Models.Steps, 1, 1000)
	inRange("security.audit_days", &s.Security.AuditDays, 0, 1, 36500)
	inRange("tools.budget", &s.Tools.Budget, def.Tools.Budget, 1, 90)
	if s.Models.Steps == 0 {
		s.Models.Steps = def.Models.Steps
	}
	if s.Tools.Budget == 0 {
		s.Tools.Budget = def.Tools.Budget
	}
	for i, p := range s.Security.Policies {
		if err := p.Check(); err != nil {
			problems = append(problems, Problem{file, 0, fmt.Sprintf("security.policies, number %d: %s", i+1, strings.ReplaceAll(err.Error(), "\n", "; ")), "until it is repaired nothing runs"})
			s.Security.Mode = pipeline.Deny
		}
	}
	for o := range s.Security.Origins {
		if !slices.Contains(toolkit.Origins, o) {
			problems = append(problems, Problem{file, 0, fmt.Sprintf("security.origins: %q is not one of %v", o, toolkit.Origins), "until it is repaired nothing runs"})
			s.Security.Mode = pipeline.Deny
		}
	}
	if s.Security.Mode < pipeline.Deny || s.Security.Mode > pipeline.Unlimited {
		s.Security.Mode = pipeline.Ask
	}
	return problems
}
