package vet

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"

	"chela/engine/rescue"
	"chela/toolkit"
)

// region is a piece of text that shows something and does not do it.
type region struct {
	kind  string // for people: "in ..."
	text  string
	read  bool
	holds []any // its calls' arguments, and its JSON objects
}

// maxRegions bounds what is looked at; a hostile text is made of them.
const maxRegions = 64

// regions finds what a text only shows: block quotes, fences with more behind
// them, inline code, and what stands in the middle of a sentence.
func regions(text string) []region {
	var out []region
	add := func(kind, text string) {
		if len(out) < maxRegions && strings.ContainsAny(text, "{<[(") {
			out = append(out, region{kind: kind, text: text})
		}
	}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		line := strings.TrimLeft(lines[i], " \t")
		switch {
		case strings.HasPrefix(line, ">"):
			var quote []string
			for ; i < len(lines); i++ {
				rest, ok := strings.CutPrefix(strings.TrimLeft(lines[i], " \t"), ">")
				if !ok {
					break
				}
				quote = append(quote, strings.TrimPrefix(rest, " "))
			}
			add("a block quote", strings.Join(quote, "\n"))
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			mark := line[:3]
			var body []string
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimLeft(lines[i], " \t"), mark); i++ {
				body = append(body, lines[i])
			}
			i++ // past the closing one
			if i < len(lines) && strings.TrimSpace(strings.Join(lines[i:], "")) != "" {
				add("a code fence that more text follows", strings.Join(body, "\n"))
			}
		default:
			spans := strings.Split(line, "`")
			for n := 1; n+1 < len(spans); n += 2 {
				add("inline code", spans[n])
			}
			if at := strings.IndexAny(line, "{<["); at > 0 && len(spans) < 3 && endsInProse(line) {
				add("the middle of a sentence", line[at:])
			}
			i++
		}
	}
	return out
}

// endsInProse reports whether words follow the last bracket of a line.
func endsInProse(line string) bool {
	after := line[strings.LastIndexAny(line, "}>])")+1:]
	return strings.ContainsFunc(after, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f })
}

// inSentence reports whether text goes on around a place: the sentence before it
// is not finished, and words follow on the same line.
func inSentence(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return false
	}
	before := strings.TrimRight(text[:at], " \t")
	after, _, _ := strings.Cut(text[at:], "\n")
	return before != "" && !strings.ContainsAny(before[len(before)-1:], ".:!?\n") && strings.ContainsFunc(after, unicode.IsLetter)
}

// phantom looks for signs that the model only showed the call.
func (v *vet) phantom(spec *toolkit.Spec, f *Finding) {
	var args map[string]any
	if json.Unmarshal(f.Args, &args) != nil {
		return // the validator says it
	}
	phantom := func(format string, a ...any) {
		f.doubt(format, a...)
		f.Phantom = true
	}
	for i := range v.shown {
		r := &v.shown[i]
		if v.holds(r, args) {
			phantom("the model wrote it in %s, so it may only be shown", r.kind)
			return
		}
	}
	switch {
	case describesParameters(args):
		phantom("it describes the parameters of %s and gives no arguments", f.Tool)
	case v.Raw != "" && len(v.written) == 0 && whole(v.Raw, args):
		phantom("the answer is a JSON document that names no tool")
	case v.Raw != "" && spec != nil && !strings.Contains(v.Raw, f.Tool):
		phantom("the model never wrote %q", f.Tool)
	case v.Raw == "":
		if kind := left(v.Text); kind != "" {
			phantom("the text before it ends in %s, so it may only be shown", kind)
		}
	}
}

// holds reports whether a region has a call or an object with these arguments.
func (v *vet) holds(r *region, args map[string]any) bool {
	if !r.read {
		r.read, r.holds = true, v.objects(r.text)
	}
	for _, o := range r.holds {
		if within(o, args, 0) {
			return true
		}
	}
	return false
}

// objects are the arguments of the calls in a text, and the JSON objects in it.
func (v *vet) objects(text string) []any {
	var out []any
	for _, c := range rescue.Parse(text, rescue.Options{Tools: v.Specs, Done: "stop"}).Calls {
		var args map[string]any
		if json.Unmarshal(c.Args, &args) == nil {
			out = append(out, args)
		}
	}
	for tries := 0; tries < maxRegions; tries++ {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		dec := json.NewDecoder(strings.NewReader(text[at:]))
		var object map[string]any
		if dec.Decode(&object) != nil {
			text = text[at+1:]
			continue
		}
		out = append(out, object)
		text = text[at+int(dec.InputOffset()):]
	}
	return out
}

// within reports whether a value is these arguments or has them inside, as the
// server looks for them.
func within(value any, args map[string]any, depth int) bool {
	if depth > 8 || len(args) == 0 {
		return false
	}
	if reflect.DeepEqual(value, any(args)) {
		return true
	}
	switch x := value.(type) {
	case map[string]any:
		for _, e := range x {
			if within(e, args, depth+1) {
				return true
			}
		}
	case []any:
		for _, e := range x {
			if within(e, args, depth+1) {
				return true
			}
		}
	}
	return false
}

// whole reports whether a text is one JSON document with these arguments: the
// document itself, or something in it.
func whole(text string, args map[string]any) bool {
	var document any
	return json.Unmarshal([]byte(text), &document) == nil && within(document, args, 0)
}

// describesParameters tells a schema from arguments.
func describesParameters(args map[string]any) bool {
	kind, _ := args["type"].(string)
	_, properties := args["properties"].(map[string]any)
	return kind == "object" && properties
}

// left says what a text leaves open in its last line. Ollama takes the call out
// of it and keeps what was before.
func left(text string) string {
	line := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " \t")
	switch {
	case strings.HasPrefix(line, ">"):
		return "a block quote"
	case openFence(text):
		return "an open code fence"
	case strings.Count(line, "`")%2 == 1:
		return "open inline code"
	}
	return ""
}

// openFence reports whether a fence is open at the end of a text, with prose
// before it. A model that writes its call in a fence has that fence open too,
// so only those of other languages count.
func openFence(text string) bool {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "```"):
		case open != "":
			open = ""
		default:
			open = line
		}
	}
	switch strings.TrimLeft(open, "`") {
	case "", "json", "tool_call", "tool_code", "xml":
		return false
	}
	return true
}
