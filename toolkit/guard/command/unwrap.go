package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unwrap looks at the program behind a wrapper and at scripts given as text, so
// that the paths and dangers in them are reported too. It makes nothing milder:
// what is nested is never ReadOnly.
func (a *analysis) unwrap(p Program) {
	name := baseName(p.Name)
	args := p.Words[1:]
	switch {
	case name == "eval":
		var parts []string
		for _, w := range args {
			if !w.Literal {
				return
			}
			parts = append(parts, w.Text)
		}
		a.script(strings.Join(parts, " "))
	case name == "trap" && len(args) > 1 && args[0].Literal:
		a.script(args[0].Text)
	case name == "find" && p.Class != ReadOnly:
		for i, w := range args {
			if strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok") {
				a.behind(args[i+1:])
			}
		}
	case name == "su" || name == "script" || name == "runuser" || interpreters[name] && shellName(name):
		for i, w := range args {
			if len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.HasSuffix(w.Text, "c") && i+1 < len(args) {
				if args[i+1].Literal {
					a.script(args[i+1].Text)
				}
				return
			}
		}
	case wrappers[name] && p.Class != ReadOnly:
		i := 0
		for i < len(args) && wrapperWord(name, args[i].Text) {
			if takesValue(name, args[i].Text) {
				i++
			}
			i++
		}
		if i < len(args) {
			a.behind(args[i:])
		}
	}
}

func shellName(name string) bool { return strings.HasSuffix(name, "sh") }

// wrapperWord reports words between a wrapper and its program: options,
// assignments, durations.
func wrapperWord(name, w string) bool {
	switch {
	case strings.HasPrefix(w, "-"):
		return true
	case strings.Contains(w, "="):
		return true
	case name == "timeout" || name == "flock" || name == "taskset" || name == "chrt":
		return w != "" && strings.Trim(w, "0123456789.smhdx") == ""
	case name == "docker" || name == "podman" || name == "kubectl":
		return w == "run" || w == "exec"
	}
	return false
}

// takesValue reports options whose value is the next word.
func takesValue(name, w string) bool {
	switch name {
	case "env":
		return w == "-u" || w == "-C"
	case "nice", "ionice":
		return w == "-n" || w == "-c"
	case "timeout":
		return w == "-s" || w == "-k"
	case "stdbuf":
		return w == "-i" || w == "-o" || w == "-e"
	case "sudo", "doas":
		return w == "-u" || w == "-g" || w == "-h" || w == "-D"
	case "xargs":
		return w == "-n" || w == "-I" || w == "-P" || w == "-L" || w == "-d" || w == "-a"
	case "exec":
		return w == "-a"
	}
	return false
}

// behind judges the program that a wrapper runs.
func (a *analysis) behind(words []Word) {
	if len(words) == 0 {
		return
	}
	was := a.nested
	a.nested = true
	a.deeper(func() { a.simple(words, nil) })
	a.nested = was
}

// script judges shell text given as an argument.
func (a *analysis) script(src string) {
	a.uncertain("it has a script as text")
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return
	}
	was := a.nested
	a.nested = true
	a.apart(func() { a.stmts(f.Stmts) })
	a.nested = was
}
