package channels

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chela/toolkit"
)

// check demands the fields of an action and refuses those it does not take:
// one that is ignored would be a message that goes elsewhere than it was meant.
func (a action) check(f fields) error {
	given := map[string]string{"channel": f.Channel, "text": f.Text, "message_id": f.Message, "user": f.User, "name": f.Name}
	needs, takes := strings.Fields(a.needs), strings.Fields(a.takes)
	for _, n := range []string{"channel", "text", "message_id", "user", "name"} {
		switch empty := strings.TrimSpace(given[n]) == ""; {
		case empty && slices.Contains(needs, n):
			return hinted(toolkit.Errorf(toolkit.CodeMissing, "%s needs %s.", f.Action, n), a)
		case !empty && !slices.Contains(needs, n) && !slices.Contains(takes, n):
			return hinted(toolkit.Errorf(toolkit.CodeInvalid, "%s takes no %s.", f.Action, n), a)
		}
	}
	var known []string
	for _, o := range strings.Fields(a.options) {
		name, needed := strings.CutSuffix(o, "*")
		known = append(known, name)
		if needed && f.Options.text(name) == "" {
			return hinted(toolkit.Errorf(toolkit.CodeMissing, "%s needs options.%s.", f.Action, name), a)
		}
	}
	for name := range f.Options {
		if slices.Contains(known, name) {
			continue
		}
		e := toolkit.Errorf(toolkit.CodeInvalid, "%s has no option %q; it takes %s.", f.Action, name, strings.Join(known, ", "))
		if len(known) == 0 {
			e = toolkit.Errorf(toolkit.CodeInvalid, "%s takes no options, and %q is one.", f.Action, name)
		}
		return hinted(e, a)
	}
	return nil
}

// hinted adds the action's example to an error that has no hint yet.
func hinted(err error, a action) error {
	e := toolkit.AsError(err)
	if e.Hint == "" {
		e = e.WithHint("Example: %s", a.example)
	}
	return e
}

// matches demands the form of an id.
func matches(field, value, want string, form *regexp.Regexp) error {
	if form.MatchString(value) {
		return nil
	}
	return toolkit.Errorf(toolkit.CodeInvalid, "%s %q is not %s.", field, value, want)
}

// within demands a text of at most so many characters, which is what the
// service takes.
func within(field, value string, most int) error {
	if n := len([]rune(value)); n > most {
		return toolkit.Errorf(toolkit.CodeInvalid, "%s has %d characters; at most %d are taken.", field, n, most).WithHint("Shorten it, or send it in parts.")
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// options are the further fields of an action, flat, as a model writes them.
type options map[string]any

// text is an option as text; a number is written without a fraction. Absent: "".
func (o options) text(name string) string {
	switch v := o[name].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case float64:
		if v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	b, err := json.Marshal(o[name])
	if err != nil {
		return fmt.Sprint(o[name])
	}
	return string(b)
}

// id is an option that names something by a long number. As a JSON number it
// has lost its last digits above 2^53, so it must be text.
func (o options) id(name, want string, form *regexp.Regexp) (string, error) {
	if v, ok := o[name].(float64); ok && math.Abs(v) >= 1<<53 {
		return "", toolkit.Errorf(toolkit.CodeInvalid, "options.%s is a number too large to be exact.", name).WithHint(`Write it as text, in quotes.`)
	}
	v := o.text(name)
	return v, matches("options."+name, v, want, form)
}

// copyTo puts the options named into a body: flags as true or false, numbers as
// numbers, whatever they were written as.
func (o options) copyTo(body map[string]any, flags, numbers, texts string) error {
	for _, n := range strings.Fields(flags) {
		switch v := o.text(n); strings.ToLower(v) {
		case "":
		case "true", "yes", "1":
			body[n] = true
		case "false", "no", "0":
			body[n] = false
		default:
			return toolkit.Errorf(toolkit.CodeInvalid, "options.%s is %q; write true or false.", n, v)
		}
	}
	for _, n := range strings.Fields(numbers) {
		v := o.text(n)
		if v == "" {
			continue
		}
		i, err := strconv.ParseInt(v, 10, 64)
		if err != nil || i < 0 {
			return toolkit.Errorf(toolkit.CodeInvalid, "options.%s is %q; write a whole number.", n, v)
		}
		body[n] = i
	}
	for _, n := range strings.Fields(texts) {
		if v := o.text(n); v != "" {
			body[n] = v
		}
	}
	return nil
}

// list is an option that is a list of texts; one text is a list of its lines.
func (o options) list(name string) []string {
	var out []string
	switch v := o[name].(type) {
	case []any:
		for _, item := range v {
			switch t := item.(type) {
			case string:
				out = append(out, strings.TrimSpace(t))
			case map[string]any:
				out = append(out, options(t).text("text"))
			default:
				out = append(out, options{"v": item}.text("v"))
			}
		}
	case string:
		for line := range strings.SplitSeq(v, "\n") {
			if t := strings.TrimSpace(line); t != "" {
				out = append(out, t)
			}
		}
	}
	return out
}
