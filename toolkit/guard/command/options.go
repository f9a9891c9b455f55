package command

import (
	"fmt"
	"strings"
)

// usage is what an understood program does.
type usage struct {
	reads     []string // operands that are paths
	access    Access   // Reads, or Enters for cd
	tree      bool     // the content of all files below them is read
	recursive bool     // the names of all files below them are read
	hidden    bool     // with tree: hidden files too
	builtin   bool     // the shell itself does it
}

// roots are where a recursive reader starts.
func (u usage) roots() []string {
	if len(u.reads) == 0 {
		return []string{"."}
	}
	return u.reads
}

// operandKind says what the words that are no options mean.
type operandKind int

const (
	text    operandKind = iota // neither is a path
	paths                      // all are paths to read
	pattern                    // the first is a pattern unless -e gave one, the others are paths
)

// spec is the exact use of a program that only reads. What is not in it makes
// the program uncertain: an option added to a program later, or a value that
// nobody thought of.
type spec struct {
	flags    string // options of one letter without a value
	values   string // options of one letter with a value
	long     string // long options: "name", "name=" with a value, "name?" with an optional one
	digits   bool   // -5 is a number of lines
	operands operandKind
	min, max int // operands; max 0: none, -1: any number
	builtin  bool
	check    func(o options, u *usage) string
}

// options is a parsed argument list.
type options struct {
	given    map[string][]string // by letter or long name
	operands []string
}

func (o options) has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.given[n]; ok {
			return true
		}
	}
	return false
}

// reader makes the check of a program from its spec.
func (s spec) reader(name string) func([]string) (usage, string) {
	long := map[string]byte{}
	for _, l := range strings.Fields(s.long) {
		kind := byte(0)
		if last := l[len(l)-1]; last == '=' || last == '?' {
			kind, l = last, l[:len(l)-1]
		}
		long[l] = kind
	}
	return func(args []string) (usage, string) {
		u := usage{access: Reads, builtin: s.builtin}
		o, why := s.parse(name, long, args)
		if why != "" {
			return u, why
		}
		operands := o.operands
		if n := len(operands); n < s.min || s.max >= 0 && n > s.max {
			return u, fmt.Sprintf("%s with %d operands does something else than reading", name, n)
		}
		switch {
		case s.operands == paths:
			u.reads = operands
		case s.operands == pattern && strings.Contains(s.values, "e") && o.has("e", "regexp"):
			u.reads = operands
		case s.operands == pattern && o.has("files", "type-list"):
			u.reads = operands // no pattern: it lists
		case s.operands == pattern && len(operands) == 0:
			return u, name + " has no pattern"
		case s.operands == pattern:
			u.reads = operands[1:]
		}
		for i, f := range u.reads {
			if f == "-" { // the standard input
				u.reads = append(append([]string(nil), u.reads[:i]...), u.reads[i+1:]...)
				break
			}
		}
		if s.check != nil {
			if why := s.check(o, &u); why != "" {
				return u, why
			}
		}
		return u, ""
	}
}

// parse splits an argument list as getopt does: options may follow operands,
// letters may be combined, the rest of a cluster is the value of an option that
// wants one. Long options count only in full: getopt accepts any unique
// beginning, and which are unique differs between versions.
func (s spec) parse(name string, long map[string]byte, args []string) (options, string) {
	o := options{given: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			o.operands = append(o.operands, args[i+1:]...)
			return o, ""
		case strings.HasPrefix(arg, "--"):
			key, value, given := strings.Cut(arg[2:], "=")
			kind, ok := long[key]
			switch {
			case !ok:
				return o, fmt.Sprintf("the option --%s of %s is not on the list", key, name)
			case kind == 0 && given:
				return o, fmt.Sprintf("the option --%s of %s takes no value", key, name)
			case kind == '=' && !given:
				if i++; i >= len(args) {
					return o, fmt.Sprintf("the option --%s of %s has no value", key, name)
				}
				value = args[i]
			}
			o.given[key] = append(o.given[key], value)
		case len(arg) > 1 && arg[0] == '-':
			if s.digits && digits(arg[1:]) {
				continue
			}
			for j := 1; j < len(arg); j++ {
				letter := arg[j : j+1]
				if strings.Contains(s.flags, letter) {
					o.given[letter] = append(o.given[letter], "")
					continue
				}
				if !strings.Contains(s.values, letter) {
					return o, fmt.Sprintf("the option -%s of %s is not on the list", letter, name)
				}
				value := arg[j+1:]
				if value == "" {
					if i++; i >= len(args) {
						return o, fmt.Sprintf("the option -%s of %s has no value", letter, name)
					}
					value = args[i]
				}
				o.given[letter] = append(o.given[letter], value)
				break
			}
		default:
			o.operands = append(o.operands, arg)
		}
	}
	return o, ""
}
