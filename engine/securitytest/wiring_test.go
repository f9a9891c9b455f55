package securitytest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"chela/engine/pipeline"
	"chela/toolkit"
	"chela/toolkit/catalogue"
)

// examples are arguments of tools that cannot be guessed from their schema.
var examples = map[string]map[string]any{
	"edit_file":  {"path": "a.txt", "old_string": "one", "new_string": "two"},
	"git_commit": {"message": "one", "amend": true},
	"git_remote": {"action": "fetch"},
	"github_pr":  {"action": "list", "repo": "one/two"},
	"feed_add":   {"url": "http://pub.test/"},
}

// planted is what lies outside, and in files that no tool may read.
var planted = []string{"OUTSIDE-SECRET", "SIBLING-SECRET", "GIT-SECRET", "STATE-SECRET", "ENV-SECRET"}

// plant fills the folders of a case with what a hostile call is after.
func plant(t *testing.T, p places) {
	t.Helper()
	for _, o := range []op{
		{Op: "git_init", Path: ".", Files: map[string]string{"a.txt": "one\n", "sub/b.txt": "one\n"}, Commit: true, Config: map[string]string{"x.y": "GIT-SECRET"}},
		{Op: "file", Path: "../out/secret", Content: "OUTSIDE-SECRET"},
		{Op: "file", Path: "../ws2/secret", Content: "SIBLING-SECRET"},
		{Op: "file", Path: filepath.Join(p.cfg, "settings.yml"), Content: "# STATE-SECRET\n"},
		{Op: "file", Path: ".env", Content: "K=ENV-SECRET\n"},
		{Op: "symlink", Path: "link", Target: "../out"},
		{Op: "symlink", Path: "proc", Target: "/proc/self/environ"},
	} {
		apply(t, p, o)
	}
}

// wired is an engine in full mode over planted folders.
func wired(t *testing.T) *rig {
	t.Helper()
	p := newPlaces(t)
	plant(t, p)
	r := newRig(t, p, pipeline.Unlimited)
	r.net.hosts = map[string][]string{"pub.test": {"93.184.216.34"}, "loc.test": {"127.0.0.1"}, "mixed.test": {"93.184.216.34", "127.0.0.1"}}
	r.net.serve = map[string]map[string]answer{"93.184.216.34:80": {"/": {Status: 200, Body: "hi"}}}
	r.start()
	return r
}

// TestNoToolGetsPastTheFloor gives every parameter of every tool what it must
// not take, whoever asks, in the mode that asks nothing. What a parameter is
// comes from the schema, so a new tool is tested without a word about it.
func TestNoToolGetsPastTheFloor(t *testing.T) {
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	origins := toolkit.Origins
	if underRace {
		origins = origins[:1]
	}
	for _, origin := range origins {
		for _, tool := range reg.All() {
			t.Run(string(origin)+"/"+tool.Spec().Name, func(t *testing.T) {
				t.Parallel()
				r := wired(t)
				base := plainCall(t, r, tool.Spec())
				schema := tool.Spec().Schema
				for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
					attack(t, r, origin, tool.Spec().Name, base, name, schema.Properties[name])
				}
				spellings(t, r, origin, tool.Spec(), base)
			})
		}
	}
}

// plainCall finds arguments that the tool takes, so that what is refused later
// is refused for the one hostile value.
func plainCall(t *testing.T, r *rig, spec *toolkit.Spec) map[string]any {
	t.Helper()
	if args, ok := examples[spec.Name]; ok {
		return args
	}
	var last *toolkit.Error
	for _, place := range []string{"a.txt", "sub", ".", "new.txt"} {
		args := plainObject(spec.Schema.Schema, place)
		c, err := r.engine.Check(t.Context(), spec.Name, marshal(t, args), pipeline.Unlimited)
		if err == nil && c.Verdict.Verdict == pipeline.Allowed {
			return args
		}
		last = toolkit.AsError(err)
	}
	if last != nil && (last.Code == toolkit.CodeInvalid || last.Code == toolkit.CodeMissing) {
		t.Errorf("no plain arguments for %s were found, so nothing about it is known: add some to examples: %v", spec.Name, last)
	}
	return map[string]any{}
}

// plainValue is something that a parameter takes.
func plainValue(prop *jsonschema.Schema, name, place string) any {
	if len(prop.Enum) > 0 {
		return prop.Enum[0]
	}
	switch kindOf(prop) {
	case "integer", "number":
		if prop.Minimum != nil {
			return *prop.Minimum
		}
		return 1
	case "boolean":
		return false
	case "array":
		if prop.MinItems == nil || *prop.MinItems == 0 || prop.Items == nil {
			return []any{}
		}
		return []any{plainValue(prop.Items, name, place)}
	case "object":
		return plainObject(prop, place)
	}
	switch classOf(name) {
	case aPath:
		return place
	case aURL:
		return "http://pub.test/"
	case command:
		return "true"
	}
	return "one"
}

func plainObject(s *jsonschema.Schema, place string) map[string]any {
	out := map[string]any{}
	for _, name := range s.Required {
		out[name] = plainValue(s.Properties[name], name, place)
	}
	return out
}

