// Package headless holds the bodies of chela's commands: everything the
// command line does, without the command line. Each takes a context, an
// options struct and a [Terminal] to read from and write to.
//
// Guarantees:
//
//   - With Terminal.JSON, standard output holds JSON and nothing else: one
//     object (or one list) a command, for [Run] one event a line. Keys are
//     stable.
//   - Text from models, tools and files passes Terminal.Safe before a terminal
//     sees it. What is piped elsewhere is passed on byte for byte.
//   - Errors say what to do, and carry the exit code; see [Code].
//   - Nobody is asked anything: what would ask is denied.
//   - Cancelling the context ends a command, and what it cancelled is recorded.
package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit codes of the commands.
const (
	OK        = 0
	Failed    = 1   // it could not be done; standard error says why
	Usage     = 2   // the command line, or something named on it, is wrong
	Denied    = 3   // a call was denied because nobody could answer
	Cancelled = 130 // by ctrl+c
)

// Error is a failure with the code to exit with.
type Error struct {
	Code int
	Err  error // nil: standard output said it all
}

// Error is the text for standard error; it may be empty.
func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code is the exit code for what a command returned.
func Code(err error) int {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Cancelled
	}
	return Failed
}

// Usagef is the error of a wrong command line.
func Usagef(format string, args ...any) error { return &Error{Usage, fmt.Errorf(format, args...)} }

// Terminal is what a command reads from and writes to.
type Terminal struct {
	Out, Err  io.Writer
	JSON      bool                // machine output on Out
	OutIsTerm bool                // a person reads Out
	ErrIsTerm bool                // a person reads Err
	Color     bool                // styles may be used on what a person reads
	Safe      func(string) string // makes foreign text harmless, keeping its lines; nil: leaves it
	Width     int                 // columns of the terminal; 0: unknown
}

// PrintError writes what a command returned to Err; nothing if there is no
// error, or standard output said it all.
func (t Terminal) PrintError(err error) {
	if err == nil || strings.TrimSpace(err.Error()) == "" {
		return
	}
	fmt.Fprintln(t.Err, t.style("1;31", "chela:", t.ErrIsTerm), t.clean(strings.TrimSpace(err.Error()), t.ErrIsTerm))
}

// safe makes foreign text fit for Out.
func (t Terminal) safe(s string) string { return t.clean(s, t.OutIsTerm) }

// line makes foreign text fit for one line of Out, terminal or not: a newline
// in a title must not break a table.
func (t Terminal) line(s string) string {
	return strings.Join(strings.Fields(t.clean(s, true)), " ")
}

// note writes a line for people to Err.
func (t Terminal) note(format string, args ...any) {
	text := t.clean(fmt.Sprintf(format, args...), t.ErrIsTerm)
	fmt.Fprintln(t.Err, t.dim(text, t.ErrIsTerm))
}

func (t Terminal) clean(s string, person bool) string {
	if !person || t.Safe == nil {
		return s
	}
	return t.Safe(s)
}

// The few styles that lines of text need. SGR 2 is faint, 1 bold.
func (t Terminal) dim(s string, person bool) string { return t.style("2", s, person) }

func (t Terminal) bold(s string) string { return t.style("1", s, t.OutIsTerm) }

func (t Terminal) style(sgr, s string, person bool) string {
	if !t.Color || !person || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[m"
}
