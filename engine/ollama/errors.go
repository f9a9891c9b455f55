package ollama

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/ollama/ollama/api"
)

// Kind says what went wrong, so that the engine can react and the screen can
// offer the remedy.
type Kind string

// The kinds of failure.
const (
	Unreachable  Kind = "unreachable"   // no server answers there
	ModelMissing Kind = "model_missing" // the server does not have the model
	TooLong      Kind = "too_long"      // the prompt does not fit the window
	NoTools      Kind = "no_tools"      // the model's template has no tools
	NoThinking   Kind = "no_thinking"   // the model cannot think
	Lost         Kind = "lost"          // the stream broke off; what came is kept
	Idle         Kind = "idle"          // the stream was silent for too long
	MidStream    Kind = "mid_stream"    // the server reported an error while answering
	Refused      Kind = "refused"       // any other answer with an error status
)

// Error is a failure of a server with what to do about it.
type Error struct {
	Kind  Kind
	Op    string // what was being done
	Host  string
	Model string
	Err   error
}

// Error says what failed, where, and what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s. %s", e.Op, e.text(), e.Hint())
}

func (e *Error) text() string {
	switch e.Kind {
	case Unreachable:
		return fmt.Sprintf("no Ollama server answers at %s", e.Host)
	case ModelMissing:
		return fmt.Sprintf("%s has no model %q", e.Host, e.Model)
	case Lost:
		return fmt.Sprintf("the connection to %s was lost before the answer was complete", e.Host)
	case Idle:
		return fmt.Sprintf("%s sent nothing for %s", e.Host, IdleTimeout)
	case TooLong:
		return "the conversation no longer fits the model's window"
	case NoTools:
		return fmt.Sprintf("%s cannot call tools", e.Model)
	case NoThinking:
		return fmt.Sprintf("%s cannot think", e.Model)
	}
	return fmt.Sprintf("%s reports: %v", e.Host, e.Err)
}

// Hint says what a person can do.
func (e *Error) Hint() string {
	switch e.Kind {
	case Unreachable:
		return "Start it with `ollama serve`, or set OLLAMA_HOST to where it runs."
	case ModelMissing:
		return fmt.Sprintf("Pull it with `chela pull %s`, or pick another model.", e.Model)
	case Lost, Idle:
		return "What arrived is kept. Send the prompt again to go on."
	case TooLong:
		return "Start a new session with /new, or pick a model with a larger window."
	case NoTools:
		return "Pick a model with the tools capability."
	case NoThinking:
		return "Turn thinking off for it."
	case MidStream:
		return "What arrived is kept. Send the prompt again; `ollama ps` and its log say more."
	}
	return "The server's log says more."
}

// Action is the remedy as one word the screen can act on, or "".
func (e *Error) Action() string {
	switch e.Kind {
	case Unreachable:
		return "start"
	case ModelMissing:
		return "pull"
	case NoTools:
		return "pick"
	}
	return ""
}

// Unwrap gives errors.Is and errors.As the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain classifies an error of the API. The texts are the server's own; both
// wordings of "too long" are in use (0.17 and later).
func (c *Client) explain(op, model string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isDial(err) {
		return err
	}
	e := &Error{Op: op, Host: c.host, Model: model, Err: err, Kind: MidStream}
	var status api.StatusError
	text := err.Error()
	switch {
	case errors.Is(err, errLost) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(text, "unexpected EOF"):
		e.Kind = Lost
	case errors.Is(err, errIdle):
		e.Kind = Idle
	case isDial(err):
		e.Kind = Unreachable
	case errors.As(err, &status):
		text = status.ErrorMessage
		e.Kind = Refused
		if status.StatusCode == http.StatusNotFound && strings.Contains(text, "not found") {
			e.Kind = ModelMissing
		}
	}
	switch {
	case strings.Contains(text, "does not support tools"):
		e.Kind = NoTools
	case strings.Contains(text, "does not support thinking"):
		e.Kind = NoThinking
	case strings.Contains(text, "exceeds the context length"), strings.Contains(text, "longer than the context length"):
		e.Kind = TooLong
	}
	return e
}

// isDial reports whether a connection could not be made at all.
func isDial(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.Is(err, syscall.ECONNREFUSED)
}
