package command

import (
	"regexp"
	"strings"
)

// forms are programs whose arguments are a language of their own.
var forms = map[string]func([]string) (usage, string){
	"echo":    func([]string) (usage, string) { return usage{builtin: true}, "" },
	":":       func([]string) (usage, string) { return usage{builtin: true}, "" },
	"printf":  printf,
	"test":    test,
	"[":       bracket,
	"find":    find,
	"sed":     sed,
	"command": commandV,
}

// commandV is "command -v name", which only looks; without -v it runs.
func commandV(args []string) (usage, string) {
	u := usage{builtin: true}
	if len(args) < 2 || args[0] != "-v" && args[0] != "-V" {
		return u, "command runs another program"
	}
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") || strings.Contains(a, "/") {
			return u, "command with " + a + " is not on the list"
		}
	}
	return u, ""
}

// conversion is one conversion of printf that only prints. Not among them: %n,
// which sets a variable, and %(...)T.
var conversion = regexp.MustCompile(`%[-+ 0#']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[diouxXeEfFgGcsbq%]`)

func printf(args []string) (usage, string) {
	u := usage{builtin: true}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return u, "printf with options can set variables"
	}
	if strings.Contains(conversion.ReplaceAllString(args[0], ""), "%") {
		return u, "the format of printf has a conversion that is not on the list"
	}
	return u, ""
}

func bracket(args []string) (usage, string) {
	if len(args) == 0 || args[len(args)-1] != "]" {
		return usage{}, "[ has no ] at its end"
	}
	return test(args[:len(args)-1])
}

var integer = regexp.MustCompile(`^[-+]?\d{1,18}$`)

// test knows three forms, with a negation before: one word, an operator with
// one operand, one between two. -v and -R evaluate array subscripts and so run
// commands; -o and -a make forms whose meaning depends on their number.
func test(args []string) (usage, string) {
	u := usage{builtin: true, access: Reads}
	for len(args) > 1 && args[0] == "!" {
		args = args[1:]
	}
	switch len(args) {
	case 0, 1:
		return u, ""
	case 2:
		switch {
		case args[0] == "-z" || args[0] == "-n":
			return u, ""
		case args[0] == "-t" && digits(args[1]):
			return u, ""
		case len(args[0]) == 2 && args[0][0] == '-' && strings.Contains("efdrwxsLhpSbcgukOGN", args[0][1:]):
			u.reads = []string{args[1]}
			return u, ""
		}
	case 3:
		switch args[1] {
		case "=", "==", "!=", "<", ">":
			return u, ""
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			if integer.MatchString(args[0]) && integer.MatchString(args[2]) {
				return u, ""
			}
			return u, "test compares what is no number"
		case "-nt", "-ot", "-ef":
			u.reads = []string{args[0], args[2]}
			return u, ""
		}
	}
	return u, "this form of test is not on the list"
}

// lines is what sed may do: print a range of lines.
var lines = regexp.MustCompile(`^(\d{1,9}|\$)(,(\d{1,9}|\$|\+\d{1,9}))?p$`)

// sed is only "sed -n 1,20p file": its scripts can write files and run
// programs in many spellings.
func sed(args []string) (usage, string) {
	u := usage{access: Reads}
	if len(args) < 2 || args[0] != "-n" || !lines.MatchString(args[1]) {
		return u, "sed other than sed -n N,Mp can write and run"
	}
	for _, f := range args[2:] {
		if strings.HasPrefix(f, "-") {
			return u, "the option " + f + " of sed is not on the list"
		}
	}
	u.reads = args[2:]
	return u, ""
}

// The primaries of find that only look and print. Not among them: -exec, -ok,
// -delete, -fprint, -fls, -files0-from, and -L, which follows links.
var (
	findAlone = set(`-print -print0 -ls -prune -not ! -a -and -o -or ( ) , -empty -readable -writable -executable -daystart -mount
		-xdev -depth -d -true -false -quit -noleaf -nouser -nogroup`)
	findValue = set(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin
		-ctime -cmin -maxdepth -mindepth -user -group -uid -gid -perm -links -inum -printf -used -lname -ilname`)
	findFile = set(`-newer -anewer -cnewer -samefile`)
)

func find(args []string) (usage, string) {
	u := usage{access: Reads, recursive: true}
	for len(args) > 0 && args[0] == "-P" {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "(" && args[0] != "!" && args[0] != ")" && args[0] != "," {
		u.reads, args = append(u.reads, args[0]), args[1:]
	}
	for i := 0; i < len(args); i++ {
		switch {
		case findAlone[args[i]]:
			continue
		case findValue[args[i]], findFile[args[i]]:
			if i++; i >= len(args) {
				return u, args[i-1] + " of find has no value"
			}
			if findFile[args[i-1]] {
				u.reads = append(u.reads, args[i])
			}
		default:
			return u, args[i] + " of find is not on the list"
		}
	}
	return u, ""
}
