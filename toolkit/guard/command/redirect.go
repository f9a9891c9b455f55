package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges one redirection. Reading a literal file, copying a
// descriptor and throwing output away are understood; the rest writes or is
// not literal.
func (a *analysis) redirect(r *syntax.Redirect) string {
	fd := ""
	if r.N != nil {
		if fd = r.N.Value; !digits(fd) {
			a.uncertain("the descriptor %s is a variable", fd)
		}
	}
	if r.Hdoc != nil || r.Op == syntax.WordHdoc {
		a.uncertain("it has a here-document")
		for _, w := range []*syntax.Word{r.Word, r.Hdoc} {
			if w != nil {
				a.inside(w)
			}
		}
		return ""
	}
	if r.Word == nil {
		a.uncertain("a redirection has no target")
		return ""
	}
	word := readWord(r.Word)
	if bare := strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(source(r.Word)); networkDevice(word.Text) || networkDevice(bare) {
		a.devices = true
		a.refuse("bash would open a network connection by itself for %s; use the web tools", word.Text)
		return ""
	}
	if !word.Literal {
		a.inside(r.Word)
	}
	duplicates := r.Op == syntax.DplOut || r.Op == syntax.DplIn
	if duplicates && word.Literal && (word.Text == "-" || digits(strings.TrimSuffix(word.Text, "-"))) {
		return fd + r.Op.String() + word.Text
	}
	access, empties := Writes, true
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn:
		access, empties = Reads, false
	case syntax.AppOut, syntax.AppAll, syntax.RdrInOut:
		empties = false
	}
	target, known := pathWord(r.Word)
	switch {
	case !known:
		a.uncertain("the target of the redirection, %s, is not literal", word.Text)
		if access == Writes {
			a.danger("it writes to a file whose name only the shell knows: %s", word.Text)
		}
		return ""
	case nullDevice(target) && r.Op != syntax.RdrInOut:
		return fd + r.Op.String() + quote(target)
	}
	a.path(Path{Text: target, Access: access, Redirect: true, Empties: empties})
	if access == Writes {
		a.uncertain("it writes to %s", target)
	}
	if !word.Literal {
		a.uncertain("the shell expands %s", word.Text)
	}
	return fd + r.Op.String() + quote(target)
}

// networkDevice reports names that bash itself turns into connections.
func networkDevice(name string) bool {
	return strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/")
}

// nullDevice reports devices that hold nothing and keep nothing.
func nullDevice(name string) bool {
	switch name {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return false
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// path records a path that the command names from where it stands now.
func (a *analysis) path(p Path) {
	if nullDevice(p.Text) {
		return
	}
	p.Sure = a.cwd.certain()
	if !anchored(p.Text) {
		p.Dir = a.cwd.dir
	} else {
		p.Sure = true
	}
	for _, have := range a.report.Paths {
		if have == p {
			return
		}
	}
	a.report.Paths = append(a.report.Paths, p)
}
