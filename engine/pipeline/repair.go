package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"chela/toolkit"
)

// repairArgs makes arguments fit the schema where the intent is beyond doubt,
// and says what it changed. The order is fixed and documented:
//
//  1. null, "" and "null" instead of an object become {};
//  2. JSON inside a string is unwrapped, at most twice;
//  3. {"arguments": {…}} and {"parameters": {…}} around the real ones;
//  4. alias names become the parameter's name, unless that is given too;
//  5. null stands for "absent";
//  6. types, guided by the schema: "5" for 5, "true" for true, 5 for "5",
//     a JSON string for an object or list, one item for a list.
//
// It never invents a value and never drops one that means something.
func repairArgs(s *toolkit.Schema, v any) (map[string]any, []string) {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }

	switch x := v.(type) {
	case nil:
		v = map[string]any{}
	case string:
		if t := strings.TrimSpace(x); t == "" || t == "null" {
			v = map[string]any{}
		}
	}
	for range 2 {
		text, ok := v.(string)
		if !ok {
			break
		}
		inner, err := decodeArgs(json.RawMessage(text))
		if err != nil {
			break
		}
		v = inner
		note("unwrapped arguments from a string")
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, notes
	}
	for _, wrap := range []string{"arguments", "parameters", "args", "input"} {
		inner, wrapped := args[wrap].(map[string]any)
		if wrapped && len(args) == 1 && s.Properties[wrap] == nil {
			args = inner
			note("unwrapped %q", wrap)
			break
		}
	}
	out := make(map[string]any, len(args))
	for name, x := range args {
		if s.Properties[name] != nil {
			out[name] = x
		}
	}
	for _, name := range sortedKeys(args) {
		if s.Properties[name] != nil {
			continue
		}
		target, known := canonicalName(s, name)
		if _, taken := out[target]; known && !taken {
			out[target] = args[name]
			note("%q read as %q", name, target)
			continue
		}
		out[name] = args[name] // the validator names it
	}
	for _, name := range sortedKeys(out) {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if out[name] == nil {
			delete(out, name)
			note("%q: null read as absent", name)
			continue
		}
		if fixed, how := coerce(p, out[name]); how != "" {
			out[name] = fixed
			note("%q: %s", name, how)
		}
	}
	return out, notes
}

// canonicalName finds the parameter that another spelling means: an alias, or
// the same name with other case and separators.
func canonicalName(s *toolkit.Schema, name string) (string, bool) {
	if target, ok := s.Aliases[name]; ok {
		return target, true
	}
	flat := flatten(name)
	for _, p := range s.PropertyOrder {
		if flatten(p) == flat {
			return p, true
		}
	}
	for alias, p := range s.Aliases {
		if flatten(alias) == flat {
			return p, true
		}
	}
	return "", false
}

func flatten(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// coerce turns a value into the type that the schema wants, if it plainly is
// one. how is empty when nothing was changed.
func coerce(p *jsonschema.Schema, v any) (fixed any, how string) {
	switch p.Type {
	case "integer", "number":
		if text, ok := v.(string); ok {
			if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
				return json.Number(strings.TrimSpace(text)), "a string read as a number"
			}
		}
	case "boolean":
		if text, ok := v.(string); ok {
			switch strings.ToLower(strings.TrimSpace(text)) {
			case "true", "yes", "1":
				return true, "a string read as true"
			case "false", "no", "0", "":
				return false, "a string read as false"
			}
		}
	case "string":
		switch x := v.(type) {
		case json.Number:
			return x.String(), "a number read as text"
		case bool:
			return strconv.FormatBool(x), "true or false read as text"
		case []any:
			if text, ok := argv(x); ok {
				return text, "a list of words read as one command"
			}
		}
		if text, ok := v.(string); ok && len(p.Enum) > 0 {
			for _, e := range p.Enum {
				if s, ok := e.(string); ok && s != text && strings.EqualFold(s, strings.TrimSpace(text)) {
					return s, "case"
				}
			}
		}
	case "object", "array":
		if text, ok := v.(string); ok {
			for range 2 {
				inner, err := decodeArgs(json.RawMessage(text))
				if err != nil {
					break
				}
				if again, ok := inner.(string); ok {
					text = again
					continue
				}
				if fits(p.Type, inner) {
					return inner, "JSON in a string read as " + article(p.Type)
				}
				break
			}
		}
		if p.Type == "array" && !fits("array", v) {
			return []any{v}, "one item read as a list"
		}
	}
	return v, ""
}

func fits(typ string, v any) bool {
	switch v.(type) {
	case map[string]any:
		return typ == "object"
	case []any:
		return typ == "array"
	}
	return false
}

func article(typ string) string {
	switch typ {
	case "array":
		return "a list"
	case "object", "integer":
		return "an " + typ
	}
	return "a " + typ
}

// argv turns ["bash","-lc","ls"] into ls, and other word lists into one
// command line with the words quoted where the shell needs it.
func argv(list []any) (string, bool) {
	words := make([]string, len(list))
	for i, x := range list {
		w, ok := x.(string)
		if !ok || w == "" {
			return "", false
		}
		words[i] = w
	}
	if len(words) == 0 {
		return "", false
	}
	if len(words) == 3 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, words[0]) && slices.Contains([]string{"-c", "-lc"}, words[1]) {
		return words[2], true
	}
	if len(words) == 1 {
		return words[0], true
	}
	for i, w := range words {
		words[i] = shellQuote(w)
	}
	return strings.Join(words, " "), true
}

func shellQuote(w string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:,@%+", r)
	}
	if strings.IndexFunc(w, func(r rune) bool { return !safe(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
