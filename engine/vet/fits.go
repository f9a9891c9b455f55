package vet

import (
	"encoding/json"
	"slices"
	"strings"

	"chela/engine/pipeline"
	"chela/engine/rescue"
	"chela/toolkit"
)

// fits asks whether the arguments are those of the tool. If they are not, and
// exactly one other offered tool takes them as they are, the call is one of
// that tool: Ollama's generic parser goes by the first name it meets, also in
// an argument.
func (v *vet) fits(spec *toolkit.Spec, f *Finding) {
	if spec == nil {
		return
	}
	if _, _, fault := pipeline.Repair(spec, f.Args); fault == nil {
		if !spec.ReadOnly && mentions(f.Args, spec.Name) {
			if other := v.others(spec, f.Args); len(other) > 0 {
				f.doubt("its arguments mention %s and fit %s as well", spec.Name, strings.Join(other, " and "))
			}
		}
		return
	}
	switch other := v.others(spec, f.Args); {
	case len(other) == 1:
		f.Verdict, f.Tool = Reattribute, other[0]
		f.Reason = "its arguments are not those of " + spec.Name + ", and of all tools only " + other[0] + " takes them"
	case mentions(f.Args, spec.Name):
		f.doubt("its arguments are not those of %s, whose name occurs in them", spec.Name)
	}
}

// others are the other tools that take the arguments as they are, without a
// repair: what has to be bent fits too many.
func (v *vet) others(spec *toolkit.Spec, args json.RawMessage) []string {
	var out []string
	for _, s := range v.Specs {
		if s.Name == spec.Name {
			continue
		}
		if _, notes, fault := pipeline.Repair(s, args); fault == nil && len(notes) == 0 && len(args) > len("{}") {
			out = append(out, s.Name)
		}
	}
	return out
}

// mentions reports whether the arguments hold a name.
func mentions(args json.RawMessage, name string) bool { return strings.Contains(string(args), name) }

// escapes undoes what a JSON decoder made of a Windows path that was written
// with single backslashes: C:\temp has a tab in it now. Package rescue reads
// paths so, and is asked.
func (v *vet) escapes(spec *toolkit.Spec, f *Finding) {
	if spec == nil || !strings.Contains(string(f.Args), `\`) {
		return
	}
	plain, _, fault := pipeline.Repair(spec, f.Args)
	if fault != nil {
		return
	}
	// encoding/json writes control characters in short, as the model did.
	var args any
	if json.Unmarshal(plain, &args) != nil {
		return
	}
	call, err := json.Marshal(map[string]any{"name": spec.Name, "arguments": args})
	if err != nil {
		return
	}
	r := rescue.Parse("<tool_call>"+string(call)+"</tool_call>", rescue.Options{Tools: []*toolkit.Spec{spec}, Done: "stop"})
	if len(r.Calls) != 1 {
		return
	}
	if slices.Equal(r.Calls[0].Args, plain) || sameJSON(r.Calls[0].Args, plain) {
		return
	}
	f.Args = r.Calls[0].Args
	f.doubt("a path had control characters in it, as of a backslash that was not doubled")
}
