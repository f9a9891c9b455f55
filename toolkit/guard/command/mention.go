package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mentions records the paths that the arguments of a program seem to name. Of
// a program that changes files they are known to be paths; of another they may
// be anything, and the caller decides what is worth a look.
func (a *analysis) mentions(p Program, nodes []*syntax.Word) {
	name := baseName(p.Name)
	if textPrograms[name] || name == "cd" {
		return
	}
	skip := false // the word before says that this is no path
	operand, options := 0, true
	for i, w := range p.Words {
		if i == 0 {
			if w.Literal && strings.Contains(w.Text, "/") {
				a.path(Path{Text: escapeTilde(w.Text), Access: Mentions})
			}
			continue
		}
		t, ok := escapeTilde(w.Text), w.Literal
		if i < len(nodes) {
			t, ok = pathWord(nodes[i])
		}
		if skip {
			skip = false
			continue
		}
		if !ok || t == "" || len(t) > 4096 || strings.ContainsRune(t, '\n') {
			operand++
			continue
		}
		if options && t == "--" {
			options = false
			continue
		}
		if options && strings.HasPrefix(t, "-") && len(t) > 1 {
			flag, value, given := strings.Cut(t, "=")
			switch {
			case excludes(flag):
				skip = !given
			case given:
				a.path(Path{Text: value, Access: Mentions})
			case len(t) > 2 && t[1] != '-':
				a.path(Path{Text: t[2:], Access: Mentions}) // -fFILE
			}
			continue
		}
		operand++
		if key, value, given := strings.Cut(t, "="); given && !strings.Contains(key, "/") { // if=, of=, a container's mount
			access := Mentions
			if name == "dd" && key == "of" {
				access = Writes
			}
			a.path(Path{Text: value, Access: access, Empties: access == Writes})
			continue
		}
		a.path(a.operandPath(name, p, t, operand, i))
	}
}

// operandPath says what a program does with one of its operands.
func (a *analysis) operandPath(name string, p Program, t string, operand, at int) Path {
	out := Path{Text: t, Access: Mentions}
	if !writers[name] || name == "tar" || name == "dd" {
		if name == "sed" && p.hasOption('i', "--in-place") && operand > 1 {
			out.Access = Writes
		}
		return out
	}
	switch name {
	case "chmod", "chown", "chgrp":
		if operand == 1 {
			return out // a mode, an owner
		}
	case "cp", "rsync", "install":
		if name == "rsync" && strings.Contains(t, ":") {
			return out // another machine
		}
		if at < len(p.Words)-1 {
			out.Access = Reads
			return out
		}
	}
	out.Access = Writes
	out.Tree = name == "rm" || name == "mv" || name == "chmod" || name == "chown" || name == "chgrp"
	return out
}

// excludes reports options whose value names what is left alone, or is text.
func excludes(flag string) bool {
	switch flag {
	case "-path", "-name", "-iname", "-ipath", "-wholename", "-m", "-e", "--message", "--regexp", "-regex", "-iregex", "-g", "--glob", "--iglob", "-not":
		return true
	}
	return strings.Contains(flag, "exclude") || strings.Contains(flag, "ignore")
}

// hasOption reports a letter among the short options, or a long option.
func (p Program) hasOption(letter byte, long ...string) bool {
	for _, w := range p.Words[1:] {
		switch {
		case w.Text == "--":
			return false
		case strings.HasPrefix(w.Text, "--"):
			name, _, _ := strings.Cut(w.Text, "=")
			for _, l := range long {
				// getopt accepts beginnings, so a beginning counts here.
				if len(name) > 3 && strings.HasPrefix(l, name) || name == l {
					return true
				}
			}
		case len(w.Text) > 1 && w.Text[0] == '-' && letter != 0 && strings.IndexByte(w.Text[1:], letter) >= 0:
			return true
		}
	}
	return false
}
