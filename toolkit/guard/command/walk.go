package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// analysis is the state of one analysis. Its methods return the text that has
// the meaning they understood; it counts only while the class is ReadOnly.
type analysis struct {
	opt     Options
	report  Report
	refused string // why nothing of it may run
	devices bool
	depth   int
	cwd     folder
	funcs   map[string]bool // functions defined so far
	nested  bool            // inside a quoted script or behind a wrapper
}

// folder is where a command runs, as far as cd says.
type folder struct {
	dir  string // "" where it starts
	lost bool
}

func (f folder) certain() bool { return !f.lost }

func (a *analysis) uncertain(format string, args ...any) {
	a.report.Class = a.report.Class.Worse(Uncertain)
	if why := fmt.Sprintf(format, args...); !slices.Contains(a.report.Reasons, why) {
		a.report.Reasons = append(a.report.Reasons, why)
	}
}

func (a *analysis) danger(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); !slices.Contains(a.report.Dangers, why) {
		a.report.Dangers = append(a.report.Dangers, why)
	}
}

func (a *analysis) refuse(format string, args ...any) {
	if a.refused == "" {
		a.refused = fmt.Sprintf(format, args...)
	}
}

// deeper runs f one level of nesting down, unless that is too deep.
func (a *analysis) deeper(f func()) {
	if a.depth >= a.opt.MaxDepth {
		a.refuse("the command is nested more than %d deep", a.opt.MaxDepth)
	}
	if a.refused != "" {
		return
	}
	a.depth++
	f()
	a.depth--
}

// apart runs f as in a process of its own: its cd has no effect afterwards.
func (a *analysis) apart(f func()) {
	was := a.cwd
	a.deeper(f)
	a.cwd = was
}

// maybe runs f, whose cd may or may not have happened afterwards.
func (a *analysis) maybe(f func()) {
	was := a.cwd
	f()
	if a.cwd != was {
		a.cwd.lost = true
	}
}

func (a *analysis) file(f *syntax.File) string { return a.stmts(f.Stmts) }

func (a *analysis) stmts(list []*syntax.Stmt) string {
	var out []string
	for _, s := range list {
		if a.refused != "" {
			break
		}
		out = append(out, a.stmt(s))
	}
	return strings.Join(out, "; ")
}

func (a *analysis) stmt(s *syntax.Stmt) string {
	if a.refused != "" {
		return ""
	}
	var text string
	run := func() { text = a.command(s.Cmd) }
	if s.Background || s.Coprocess || s.Disown {
		a.uncertain("a part of it runs in the background")
		was := a.cwd
		run()
		a.cwd = was
	} else {
		run()
	}
	for _, r := range s.Redirs {
		text = strings.TrimSpace(text + " " + a.redirect(r))
	}
	if s.Negated {
		text = "! " + text
	}
	return text
}

func (a *analysis) command(c syntax.Command) string {
	switch c := c.(type) {
	case nil:
		a.uncertain("a redirection stands alone")
		return ""
	case *syntax.CallExpr:
		return a.call(c)
	case *syntax.BinaryCmd:
		return a.binary(c)
	case *syntax.Subshell:
		var text string
		a.apart(func() { text = "( " + a.stmts(c.Stmts) + " )" })
		return text
	case *syntax.Block:
		var text string
		a.deeper(func() { text = "{ " + a.stmts(c.Stmts) + "; }" })
		return text
	case *syntax.FuncDecl:
		a.function(c)
	case *syntax.LetClause, *syntax.ArithmCmd:
		a.uncertain("the shell evaluates arithmetic, which can run commands")
		a.inside(c)
	case *syntax.TestClause:
		a.uncertain("[[ evaluates its operands, which can run commands")
		a.inside(c)
	case *syntax.DeclClause:
		a.uncertain("%s changes the shell's variables", c.Variant.Value)
		for _, as := range c.Args {
			a.assign(as)
		}
	case *syntax.TimeClause, *syntax.CoprocClause:
		a.uncertain("its structure is not plain")
		a.inside(c)
	default: // if, while, until, for, select, case
		a.uncertain("it has a condition or a loop")
		a.maybe(func() { a.inside(c) })
	}
	return ""
}