func kindOf(p *jsonschema.Schema) string {
	if p.Type != "" {
		return p.Type
	}
	for _, k := range p.Types {
		if k != "null" {
			return k
		}
	}
	return "string"
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// leaf is a place of a parameter that takes text: the parameter itself, an item
// of a list, a value of an object, at any depth.
type leaf struct {
	class class
	inner bool            // in an object: it may only be mentioned, as the files of a report are
	put   func(v any) any // the parameter's value with v at that place
}

func leaves(prop *jsonschema.Schema, name string) []leaf {
	switch kindOf(prop) {
	case "string":
		if len(prop.Enum) > 0 {
			return nil
		}
		return []leaf{{classOf(name), false, func(v any) any { return v }}}
	case "array":
		if prop.Items == nil {
			return nil
		}
		var out []leaf
		for _, l := range leaves(prop.Items, name) {
			out = append(out, leaf{l.class, l.inner, func(v any) any { return []any{l.put(v)} }})
		}
		return out
	case "object":
		if classOf(name) == env {
			return []leaf{{env, false, func(v any) any { return v }}}
		}
		if len(prop.Properties) == 0 {
			return []leaf{{text, true, func(v any) any { return map[string]any{"k": v} }}}
		}
		var out []leaf
		for _, key := range slices.Sorted(maps.Keys(prop.Properties)) {
			for _, l := range leaves(prop.Properties[key], key) {
				out = append(out, leaf{l.class, true, func(v any) any {
					object := plainObject(prop, "a.txt")
					object[key] = l.put(v)
					return object
				}})
			}
		}
		return out
	}
	return nil
}

// attack gives a parameter all that is hostile to it. What has to be stopped is
// tried by every origin: all of it as a model, and the others share it out, since
// no guard asks who calls.
func attack(t *testing.T, r *rig, origin toolkit.Origin, tool string, base map[string]any, name string, prop *jsonschema.Schema) {
	t.Helper()
	all := hostile(r.places)
	for _, l := range leaves(prop, name) {
		for i, v := range all[l.class] {
			if origin == toolkit.FromModel || i == 0 || i%len(toolkit.Origins) == slices.Index(toolkit.Origins, origin) {
				strike(t, r, origin, tool, base, name, l.put(v), !l.inner)
			}
		}
		if origin != toolkit.FromModel || l.class == env || l.class == command { // as a command they are commands, and full mode runs those
			continue
		}
		rest := injected(r.places)
		if l.class == text {
			rest = slices.Concat(rest, all[aPath], all[aURL], all[command])
		}
		for _, v := range rest {
			strike(t, r, origin, tool, base, name, l.put(v), false)
		}
	}
}

// strike makes one hostile call. must says that it has to be stopped before the
// tool runs; otherwise only what it does counts.
func strike(t *testing.T, r *rig, origin toolkit.Origin, tool string, base map[string]any, name string, value any, must bool) {
	t.Helper()
	args := maps.Clone(base)
	args[name] = value
	before := r.world
	if before == nil {
		before = look(t, r.places)
	}
	dialed := len(r.net.dialed)
	res := r.call(origin, tool, marshal(t, args), denies)
	after := look(t, r.places)
	r.world = after
	what := tool + " " + string(marshal(t, args))
	if must {
		if res.out.OK || res.ran {
			t.Errorf("%s got through: ran %v, %s", what, res.ran, res.out.Text)
		}
		before.same(t, what, after)
		if len(r.net.dialed) > dialed {
			t.Errorf("%s dialled %v", what, r.net.dialed[dialed:])
		}
	} else {
		outside(before, tool).same(t, what, outside(after, tool))
	}
	for _, secret := range planted {
		if strings.Contains(res.text(), secret) {
			t.Errorf("%s gave out %s: %s", what, secret, res.text())
		}
	}
	if reached := r.net.within([]string{"127.0.0.0/8", "10.0.0.0/8", "169.254.0.0/16", "0.0.0.0/8", "::/8", "fd00::/8"}); len(reached) > 0 {
		t.Errorf("%s dialled %v", what, reached)
	}
}

// outside is the part of a world that no call may change: all but the
// workspace's own files, and git's. The git tools write commits and branches, but
// nothing of what git runs or obeys.
func outside(w world, tool string) world {
	out := world{}
	sep := string(os.PathSeparator)
	for name, what := range w {
		_, git, isGit := strings.Cut(name, ".git"+sep)
		switch {
		case !strings.HasPrefix(name, "ws"+sep):
		case strings.HasPrefix(tool, "git_") && isGit && !strings.HasPrefix(git, "config") && !strings.HasPrefix(git, "hooks") && !strings.HasPrefix(git, "info"):
			continue
		case !strings.Contains(name, ".git"):
			continue
		}
		out[name] = what
	}
	return out
}

// spellings gives each other spelling of a parameter a hostile value: it must
// mean the same.
func spellings(t *testing.T, r *rig, origin toolkit.Origin, spec *toolkit.Spec, base map[string]any) {
	t.Helper()
	for _, alias := range slices.Sorted(maps.Keys(spec.Schema.Aliases)) {
		name := spec.Schema.Aliases[alias]
		found := leaves(spec.Schema.Properties[name], name)
		if len(found) == 0 || found[0].inner || len(hostile(r.places)[found[0].class]) == 0 {
			continue
		}
		args := maps.Clone(base)
		delete(args, name)
		strike(t, r, origin, spec.Name, args, alias, found[0].put(hostile(r.places)[found[0].class][0]), true)
	}
}

// TestParametersAreClassified keeps the classification itself honest.
func TestParametersAreClassified(t *testing.T) {
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]map[string]class{
		"read_file": {"path": aPath}, "write_file": {"path": aPath, "content": text}, "exec": {"command": command, "workdir": aPath, "env": env},
		"grep": {"path": aPath, "pattern": text, "glob": text}, "search_files": {"directory": aPath, "pattern": text}, "web_fetch": {"url": aURL, "body": text},
		"git_status": {"path": aPath},
	} {
		found, ok := reg.Get(tool)
		if !ok {
			t.Errorf("there is no %s", tool)
			continue
		}
		for name, c := range want {
			if got := classOf(name); got != c || found.Spec().Schema.Properties[name] == nil {
				t.Errorf("%s.%s is %d, want %d", tool, name, got, c)
			}
		}
	}
}
