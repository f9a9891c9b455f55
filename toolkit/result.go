package toolkit

import (
	"errors"
	"fmt"
	"strings"
)

// Result is what a call gave.
type Result struct {
	Text    string     `json:"text"`              // for the model, before it is bounded
	Data    any        `json:"data,omitempty"`    // for the screen and for --json
	Changed []Change   `json:"changed,omitempty"` // files that are different now
	Cut     *Truncated `json:"truncated,omitempty"`
}

// Change is one file that a call changed.
type Change struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"` // created, changed, deleted
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Truncated says what of the output is missing, so that neither the model nor
// the person takes a part for the whole.
type Truncated struct {
	Shown int    `json:"shown"` // in Unit
	Total int    `json:"total"` // in Unit; -1: unknown
	Unit  string `json:"unit"`  // "characters", "lines", "matches", "entries"
	Hint  string `json:"hint,omitempty"`
}

// Code classifies a failure. Codes are part of the command line's contract.
type Code string

// The codes that are not particular to one tool.
const (
	CodeNotFound    Code = "TOOL_NOT_FOUND"
	CodeMissing     Code = "MISSING_PARAMS"
	CodeInvalid     Code = "INVALID_PARAMS"
	CodeDenied      Code = "DENIED"
	CodeUserDenied  Code = "USER_DENIED"
	CodeApproval    Code = "APPROVAL_REQUIRED"
	CodeChanged     Code = "CHANGED_SINCE_PLAN"
	CodeTimeout     Code = "TIMEOUT"
	CodeCancelled   Code = "CANCELLED"
	CodeUnavailable Code = "UNAVAILABLE"
	CodeExecution   Code = "EXECUTION_ERROR"
	CodeRepeated    Code = "REPEATED_CALL" // the same call again, and nothing changed since
	CodeDoubtful    Code = "DOUBTFUL_CALL" // what arrived cannot be what the model wrote
)

// Error is a failure that the model reads: what went wrong, and what to do
// next. Text and hint are each one or two short sentences, since small models
// read nothing longer.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
	Err       error  `json:"-"` // the cause, if any
}

// Errorf makes an Error with a code and a formatted message. A %w verb keeps
// the cause in the chain.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns the error with what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns message and hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	if strings.HasPrefix(e.Hint, "\n") {
		return e.Message + e.Hint
	}
	return e.Message + " " + e.Hint
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError turns any error into an *Error; one that is not is an execution
// error with its text.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeExecution, Message: err.Error(), Err: err}
}
