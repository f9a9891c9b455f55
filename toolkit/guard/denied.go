package guard

import (
	"errors"
	"fmt"
)

// Rule names the part of the hard floor that refused an operation. The values
// are stable: they appear in the audit and in the command line's JSON.
type Rule string

// The rules of the floor.
const (
	RuleOutside   Rule = "outside-workspace" // the path leaves the workspace
	RuleOwnState  Rule = "own-state"         // chela's own settings, data and state
	RuleGit       Rule = "git-internals"     // .git, git directories and their shapes
	RuleSecret    Rule = "secret-file"       // credentials and private keys
	RuleScheme    Rule = "url-scheme"        // not http or https
	RuleURL       Rule = "url-form"          // user information, odd host forms, bad ports
	RuleAddress   Rule = "private-address"   // not a public address, and not allowed by the person
	RuleMetadata  Rule = "metadata-service"  // cloud instance metadata; never allowed
	RuleOwnServer Rule = "own-service"       // chela's own services, such as its model server
	RuleRedirect  Rule = "redirect"          // a redirect that may not be followed
	RuleHeader    Rule = "request-header"    // a header that belongs to the transport
	RuleEnv       Rule = "environment"       // a variable that changes what programs run or load
	RuleProgram   Rule = "program"           // a program from the workspace or a relative path
)

// Denied is a refusal by the hard floor: nothing was opened, sent or started.
type Denied struct {
	Op     string // what was tried: "read", "write", "list", "fetch", "run" ...
	Path   string // the path, URL, variable or program, as it was given
	Rule   Rule
	Reason string // one sentence for the person and the model
}

// Error says what was refused, with what, and why.
func (d *Denied) Error() string {
	return fmt.Sprintf("%s %q refused (%s): %s", d.Op, d.Path, d.Rule, d.Reason)
}

// AsDenied returns the refusal in err's chain, if there is one.
func AsDenied(err error) (*Denied, bool) {
	d, ok := errors.AsType[*Denied](err)
	return d, ok
}

// Changed reports that a file is not what the plan saw, so nothing was written.
type Changed struct {
	Path string // relative to the workspace
	Want string // what the plan saw: a SHA-256 in hex, or "absent"
	Have string // what is there now, in the same form
}

// Error says what the plan saw and what is there now.
func (c *Changed) Error() string {
	return fmt.Sprintf("%s changed since it was read (expected %s, found %s): read it again and make a new plan",
		c.Path, short(c.Want), short(c.Have))
}

func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

// Errors that callers tell apart with errors.Is.
var (
	// ErrNotRegular: the path is a directory, FIFO, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: the file has more bytes than the caller's cap.
	ErrTooLarge = errors.New("file is too large")
	// ErrRaced: the path kept changing while it was opened.
	ErrRaced = errors.New("path changed while it was opened")
	// ErrRedirects: a server redirected more often than is followed. It is no
	// refusal: every address was allowed, and there was no end to them.
	ErrRedirects = fmt.Errorf("more than %d redirects", maxRedirects)
)