// function records a definition. Its body is judged where it stands, since it
// may be called at any time.
func (a *analysis) function(c *syntax.FuncDecl) {
	name := ""
	if c.Name != nil {
		name = c.Name.Value
	}
	a.uncertain("it defines the function %s", name)
	a.funcs[name] = true
	calls, forks := false, false
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			forks = forks || n.Background
		case *syntax.BinaryCmd:
			forks = forks || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CallExpr:
			calls = calls || len(n.Args) > 0 && readWord(n.Args[0]).Text == name
		}
		return true
	})
	if calls && forks {
		a.danger("the function %s starts itself over and over", name)
	}
	a.maybe(func() { a.inside(c.Body) })
}

// inside visits every command below a node that is not understood as a whole.
func (a *analysis) inside(n syntax.Node) {
	a.deeper(func() {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				a.stmt(n)
				return false
			case *syntax.CallExpr:
				a.call(n)
				return false
			case *syntax.CmdSubst:
				a.uncertain("it has a command substitution")
				a.apart(func() { a.stmts(n.Stmts) })
				return false
			case *syntax.ProcSubst:
				a.uncertain("it has a process substitution")
				a.apart(func() { a.stmts(n.Stmts) })
				return false
			case *syntax.Redirect:
				a.redirect(n)
				return false
			case *syntax.ArithmExp:
				a.uncertain("the shell evaluates arithmetic, which can run commands")
			}
			return a.refused == ""
		})
	})
}

func (a *analysis) binary(c *syntax.BinaryCmd) string {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		var x, y string
		first := len(a.report.Programs)
		was := a.cwd
		x = a.stmt(c.X)
		a.cwd = was
		second := len(a.report.Programs)
		y = a.stmt(c.Y)
		a.cwd = was
		a.pipeDanger(a.report.Programs[first:second], a.report.Programs[second:])
		return x + " " + c.Op.String() + " " + y
	case syntax.AndStmt:
		var x, y string
		a.maybe(func() { x, y = a.and(c) })
		return x + " && " + y
	}
	was := a.cwd
	x := a.stmt(c.X)
	after := a.cwd
	if after != was {
		a.cwd, after.lost = folder{dir: was.dir, lost: true}, true
	}
	y := a.stmt(c.Y)
	if a.cwd != was || after != was {
		a.cwd = after
		a.cwd.lost = true
	}
	return x + " || " + y
}

// and visits a chain of &&, in which a cd has happened for what follows it.
func (a *analysis) and(c *syntax.BinaryCmd) (x, y string) {
	if left, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && left.Op == syntax.AndStmt && plainStmt(c.X) {
		lx, ly := a.and(left)
		x = lx + " && " + ly
	} else {
		x = a.stmt(c.X)
	}
	return x, a.stmt(c.Y)
}

func plainStmt(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess && !s.Disown && len(s.Redirs) == 0
}

func (a *analysis) assign(as *syntax.Assign) {
	name, value := "", Word{Literal: true}
	if as.Name != nil {
		name = as.Name.Value
	}
	if as.Value != nil {
		value = readWord(as.Value)
	}
	if name != "" && !as.Naked {
		a.report.Env = append(a.report.Env, Assignment{name, value})
	}
	a.inside(as)
}

func (a *analysis) call(c *syntax.CallExpr) string {
	for _, as := range c.Assigns {
		a.uncertain("it sets the variable %s", as.Name.Value)
		a.assign(as)
	}
	if len(c.Args) == 0 {
		return ""
	}
	words := make([]Word, len(c.Args))
	var text []string
	for i, w := range c.Args {
		words[i] = readWord(w)
		text = append(text, quote(words[i].Text))
		if !words[i].Literal {
			a.uncertain("the shell expands %s", words[i].Text)
			a.inside(w)
		}
	}
	a.simple(words, c.Args)
	return strings.Join(text, " ")
}
