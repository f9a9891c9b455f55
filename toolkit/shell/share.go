package shell

import (
	"chela/toolkit"
	"chela/toolkit/guard"
)

// Plain is a program's output as a model should read it: valid UTF-8, no escape
// sequences, and of a line that was written over only what it showed last.
func Plain(output string) string { return plain(output) }

// Stream passes output on as progress, in complete lines and at a bounded rate.
// write may be called by several goroutines; end passes on what is held back,
// and after it nothing is passed on.
func Stream(report func(toolkit.Progress)) (write func(chunk []byte), end func()) {
	l := &lineProgress{report: report}
	return l.write, l.close
}

// ProgramFact is the fact by which a plan holds on to a program.
func ProgramFact(p guard.Program) toolkit.Fact { return programFact(p) }
