package command

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple judges one program with its words. nodes are the words in the syntax
// tree, nil behind a wrapper.
func (a *analysis) simple(words []Word, nodes []*syntax.Word) {
	if len(a.report.Programs) >= a.opt.MaxCommands {
		a.refuse("it has more than %d commands", a.opt.MaxCommands)
	}
	if a.refused != "" {
		return
	}
	p := Program{Words: words, Class: Uncertain, Nested: a.nested}
	if words[0].Literal {
		p.Name = words[0].Text
	}
	if subCommands[baseName(p.Name)] && len(words) > 1 && words[1].Literal && !strings.HasPrefix(words[1].Text, "-") {
		p.Sub = words[1].Text
	}
	u, why := a.understand(p)
	if why == "" {
		p.Class, p.Shell = ReadOnly, u.builtin
	} else {
		p.Reason = why
		p.Shell = shellBuiltins[p.Name]
		a.uncertain("%s", why)
	}
	// Reserved before what it wraps, so that the list is in reading order.
	a.report.Programs = append(a.report.Programs, p)
	if why == "" {
		for _, f := range u.reads {
			a.path(Path{Text: escapeTilde(f), Access: u.access, Tree: u.recursive})
		}
		if u.tree {
			for _, f := range u.roots() {
				a.report.Trees = append(a.report.Trees, Tree{Path{Text: escapeTilde(f), Dir: a.cwd.dir, Sure: a.cwd.certain(), Access: Reads}, u.hidden})
			}
		}
	} else {
		a.mentions(p, nodes)
	}
	a.report.Network = a.report.Network || networkPrograms[baseName(p.Name)] || baseName(p.Name) == "git" && gitNetwork[p.Sub]
	a.dangers(p)
	a.chdir(p, nodes)
	a.unwrap(p)
}

func escapeTilde(p string) string {
	if strings.HasPrefix(p, "~") {
		return "./" + p
	}
	return p
}

// understand matches a program against the table. why says what is not on it.
func (a *analysis) understand(p Program) (u usage, why string) {
	switch {
	case p.Name == "":
		return u, "the program is not literal: " + p.Words[0].Text
	case a.nested:
		return u, "it is run by another program"
	case a.funcs[p.Name]:
		return u, p.Name + " is a function defined here"
	case strings.Contains(p.Name, "/"):
		return u, p.Name + " is named by a path, so it may be any program"
	}
	for _, w := range p.Words[1:] {
		if !w.Literal {
			return u, "the shell expands " + w.Text
		}
	}
	check, ok := readers[p.Name]
	if !ok {
		return u, whyNot(p.Name)
	}
	args := make([]string, len(p.Words)-1)
	for i, w := range p.Words[1:] {
		args[i] = w.Text
	}
	return check(args)
}

// whyNot explains for a program that is not on the list.
func whyNot(name string) string {
	switch {
	case wrappers[name]:
		return name + " runs another program"
	case interpreters[name]:
		return name + " runs whatever it is given"
	case name == "git":
		return "git runs programs that a repository names"
	case writers[name]:
		return name + " changes files"
	case shellBuiltins[name]:
		return name + " changes the shell or evaluates its arguments"
	}
	return name + " is not known to only read"
}

// chdir follows a cd.
func (a *analysis) chdir(p Program, nodes []*syntax.Word) {
	switch p.Name {
	case "pushd", "popd":
		a.cwd.lost = true
	case "cd":
		args := p.Words[1:]
		at := 1
		for len(args) > 0 && (args[0].Text == "--" || args[0].Text == "-P" || args[0].Text == "-L") {
			args, at = args[1:], at+1
		}
		to, ok := "", false
		switch {
		case len(args) == 0:
			to, ok = "~", true
		case len(args) > 1 || args[0].Text == "-" && args[0].Literal:
		case at < len(nodes):
			to, ok = pathWord(nodes[at])
		}
		if !ok {
			a.cwd.lost = true
			return
		}
		a.path(Path{Text: to, Access: Enters})
		a.cwd.dir = join(a.cwd.dir, to)
		if anchored(to) {
			a.cwd.lost = false
		}
	}
}

var keyWord = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

// findKey says by what the command may be remembered.
func (a *analysis) findKey() {
	r := &a.report
	if len(r.Programs) == 0 || !r.Plain {
		r.NoKey = "it is more than one plain program with literal words"
		return
	}
	p := r.Programs[0]
	switch {
	case strings.Contains(p.Name, "/"):
		r.NoKey = p.Name + " is named by a path"
	case wrappers[p.Name], interpreters[p.Name]:
		r.NoKey = p.Name + " runs whatever it is given"
	case keyed[p.Name] == nil:
		r.NoKey = "the first words of " + p.Name + " do not say what it does"
	case !keyed[p.Name][p.Sub] || !keyWord.MatchString(p.Sub):
		r.NoKey = "the first words of " + p.Name + " " + p.Sub + " do not say what it does"
	case len(r.Dangers) > 0:
		r.NoKey = r.Dangers[0]
	default:
		r.Key = p.Name + " " + p.Sub
	}
}
