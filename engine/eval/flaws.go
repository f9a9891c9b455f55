package eval

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"chela/engine/callmode"
)

// calling holds for a native request whose right answer has calls: the only one
// in which the form of a call can go wrong.
func (x *Exchange) calling() bool { return x.Mode == callmode.Native && len(x.Calls) > 0 }

// pure holds while nothing went wrong in this turn.
func (x *Exchange) pure() bool { return x.Nudges == 0 && !x.Again && x.Failed() == 0 }

// text writes calls in a form that the server's parser does not know. tag is
// what that parser looks for.
func text(tag string, form func(Call) string) Flaw {
	return func(x *Exchange) bool {
		if !x.calling() {
			return false
		}
		parts := make([]string, len(x.Calls))
		for i, c := range x.Calls {
			parts[i] = form(c)
		}
		x.write(tag, strings.Join(parts, "\n"))
		return true
	}
}

// renamed sends native calls that a server with a lenient parser passes on.
func renamed(change func(Call) Call) Flaw {
	return func(x *Exchange) bool {
		if !x.calling() {
			return false
		}
		for _, c := range x.Calls {
			x.native(change(c))
		}
		return true
	}
}

// object is a call as one JSON object.
func object(c Call) string { return fmt.Sprintf(`{"name": %q, "arguments": %s}`, c.Tool, c.Args) }

// named puts arguments into another place of their call.
func named(form string) func(Call) string {
	return func(c Call) string { return strings.NewReplacer("NAME", c.Tool, "ARGS", c.Args).Replace(form) }
}

// each writes a call argument by argument: with NAME and ALL in the form, and
// KEY and VALUE in that of each.
func each(form, one, between string) func(Call) string {
	return func(c Call) string {
		var parts []string
		for _, a := range c.arguments() {
			parts = append(parts, strings.NewReplacer("KEY", a.key, "VALUE", a.plain, "QUOTED", a.quoted).Replace(one))
		}
		return strings.NewReplacer("NAME", c.Tool, "ALL", strings.Join(parts, between)).Replace(form)
	}
}

type argument struct {
	key    string
	plain  string // a string without its quotes
	quoted string // as JSON
}

// arguments reads a call's arguments in their order.
func (c Call) arguments() []argument {
	dec := json.NewDecoder(strings.NewReader(c.Args))
	if _, err := dec.Token(); err != nil {
		panic(fmt.Sprintf("eval: the arguments of %s: %v", c.Tool, err)) // a mistake in the task
	}
	var out []argument
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			panic(fmt.Sprintf("eval: the arguments of %s: %v", c.Tool, err))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			panic(fmt.Sprintf("eval: the arguments of %s: %v", c.Tool, err))
		}
		a := argument{key: fmt.Sprint(key), plain: string(value), quoted: string(value)}
		var s string
		if json.Unmarshal(value, &s) == nil {
			a.plain = s
		}
		out = append(out, a)
	}
	return out
}

// replaced changes the text of a call's arguments.
func replaced(pairs ...string) func(Call) Call {
	r := strings.NewReplacer(pairs...)
	return func(c Call) Call { return Call{c.Tool, r.Replace(c.Args)} }
}

// instead says something in place of the calls while nothing went wrong.
func instead(words string) Flaw {
	return func(x *Exchange) bool {
		if len(x.Calls) == 0 || !x.pure() {
			return false
		}
		x.reply.Text(pieces(words)...)
		return true
	}
}

// after does what a flaw does once so many results are there, until something
// goes wrong.
func after(results int, f Flaw) Flaw {
	return func(x *Exchange) bool { return len(x.Results) >= results && x.pure() && f(x) }
}

// refuses answers with an error status to what a condition holds for.
func refuses(when func(*Exchange) bool, text string) Flaw {
	return func(x *Exchange) bool {
		if !when(x) {
			return false
		}
		x.reply.Status(http.StatusBadRequest, text)
		return true
	}
}

// repeats makes the last call again, for as long as nobody says stop; told so by
// an answered call or a nudge, it goes on.
func repeats(back int) Flaw {
	return func(x *Exchange) bool {
		if len(x.Results) < back || !x.pure() || x.Mode != callmode.Native {
			return false
		}
		var history []Call
		for _, m := range x.req.Messages {
			for _, c := range m.ToolCalls {
				args, err := json.Marshal(c.Function.Arguments)
				if err != nil {
					panic(fmt.Sprintf("eval: %v", err)) // it came as JSON
				}
				history = append(history, Call{c.Function.Name, string(args)})
			}
		}
		x.native(history[len(history)-back])
		return true
	}
}
