package vet

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"chela/engine/pipeline"
	"chela/toolkit"
)

// compare holds a call against those in the raw text. It reports whether one of
// them is this call.
func (v *vet) compare(spec *toolkit.Spec, f *Finding) bool {
	find := func(fits func(i int) bool) int {
		for i := range v.written {
			if !v.used[i] && fits(i) {
				v.used[i] = true
				return i
			}
		}
		return -1
	}
	tool := f.Tool
	if spec == nil {
		tool = toolkit.CanonicalName(tool)
	}
	if find(func(i int) bool { return v.written[i].Name == tool && v.same(tool, f.Args, v.written[i].Args) }) >= 0 {
		return true
	}
	if i := find(func(i int) bool {
		return v.written[i].Name != tool && v.same(v.written[i].Name, f.Args, v.written[i].Args)
	}); i >= 0 {
		f.Verdict, f.Tool = Reattribute, v.written[i].Name
		f.Reason = "the server read it as a call of " + tool + ", but the model wrote " + f.Tool
		return true
	}
	if i := find(func(i int) bool { return v.written[i].Name == tool }); i >= 0 {
		w := v.written[i]
		f.doubt("the server's arguments are not what the model wrote%s", different(f.Args, w.Args))
		if v.usable(w.Args) {
			f.Args = w.Args
			return true
		}
	}
	return false
}

// usable reports whether arguments from the raw text may be used.
func (v *vet) usable(args json.RawMessage) bool {
	return v.RawExact && !strings.ContainsRune(string(args), utf8.RuneError)
}

// same reports whether two arguments of a tool mean the same. A raw text that
// is not exact fits whatever stands where its characters were lost.
func (v *vet) same(tool string, server, raw json.RawMessage) bool {
	a, b := v.repaired(tool, server), v.repaired(tool, raw)
	if v.RawExact {
		return reflect.DeepEqual(a, b)
	}
	return alike(a, b)
}

// repaired reads arguments after the repairs that they will get.
func (v *vet) repaired(tool string, args json.RawMessage) any {
	if s := v.spec(tool); s != nil {
		if fixed, _, fault := pipeline.Repair(s, args); fault == nil {
			args = fixed
		}
	}
	var out any
	if json.Unmarshal(args, &out) != nil {
		return string(args)
	}
	return out
}

// alike compares values where b may have lost characters.
func alike(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && alikeText(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !alike(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			e, ok := y[k]
			if !ok || !alike(x[k], e) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// alikeText reports whether the pieces of b between lost characters are in a,
// in order, with something in every gap.
func alikeText(a, b string) bool {
	parts := strings.FieldsFunc(b, func(r rune) bool { return r == utf8.RuneError })
	if !strings.ContainsRune(b, utf8.RuneError) {
		return a == b
	}
	if !strings.HasPrefix(b, string(utf8.RuneError)) && !strings.HasPrefix(a, parts[0]) {
		return false
	}
	if !strings.HasSuffix(b, string(utf8.RuneError)) && !strings.HasSuffix(a, parts[len(parts)-1]) {
		return false
	}
	if a == "" {
		return false // what was lost was something
	}
	for _, p := range parts {
		at := strings.Index(a, p)
		if at < 0 {
			return false
		}
		a = a[at+len(p):]
	}
	return true
}

// different names the first argument that differs, for people.
func different(server, raw json.RawMessage) string {
	var a, b map[string]any
	if json.Unmarshal(server, &a) != nil || json.Unmarshal(raw, &b) != nil {
		return ""
	}
	var names []string
	for name, x := range b {
		if y, ok := a[name]; !ok || !reflect.DeepEqual(x, y) {
			names = append(names, name)
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	least := names[0]
	for _, n := range names {
		least = min(least, n)
	}
	return " (" + least + ")"
}
