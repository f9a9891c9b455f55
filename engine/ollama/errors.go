package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"
)

// Kind says what went wrong, so that the engine can react and the screen can
// offer the remedy.
type Kind string

// The kinds of failure.
const (
	Unreachable  Kind = "unreachable"   // no server answers there
	NotOllama    Kind = "not_ollama"    // something answers there, and it is no Ollama server
	ModelMissing Kind = "model_missing" // the server does not have the model
	TooLong      Kind = "too_long"      // the prompt does not fit the window
	NoTools      Kind = "no_tools"      // the model's template has no tools
	NoThinking   Kind = "no_thinking"   // the model cannot think
	Lost         Kind = "lost"          // the stream broke off; what came is kept
	Idle         Kind = "idle"          // the stream was silent for too long
	BadCall      Kind = "bad_call"      // the server could not read a call that the model made
	MidStream    Kind = "mid_stream"    // the server reported an error while answering
	NoMemory     Kind = "no_memory"     // the model does not fit the machine
	SignIn       Kind = "sign_in"       // a cloud model, and nobody is signed in
	Refused      Kind = "refused"       // any other answer with an error status
)

// Error is a failure of a server with what to do about it.
type Error struct {
	Kind  Kind
	Op    string // what was being done
	Host  string
	Model string
	Err   error

	wait time.Duration // kind Idle: how long nothing came
	hint string        // in place of the kind's own
}

// Error says what failed, where, and what to do.
func (e *Error) Error() string { return e.Cause() + ". " + e.Hint() }

// Cause says what failed and where, without the remedy. With no server there it
// does not matter what was being done.
func (e *Error) Cause() string {
	if e.Kind == Unreachable || e.Kind == NotOllama {
		return e.text()
	}
	return e.Op + ": " + e.text()
}

func (e *Error) text() string {
	switch e.Kind {
	case Unreachable:
		if isDial(e.Err) {
			return fmt.Sprintf("no Ollama server answers at %s", e.Host)
		}
		return fmt.Sprintf("%s takes connections but does not answer as an Ollama server does", e.Host)
	case NotOllama:
		return fmt.Sprintf("what answers at %s is no Ollama server", e.Host)
	case ModelMissing:
		return fmt.Sprintf("%s has no model %q", e.Host, e.Model)
	case Lost:
		return fmt.Sprintf("the connection to %s was lost before the answer was complete", e.Host)
	case Idle:
		return fmt.Sprintf("%s sent nothing for %s", e.Host, e.wait)
	case TooLong:
		return "the conversation no longer fits the model's window"
	case BadCall:
		return fmt.Sprintf("%s made a call that its server cannot read", e.Model)
	case NoTools:
		return fmt.Sprintf("%s cannot call tools", e.Model)
	case NoThinking:
		return fmt.Sprintf("%s cannot think", e.Model)
	case SignIn:
		return fmt.Sprintf("%s asks for a sign-in to use %s", e.Host, e.Model)
	}
	return fmt.Sprintf("%s reports: %s", e.Host, strings.TrimRight(short(e.Err.Error()), ". \n"))
}

// maxReported bounds what of a server's own words is repeated: a line that is
// no JSON comes back whole, and may be megabytes.
const maxReported = 400

func short(s string) string {
	if r := []rune(s); len(r) > maxReported {
		return string(r[:maxReported]) + "…"
	}
	return s
}

// Hint says what a person can do.
func (e *Error) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	switch e.Kind {
	case Unreachable:
		return "Start it with `ollama serve`, or set OLLAMA_HOST to where it runs."
	case NotOllama:
		return "Set OLLAMA_HOST to where Ollama runs."
	case ModelMissing:
		return fmt.Sprintf("Pull it with `chela pull %s`, or pick another model.", e.Model)
	case Lost, Idle:
		return "What arrived is kept. Send the prompt again to go on."
	case BadCall:
		return "Send the prompt again, in smaller steps: long contents break most often."
	case TooLong:
		return "Start a new session with /new, or pick a model with a larger window."
	case NoTools:
		return "Pick a model with the tools capability."
	case NoThinking:
		return "Turn thinking off for it."
	case NoMemory:
		return "Pick a smaller model, lower models.window in settings.yml, or unload others with `ollama stop`."
	case SignIn:
		return "Run `ollama signin` where the server runs, or pick a local model."
	case MidStream:
		return "What arrived is kept. Send the prompt again; `ollama ps` and its log say more."
	}
	return "The server's log says more."
}

// pullHint says what to do about a download that failed.
func pullHint(e *Error) string {
	text := strings.ToLower(e.Err.Error())
	switch {
	case e.Kind == Unreachable || e.Kind == SignIn:
		return ""
	case strings.Contains(text, "file does not exist"), strings.Contains(text, "not found"), strings.Contains(text, "invalid model name"):
		return "Check the name and its tag: https://ollama.com/library lists the models."
	case strings.Contains(text, "no space left"), strings.Contains(text, "disk full"):
		return "Free some space where the server keeps its models, then pull again; what was loaded is kept."
	}
	return "Pull again: it goes on from what was loaded. The server's log says more."
}

// Action is the remedy as one word the screen can act on, or "".
func (e *Error) Action() string {
	switch e.Kind {
	case Unreachable:
		return "start"
	case ModelMissing:
		return "pull"
	case NoTools, NoMemory:
		return "pick"
	}
	return ""
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain classifies an error of the API. The texts are the server's own; both
// wordings of "too long" are in use (0.17 and later). ctx is the caller's: its
// end is no fault of the server.
func (c *Client) explain(ctx context.Context, op, model string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &Error{Op: op, Host: c.host, Model: model, Err: err, Kind: MidStream}
	var status api.StatusError
	var auth api.AuthorizationError
	var timeout net.Error
	var notJSON *json.SyntaxError
	text := err.Error()
	switch {
	case errors.As(err, &notJSON), strings.Contains(text, "malformed HTTP"):
		e.Kind = NotOllama
	case errors.Is(err, errIdle):
		e.Kind, e.wait = Idle, c.idle
	case isDial(err):
		e.Kind = Unreachable
	case errors.Is(err, errLost), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		e.Kind = Lost
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind = Unreachable // one of this package's own limits
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Kind, e.wait = Idle, headerTimeout
	case errors.As(err, &auth):
		e.Kind = SignIn
	case errors.As(err, &status):
		text, e.Kind = status.ErrorMessage, Refused
		if status.StatusCode == http.StatusNotFound && strings.Contains(text, "not found") {
			e.Kind = ModelMissing
		}
	}
	switch {
	case strings.Contains(text, "error parsing tool call"), strings.Contains(text, "XML syntax error"):
		e.Kind = BadCall
	case strings.Contains(text, "does not support tools"):
		e.Kind = NoTools
	case strings.Contains(text, "does not support thinking"):
		e.Kind = NoThinking
	case strings.Contains(text, "exceeds the context length"), strings.Contains(text, "longer than the context length"):
		e.Kind = TooLong
	case strings.Contains(text, "requires more system memory"), strings.Contains(text, "out of memory"):
		e.Kind = NoMemory
	}
	return e
}

// isDial reports whether a connection could not be made at all.
func isDial(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.Is(err, syscall.ECONNREFUSED)
}
