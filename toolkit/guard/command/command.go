// Package command says what a shell command would do, without running it.
//
// It guarantees:
//
//   - A command is ReadOnly only if every part of it was understood: one of a
//     short list of programs, each with options from a list of exact ones,
//     literal words, and nothing redirected into a file. Everything else is
//     Uncertain with a reason, or Refused. The zero Class is Refused.
//   - What is ReadOnly, and what one plain program with literal words does, is
//     printed anew from what was understood ([Report.Run]). That text is what
//     is to run, so that a difference between this parser and the shell cannot
//     matter there. Everything else is to run as it was written, under bash,
//     the dialect that was parsed, and only when somebody decides so.
//   - Nothing is cut off: a command over a limit is refused, not judged by its
//     beginning.
//   - It is a pure function of its input: no file is looked at. Which of the
//     named paths may be touched is for the caller to judge.
//
// The list of programs is an allow-list down to the single option, because
// lists of what is dangerous are never complete: sort -o writes, rg --pre and
// find -exec run programs, uniq's second operand is a file to write.
package command

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Class is what was proven of a command. The zero value is the worst.
type Class int

// The classes.
const (
	Refused   Class = iota // not to be run at all, whoever allows it
	Uncertain              // it may do anything: somebody has to decide
	ReadOnly               // it only reads, and runs nothing but the programs listed
)

// String returns the class in one word.
func (c Class) String() string {
	return [...]string{"refused", "uncertain", "read-only"}[min(max(c, Refused), ReadOnly)]
}

// Worse returns the worse of two classes.
func (c Class) Worse(o Class) Class { return min(c, o) }

// Limits when the options give none. Real commands stay far below; one that
// does not is refused, since half an analysis is none.
const (
	MaxBytes    = 64 << 10
	MaxCommands = 200
	MaxDepth    = 32
)

// Options are the limits of one analysis. Zero values are the defaults.
type Options struct {
	MaxBytes    int // of the text
	MaxCommands int // simple commands, those in quoted scripts included
	MaxDepth    int // of nesting, quoted scripts included
}

// Report is what is known of a command.
type Report struct {
	Class   Class
	Reasons []string // why it is not ReadOnly, in order of appearance, each once

	// Run is the text to run; see the package comment. Plain reports that it is
	// a single program with literal words and nothing else around it.
	Run   string
	Plain bool

	Programs []Program    // every simple command, also those inside substitutions and quoted scripts
	Paths    []Path       // every path that the command is known, or seems, to name
	Trees    []Tree       // folders whose files' content is read
	Env      []Assignment // assignments, which are environment to what follows
	Network  bool         // a program that talks to other machines is named
	Dangers  []string     // what deserves a warning: deletes, forces, pipes a download into a shell

	// Key is "program sub-command" if the command may be remembered by it, for
	// programs whose sub-command says what is done; NoKey says why not.
	Key   string
	NoKey string

	// Devices is set when the refusal is for bash's own network redirections.
	Devices bool
}

// Program is one simple command.
type Program struct {
	Words  []Word
	Name   string // the program, "" if it is not a literal
	Sub    string // its sub-command, for programs that have them
	Class  Class
	Reason string // why it is not ReadOnly
	Nested bool   // named by a wrapper or inside a quoted script
	Shell  bool   // a builtin of the shell: no file is run
}

// Word is one word of a command after quote removal.
type Word struct {
	Text    string
	Literal bool // nothing in it is expanded; otherwise Text is the source
}

// Access is what a command does with a path that it names.
type Access int

// The ways to touch a path, the mildest first.
const (
	Mentions Access = iota // it may be a path: an argument of a program that is not known in detail
	Reads
	Enters // cd
	Writes
)

// Path is one path that a command names.
type Path struct {
	Text     string // as written, quotes removed; "~/" leads it if the shell would expand it so
	Dir      string // the folder it is relative to, as far as cd says; "" where the command starts
	Sure     bool   // Dir is certain
	Access   Access
	Redirect bool // the target of a redirection
	Empties  bool // what is there is emptied first
	Tree     bool // with all that is below it
}

// Full is the path relative to where the command starts, absolute, or starting
// with "~/". It is not cleaned: "a/.." is not "." if a is a link.
func (p Path) Full() string { return join(p.Dir, p.Text) }

// Tree is a folder whose files are read, whatever they are called.
type Tree struct {
	Path   Path
	Hidden bool // files whose name starts with a dot too
}

// Assignment is a variable that a command sets.
type Assignment struct {
	Name  string
	Value Word
}

// Analyse reads a command as bash would.
func Analyse(src string, opt Options) Report {
	opt = opt.withDefaults()
	if why := checkText(src, opt.MaxBytes); why != "" {
		return refuse(src, why)
	}
	a := &analysis{opt: opt, funcs: map[string]bool{}}
	f, err := parse(src)
	if err != nil {
		return Report{Class: Uncertain, Reasons: []string{"it is not understood: " + err.Error()}, Run: src, NoKey: "it is not understood"}
	}
	a.report.Class = ReadOnly
	text := a.file(f)
	r := &a.report
	if a.refused != "" {
		out := refuse(src, a.refused)
		out.Devices, out.Programs, out.Paths = a.devices, r.Programs, r.Paths
		return out
	}
	r.Run = src
	if len(r.Programs) == 0 {
		a.uncertain("it runs no program")
	}
	plain := plainWords(f)
	if r.Plain = plain != nil; r.Plain || r.Class == ReadOnly {
		r.Run = text
	}
	a.findKey()
	return *r
}

func refuse(src, why string) Report {
	return Report{Class: Refused, Reasons: []string{why}, Run: src, NoKey: why}
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	if o.MaxCommands <= 0 {
		o.MaxCommands = MaxCommands
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = MaxDepth
	}
	return o
}

func parse(src string) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return f, nil
}

// plainWords returns the words of a file that is one simple command made of
// literals, or nil.
func plainWords(f *syntax.File) []string {
	if len(f.Stmts) != 1 {
		return nil
	}
	st := f.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(st.Redirs) > 0 || st.Negated || st.Background || st.Coprocess || st.Disown || len(call.Assigns) > 0 {
		return nil
	}
	var out []string
	for _, w := range call.Args {
		word := readWord(w)
		if !word.Literal {
			return nil
		}
		out = append(out, word.Text)
	}
	return out
}
